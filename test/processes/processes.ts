import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./programs.mjs', import.meta.url))

/** A program of `programs.mjs` that runs: what it has told so far, and how it ends. */
export interface Running {
  readonly child: ChildProcess
  readonly told: unknown[]
  /** Resolves with the next thing that it tells, or when it ends. */
  next(): Promise<void>
  /** Resolves when it has ended and all that it told is in `told`; rejects when it failed by itself. */
  readonly ended: Promise<void>
}

export function start(name: string, folder: string, ...numbers: readonly number[]): Running {
  const child = spawn(process.execPath, [script, name, folder, ...numbers.map(String)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const told: unknown[] = []
  let rest = ''
  let failure = ''
  child.stderr.on('data', (chunk) => {
    failure += chunk
  })
  child.stdout.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    told.push(...lines.map((line) => JSON.parse(line)))
  })
  const ended = once(child, 'close').then(([code, signal]) => {
    if (code !== 0 && signal !== 'SIGKILL') throw new Error(`${name} ended with ${code ?? signal}: ${failure}`)
  })
  ended.catch(() => undefined)
  return {
    child,
    told,
    ended,
    next: () => Promise.race([once(child.stdout, 'data').then(() => undefined), ended]),
  }
}

/** What a process said of one of its commits. */
export interface Told {
  readonly v: string
  readonly id: number
  readonly own: readonly number[]
  readonly shared: readonly number[]
}

/** Rows as they must be: commits in the order of their snapshots, the later one wins. */
export function replay(commits: readonly Told[]): Map<number, string> {
  const rows = new Map<number, string>()
  for (const { v, own, shared } of [...commits].sort((a, b) => a.id - b.id)) {
    for (const k of [...own, ...shared]) rows.set(k, v)
  }
  return rows
}

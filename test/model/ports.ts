import { TableError } from '../../engine/errors.ts'
import type { Clock } from '../../engine/ports/clock.ts'
import type { FileSystem, OpenSink, OpenSource } from '../../engine/ports/file-system.ts'
import type { Random } from '../../engine/ports/random.ts'
import type { TaskExecutor } from '../../engine/tasks/submit.ts'
import { parseSnapshot } from '../../formats/meta/snapshot.ts'
import type { Published } from './history.ts'

/** Waits for a number of turns of the event loop, so that what else is under way gets on. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((done) => setImmediate(done))
}

/** Errors that the test makes itself are known by this word. */
const INJECTED = 'injected'

/** Whether an error is one of ours, or was caused by one. */
export function isInjected(error: unknown): boolean {
  if (error instanceof AggregateError && error.errors.some(isInjected)) return true
  return (
    error instanceof Error &&
    (error.message.includes(INJECTED) || (error.cause !== undefined && isInjected(error.cause)))
  )
}

/**
 * Time that passes when told to; only the short waits between two tries of a commit, which keep the process alive, pass by
 * themselves.
 */
export function steppedClock(): Clock & { advance(millis: number): void } {
  let now = 1_700_000_000_000
  let sleepers: { readonly until: number; readonly wake: () => void }[] = []
  return {
    now: () => now,
    offsetMinutes: () => 90,
    advance(millis) {
      now += millis
      const due = sleepers.filter(({ until }) => until <= now)
      sleepers = sleepers.filter(({ until }) => until > now)
      for (const { wake } of due) wake()
    },
    async sleep(millis, { signal, ref } = {}) {
      if (ref === true) {
        now += Math.ceil(millis)
        return turns(3)
      }
      return new Promise((resolve, reject) => {
        const sleeper = { until: now + millis, wake: resolve }
        sleepers.push(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((other) => other !== sleeper)
          reject(signal.reason)
        })
      })
    },
  }
}

/** The file system as one process sees it: its snapshots are noted, and once it is killed no call of it does anything. */
export class ProcessFiles implements FileSystem {
  readonly #fs: FileSystem
  readonly #process: number
  readonly #published: (snapshot: Published) => void
  readonly #lostRace: () => void
  killed = false

  constructor(fs: FileSystem, process: number, published: (snapshot: Published) => void, lostRace: () => void) {
    this.#fs = fs
    this.#process = process
    this.#published = published
    this.#lostRace = lostRace
  }

  get #live(): FileSystem {
    if (this.killed)
      throw Object.assign(new Error(`EIO: ${INJECTED}, the process is gone`), { code: 'EIO', syscall: 'open' })
    return this.#fs
  }

  async link(from: string, to: string): Promise<void> {
    const isSnapshot = /\/snapshot-\d+$/.test(to)
    try {
      await this.#live.link(from, to)
    } catch (error) {
      if (isSnapshot && error instanceof Error && 'code' in error && error.code === 'EEXIST') this.#lostRace()
      throw error
    }
    if (!isSnapshot) return
    const { id, commitKind } = parseSnapshot(await this.#fs.readFile(from))
    this.#published({ id, kind: commitKind, process: this.#process })
  }

  readFile = async (path: string): Promise<Uint8Array> => this.#live.readFile(path)
  createFile = async (path: string, bytes: Uint8Array, options: { readonly sync: boolean }): Promise<void> =>
    this.#live.createFile(path, bytes, options)
  syncFile = async (path: string): Promise<void> => this.#live.syncFile(path)
  rename = async (from: string, to: string): Promise<void> => this.#live.rename(from, to)
  unlink = async (path: string): Promise<void> => this.#live.unlink(path)
  removeDirectory = async (path: string): Promise<void> => this.#live.removeDirectory(path)
  makeDirectory = async (path: string): Promise<void> => this.#live.makeDirectory(path)
  list = async (path: string) => this.#live.list(path)
  stat = async (path: string) => this.#live.stat(path)
  syncDirectory = async (path: string): Promise<void> => this.#live.syncDirectory(path)
  realPath = async (path: string): Promise<string> => this.#live.realPath(path)
  openSource = (path: string): OpenSource => this.#live.openSource(path)
  createSink = (path: string): OpenSink => this.#live.createSink(path)
}

/** An executor whose tasks start and end later than they could, in an order that the seed chooses, and fail at times. */
export function unruly(
  inner: TaskExecutor,
  random: Random,
  plan: { readonly latency: number; readonly failures: () => number },
): TaskExecutor {
  const wait = () => turns(Math.floor(random.fraction() * (plan.latency + 1)))
  const fail = (when: string) => {
    throw new TableError('IO', `A worker thread ended ${when} its task: ${INJECTED}. Nothing is lost: try again.`)
  }
  return {
    threads: inner.threads,
    async run(task, options) {
      const writes = task.kind === 'flush' || task.kind === 'compact' || task.kind === 'renumber'
      const [before, after] = [random.fraction(), random.fraction()]
      await wait()
      if (writes && before < plan.failures() / 2) fail('before')
      const result = await inner.run(task, options)
      await wait()
      if (writes && after < plan.failures() / 2) fail('after')
      return result
    },
    close: () => inner.close(),
  }
}

import type { Part } from './operation.ts'

/** What a table holds: the version of the row of each key. */
export type Content = ReadonlyMap<number, number>

/** One accepted call: the version each key has after it, undefined = deleted. */
export interface Write {
  changes: readonly (readonly [key: number, version: number | undefined])[]
}

/** A snapshot as its file says, noted when it was published. */
export interface Published {
  readonly id: number
  readonly kind: string
  readonly process: number
}

/** A state the table may be in: what the newest snapshot holds, and how many writes of each process that takes in. */
interface Candidate {
  readonly content: Content
  readonly taken: readonly number[]
}

export function changesOf(parts: readonly Part[], firstVersion: number): Write['changes'] {
  let version = firstVersion
  return parts.flatMap((part): [number, number | undefined][] =>
    'put' in part ? part.put.map((key) => [key, version++]) : part.delete.map((key) => [key, undefined]),
  )
}

/**
 * The model: every write of every process in the order of the calls, and what each snapshot holds.
 *
 * A commit takes in a prefix of its process's writes. Which prefix is known when nothing else ran; when a commit ran beside
 * writes, every prefix from the last write before the call on is right. So the model keeps all states that explain the snapshots
 * seen so far, as a rule one, and a snapshot that none of them explains is a bug: a lost row, a row that came back, a call that
 * was split, a row of a call that was not committed.
 */
export class History {
  readonly logs: Write[][]
  readonly snapshots = new Map<number, Content>()
  latest = 0
  #candidates: readonly Candidate[]
  /** What each snapshot may hold, as it was known when it was published. */
  readonly #past = new Map<number, readonly Candidate[]>()

  constructor(processes: number) {
    this.logs = Array.from({ length: processes }, () => [])
    this.#candidates = [{ content: new Map(), taken: this.logs.map(() => 0) }]
  }

  /** Adds a write; when its call fails, `void` it: then nothing of it may be kept. */
  add(process: number, changes: Write['changes']): Write {
    const write: Write = { changes }
    this.logs[process]!.push(write)
    return write
  }

  /**
   * Takes in the next snapshot. `content` is what it was read to hold, undefined when it could not be read any more; `atLeast`
   * counts the writes of its process that were acknowledged before the commit that made it was called.
   */
  publish({ id, kind, process }: Published, content: Content | undefined, atLeast: number): void {
    if (id !== this.latest + 1) throw new Error(`snapshot ${id} follows snapshot ${this.latest}`)
    const next =
      kind === 'APPEND'
        ? this.#candidates.flatMap((candidate) => this.#extensions(candidate, process, atLeast))
        : this.#candidates
    const fitting = content === undefined ? next : next.filter((candidate) => sameContent(candidate.content, content))
    if (fitting.length === 0) {
      const closest = next
        .map((candidate) => difference(candidate.content, content!))
        .sort((a, b) => a.length - b.length)
      throw new Error(
        `snapshot ${id} (${kind} by writer ${process}) holds what no order of the calls explains; closest: ${closest[0] ?? 'nothing'}`,
      )
    }
    this.latest = id
    this.#candidates = distinct(fitting)
    this.#past.set(id, this.#candidates)
    if (content !== undefined || this.#candidates.length === 1) this.snapshots.set(id, this.#candidates[0]!.content)
  }

  /** Every write of a process up to `count` is in the newest snapshot. */
  require(process: number, count: number, what: string): void {
    const fitting = this.#candidates.filter(
      (candidate) => candidate.taken[process]! >= count || this.#idle(candidate, process, count),
    )
    if (fitting.length === 0) {
      throw new Error(
        `${what} resolved, but write ${this.#candidates[0]!.taken[process]} of writer ${process} is in no snapshot`,
      )
    }
    this.#candidates = fitting
  }

  /** A power cut: later snapshots are gone, and so are all writes that this one does not hold. */
  rewind(id: number): void {
    this.latest = id
    this.#candidates = this.#past.get(id) ?? [{ content: new Map(), taken: [] }]
    for (const process of this.logs.keys()) this.forget(process)
    for (const later of [...this.#past.keys()].filter((other) => other > id)) {
      this.#past.delete(later)
      this.snapshots.delete(later)
    }
  }

  /** The uncommitted writes of a process are gone. */
  forget(process: number): void {
    const end = this.logs[process]!.length
    this.#candidates = this.#candidates.map(({ content, taken }) => ({
      content,
      taken: this.logs.map((_, index) => (index === process ? end : (taken[index] ?? 0))),
    }))
  }

  /** Whether a process has writes that, as far as is known, no snapshot holds: 'maybe' when only some explanation says so. */
  dirty(process: number): 'yes' | 'no' | 'maybe' {
    const open = this.#candidates.map(({ taken }) =>
      this.logs[process]!.slice(taken[process]).some((write) => write.changes.length > 0),
    )
    return open.every((one) => one) ? 'yes' : open.some((one) => one) ? 'maybe' : 'no'
  }

  /** What the newest snapshot holds. */
  get committed(): Content {
    return this.#candidates[0]!.content
  }

  /** What a process may see: the newest snapshot with its own writes on top, up to any from `from` on. */
  visible(process: number, from: number): readonly Content[] {
    return this.#candidates.flatMap((candidate) =>
      this.#extensions(candidate, process, from).map(({ content }) => content),
    )
  }

  /** Like `visible`, of the states before what happens next: gives them when the calls of a group are done. */
  fork(process: number): (from: number) => readonly Content[] {
    const candidates = this.#candidates
    return (from) =>
      candidates.flatMap((candidate) => this.#extensions(candidate, process, from).map(({ content }) => content))
  }

  #extensions(candidate: Candidate, process: number, atLeast: number): Candidate[] {
    const log = this.logs[process]!
    const extensions: Candidate[] = []
    let content = candidate.content
    for (let count = candidate.taken[process]!; count <= log.length; count++) {
      if (count > candidate.taken[process]!) content = apply(content, log[count - 1]!)
      if (count < atLeast) continue
      extensions.push({ content, taken: candidate.taken.map((old, index) => (index === process ? count : old)) })
    }
    return extensions
  }

  /** Whether the writes in between were failed calls. */
  #idle(candidate: Candidate, process: number, count: number): boolean {
    return this.logs[process]!.slice(candidate.taken[process], count).every((write) => write.changes.length === 0)
  }
}

function apply(content: Content, { changes }: Write): Content {
  if (changes.length === 0) return content
  const next = new Map(content)
  for (const [key, version] of changes) {
    if (version === undefined) next.delete(key)
    else next.set(key, version)
  }
  return next
}

function sameContent(a: Content, b: Content): boolean {
  if (a.size !== b.size) return false
  for (const [key, version] of a) if (b.get(key) !== version) return false
  return true
}

/** What differs, for people. */
function difference(expected: Content, actual: Content): string {
  const keys = [...new Set([...expected.keys(), ...actual.keys()])].filter(
    (key) => expected.get(key) !== actual.get(key),
  )
  return keys
    .slice(0, 10)
    .map((key) => `key ${key} should have version ${expected.get(key) ?? 'none'}, has ${actual.get(key) ?? 'none'}`)
    .concat(keys.length > 10 ? [`and ${keys.length - 10} more`] : [])
    .join('; ')
}

function distinct(candidates: readonly Candidate[]): readonly Candidate[] {
  if (candidates.length === 1) return candidates
  return [...new Map(candidates.map((candidate) => [candidate.taken.join(), candidate])).values()]
}

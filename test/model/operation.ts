import type { Random } from '../../engine/ports/random.ts'
import type { Shape } from './shape.ts'

/** What a scan asks for. Keys are numbers of `Rows`. */
export interface ScanSpec {
  /** Bounds over the first `columns` key columns, and the partition. */
  readonly lower?: { readonly key: number; readonly inclusive: boolean; readonly columns: number }
  readonly upper?: { readonly key: number; readonly inclusive: boolean; readonly columns: number }
  readonly where?: { readonly kind: number; readonly value: number }
  readonly limit?: number
  readonly columns?: readonly string[]
  readonly unordered?: boolean
  readonly arrow?: boolean
  /** How many snapshots before the newest to read; left out = the newest state with what is uncommitted. */
  readonly back?: number
}

/** One step. Handles are numbered over all processes; what does not apply (a slot without a scan) does nothing. */
export type Operation =
  | { readonly op: 'put' | 'putArrow'; readonly h: number; readonly keys: readonly number[]; readonly v: number }
  | { readonly op: 'delete'; readonly h: number; readonly keys: readonly number[] }
  | { readonly op: 'write'; readonly h: number; readonly parts: readonly Part[]; readonly v: number }
  | { readonly op: 'commit'; readonly h: number }
  | { readonly op: 'discard'; readonly h: number }
  | {
      readonly op: 'compact'
      readonly h: number
      readonly full: boolean
      readonly bucket?: number
      readonly abortAfter?: number
    }
  | { readonly op: 'expire'; readonly h: number; readonly retain: number; readonly dryRun: boolean }
  | { readonly op: 'tag'; readonly name: string; readonly back: number }
  | { readonly op: 'untag'; readonly name: string }
  | {
      readonly op: 'get'
      readonly h: number
      readonly keys: readonly number[]
      readonly back?: number
      readonly columns?: readonly string[]
    }
  | { readonly op: 'scan'; readonly h: number; readonly spec: ScanSpec }
  | { readonly op: 'openScan'; readonly h: number; readonly slot: number; readonly spec: ScanSpec }
  | { readonly op: 'nextRows'; readonly slot: number; readonly count: number }
  | { readonly op: 'closeScan'; readonly slot: number }
  | { readonly op: 'levels'; readonly h: number }
  | { readonly op: 'reopen'; readonly h: number; readonly how: 'commit' | 'discard' | 'crash' }
  | { readonly op: 'pass'; readonly millis: number; readonly turns: number }
  | { readonly op: 'together'; readonly operations: readonly Operation[]; readonly end?: End }

export type Part = { readonly put: readonly number[] } | { readonly delete: readonly number[] }

/** The process of a handle is closed, or dies, some turns of the event loop after calls were made. */
export interface End {
  readonly h: number
  readonly how: 'discard' | 'crash'
  readonly turns: number
}

/** Scans that can be open at once. */
const SLOTS = 3
const WHERE_KINDS = 8

/** How often each operation comes, in parts; alone and started together with others. */
const WEIGHTS = {
  put: 64,
  putArrow: 1.5,
  delete: 20,
  write: 8,
  commit: 2,
  get: 20,
  scan: 0.7,
  openScan: 0.4,
  nextRows: 0.9,
  closeScan: 0.2,
  compact: 0.4,
  expire: 0.15,
  tag: 0.06,
  untag: 0.06,
  discard: 0.1,
  levels: 0.4,
  reopen: 0.12,
  pass: 5,
  together: 1.5,
} as const satisfies Record<Operation['op'], number>

const ALONE = Object.keys(WEIGHTS) as Operation['op'][]
/** Calls started together; not among them is what has no one right answer when others run beside it. Heavy ones come often. */
const TOGETHER: readonly Operation['op'][] = [
  ...['put', 'put', 'put', 'put', 'put', 'put', 'delete', 'delete', 'write', 'putArrow', 'commit', 'commit', 'commit'],
  ...['get', 'get', 'scan', 'compact', 'expire', 'levels', 'pass', 'pass'],
] as Operation['op'][]

export class Generator {
  readonly #shape: Shape
  readonly #random: Random
  #version = 1

  constructor(shape: Shape, random: Random) {
    this.#shape = shape
    this.#random = random
  }

  next(): Operation {
    return this.#make(this.#weighted())
  }

  #make(op: Operation['op']): Operation {
    const h = this.#below(this.#shape.processes * this.#shape.handles)
    switch (op) {
      case 'put':
      case 'putArrow':
        return { op, h, keys: this.#keys(), v: this.#versions() }
      case 'delete':
        return { op, h, keys: this.#keys() }
      case 'write':
        return {
          op,
          h,
          parts: Array.from({ length: 1 + this.#below(4) }, () =>
            this.#chance(0.6) ? { put: this.#keys() } : { delete: this.#keys() },
          ),
          v: this.#versions(),
        }
      case 'commit':
      case 'discard':
      case 'levels':
        return { op, h }
      case 'compact':
        return {
          op,
          h,
          full: this.#chance(0.3),
          ...(this.#chance(0.3) && { bucket: this.#below(Number(this.#shape.options.bucket)) }),
          ...(this.#chance(0.1) && { abortAfter: this.#below(20) }),
        }
      case 'expire':
        return { op, h, retain: 1 + this.#below(6), dryRun: this.#chance(0.2) }
      case 'tag':
        return { op, name: `t${this.#below(3)}`, back: this.#below(4) }
      case 'untag':
        return { op, name: `t${this.#below(3)}` }
      case 'get':
        return {
          op,
          h,
          keys: this.#chance(0.7) ? [this.#key()] : this.#keys(),
          ...(this.#chance(0.15) && { back: this.#below(5) }),
          ...(this.#chance(0.2) && { columns: this.#columns() }),
        }
      case 'scan':
        return { op, h, spec: this.#spec() }
      case 'openScan':
        return { op, h, slot: this.#below(SLOTS), spec: this.#spec() }
      case 'nextRows':
        return { op, slot: this.#below(SLOTS), count: 1 + this.#below(this.#shape.keys) }
      case 'closeScan':
        return { op, slot: this.#below(SLOTS) }
      case 'reopen':
        return { op, h, how: this.#pick(['commit', 'commit', 'discard', 'crash'] as const) }
      case 'pass':
        return { op, millis: this.#pick([0, 10, 1000, 100_000]), turns: this.#below(60) }
      case 'together':
        return {
          op,
          operations: this.#group(),
          ...(this.#chance(0.06) && {
            end: {
              h,
              how: this.#pick(['discard', 'crash'] as const),
              turns: this.#below(2 * this.#shape.latency + 10),
            },
          }),
        }
    }
  }

  /** Writes of one process in a group go through one handle: between two handles nothing says which call comes first. */
  #group(): Operation[] {
    const { handles } = this.#shape
    const writer = Array.from(
      { length: this.#shape.processes },
      (_, process) => process * handles + this.#below(handles),
    )
    return Array.from({ length: 2 + this.#below(5) }, () => {
      const operation = this.#make(this.#pick(TOGETHER))
      if (!['put', 'putArrow', 'delete', 'write'].includes(operation.op) || !('h' in operation)) return operation
      return { ...operation, h: writer[Math.floor(operation.h / handles)]! }
    })
  }

  #spec(): ScanSpec {
    const { keys } = this.#shape
    const bound = () => ({
      key: this.#below(keys),
      inclusive: this.#chance(0.5),
      columns: this.#chance(0.6) ? 9 : 1 + this.#below(2),
    })
    return {
      ...(this.#chance(0.3) && { lower: bound() }),
      ...(this.#chance(0.3) && { upper: bound() }),
      ...(this.#chance(0.3) && { where: { kind: this.#below(WHERE_KINDS), value: this.#below(this.#version + 5) } }),
      ...(this.#chance(0.2) && { limit: this.#below(keys) }),
      ...(this.#chance(0.3) && { columns: this.#columns() }),
      ...(this.#chance(0.2) && { unordered: true }),
      ...(this.#chance(0.1) && { arrow: true }),
      ...(this.#chance(0.2) && { back: this.#below(6) }),
    }
  }

  #columns(): readonly string[] {
    return this.#pick<readonly string[]>([
      ['v'],
      ['amount', 'v'],
      ['score'],
      ['note'],
      ['v', 'note', 'amount', 'score'],
    ])
  }

  /** Keys of one call: mostly few, at times many; now and then one of them twice. */
  #keys(): readonly number[] {
    const count = this.#pick([1, 1, 1, 1, 1, 1, 2, 2, 3, 8, Math.min(40, this.#shape.keys)])
    if (this.#chance(0.3)) {
      const start = this.#key()
      return Array.from({ length: count }, (_, index) => (start + index) % this.#shape.keys)
    }
    return Array.from({ length: count }, () => this.#key())
  }

  #key(): number {
    return this.#below(this.#shape.keys)
  }

  /** Numbers for the rows of one call: no two rows of a run have the same. */
  #versions(): number {
    const first = this.#version
    this.#version += 1000
    return first
  }

  #weighted(): Operation['op'] {
    const weight = (op: Operation['op']) => WEIGHTS[op] * (op === 'commit' ? this.#shape.commits : 1)
    let left = this.#random.fraction() * ALONE.reduce((sum, op) => sum + weight(op), 0)
    for (const op of ALONE) {
      left -= weight(op)
      if (left < 0) return op
    }
    return 'put'
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)]!
  }

  #chance(share: number): boolean {
    return this.#random.fraction() < share
  }

  #below(count: number): number {
    return Math.floor(this.#random.fraction() * count)
  }
}

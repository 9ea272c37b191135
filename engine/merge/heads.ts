import { compareRanges } from '../../formats/column/compare.ts'
import type { Keys } from '../../formats/column/key-order.ts'

/** Rows `[start, end)` of one sorted input; each key once, ascending. */
export interface OrderInput {
  readonly keys: Keys
  readonly sequence: BigInt64Array
  readonly start: number
  readonly end: number
}

/**
 * The current row of each input, flat: one class a key form, so that comparing costs a few loads and no call through an object
 * per run.
 */
export interface Heads {
  /** Makes `row` the head of an input. */
  load(input: number, row: number): void
  /** The input has no more rows: it comes after all others. */
  finish(input: number): void
  /** Does the head of `a` come before that of `b`? By key, then sequence number, then position. */
  before(a: number, b: number): boolean
  /** Remembers the key at the head of an input. */
  keepLast(input: number): void
  /** Has the head of an input the key remembered last? */
  sameAsLast(input: number): boolean
}

export function createHeads(inputs: readonly OrderInput[]): Heads {
  switch (inputs[0]?.keys.form) {
    case 'int32':
      return new Int32Heads(inputs)
    case 'int64':
      return new Int64Heads(inputs)
    default:
      return new BytesHeads(inputs)
  }
}

type KeysOf<F extends Keys['form']> = Extract<Keys, { readonly form: F }>

class Int32Heads implements Heads {
  readonly #columns: readonly Int32Array[]
  readonly #sequences: readonly BigInt64Array[]
  /** As doubles: one value above all ints marks finished inputs. */
  readonly #key: Float64Array
  readonly #sequence: BigInt64Array
  #last = Number.NaN

  constructor(inputs: readonly OrderInput[]) {
    this.#columns = inputs.map((input) => (input.keys as KeysOf<'int32'>).values)
    this.#sequences = inputs.map((input) => input.sequence)
    this.#key = new Float64Array(inputs.length)
    this.#sequence = new BigInt64Array(inputs.length)
  }

  load(input: number, row: number): void {
    this.#key[input] = this.#columns[input]![row]!
    this.#sequence[input] = this.#sequences[input]![row]!
  }

  finish(input: number): void {
    this.#key[input] = Number.POSITIVE_INFINITY
    this.#sequence[input] = 0n
  }

  before(a: number, b: number): boolean {
    const key = this.#key
    if (key[a]! !== key[b]!) return key[a]! < key[b]!
    const sequence = this.#sequence
    return sequence[a]! < sequence[b]! || (sequence[a]! === sequence[b]! && a < b)
  }

  keepLast(input: number): void {
    this.#last = this.#key[input]!
  }

  sameAsLast(input: number): boolean {
    return this.#key[input] === this.#last
  }
}

class Int64Heads implements Heads {
  readonly #columns: readonly BigInt64Array[]
  readonly #sequences: readonly BigInt64Array[]
  readonly #key: BigInt64Array
  readonly #sequence: BigInt64Array
  readonly #finished: Uint8Array
  /** A slot, not a bigint: keeping a bigint in a field would allocate one a row. */
  readonly #last = new BigInt64Array(1)

  constructor(inputs: readonly OrderInput[]) {
    this.#columns = inputs.map((input) => (input.keys as KeysOf<'int64'>).values)
    this.#sequences = inputs.map((input) => input.sequence)
    this.#key = new BigInt64Array(inputs.length)
    this.#sequence = new BigInt64Array(inputs.length)
    this.#finished = new Uint8Array(inputs.length)
  }

  load(input: number, row: number): void {
    this.#key[input] = this.#columns[input]![row]!
    this.#sequence[input] = this.#sequences[input]![row]!
  }

  finish(input: number): void {
    this.#key[input] = 0x7fffffffffffffffn
    this.#sequence[input] = 0n
    this.#finished[input] = 1
  }

  before(a: number, b: number): boolean {
    const key = this.#key
    if (key[a]! < key[b]!) return true
    if (key[a]! > key[b]!) return false
    if (this.#finished[a] !== this.#finished[b]) return this.#finished[b] === 1
    const sequence = this.#sequence
    return sequence[a]! < sequence[b]! || (sequence[a]! === sequence[b]! && a < b)
  }

  keepLast(input: number): void {
    this.#last[0] = this.#key[input]!
  }

  sameAsLast(input: number): boolean {
    return this.#key[input]! === this.#last[0]!
  }
}

/** Bytes of a key that fit a double exactly. */
const PREFIX = 6

/**
 * Leading bytes that every key of the inputs shares: those of the first and last keys, since the inputs are sorted. Keys such as
 * `user-000123` are compared from there on.
 */
function sharedPrefix(inputs: readonly OrderInput[]): number {
  const first = inputs.find((input) => input.start < input.end)
  if (first === undefined) return 0
  const { data, offsets } = first.keys as KeysOf<'bytes'>
  const start = offsets[first.start]!
  let shared = offsets[first.start + 1]! - start
  for (const { keys, start: from, end } of inputs) {
    if (from === end) continue
    const other = keys as KeysOf<'bytes'>
    for (const row of [from, end - 1]) {
      const at = other.offsets[row]!
      const length = Math.min(shared, other.offsets[row + 1]! - at)
      let same = 0
      while (same < length && data[start + same] === other.data[at + same]) same++
      shared = same
    }
  }
  return shared
}

class BytesHeads implements Heads {
  readonly #columns: readonly KeysOf<'bytes'>[]
  readonly #sequences: readonly BigInt64Array[]
  readonly #skip: number
  /** Six bytes of the key after the shared ones as a number, padded with zeros: decides most comparisons, at half the cost. */
  readonly #prefix: Float64Array
  readonly #start: Int32Array
  readonly #end: Int32Array
  readonly #sequence: BigInt64Array
  #lastData: Uint8Array = new Uint8Array(0)
  #lastStart = 0
  #lastEnd = 0

  constructor(inputs: readonly OrderInput[]) {
    this.#columns = inputs.map((input) => input.keys as KeysOf<'bytes'>)
    this.#sequences = inputs.map((input) => input.sequence)
    this.#skip = sharedPrefix(inputs)
    this.#prefix = new Float64Array(inputs.length)
    this.#start = new Int32Array(inputs.length)
    this.#end = new Int32Array(inputs.length)
    this.#sequence = new BigInt64Array(inputs.length)
  }

  load(input: number, row: number): void {
    const { data, offsets } = this.#columns[input]!
    const start = offsets[row]! + this.#skip
    const end = offsets[row + 1]!
    this.#start[input] = start
    this.#end[input] = end
    this.#prefix[input] = prefixAt(data, start, end)
    this.#sequence[input] = this.#sequences[input]![row]!
  }

  finish(input: number): void {
    this.#prefix[input] = Number.POSITIVE_INFINITY
    this.#start[input] = 0
    this.#end[input] = 0
    this.#sequence[input] = 0n
  }

  before(a: number, b: number): boolean {
    const prefix = this.#prefix
    if (prefix[a]! !== prefix[b]!) return prefix[a]! < prefix[b]!
    const order = compareTails(
      this.#columns[a]!.data,
      this.#start[a]!,
      this.#end[a]!,
      this.#columns[b]!.data,
      this.#start[b]!,
      this.#end[b]!,
    )
    if (order !== 0) return order < 0
    const sequence = this.#sequence
    return sequence[a]! < sequence[b]! || (sequence[a]! === sequence[b]! && a < b)
  }

  keepLast(input: number): void {
    this.#lastData = this.#columns[input]!.data
    this.#lastStart = this.#start[input]!
    this.#lastEnd = this.#end[input]!
  }

  sameAsLast(input: number): boolean {
    const start = this.#start[input]!
    const length = this.#end[input]! - start
    if (length !== this.#lastEnd - this.#lastStart) return false
    const { data } = this.#columns[input]!
    // From the end: neighbours share their first bytes, not their last.
    for (let i = length - 1; i >= 0; i--) if (data[start + i] !== this.#lastData[this.#lastStart + i]) return false
    return true
  }
}

function prefixAt(data: Uint8Array, start: number, end: number): number {
  let value = 0
  const stop = Math.min(end, start + PREFIX)
  for (let i = start; i < stop; i++) value = value * 256 + data[i]!
  for (let i = stop; i < start + PREFIX; i++) value *= 256
  return value
}

/** Order of two keys whose prefixes are equal. */
function compareTails(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  if (aEnd - aStart <= PREFIX || bEnd - bStart <= PREFIX) return aEnd - aStart - (bEnd - bStart)
  return compareRanges(a, aStart + PREFIX, aEnd, b, bStart + PREFIX, bEnd)
}

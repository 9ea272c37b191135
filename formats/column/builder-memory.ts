import type { Column, FixedArray } from './column.ts'
import type { Memory } from './memory.ts'

/** A growing column. Nested builders own the builders of their children; see `BatchBuilder` for the invariants. */
export interface ColumnBuilder {
  readonly length: number
  /** Bytes in use, without slack, children included. */
  readonly byteLength: number
  appendNull(): void
  /** Appends all rows of a column of the same type, or those at `rows`. */
  appendColumn(column: Column, rows?: Uint32Array): void
  /** Forgets all rows from `length` on. */
  truncate(length: number): void
  /** The rows so far as a column that never changes; nothing is copied. */
  view(): Column
}

/** A typed array over new memory that starts with the first `keep` elements of `old`. */
export function grown<T extends FixedArray>(old: T, keep: number, capacity: number, memory: Memory): T {
  const create = old.constructor as new (buffer: ArrayBufferLike, offset: number, length: number) => T
  const next = new create(memory(capacity * old.BYTES_PER_ELEMENT), 0, capacity)
  ;(next as Uint8Array).set(old.subarray(0, keep) as Uint8Array)
  return next
}

/**
 * The null mask of a builder: absent until the first null, 1 in every free slot, so that appending a value costs nothing.
 * Slots below `shown` belong to views and are never written again: `truncate` below it moves to a copy.
 */
export class MaskBuilder {
  readonly #memory: Memory
  #mask: Uint8Array | undefined
  #nulls = 0
  #shown = 0

  constructor(memory: Memory) {
    this.#memory = memory
  }

  get hasNulls(): boolean {
    return this.#nulls > 0
  }

  setNull(index: number): void {
    this.#reserve(index + 1)[index] = 0
    this.#nulls++
  }

  /** Takes over `length` rows of a column's mask, or those at `rows`, from index `at`. */
  append(at: number, length: number, valid: Uint8Array | undefined, rows?: Uint32Array): void {
    if (valid === undefined) return
    for (let i = 0; i < length; i++) if (valid[rows === undefined ? i : rows[i]!] === 0) this.setNull(at + i)
  }

  truncate(length: number): void {
    const mask = this.#mask
    if (mask === undefined) return
    const used = mask.subarray(0, length)
    this.#nulls = 0
    for (let at = used.indexOf(0); at >= 0; at = used.indexOf(0, at + 1)) this.#nulls++
    if (length < this.#shown) this.#mask = this.#copy(mask, length, mask.length)
    else mask.fill(1, length)
    this.#shown = Math.min(this.#shown, length)
  }

  view(length: number): Uint8Array | undefined {
    if (this.#nulls === 0) return undefined
    this.#shown = Math.max(this.#shown, length)
    return this.#reserve(length).subarray(0, length)
  }

  #reserve(length: number): Uint8Array {
    if (this.#mask === undefined) this.#mask = this.#copy(new Uint8Array(0), 0, Math.max(64, length * 2))
    else if (this.#mask.length < length) this.#mask = this.#copy(this.#mask, this.#mask.length, length * 2)
    return this.#mask
  }

  #copy(old: Uint8Array, keep: number, capacity: number): Uint8Array {
    const mask = grown(old, keep, capacity, this.#memory)
    mask.fill(1, keep)
    return mask
  }
}

/** Offsets of a growing list or string column; the same rule for views as `MaskBuilder`. */
export class OffsetsBuilder {
  readonly #memory: Memory
  #offsets: Int32Array
  #shown = 0
  length = 0

  constructor(memory: Memory, rows: number) {
    this.#memory = memory
    this.#offsets = new Int32Array(memory((rows + 1) * 4))
  }

  /** Offset at which the next value starts: the end of the last one. */
  get end(): number {
    return this.#offsets[this.length]!
  }

  at(row: number): number {
    return this.#offsets[row]!
  }

  push(end: number): void {
    if (this.length + 2 > this.#offsets.length) this.reserve(1)
    this.#offsets[++this.length] = end
  }

  /** Appends values that end at `ends[1]` to `ends[count]`, moved by `shift`. */
  pushAll(ends: Int32Array, count: number, shift: number): void {
    this.reserve(count)
    const offsets = this.#offsets
    const at = this.length
    for (let i = 1; i <= count; i++) offsets[at + i] = ends[i]! + shift
    this.length = at + count
  }

  /** Appends the chosen values of a column with the offsets `ends`. */
  pushRows(ends: Int32Array, rows: Uint32Array): void {
    this.reserve(rows.length)
    const offsets = this.#offsets
    const at = this.length + 1
    let end = this.end
    for (let i = 0; i < rows.length; i++) {
      end += ends[rows[i]! + 1]! - ends[rows[i]!]!
      offsets[at + i] = end
    }
    this.length += rows.length
  }

  reserve(rows: number): void {
    const needed = this.length + rows + 1
    if (needed > this.#offsets.length) {
      this.#offsets = grown(this.#offsets, this.length + 1, Math.max(needed, this.#offsets.length * 2), this.#memory)
    }
  }

  truncate(length: number): void {
    if (length < this.#shown) {
      this.#offsets = grown(this.#offsets, length + 1, this.#offsets.length, this.#memory)
      this.#shown = length
    }
    this.length = length
  }

  view(): Int32Array {
    this.#shown = Math.max(this.#shown, this.length)
    return this.#offsets.subarray(0, this.length + 1)
  }
}

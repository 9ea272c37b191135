import type { Column, FixedColumn } from '../column/column.ts'
import type { Bounds } from './write-statistics.ts'

/**
 * The values of the open page of one leaf, nulls left out, already in PLAIN form. Buffers grow to the size of the largest
 * page and are used again for the next.
 */
export interface PageValues {
  readonly count: number
  /** Size of what `plain` would give. */
  readonly plainBytes: number
  /** Bytes a value takes in PLAIN form; 0 when they differ. */
  readonly width: number
  /** Appends the present values of rows `[start, end)`; `present` is how many these are. */
  append(column: Column, start: number, end: number, present: number): void
  /** Appends the rows that `rows[from, to)` names; negative ones stand for nulls and are skipped. */
  appendAt(column: Column, rows: Int32Array, from: number, to: number): void
  /** PLAIN bytes of the page: a view that the next append may overwrite. */
  plain(): Uint8Array
  bounds(): Bounds
  clear(): void
}

/** A `Uint8Array` of at least `needed` bytes that starts with the first `used` of `buffer`. */
export function grown(buffer: Uint8Array, used: number, needed: number): Uint8Array {
  if (needed <= buffer.length) return buffer
  // Multiples of eight, so that words can be laid over it.
  const next = new Uint8Array((Math.max(needed, buffer.length * 2, 1024) + 7) & ~7)
  next.set(buffer.subarray(0, used))
  return next
}

/** Narrows to a column with fixed values; anything else is a bug of the caller. */
export function fixed(column: Column): FixedColumn {
  if (column.kind !== 'fixed') throw new TypeError(`a fixed column was expected, got ${column.kind}`)
  return column
}

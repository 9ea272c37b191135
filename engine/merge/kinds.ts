import type { Batch, FixedColumn } from '../../formats/column/column.ts'
import type { MergeOrder } from './order.ts'

/** `_VALUE_KIND` as stored: +I and +U add a row, -U and -D retract one. */
export const INSERT = 0
export const UPDATE_BEFORE = 1
export const UPDATE_AFTER = 2
export const DELETE = 3

/** How kinds are written, by `_VALUE_KIND`. */
export const KIND_TEXTS = ['+I', '-U', '+U', '-D'] as const

/** True for the kinds that take a row back out. */
export function isRetract(kind: number): boolean {
  return (kind & 1) === 1
}

/** Kinds of the rows of an order; `kind` is the position of `_VALUE_KIND`. */
export function kindsOf({ source, row }: MergeOrder, inputs: readonly Batch[], kind: number): Uint8Array {
  const columns = inputs.map((input) => (input.columns[kind] as FixedColumn).values as Int8Array)
  const kinds = new Uint8Array(row.length)
  for (let place = 0; place < row.length; place++) kinds[place] = columns[source[place]!]![row[place]!]!
  return kinds
}

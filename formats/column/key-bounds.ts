import type { Column, Scalar } from './column.ts'
import { compareRanges, compareScalars, scalarAt } from './compare.ts'

/**
 * Compares a row of key columns with the leading key columns `prefix`: negative, zero, positive. A row that starts with the
 * prefix counts as equal.
 */
export function compareRowToKey(columns: readonly Column[], row: number, prefix: readonly Scalar[]): number {
  for (let i = 0; i < prefix.length; i++) {
    const column = columns[i]!
    const value = prefix[i]!
    const order =
      column.kind === 'bytes' && value instanceof Uint8Array
        ? compareRanges(column.data, column.offsets[row]!, column.offsets[row + 1]!, value, 0, value.length)
        : compareScalars(scalarAt(column, row)!, value)
    if (order !== 0) return order
  }
  return 0
}

/** First of `rows` sorted rows whose leading key columns are >= `prefix`; `rows` when none is. Binary search. */
export function firstAtLeast(columns: readonly Column[], rows: number, prefix: readonly Scalar[]): number {
  return search(columns, 0, rows, prefix, 0)
}

/** First of `rows` sorted rows whose leading key columns are > `prefix`: past every row that starts with it. */
export function firstAfter(columns: readonly Column[], rows: number, prefix: readonly Scalar[]): number {
  return search(columns, 0, rows, prefix, 1)
}

/** `firstAtLeast` for a prefix that is above all rows before `from`: quick when the place is near. */
export function firstAtLeastFrom(
  columns: readonly Column[],
  from: number,
  rows: number,
  prefix: readonly Scalar[],
): number {
  let low = from
  for (let step = 1; low + step <= rows; step *= 2) {
    if (compareRowToKey(columns, low + step - 1, prefix) >= 0) return search(columns, low, low + step - 1, prefix, 0)
    low += step
  }
  return search(columns, low, rows, prefix, 0)
}

function search(
  columns: readonly Column[],
  start: number,
  end: number,
  prefix: readonly Scalar[],
  above: 0 | 1,
): number {
  const column = columns[0]
  if (prefix.length === 1 && column?.kind === 'fixed' && column.values instanceof BigInt64Array) {
    return searchLongs(column.values, start, end, prefix[0] as bigint, above)
  }
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareRowToKey(columns, middle, prefix) < above) low = middle + 1
    else high = middle
  }
  return low
}

/** The same for one 64-bit key, where no value has to leave its array: a quarter of the time (tools/bench/micro/int64.mjs). */
function searchLongs(values: BigInt64Array, start: number, end: number, value: bigint, above: 0 | 1): number {
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! < value || (above === 1 && values[middle]! === value)) low = middle + 1
    else high = middle
  }
  return low
}

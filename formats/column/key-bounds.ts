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

/** Compares row `a` of key columns with row `b` of others of the same types, none of them null. */
export function compareRows(left: readonly Column[], a: number, right: readonly Column[], b: number): number {
  for (let i = 0; i < right.length; i++) {
    const x = left[i]!
    const y = right[i]!
    let order: number
    if (x.kind === 'bytes' && y.kind === 'bytes') {
      const { data, offsets } = y
      order = compareRanges(x.data, x.offsets[a]!, x.offsets[a + 1]!, data, offsets[b]!, offsets[b + 1]!)
    } else if (x.kind === 'fixed' && x.values instanceof BigInt64Array) {
      const p = x.values[a]!
      const q = (y as typeof x).values[b]!
      order = p < q ? -1 : p > q ? 1 : 0
    } else order = compareScalars(scalarAt(x, a)!, scalarAt(y, b)!)
    if (order !== 0) return order
  }
  return 0
}

/**
 * First row in `[from, rows)` of sorted key columns that is at least row `at` of `keys`, where all rows before `from` are below
 * it and the last is not. Steps that double: quick when the place is near.
 */
export function firstAtLeastRow(
  columns: readonly Column[],
  from: number,
  rows: number,
  keys: readonly Column[],
  at: number,
): number {
  let low = from
  let high = from
  for (let step = 1; high < rows - 1 && compareRows(columns, high, keys, at) < 0; step *= 2) {
    low = high + 1
    high = Math.min(high + step, rows - 1)
  }
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareRows(columns, middle, keys, at) < 0) low = middle + 1
    else high = middle
  }
  return low
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

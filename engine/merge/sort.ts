import type { Batch } from '../../formats/column/column.ts'
import { compareKeys, type Keys, keysOf } from '../../formats/column/key-order.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { deduplicate } from './engines/deduplicate.ts'
import type { MergeOrder } from './order.ts'
import { arranged, type MergeEngine, reduceApart } from './reduce.ts'
import { radixSortBytes } from './sort-bytes.ts'
import { radixSortInt32, radixSortInt64 } from './sort-ints.ts'

/**
 * Sorts buffered rows, which are in order of arrival, by key and reduces each key to one row: with the default engine the row
 * that arrived last. Where that needs older rows, or does not fit a column, it gives several batches, oldest first: a key once in each. `keys` are the
 * positions of the key columns.
 */
export function sortBatch(
  batch: Batch,
  keys: readonly number[],
  keyTypes: readonly DataType[],
  engine: MergeEngine = deduplicate,
): readonly Batch[] {
  return reduceSorted(batch, sortOrder(batch, keys, keyTypes), engine)
}

/** The rows of an order of `sortOrder`, a key once in each batch; see `sortBatch`. */
export function reduceSorted(batch: Batch, order: MergeOrder, engine: MergeEngine): readonly Batch[] {
  const whole = arranged([batch], order, engine)
  const orders = engine.apart?.(whole, [batch]) ?? [whole]
  return orders.flatMap((part) => reduceApart([batch], part, engine))
}

/** The order of buffered rows by key, then arrival, without moving them: to scan rows that are not committed. */
export function sortOrder(batch: Batch, keys: readonly number[], keyTypes: readonly DataType[]): MergeOrder {
  const columns = keys.map((index) => batch.columns[index]!)
  const sortable = keysOf(columns, keyTypes, batch.rows)
  const row = sortedRows(sortable)
  const groupEnd = new Uint32Array(batch.rows)
  const groups =
    sortable.form === 'int64' ? groupsOfInt64(sortable.values, row, groupEnd) : groupsOf(sortable, row, groupEnd)
  return { source: new Uint16Array(row.length), row, groupEnd: groupEnd.subarray(0, groups) }
}

/** Fills in where the groups of equal keys end; gives their number. */
function groupsOf(keys: Keys, row: Uint32Array, groupEnd: Uint32Array): number {
  let groups = 0
  for (let i = 1; i < row.length; i++) if (compareKeys(keys, row[i - 1]!, keys, row[i]!) !== 0) groupEnd[groups++] = i
  if (row.length > 0) groupEnd[groups++] = row.length
  return groups
}

/** The same, with one look at a random place a row. */
function groupsOfInt64(keys: BigInt64Array, row: Uint32Array, groupEnd: Uint32Array): number {
  const words = new Int32Array(keys.buffer, keys.byteOffset, keys.length * 2)
  let groups = 0
  let low = 0
  let high = 0
  for (let i = 0; i < row.length; i++) {
    const at = row[i]! * 2
    const nextLow = words[at]!
    const nextHigh = words[at + 1]!
    if (i > 0 && (nextLow !== low || nextHigh !== high)) groupEnd[groups++] = i
    low = nextLow
    high = nextHigh
  }
  if (row.length > 0) groupEnd[groups++] = row.length
  return groups
}

/** Stable: equal keys keep their order. Rows that arrived sorted are recognised in one pass. */
function sortedRows(keys: Keys): Uint32Array {
  const rows = new Uint32Array(keys.rows)
  for (let i = 0; i < rows.length; i++) rows[i] = i
  if (ascends(keys)) return rows
  switch (keys.form) {
    case 'int32':
      return radixSortInt32(keys.values, rows)
    case 'int64':
      return radixSortInt64(keys.values, rows)
    case 'bytes':
      return radixSortBytes(keys.data, keys.offsets, rows)
  }
}

function ascends(keys: Keys): boolean {
  for (let row = 1; row < keys.rows; row++) if (compareKeys(keys, row - 1, keys, row) > 0) return false
  return true
}

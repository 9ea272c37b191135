import type { Batch, Column, FixedColumn } from '../../formats/column/column.ts'
import { scalarAt } from '../../formats/column/compare.ts'
import { takeBatch } from '../../formats/column/gather.ts'
import { type ExpiryLimit, isExpired, MILLIS_FROM } from '../options/record-expiry.ts'
import { isRetract } from './kinds.ts'

/**
 * The rows of a batch that are not retractions (-U, -D); `kind` is the position of `_VALUE_KIND`. Only after the merge: a
 * delete must first beat the older rows of its key. A batch without retractions is given back as it is.
 */
export function dropDeletes(batch: Batch, kind: number): Batch {
  const kinds = (batch.columns[kind] as FixedColumn).values as Int8Array
  const rows = new Uint32Array(batch.rows)
  let count = 0
  for (let row = 0; row < batch.rows; row++) {
    if (!isRetract(kinds[row]!)) rows[count++] = row
  }
  return filterBatch(batch, rows.subarray(0, count))
}

/**
 * The rows of a batch whose time, in the column at position `time`, has not expired; a row without a time stays. Only after the
 * merge and only where nothing older lies outside of it: an older row of the key would come back.
 */
export function dropExpired(batch: Batch, time: number, limit: ExpiryLimit): Batch {
  const expired = expiredRows(batch, time, limit)
  const rows = new Uint32Array(batch.rows)
  let count = 0
  for (let row = 0; row < batch.rows; row++) {
    if (!expired(row)) rows[count++] = row
  }
  return filterBatch(batch, rows.subarray(0, count))
}

/** Whether the row at a position has expired, by its time in the column at position `time`; never without a time. */
export function expiredRows(batch: Batch, time: number, limit: ExpiryLimit): (row: number) => boolean {
  const column = batch.columns[time]!
  const { valid } = column
  const expired = expiredIn(column, limit)
  return valid === undefined ? expired : (row) => valid[row] !== 0 && expired(row)
}

/** Compares as doubles, where they hold the limits exactly: larger values round to what lies on the same side of them. */
function expiredIn(column: Column, limit: ExpiryLimit): (row: number) => boolean {
  if (column.kind !== 'fixed') return (row) => isExpired(limit, scalarAt(column, row)!)
  const { values } = column
  const [below, belowMillis, millisFrom] = [Number(limit.below), Number(limit.belowMillis), Number(MILLIS_FROM)]
  if (!(values instanceof BigInt64Array)) return (row) => (values[row] as number) < below
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  return (row) => {
    const value = halves[row * 2 + 1]! * 0x100000000 + (halves[row * 2]! >>> 0)
    return value < below || (value >= millisFrom && value < belowMillis)
  }
}

/** The rows of an ascending selection; the batch itself when it selects all. */
function filterBatch(batch: Batch, selection: Uint32Array): Batch {
  return selection.length === batch.rows ? batch : takeBatch(batch, selection)
}

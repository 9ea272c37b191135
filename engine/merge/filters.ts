import type { Batch, FixedColumn } from '../../formats/column/column.ts'
import { takeBatch } from '../../formats/column/gather.ts'

/** `_VALUE_KIND`: +I and +U add a row, -U and -D retract one. */
const UPDATE_BEFORE = 1
const DELETE = 3

/**
 * The rows of a batch that are not retractions (-U, -D); `kind` is the position of `_VALUE_KIND`. Only after the merge: a
 * delete must first beat the older rows of its key. A batch without retractions is given back as it is.
 */
export function dropDeletes(batch: Batch, kind: number): Batch {
  const kinds = (batch.columns[kind] as FixedColumn).values
  const rows = new Uint32Array(batch.rows)
  let count = 0
  for (let row = 0; row < batch.rows; row++) {
    if (kinds[row] !== UPDATE_BEFORE && kinds[row] !== DELETE) rows[count++] = row
  }
  return filterBatch(batch, rows.subarray(0, count))
}

/** The rows of an ascending selection; the batch itself when it selects all. */
function filterBatch(batch: Batch, selection: Uint32Array): Batch {
  return selection.length === batch.rows ? batch : takeBatch(batch, selection)
}

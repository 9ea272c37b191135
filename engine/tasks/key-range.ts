import type { Batch } from '../../formats/column/column.ts'
import { firstAfter, firstAtLeast } from '../../formats/column/key-bounds.ts'
import { sliceBatch } from '../../formats/column/slice.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import type { RowRange } from '../../formats/parquet/file-read.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import type { DataFileReader } from '../store/data-reader.ts'
import type { KeyRange } from './task.ts'

/** Rows of a file that lie in a range of keys: found by page index, then by the keys of the pages at both ends. */
export function rowsIn(reader: DataFileReader, file: DataFile, { lower, upper }: KeyRange): RowRange {
  const start = lower === undefined ? 0 : reader.rowsBefore(lower.values, !lower.inclusive)
  const end = upper === undefined ? file.rows : reader.rowsBefore(upper.values, upper.inclusive)
  return { start, end: Math.max(start, end) }
}

/** Rows of a sorted batch that lie in a range of keys. */
export function cutToRange(batch: Batch, layout: KvLayout, { lower, upper }: KeyRange): Batch {
  const keys = layout.keyIndexes.map((index) => batch.columns[index]!)
  const find = (values: NonNullable<KeyRange['lower']>['values'], including: boolean): number =>
    (including ? firstAfter : firstAtLeast)(keys, batch.rows, values)
  const start = lower === undefined ? 0 : find(lower.values, !lower.inclusive)
  const end = upper === undefined ? batch.rows : find(upper.values, upper.inclusive)
  return sliceBatch(batch, Math.min(start, end), end)
}

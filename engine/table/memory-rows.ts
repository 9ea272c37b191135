import type { Batch, Column, Scalar } from '../../formats/column/column.ts'
import { scalarAt } from '../../formats/column/compare.ts'
import { concatBatches } from '../../formats/column/slice.ts'
import { serializeRow } from '../../formats/row/binary-row.ts'
import { isRetract } from '../merge/kinds.ts'
import type { MergeEngine } from '../merge/reduce.ts'
import { sortBatch } from '../merge/sort.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import type { MergedRow } from '../read/lookup-merged.ts'
import { bufferedRowsAt } from '../tasks/buffered.ts'
import type { BucketWriter } from '../write/bucket-writer.ts'

/** The newest uncommitted row of a key that no file holds yet. */
export function inMemory(bucket: BucketWriter, key: Uint8Array): { deleted: boolean; row: MergedRow } | undefined {
  for (const buffer of bucket.buffers.toReversed()) {
    const row = buffer.find(key)
    if (row < 0) continue
    const rows = buffer.view()
    return { deleted: isRetract(rows.kinds[row]!), row: { batch: rows.values, row } }
  }
  return undefined
}

/**
 * All uncommitted records of keys that no file holds yet, as sorted batches, oldest first. `rows` are positions in the key
 * columns.
 */
export function recordsInMemory(
  bucket: BucketWriter,
  keys: readonly Column[],
  rows: readonly number[],
  layout: KvLayout,
  engine: MergeEngine,
): readonly Batch[] {
  const wanted = rows.map((row) => serializeRow(layout.keyTypes, keyAt(keys, row)))
  const records = bucket.buffers.flatMap((buffer) => {
    const at = [...new Set(wanted.flatMap((key) => buffer.findAll(key)))].sort((a, b) => a - b)
    return at.length === 0 ? [] : [bufferedRowsAt(layout, buffer.view(), Uint32Array.from(at))]
  })
  if (records.length === 0) return []
  return sortBatch(concatBatches(records), layout.keyIndexes, layout.keyTypes, engine)
}

export function keyAt(columns: readonly Column[], row: number): readonly Scalar[] {
  return columns.map((column) => scalarAt(column, row) as Scalar)
}

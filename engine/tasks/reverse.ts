import type { Batch, Scalar } from '../../formats/column/column.ts'
import { compareScalars, scalarAt } from '../../formats/column/compare.ts'
import type { SortedRun } from '../plan/types.ts'
import type { BucketFiles } from './files.ts'
import { rowsIn } from './key-range.ts'
import type { KeyRange } from './task.ts'

/**
 * The key where the last piece of a range begins, so that no file gives it more than about `rows` rows; undefined when the whole
 * range is no more than that. Each file names the key that many rows from its end, and the largest of these is taken:
 *
 *   file a  |---------------x--|        x: `rows` from the end
 *   file b  |------x--|
 *   piece                   |--|
 *
 * Decodes a page or two of keys of each file. `memory` holds rows of the range only.
 */
export function pieceBelow(
  files: BucketFiles,
  runs: readonly SortedRun[],
  memory: readonly Batch[],
  range: KeyRange,
  rows: number,
): readonly Scalar[] | undefined {
  let start: readonly Scalar[] | undefined
  const offer = (key: readonly Scalar[]): void => {
    if (start === undefined || compareKeys(key, start) > 0) start = key
  }
  for (const batch of memory) {
    if (batch.rows <= rows) continue
    offer(files.layout.keyIndexes.map((index) => scalarAt(batch.columns[index]!, batch.rows - rows)!))
  }
  for (const file of runs.flatMap((run) => run.files)) {
    if (file.rows <= rows) continue
    const reader = files.open(file, rows)
    try {
      const inRange = rowsIn(reader, file, range)
      if (inRange.end - inRange.start <= rows) continue
      const row = reader.pageStart(inRange.end - rows)
      if (row > inRange.start) offer(reader.keyAt(row))
    } finally {
      files.close(reader)
    }
  }
  return start
}

function compareKeys(a: readonly Scalar[], b: readonly Scalar[]): number {
  for (let i = 0; i < a.length; i++) {
    const order = compareScalars(a[i]!, b[i]!)
    if (order !== 0) return order
  }
  return 0
}

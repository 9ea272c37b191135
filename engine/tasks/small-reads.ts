import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { kvLayout } from '../plan/kv-layout.ts'
import type { TaskContext } from './context.ts'
import { BucketFiles } from './files.ts'
import { runRead } from './read.ts'
import type { KeyRange, ReadResult, ReadTask } from './task.ts'

/** Rows, bytes and files of a read that is done sooner than a thread has been asked: some 20 ms at most. */
const SMALL_ROWS = 32_768
const SMALL_BYTES = 4 * 1024 * 1024
const SMALL_FILES = 16

/** Rows and bytes of whole files that are read here without a look at their pages. */
const FEW_ROWS = 8192
const FEW_BYTES = 1024 * 1024

/** The result of a read that is too small for a thread, done on this one; undefined for one that is not. */
export async function readIfSmall(task: ReadTask, context: TaskContext): Promise<ReadResult | undefined> {
  return isSmall(task, context) ? runRead(task, context) : undefined
}

/**
 * Whether a read is small: by all that its files hold, or, for a range of keys, by their page indexes. The latter reads footers that
 * are not known yet.
 */
function isSmall(task: ReadTask, context: TaskContext): boolean {
  const files = task.sections.flatMap(({ runs }) => runs.flat())
  if (files.length > SMALL_FILES || task.memory.some(({ rows }) => rows > SMALL_ROWS)) return false
  if (sum(files, 'rows') <= FEW_ROWS && sum(files, 'bytes') <= FEW_BYTES) return true
  const within = rangePredicate(task)
  if (within === undefined) return false
  const bucket = new BucketFiles(context, task.table, task.folder, '', kvLayout(task.table.schema, []))
  let rows = 0
  let bytes = 0
  for (const file of files) {
    const matching = rowsMatching(bucket, file, within)
    rows += matching
    bytes += (file.bytes * matching) / Math.max(1, file.rows)
    if (rows > SMALL_ROWS || bytes > SMALL_BYTES) return false
  }
  return true
}

function sum(files: readonly DataFile[], of: 'rows' | 'bytes'): number {
  return files.reduce((total, file) => total + file[of], 0)
}

function rowsMatching(bucket: BucketFiles, file: DataFile, within: Predicate): number {
  const reader = bucket.open(file, 1)
  try {
    return reader.rowsMatching(within)
  } finally {
    reader.close()
  }
}

/** The range as a condition on the first key column, wide enough to keep every row of it; undefined when an end is open. */
function rangePredicate({ range, table }: ReadTask): Predicate | undefined {
  const { lower, upper }: KeyRange = range
  if (lower === undefined || upper === undefined) return undefined
  const column = kvLayout(table.schema, []).keys[0]!.name
  return {
    op: 'and',
    children: [
      { op: 'ge', column, value: lower.values[0]! },
      { op: 'le', column, value: upper.values[0]! },
    ],
  }
}

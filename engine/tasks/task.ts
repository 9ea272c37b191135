import type { Batch, Scalar } from '../../formats/column/column.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { DataFile, TableSchema } from '../../formats/meta/types.ts'
import type { Rewriter } from '../plan/rewriter.ts'
import type { Step } from '../plan/types.ts'
import type { VectorFile } from '../plan/vectors.ts'

/** The table a task works on: plain data, cloned with each task. */
export interface TaskTable {
  /** Absolute path of the table's folder. */
  readonly path: string
  /** The schema that is written, and that rows are read as; its options hold. */
  readonly schema: TableSchema
  /** Schemas that files of the task were written with, when older. */
  readonly olderSchemas: readonly TableSchema[]
  /** Sync data files before a result is given. */
  readonly durable: boolean
  /** Folder for spill files; outside the table. */
  readonly tempDirectory: string
}

interface BucketTask {
  readonly table: TaskTable
  /** Absolute path of the bucket's folder. */
  readonly folder: string
  /** Names of new files hold it, so that whoever ends a task by force can find what it left. */
  readonly fileUuid: string
  /** One Int32 in shared memory; not zero = stop, remove what was written, reject with `ABORTED`. */
  readonly cancel: Int32Array
}

/** Rows in arrival order: columns of the table, and a kind a row. Backed by shared memory, so that a lost thread loses nothing. */
export interface BufferedRows {
  readonly values: Batch
  readonly kinds: Int8Array
  readonly firstSequence: bigint
}

/** Sorts buffered rows, keeps the last of each key, writes level-0 files. */
export interface FlushTask extends BucketTask {
  readonly kind: 'flush'
  readonly rows: BufferedRows
}

/** Runs the steps of one compaction. */
export interface CompactTask extends BucketTask {
  readonly kind: 'compact'
  readonly steps: readonly Step[]
  readonly outputLevel: number
  readonly dropDelete: boolean
  /** The highest level of the bucket. */
  readonly maxLevel: number
  readonly rewriter: Rewriter
  /** See `CompactionPlan`. */
  readonly above: readonly (readonly DataFile[])[]
  readonly marked: readonly DataFile[]
}

/** Rewrites level-0 files, and changelog files of flushes, with every sequence number raised by `offset`; order and rows stay. */
export interface RenumberTask extends BucketTask {
  readonly kind: 'renumber'
  readonly files: readonly DataFile[]
  /** The changelog of their rows. */
  readonly changelog: readonly DataFile[]
  readonly offset: bigint
}

/** Sorts buffered rows into KV batches in shared memory, for scans that must see them. */
export interface SortTask {
  readonly kind: 'sort'
  readonly table: TaskTable
  readonly rows: readonly BufferedRows[]
}

/** One end of a key range: values of the leading key columns, in column units. */
export interface KeyBound {
  readonly values: readonly Scalar[]
  readonly inclusive: boolean
}

export interface KeyRange {
  readonly lower?: KeyBound | undefined
  readonly upper?: KeyBound | undefined
}

/** Sorted runs of one bucket, oldest first, to be merged by key; one run is read as it is. */
export interface ReadSection {
  readonly runs: readonly (readonly DataFile[])[]
}

/**
 * Where a stretch ended and the next one goes on: behind a key, or, in a section of one run, past so many rows of a file. Rows
 * cost no look at the keys. In reverse a key is gone on before, and rows count from the end of the file.
 */
export type ReadPosition =
  | { readonly kind: 'key'; readonly values: readonly Scalar[] }
  | { readonly kind: 'row'; readonly file: string; readonly row: number }

/** Reads the next stretch of one bucket's rows in key order. */
export interface ReadTask {
  readonly kind: 'read'
  readonly table: TaskTable
  readonly folder: string
  /** In key order; their key ranges do not touch. */
  readonly sections: readonly ReadSection[]
  /** Last keys first; the rows of each batch of the result ascend all the same. */
  readonly reverse: boolean
  /**
   * Rows that earlier stretches have read of the first file of the first section, which is of one run; in reverse at the end of
   * the last file of the last section.
   */
  readonly skipRows: number
  /** Row of the only file behind which another task reads; undefined = all is read. Not in reverse. */
  readonly stopRow: number | undefined
  /** KV batches of uncommitted rows, sorted, oldest first, newer than any file. With them all sections are merged as one. */
  readonly memory: readonly Batch[]
  /** Columns of the result. */
  readonly columns: readonly string[]
  /** Put key columns, sequence number and kind in front, so that the results of buckets can be merged. */
  readonly keys: boolean
  /** All records as they are, those that retract too, with their kinds in front: for sections of one run without a filter. */
  readonly records?: true
  readonly range: KeyRange
  readonly where: Predicate | undefined
  /** One Int32 in shared memory; not zero = stop, reject with `ABORTED`. */
  readonly cancel: Int32Array
  /** Stop after about so many rows of result, or 64 MiB of it, and say where to go on. */
  readonly maxRows: number
}

export interface ReadResult {
  readonly kind: 'read'
  readonly batches: readonly Batch[]
  /** Undefined at the end of the bucket. */
  readonly next: ReadPosition | undefined
  readonly stats: ReadStats
}

export interface ReadStats {
  readonly bytesRead: number
  readonly pagesDecoded: number
  readonly rowsMerged: number
}

export interface TaskStats {
  readonly inputBytes: number
  readonly outputBytes: number
  readonly inputRows: number
  readonly outputRows: number
  readonly spilledBytes: number
  readonly millis: number
}

/** Files that a task took the place of, and the files that stand there now. */
export interface FilesResult {
  readonly kind: 'files'
  readonly before: readonly DataFile[]
  readonly after: readonly DataFile[]
  /** What changed: records by key, those of one key in order. */
  readonly changelog: readonly DataFile[]
  /** The vectors of the bucket's files afterwards, where some changed; null = none are left. */
  readonly vectors?: VectorFile | null | undefined
  readonly stats: TaskStats
}

export interface SortResult {
  readonly kind: 'sort'
  readonly runs: readonly Batch[]
}

export type Task = FlushTask | CompactTask | RenumberTask | SortTask | ReadTask
export type TaskResult = FilesResult | SortResult | ReadResult

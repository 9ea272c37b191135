import type { Batch, Scalar } from '../../formats/column/column.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { serializeRow } from '../../formats/row/binary-row.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { partitionIntoSections } from '../plan/sections.ts'
import type { KeyCompare } from '../plan/types.ts'
import { submit, type TaskExecutor } from '../tasks/submit.ts'
import type { KeyRange, ReadResult, ReadSection, TaskTable } from '../tasks/task.ts'

/** One bucket as a scan sees it: files that cannot change, and rows that no file holds. */
export interface ScanBucket {
  readonly folder: string
  readonly files: readonly DataFile[]
  /** Sorted rows newer than the files. */
  readonly memory: Batch | undefined
}

export interface BucketScan {
  readonly executor: TaskExecutor
  readonly table: TaskTable
  readonly keyTypes: readonly DataType[]
  readonly compareKeys: KeyCompare
  readonly columns: readonly string[]
  /** Keys, sequence number and kind in front of each batch. */
  readonly keys: boolean
  readonly range: KeyRange
  readonly where: Predicate | undefined
  /** Rows that the consumer still wants; later tasks ask for no more. */
  readonly wanted: () => number
  readonly signal: AbortSignal | undefined
  readonly onRead?: ((result: ReadResult) => void) | undefined
}

/** Rows that one task reads: enough to make the hop to a thread cheap, few enough to keep memory and waiting small. */
const TASK_ROWS = 65_536

/**
 * The rows of one bucket in key order. Each task reads one stretch and says where the next goes on; while the consumer works
 * on one stretch the next is being read. Nothing runs ahead further than that.
 */
export async function* bucketStream(bucket: ScanBucket, scan: BucketScan): AsyncGenerator<Batch> {
  let next: Promise<Stretch> | undefined = startStretch(bucket, scan, undefined)
  while (next !== undefined) {
    const stretch: Stretch = await next
    next = stretch.after === undefined ? undefined : startStretch(bucket, scan, stretch.after)
    yield* stretch.batches
  }
}

interface Stretch {
  readonly batches: readonly Batch[]
  readonly after: readonly Scalar[] | undefined
}

/** A failure ahead of the consumer is met when it gets there; a consumer that leaves early never hears of it. */
function startStretch(bucket: ScanBucket, scan: BucketScan, after: readonly Scalar[] | undefined): Promise<Stretch> {
  const stretch = readStretch(bucket, scan, after)
  stretch.catch(() => undefined)
  return stretch
}

async function readStretch(
  bucket: ScanBucket,
  scan: BucketScan,
  after: readonly Scalar[] | undefined,
): Promise<Stretch> {
  if (scan.signal?.aborted) throw new TableError('ABORTED', 'The scan was aborted.', {}, scan.signal.reason)
  const lower = after === undefined ? scan.range.lower : { values: after, inclusive: false }
  const sections = sectionsAfter(bucket, scan, after)
  if (sections.length === 0 && bucket.memory === undefined) return { batches: [], after: undefined }
  const result = await submit(
    scan.executor,
    {
      kind: 'read',
      table: scan.table,
      folder: bucket.folder,
      sections,
      memory: bucket.memory,
      columns: scan.columns,
      keys: scan.keys,
      range: { lower, upper: scan.range.upper },
      where: scan.where,
      maxRows: Math.max(1, Math.min(TASK_ROWS, scan.wanted())),
    },
    scan.signal,
  )
  scan.onRead?.(result)
  return result
}

/** Sections that may hold a key past `after`, each run as its list of files. */
function sectionsAfter(
  bucket: ScanBucket,
  scan: BucketScan,
  after: readonly Scalar[] | undefined,
): readonly ReadSection[] {
  const passed = after === undefined ? undefined : serializeRow(scan.keyTypes, after)
  const files =
    passed === undefined ? bucket.files : bucket.files.filter((file) => scan.compareKeys(file.maxKey, passed) > 0)
  return partitionIntoSections(files, scan.compareKeys).map((section) => ({
    runs: section.map((run) => run.files),
  }))
}

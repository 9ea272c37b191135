import type { Batch, Scalar } from '../../formats/column/column.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { serializeRow } from '../../formats/row/binary-row.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { cutIntoLegs, type Leg } from '../plan/legs.ts'
import { partitionIntoSections } from '../plan/sections.ts'
import type { KeyCompare } from '../plan/types.ts'
import { forwardAbort } from '../tasks/abort.ts'
import type { TaskContext } from '../tasks/context.ts'
import { newCancelFlag, submit, type TaskExecutor } from '../tasks/submit.ts'
import type { KeyRange, ReadPosition, ReadResult, ReadSection, ReadTask, TaskTable } from '../tasks/task.ts'
import { readHere } from './read-here.ts'

/** One bucket as a scan sees it: files that cannot change, and rows that no file holds. */
export interface ScanBucket {
  readonly folder: string
  readonly files: readonly DataFile[]
  /** Sorted rows newer than the files: batches, oldest first. */
  readonly memory: readonly Batch[]
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
  /** Batches from the last keys to the first; the rows of each ascend all the same. */
  readonly reverse: boolean
  /** Stretches that may be read side by side; at least one is. */
  readonly atOnce: number
  /** Where stretches are read that are too small for a thread; undefined = nowhere. */
  readonly here?: TaskContext | undefined
  /** Rows that the consumer still wants; later tasks ask for no more. */
  readonly wanted: () => number
  readonly signal: AbortSignal | undefined
  readonly onRead?: ((result: ReadResult) => void) | undefined
}

/** Rows that the first task of a chain reads: few, so that the first rows come soon. */
const FIRST_ROWS = 65_536

/** Rows that later tasks read: each begins by reading again the pages in which the last one stopped, so they grow. */
const MAX_ROWS = 1_048_576

/**
 * The rows of one bucket in key order. Each task reads one stretch and says where the next goes on; while the consumer works
 * on one stretch the next is being read. A scan of everything is cut into legs, of which `atOnce` are read side by side. Nothing
 * runs ahead further than that, and a consumer that leaves ends what is being read.
 */
export async function* bucketStream(bucket: ScanBucket, request: BucketScan): AsyncGenerator<Batch> {
  const left = new AbortController()
  const stopForwarding = forwardAbort(request.signal, left)
  try {
    yield* stretches(bucket, { ...request, signal: left.signal })
  } finally {
    stopForwarding()
    left.abort()
  }
}

async function* stretches(bucket: ScanBucket, scan: BucketScan): AsyncGenerator<Batch> {
  const legs = legsOf(bucket, scan)
  const running: Chain[] = []
  let next = 0
  const keepRunning = (count: number): void => {
    while (next < legs.length && running.length < count) running.push(new Chain(bucket, scan, legs[next++]))
  }
  keepRunning(Math.max(1, scan.atOnce))
  for (let chain = running.shift(); chain !== undefined; chain = running.shift()) {
    for (;;) {
      const batches = await chain.take()
      keepRunning(Math.max(1, scan.atOnce) - (chain.ended ? 0 : 1))
      yield* batches
      if (chain.ended) break
    }
  }
}

/** One leg that is the bucket as it is, where rows may be few, or end anywhere. */
function legsOf({ files, memory }: ScanBucket, scan: BucketScan): readonly (Leg | undefined)[] {
  const { lower, upper } = scan.range
  const some = lower !== undefined || upper !== undefined || scan.wanted() !== Number.POSITIVE_INFINITY
  return scan.atOnce <= 1 || some || scan.reverse || memory.length > 0
    ? [undefined]
    : cutIntoLegs(files, scan.compareKeys)
}

type Stretch = Pick<ReadResult, 'batches' | 'next'>

/** The stretches of one leg: the first is being read from the start on, each other one from when that before it is taken. */
class Chain {
  readonly #scan: BucketScan
  readonly #stopRow: number | undefined
  #left: ScanBucket
  #rows = FIRST_ROWS
  #coming: Promise<Stretch>
  ended = false

  constructor(bucket: ScanBucket, scan: BucketScan, leg: Leg | undefined) {
    this.#scan = scan
    this.#left = leg === undefined ? bucket : { ...bucket, files: leg.files }
    this.#stopRow = leg?.rows?.end
    // A leg of rows ends where it ends: one stretch.
    if (leg?.rows !== undefined) this.#rows = MAX_ROWS
    const from = leg?.rows && ({ kind: 'row', file: leg.files[0]!.name, row: leg.rows.start } as const)
    this.#coming = this.#read(from)
  }

  /** The next stretch, once it is there. */
  async take(): Promise<readonly Batch[]> {
    const { batches, next } = await this.#coming
    this.#rows = Math.min(this.#rows * 4, MAX_ROWS)
    if (next?.kind === 'key') this.#left = behind(this.#left, this.#scan, next.values)
    if (next === undefined) this.ended = true
    else this.#coming = this.#read(next)
    return batches
  }

  /** A failure ahead of the consumer is met when it gets there; a consumer that leaves early never hears of it. */
  #read(from: ReadPosition | undefined): Promise<Stretch> {
    const stretch = readStretch(this.#left, this.#scan, from, this.#stopRow, this.#rows)
    stretch.catch(() => undefined)
    return stretch
  }
}

async function readStretch(
  bucket: ScanBucket,
  scan: BucketScan,
  from: ReadPosition | undefined,
  stopRow: number | undefined,
  rows: number,
): Promise<Stretch> {
  if (scan.signal?.aborted) throw new TableError('ABORTED', 'The scan was aborted.', {}, scan.signal.reason)
  const sections = sectionsFrom(bucket, scan, from)
  if (sections.length === 0 && bucket.memory.length === 0) return { batches: [], next: undefined }
  const task: ReadTask = {
    kind: 'read',
    table: scan.table,
    folder: bucket.folder,
    sections,
    reverse: scan.reverse,
    skipRows: from?.kind === 'row' ? from.row : 0,
    stopRow,
    memory: bucket.memory,
    columns: scan.columns,
    keys: scan.keys,
    range: rangeFrom(scan, from),
    where: scan.where,
    cancel: newCancelFlag(),
    maxRows: Math.max(1, Math.min(rows, scan.wanted())),
  }
  const result = (await readHere(task, scan.here)) ?? (await submit(scan.executor, task, scan.signal))
  scan.onRead?.(result)
  return result
}

/** What is left of the range from a position on. */
function rangeFrom({ range, reverse }: BucketScan, from: ReadPosition | undefined): KeyRange {
  if (from?.kind !== 'key') return range
  const bound = { values: from.values, inclusive: false }
  return reverse ? { lower: range.lower, upper: bound } : { lower: bound, upper: range.upper }
}

/**
 * The bucket without the files that a key has passed. They stay out for the rest of the stream: a file that is alone in its
 * section without them has to be so when a later stretch goes on at one of its rows.
 */
function behind(bucket: ScanBucket, scan: BucketScan, key: readonly Scalar[]): ScanBucket {
  const passed = serializeRow(scan.keyTypes, key)
  const left = ({ minKey, maxKey }: DataFile): boolean =>
    scan.reverse ? scan.compareKeys(minKey, passed) < 0 : scan.compareKeys(maxKey, passed) > 0
  return { ...bucket, files: bucket.files.filter(left) }
}

/** Sections of the files that are left, from a position on; each run as its list of files. */
function sectionsFrom(bucket: ScanBucket, scan: BucketScan, from: ReadPosition | undefined): readonly ReadSection[] {
  const sections = partitionIntoSections(bucket.files, scan.compareKeys).map((section) => ({
    runs: section.map((run) => run.files),
  }))
  return from?.kind === 'row' ? sectionsFromFile(sections, from.file, scan.reverse) : sections
}

/** The file is one of a section of one run: that section from the file on, and the sections behind it; in reverse, up to it. */
function sectionsFromFile(sections: readonly ReadSection[], name: string, reverse: boolean): readonly ReadSection[] {
  for (const [index, { runs }] of sections.entries()) {
    const files = runs[0] ?? []
    const at = runs.length === 1 ? files.findIndex((file) => file.name === name) : -1
    if (at >= 0 && reverse) return [...sections.slice(0, index), { runs: [files.slice(0, at + 1)] }]
    if (at >= 0) return [{ runs: [files.slice(at)] }, ...sections.slice(index + 1)]
  }
  throw new TableError('INTERNAL', `A stretch ended in ${name}, which is no file of a section of one run.`, { name })
}

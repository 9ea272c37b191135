import type { Batch, Scalar } from '../../formats/column/column.ts'
import { mightMatch } from '../../formats/column/predicate.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import { sliceBatch } from '../../formats/column/slice.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { rowCompare } from '../../formats/row/key-compare.ts'
import { isPlain } from '../options/merge-spec.ts'
import { keyBounds, partitionBounds, valueBounds } from '../plan/bounds.ts'
import { bucketId, partitionId } from '../plan/entry-id.ts'
import { kvLayout, partitionFields } from '../plan/kv-layout.ts'
import { filesOf } from '../plan/levels.ts'
import { pruneFiles } from '../plan/prune.ts'
import { hidesLevel0 } from '../plan/visible.ts'
import { type BucketScan, bucketStream, type ScanBucket } from '../read/bucket-stream.ts'
import { mergeBuckets } from '../read/merge-buckets.ts'
import { bucketsOf, type TableView } from '../store/view.ts'
import { submit } from '../tasks/submit.ts'
import type { BufferedRows, KeyRange, ReadStats } from '../tasks/task.ts'
import type { TableWriter } from '../write/writer.ts'
import type { TableCore } from './core.ts'

/** Id of a table's first snapshot. */
export const FIRST_SNAPSHOT = 1

/** What a scan is asked for, in engine terms. */
export interface ScanRequest {
  readonly columns: readonly string[]
  /** Trimmed key columns only. */
  readonly range: KeyRange
  /** Values that partition columns must have. */
  readonly partition: ReadonlyMap<string, Scalar>
  readonly where: Predicate | undefined
  readonly limit: number
  /** One order over all buckets of a partition, or bucket by bucket. */
  readonly ordered: boolean
  /** Batches from the last keys to the first; the rows of each ascend all the same. */
  readonly reverse: boolean
  /** Level 0 of what is committed shows too where reads leave it out: its rows are merged with those of the upper levels. */
  readonly level0?: boolean
  readonly signal: AbortSignal | undefined
  readonly onStats?: ((stats: ReadStats) => void) | undefined
}

interface Place {
  readonly partition: Uint8Array
  readonly bucket: number
  readonly files: readonly DataFile[]
  /** Rows that no file holds yet, oldest first. */
  readonly rows: readonly BufferedRows[]
}

/** What a scan will read, fixed at one moment, and held until `release`. */
export interface CapturedScan {
  readonly places: readonly Place[]
  readonly release: () => void
}

/**
 * Fixes what a scan reads: the files of a view and, with a writer, what is uncommitted. Synchronous, so nothing that happens
 * after the call shows. Whatever commits, compactions and expiries do, it stays readable until `release`.
 */
export function captureScan(
  core: TableCore,
  writer: TableWriter | undefined,
  view: TableView | undefined,
  request: ScanRequest,
): CapturedScan {
  const places = placesOf(core, writer, view, request)
  // Before the first snapshot there are uncommitted files at most, which will be in the first one or later.
  const unpin = core.pins.pin(view?.snapshot.id ?? FIRST_SNAPSHOT)
  const free = core.filePins.pin(writer === undefined ? [] : uncommittedPaths(core, writer))
  return {
    places,
    release() {
      unpin()
      free()
    },
  }
}

/**
 * Batches of the columns asked for: partitions in value order, within one by primary key (or bucket by bucket). Releases what
 * was captured at its end.
 */
export async function* scanBatches(
  core: TableCore,
  captured: CapturedScan,
  request: ScanRequest,
): AsyncGenerator<Batch> {
  try {
    let left = request.limit
    const scan = bucketScan(core, request, () => left)
    const places = request.reverse ? captured.places.toReversed() : captured.places
    for (const partition of groupByPartition(places)) {
      const buckets: ScanBucket[] = []
      for (const place of partition) buckets.push(await scanBucket(core, request, place))
      for await (const batch of partitionStream(buckets, scan, core, request)) {
        const { rows } = batch
        const first = request.reverse ? Math.max(0, rows - left) : 0
        const cut = rows > left ? sliceBatch(batch, first, first + left) : batch
        left -= cut.rows
        if (cut.rows > 0) yield cut
        if (left <= 0) return
      }
    }
  } finally {
    captured.release()
  }
}

async function* partitionStream(
  buckets: readonly ScanBucket[],
  scan: BucketScan,
  core: TableCore,
  request: ScanRequest,
): AsyncGenerator<Batch> {
  if (!request.ordered || buckets.length === 1) {
    for (const bucket of buckets) yield* bucketStream(bucket, scan)
    return
  }
  const layout = kvLayout(core.schema, request.columns)
  const atOnce = Math.floor(scan.atOnce / buckets.length)
  const streams = buckets.map((bucket) => bucketStream(bucket, { ...scan, keys: true, atOnce }))
  for await (const { fields, rows, columns } of mergeBuckets(streams, layout, request.reverse)) {
    yield { fields: fields.slice(layout.firstValue), rows, columns: columns.slice(layout.firstValue) }
  }
}

/** Stretches of one scan that are read side by side: each may hold 64 MiB of rows until the consumer gets to it. */
const MOST_AT_ONCE = 4

function bucketScan(core: TableCore, request: ScanRequest, wanted: () => number): BucketScan {
  return {
    executor: core.services.executor,
    table: core.taskTable,
    keyTypes: core.layout.keyTypes,
    compareKeys: core.compareKeys,
    columns: request.columns,
    keys: false,
    range: request.range,
    where: request.where,
    reverse: request.reverse,
    atOnce: Math.min(core.services.executor.threads, MOST_AT_ONCE),
    here: core.services.smallTasks === false ? undefined : core.taskContext,
    wanted,
    signal: request.signal,
    onRead: ({ stats }) => request.onStats?.(stats),
  }
}

/** Buckets that may hold rows asked for, partitions in value order. */
function placesOf(
  core: TableCore,
  writer: TableWriter | undefined,
  view: TableView | undefined,
  request: ScanRequest,
): readonly Place[] {
  const places = new Map<string, Place>()
  for (const bucket of writer?.buckets ?? []) {
    const { partition } = bucket
    const rows = bucket.buffers.map((buffer) => buffer.view())
    places.set(bucketId(bucket), {
      partition,
      bucket: bucket.bucket,
      files: filesOf(bucket.readable),
      rows: rows.filter(({ values }) => values.rows > 0),
    })
  }
  if (view !== undefined) {
    for (const { partition, bucket, files } of bucketsOf(view)) {
      const id = bucketId({ partition, bucket })
      // Rows of a postponed bucket (-2) are not merged yet: they show when a compaction has moved them.
      if (places.has(id) || bucket < 0) continue
      const hides = hidesLevel0(core.options) && request.level0 !== true
      const shown = hides ? files.filter((file) => file.level > 0) : files
      places.set(id, { partition, bucket, files: shown, rows: [] })
    }
  }
  const compare = rowCompare(core.partitionTypes)
  return [...places.values()]
    .filter(({ partition }) => mayHold(core, partition, request))
    .sort((a, b) => compare(a.partition, b.partition) || a.bucket - b.bucket)
}

function mayHold(core: TableCore, partition: Uint8Array, { where, partition: wanted }: ScanRequest): boolean {
  const bounds = partitionBounds(partition, partitionFields(core.schema))
  for (const [column, value] of wanted) {
    if (!mightMatch({ op: 'eq', column, value }, bounds)) return false
  }
  return where === undefined || mightMatch(where, bounds)
}

function groupByPartition(places: readonly Place[]): readonly (readonly Place[])[] {
  const groups = new Map<string, Place[]>()
  for (const place of places) {
    const id = partitionId(place.partition)
    const group = groups.get(id)
    if (group === undefined) groups.set(id, [place])
    else group.push(place)
  }
  return [...groups.values()]
}

/** Leaves out files that cannot match, and sorts rows in memory so that tasks can merge them in. */
async function scanBucket(core: TableCore, request: ScanRequest, place: Place): Promise<ScanBucket> {
  const folder = core.dataPaths.bucketFolder(place.partition, place.bucket)
  return { folder, files: pruned(core, request, place), memory: await sortedRows(core, place, request.signal) }
}

function pruned(core: TableCore, { where, range }: ScanRequest, { files, rows }: Place): readonly DataFile[] {
  const { layout, schema, spec, compareKeys } = core
  const filter = both(where, rangeFilter(layout.keys[0]!.name, range))
  if (filter === undefined) return files
  return pruneFiles(
    files,
    filter,
    {
      keyColumns: layout.keys.map((key) => key.name),
      keyBounds: (file) => keyBounds(file, layout.keys),
      valueBounds: (file) => valueBounds(file, core.schemaOf(file.schemaId)?.fields ?? [], schema.fields),
      // Each row that shows is the only one of its key, but for rows that no commit holds.
      mergedOnWrite:
        hidesLevel0(core.options) && files.every((file) => file.level > 0) && core.switched(files) === undefined,
      combinesRows: spec.engine === 'partial-update' || spec.engine === 'aggregation',
      // An older row of a file may stand against a newer one in memory.
      keysOnly: rows.length > 0 && !isPlain(spec),
    },
    compareKeys,
  )
}

function rangeFilter(column: string, { lower, upper }: KeyRange): Predicate | undefined {
  return both(
    lower && { op: 'ge', column, value: lower.values[0]! },
    upper && { op: 'le', column, value: upper.values[0]! },
  )
}

function both(a: Predicate | undefined, b: Predicate | undefined): Predicate | undefined {
  return a === undefined || b === undefined ? (a ?? b) : { op: 'and', children: [a, b] }
}

async function sortedRows(
  core: TableCore,
  { rows }: Place,
  signal: AbortSignal | undefined,
): Promise<readonly Batch[]> {
  if (rows.length === 0) return []
  const { executor } = core.services
  return (await submit(executor, { kind: 'sort', table: core.taskTable, rows }, signal)).runs
}

function uncommittedPaths(core: TableCore, writer: TableWriter): readonly string[] {
  return [...writer.buckets].flatMap(({ folder, pending }) =>
    pending.flatMap(({ after, vectors }) =>
      [...after, ...(vectors ? [vectors] : [])].map((file) => core.pathOf(folder, file)),
    ),
  )
}

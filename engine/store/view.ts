import type { DataFile, IndexEntry, ManifestEntry, Snapshot } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import { bucketId, entryId, partitionId } from '../plan/entry-id.ts'
import { type VectorFile, vectorFiles, withVectors } from '../plan/vectors.ts'
import { ifPresent } from './errors.ts'
import type { TableStore } from './table-store.ts'

/** The live files of one bucket, in no order, each with the place of its deletion vector. */
export interface BucketView {
  readonly partition: Uint8Array
  readonly bucket: number
  readonly totalBuckets: number
  readonly files: readonly DataFile[]
}

/** The buckets of one partition that hold files. */
export interface PartitionView {
  readonly partition: Uint8Array
  readonly buckets: ReadonlyMap<number, BucketView>
}

/** All files of one snapshot. Never changes: the next snapshot has another view, which shares what did not change. */
export interface TableView {
  readonly snapshot: Snapshot
  /** By `partitionId`. */
  readonly partitions: ReadonlyMap<string, PartitionView>
  readonly indexes: readonly IndexEntry[]
}

/** Snapshots further apart than this are read whole instead of step by step. */
const MAX_STEPS = 64

/** Reads a snapshot's files from its base and delta manifests. Throws as `Snapshots.reading`. */
export async function loadView(store: TableStore, snapshot: Snapshot): Promise<TableView> {
  return store.snapshots.reading(snapshot.id, async () => {
    const entries = await store.manifests.liveEntries(snapshot)
    const indexes = await store.indexes.entriesOf(snapshot)
    return applyDelta({ snapshot, partitions: new Map(), indexes }, snapshot, entries, indexes)
  })
}

/**
 * The view of a later snapshot from an earlier one: only the deltas between are read, each some kilobytes, where the base
 * would be all manifests of the table. Reads the snapshot whole when that is not possible: it is older, too far, a step
 * is missing, or history was rewritten by a rollback.
 */
export async function advanceView(store: TableStore, view: TableView, to: Snapshot): Promise<TableView> {
  const steps = to.id - view.snapshot.id
  if (steps === 0 && isSame(view.snapshot, to)) return view
  if (steps <= 0 || steps > MAX_STEPS) return loadView(store, to)
  const stillThere = await store.snapshots.find(view.snapshot.id)
  if (stillThere === undefined || !isSame(stillThere, view.snapshot)) return loadView(store, to)
  return store.snapshots.reading(to.id, async () => {
    let current = view
    for (let id = view.snapshot.id + 1; id <= to.id; id++) {
      const next = await stepTo(store, current, id, to)
      if (next === undefined) return loadView(store, to)
      current = next
    }
    return current
  })
}

/** The view after a commit whose entries are at hand: nothing is read. */
export function applyDelta(
  view: TableView,
  snapshot: Snapshot,
  delta: readonly ManifestEntry[],
  indexes: readonly IndexEntry[],
): TableView {
  const partitions = new Map(view.partitions)
  for (const [key, entries] of groupBy(delta, (entry) => partitionId(entry.partition))) {
    const { partition } = entries[0]!
    const buckets = new Map(partitions.get(key)?.buckets)
    for (const [bucket, ofBucket] of groupBy(entries, (entry) => entry.bucket)) {
      const changed = applyToBucket(buckets.get(bucket), ofBucket, snapshot)
      if (changed.files.length === 0) buckets.delete(bucket)
      else buckets.set(bucket, changed)
    }
    if (buckets.size === 0) partitions.delete(key)
    else partitions.set(key, { partition, buckets })
  }
  const touched = new Set(delta.map(bucketId))
  return { snapshot, partitions: markDeleted(partitions, touched, view.indexes, indexes), indexes }
}

/** Puts the places of vectors to the files of buckets that changed, or whose vectors did. */
function markDeleted(
  partitions: ReadonlyMap<string, PartitionView>,
  touched: ReadonlySet<string>,
  before: readonly IndexEntry[],
  after: readonly IndexEntry[],
): ReadonlyMap<string, PartitionView> {
  const vectors = vectorFiles(after)
  const old = before === after ? vectors : vectorFiles(before)
  if (vectors.size === 0 && old.size === 0) return partitions
  const isNew = (id: string) => touched.has(id) || vectors.get(id)?.name !== old.get(id)?.name
  const marked = new Map<string, PartitionView>()
  for (const [key, { partition, buckets }] of partitions) {
    const changed = [...buckets.values()].filter((bucket) => isNew(bucketId(bucket)))
    if (changed.length === 0) {
      marked.set(key, { partition, buckets })
      continue
    }
    const next = new Map(buckets)
    for (const bucket of changed) next.set(bucket.bucket, withPlaces(bucket, vectors.get(bucketId(bucket))))
    marked.set(key, { partition, buckets: next })
  }
  return marked
}

function withPlaces(bucket: BucketView, vectors: VectorFile | undefined): BucketView {
  return { ...bucket, files: withVectors(bucket.files, vectors) }
}

/** The files of a bucket; undefined when it has none. */
export function bucketOf(view: TableView, partition: Uint8Array, bucket: number): BucketView | undefined {
  return view.partitions.get(partitionId(partition))?.buckets.get(bucket)
}

/** All buckets that hold files, partition by partition, in the order in which they first got files. */
export function* bucketsOf(view: TableView): Generator<BucketView> {
  for (const { buckets } of view.partitions.values()) yield* buckets.values()
}

/** What a view holds in some partitions, as entries that add it. */
export function liveEntriesOf(
  view: TableView | undefined,
  partitions: readonly Uint8Array[],
): readonly ManifestEntry[] {
  if (view === undefined) return []
  return partitions.flatMap((partition) =>
    [...(view.partitions.get(partitionId(partition))?.buckets.values() ?? [])].flatMap(
      ({ bucket, totalBuckets, files }) =>
        files.map((file): ManifestEntry => ({ kind: 'add', partition, bucket, totalBuckets, file })),
    ),
  )
}

/** The view of snapshot `id` from the one before; undefined when it has gone, with its manifests, while `to` is still there. */
async function stepTo(store: TableStore, view: TableView, id: number, to: Snapshot): Promise<TableView | undefined> {
  if (id === to.id) return step(store, view, to)
  const next = await store.snapshots.find(id)
  return next && ifPresent(() => step(store, view, next))
}

async function step(store: TableStore, view: TableView, next: Snapshot): Promise<TableView> {
  const delta = await store.manifests.deltaEntries(next)
  const same = next.indexManifest === view.snapshot.indexManifest
  return applyDelta(view, next, delta, same ? view.indexes : await store.indexes.entriesOf(next))
}

function applyToBucket(
  before: BucketView | undefined,
  entries: readonly ManifestEntry[],
  snapshot: Snapshot,
): BucketView {
  const { partition, bucket } = entries[0]!
  let { totalBuckets } = before ?? entries[0]!
  // Only files that the delta names are told apart by all that makes an id; the others go over as they are.
  const named = new Set(entries.map((entry) => entry.file.name))
  const untouched: DataFile[] = []
  const files = new Map<string, DataFile>()
  for (const file of before?.files ?? []) {
    if (named.has(file.name)) files.set(entryId({ kind: 'add', partition, bucket, totalBuckets, file }), file)
    else untouched.push(file)
  }
  for (const entry of entries) {
    const id = entryId(entry)
    const present = files.has(id)
    if (present === (entry.kind === 'add')) {
      throw new TableError(
        'CORRUPT',
        `Snapshot ${snapshot.id} ${entry.kind}s ${entry.file.name} of bucket ${bucket}, which is ${present ? 'there already' : 'not there'}. Go back to an older snapshot.`,
        { snapshot: snapshot.id, file: entry.file.name, bucket, level: entry.file.level },
      )
    }
    if (entry.kind === 'add') {
      files.set(id, entry.file)
      totalBuckets = entry.totalBuckets
    } else files.delete(id)
  }
  return { partition, bucket, totalBuckets, files: [...untouched, ...files.values()] }
}

/** Ids are given out again after a rollback: the manifest lists tell two snapshots apart. */
function isSame(a: Snapshot, b: Snapshot): boolean {
  return a.id === b.id && a.baseManifestList === b.baseManifestList && a.deltaManifestList === b.deltaManifestList
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

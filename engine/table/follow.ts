import type { DataFile, Snapshot } from '../../formats/meta/types.ts'
import { bucketOf, type TableView } from '../store/view.ts'
import type { BucketWriter, PendingChange } from '../write/bucket-writer.ts'
import type { TableWriter } from '../write/writer.ts'
import type { TableCore } from './core.ts'

/** How the uncommitted rows of a bucket get above what another writer committed. */
interface Move {
  readonly offset: bigint
  /** The files that take the place of each flushed file. */
  readonly raised: Map<DataFile, readonly DataFile[]>
}

/**
 * Moves to a snapshot; where other writers changed buckets that we write, rebases ours. `report` is told of the pending changes
 * that do not fit any more.
 *
 * Files whose sequence numbers were taken are written again first. Then view and buckets change in one synchronous step: no
 * read and no compaction ever sees the one without the other, and a failure leaves everything as it was.
 */
export async function followSnapshot(
  core: TableCore,
  writer: TableWriter,
  latest: Snapshot | undefined,
  report: (bucket: BucketWriter, dropped: readonly PendingChange[]) => void,
): Promise<void> {
  const view = await core.viewTo(latest)
  if (view === core.view) return
  const moves = new Map<BucketWriter, Move>()
  try {
    for (let next = findStale(writer, view, moves); next !== undefined; next = findStale(writer, view, moves)) {
      const { bucket, flush, move } = next
      for (const [file, files] of await renumbered(writer, bucket, flush, move.offset)) move.raised.set(file, files)
    }
  } catch (error) {
    for (const [bucket, { raised }] of moves) core.removeUnnamed(bucket.folder, [...raised.values()].flat())
    throw error
  }
  core.show(view)
  for (const bucket of writer.buckets) {
    const { offset, raised } = moves.get(bucket)!
    const dropped = bucket.rebase(core.live(bucket.partition, bucket.bucket), offset, raised)
    if (dropped.length > 0) report(bucket, dropped)
    core.removeUnnamed(bucket.folder, [...raised.keys()])
  }
}

/** The files that take the place of those of a flush. */
async function renumbered(
  writer: TableWriter,
  bucket: BucketWriter,
  flush: PendingChange,
  offset: bigint,
): Promise<ReadonlyMap<DataFile, readonly DataFile[]>> {
  const { after, changelog } = await writer.renumber(bucket, flush, offset)
  // All files of a flush go together, so it does not matter which of the old ones the new ones stand for.
  const replace = (old: readonly DataFile[], files: readonly DataFile[]) =>
    old.map((file, index) => [file, index === 0 ? files : []] as const)
  return new Map([...replace(flush.after, after), ...replace(flush.changelog, changelog)])
}

/** A flush that `view` makes stale and that was not written again yet. */
function findStale(writer: TableWriter, view: TableView | undefined, moves: Map<BucketWriter, Move>) {
  for (const bucket of writer.buckets) {
    // The first offset found stays: all rows of the bucket rise by the same, so that their order stays.
    let move = moves.get(bucket)
    if (move === undefined || move.offset === 0n) {
      const live = view === undefined ? [] : (bucketOf(view, bucket.partition, bucket.bucket)?.files ?? [])
      move = { offset: bucket.offsetAbove(live), raised: new Map() }
      moves.set(bucket, move)
    }
    const { offset, raised } = move
    const flush =
      offset === 0n ? undefined : bucket.flushed.find(({ after }) => after.some((file) => !raised.has(file)))
    if (flush !== undefined) return { bucket, flush, move }
  }
  return undefined
}

import { buildIncrement, isEmptyIncrement, type MadeFile } from '../plan/increment.ts'
import type { Increment } from '../plan/types.ts'
import type { BucketWriter, PendingChange } from '../write/bucket-writer.ts'

/** What a commit takes of a bucket. */
export interface Taken {
  readonly bucket: BucketWriter
  readonly changes: readonly PendingChange[]
  readonly increment: Increment
  readonly obsolete: readonly MadeFile[]
}

/** Pending changes of a kind that the commit of a cut may hold, folded by bucket. */
export function takePending(
  buckets: Iterable<BucketWriter>,
  epoch: number,
  kind: PendingChange['kind'],
  totalBuckets: number,
): Taken[] {
  const taken: Taken[] = []
  for (const bucket of buckets) {
    const changes = bucket.pendingUpTo(epoch, kind)
    if (changes.length === 0) continue
    const { increment, obsolete } = buildIncrement(
      { partition: bucket.partition, bucket: bucket.bucket, totalBuckets },
      kind === 'flush' ? changes : [],
      kind === 'compact' ? changes : [],
    )
    if (!isEmptyIncrement(increment) || obsolete.length > 0) taken.push({ bucket, changes, increment, obsolete })
  }
  return taken
}

import type { CommitKind, ManifestEntry } from '../../formats/meta/types.ts'
import { assertNever } from '../assert.ts'
import { TableError } from '../errors.ts'
import { bucketId, entryId, partitionId } from './entry-id.ts'
import type { KeyCompare } from './types.ts'

/** Why a delta does not fit a snapshot: the first reason found, with the entries that show it. */
export type Conflict =
  | { readonly kind: 'bucket-count'; readonly entry: ManifestEntry; readonly existing: ManifestEntry }
  | { readonly kind: 'added-twice'; readonly entry: ManifestEntry; readonly existing: ManifestEntry }
  | { readonly kind: 'not-live'; readonly entry: ManifestEntry }
  | { readonly kind: 'overlap'; readonly entry: ManifestEntry; readonly existing: ManifestEntry }

/**
 * Whether a commit has to be checked against the latest snapshot. A plain append only adds level-0 files under new names,
 * which fit any snapshot; it is checked when the caller asks for it, or when it takes files out as well.
 */
export function needsCheck(kind: CommitKind, delta: readonly ManifestEntry[], asked: boolean): boolean {
  switch (kind) {
    case 'COMPACT':
    case 'OVERWRITE':
      return true
    case 'APPEND':
      return asked || delta.some((entry) => entry.kind === 'delete')
    case 'ANALYZE':
      return false
    default:
      return assertNever(kind)
  }
}

/** The partitions whose live entries `findConflict` needs: those the delta touches, each once. */
export function partitionsTouched(delta: readonly ManifestEntry[]): readonly Uint8Array[] {
  const partitions = new Map<string, Uint8Array>()
  for (const { partition } of delta) partitions.set(partitionId(partition), partition)
  return [...partitions.values()]
}

/**
 * The first reason why `delta` cannot be committed on top of `live`, or null when it fits:
 *
 *   bucket-count  files of a partition were written with different numbers of buckets (not asked of an OVERWRITE)
 *   added-twice   an added file is there already, or is added two times
 *   not-live      a file to remove is gone: another compaction, overwrite or drop came first
 *   overlap       two files of a level above 0 would share keys
 *
 * `live` are the live ADD entries of `partitionsTouched(delta)`; more do no harm. O(n log n) in what the touched buckets hold.
 */
export function findConflict(
  live: readonly ManifestEntry[],
  delta: readonly ManifestEntry[],
  kind: CommitKind,
  compareKeys: KeyCompare,
): Conflict | null {
  return (
    (kind === 'OVERWRITE' ? null : bucketCountConflict(live, delta)) ??
    identityConflict(live, delta) ??
    overlapConflict(live, delta, compareKeys)
  )
}

/** The error a caller gets: code `CONFLICT`, naming file, bucket and, for bucket counts, both numbers. */
export function conflictError(conflict: Conflict, table: string): TableError {
  const { entry } = conflict
  const details = {
    table,
    conflict: conflict.kind,
    file: entry.file.name,
    bucket: entry.bucket,
    level: entry.file.level,
  }
  switch (conflict.kind) {
    case 'bucket-count': {
      const { totalBuckets } = conflict.existing
      return new TableError(
        'CONFLICT',
        `Total buckets of a partition changed: its files were written with ${totalBuckets} buckets, ${entry.file.name} with ${entry.totalBuckets}. Rewrite the partition by an overwrite before you write with another number.`,
        { ...details, expected: totalBuckets, actual: entry.totalBuckets },
      )
    }
    case 'added-twice':
      return new TableError(
        'CONFLICT',
        `File conflicts detected! Give up committing: ${entry.file.name} is in bucket ${entry.bucket} already. The commit was applied before, or is applied twice; read the latest snapshot.`,
        details,
      )
    case 'not-live':
      return new TableError(
        'CONFLICT',
        `File deletion conflicts detected! Give up committing: ${entry.file.name} of bucket ${entry.bucket} is no longer live. Another compaction or overwrite came first; start again from the latest snapshot.`,
        details,
      )
    case 'overlap':
      return new TableError(
        'CONFLICT',
        `LSM conflicts detected! Give up committing: ${entry.file.name} and ${conflict.existing.file.name} would overlap at level ${entry.file.level} of bucket ${entry.bucket}. Another compaction came first; start again from the latest snapshot.`,
        { ...details, other: conflict.existing.file.name },
      )
    default:
      return assertNever(conflict)
  }
}

function bucketCountConflict(live: readonly ManifestEntry[], delta: readonly ManifestEntry[]): Conflict | null {
  const first = new Map<string, ManifestEntry>()
  const conflictOf = (entry: ManifestEntry): Conflict | null => {
    // Dynamic (-1) and postponed (-2) buckets have no total.
    if (entry.totalBuckets <= 0) return null
    const partition = partitionId(entry.partition)
    const existing = first.get(partition)
    if (existing === undefined) first.set(partition, entry)
    else if (existing.totalBuckets !== entry.totalBuckets) return { kind: 'bucket-count', entry, existing }
    return null
  }
  const touched = new Set(delta.map((entry) => partitionId(entry.partition)))
  for (const entry of live) {
    const conflict = touched.has(partitionId(entry.partition)) ? conflictOf(entry) : null
    if (conflict !== null) return conflict
  }
  for (const entry of delta) {
    const conflict = conflictOf(entry)
    if (conflict !== null) return conflict
  }
  return null
}

/** Plays the delta onto the live files. The order inside the delta is free: a removal must name a file that was live before. */
function identityConflict(live: readonly ManifestEntry[], delta: readonly ManifestEntry[]): Conflict | null {
  const there = new Map<string, ManifestEntry>()
  for (const entry of live) there.set(entryId(entry), entry)
  const changed = new Map<string, ManifestEntry>()
  for (const entry of delta) {
    const id = entryId(entry)
    const existing = there.get(id)
    const earlier = changed.get(id)
    if (entry.kind === 'delete') {
      if (existing === undefined || earlier !== undefined) return { kind: 'not-live', entry }
    } else if (existing !== undefined || earlier !== undefined) {
      return { kind: 'added-twice', entry, existing: existing ?? earlier ?? entry }
    }
    changed.set(id, entry)
  }
  return null
}

/** Only levels that the delta adds to can gain an overlap. */
function overlapConflict(
  live: readonly ManifestEntry[],
  delta: readonly ManifestEntry[],
  compareKeys: KeyCompare,
): Conflict | null {
  const levels = new Map<string, ManifestEntry[]>()
  const removed = new Set<string>()
  const added = new Set<ManifestEntry>()
  for (const entry of delta) {
    if (entry.kind === 'delete') {
      removed.add(entryId(entry))
    } else if (entry.file.level > 0) {
      const id = `${entry.file.level}/${bucketId(entry)}`
      const members = levels.get(id)
      if (members === undefined) levels.set(id, [entry])
      else members.push(entry)
      added.add(entry)
    }
  }
  if (levels.size === 0) return null
  for (const entry of live) {
    const members = entry.file.level > 0 ? levels.get(`${entry.file.level}/${bucketId(entry)}`) : undefined
    if (members !== undefined && !removed.has(entryId(entry))) members.push(entry)
  }
  for (const members of levels.values()) {
    members.sort((a, b) => compareKeys(a.file.minKey, b.file.minKey))
    let previous: ManifestEntry | undefined
    for (const entry of members) {
      if (previous !== undefined && compareKeys(previous.file.maxKey, entry.file.minKey) >= 0) {
        return added.has(entry)
          ? { kind: 'overlap', entry, existing: previous }
          : { kind: 'overlap', entry: previous, existing: entry }
      }
      previous = entry
    }
  }
  return null
}

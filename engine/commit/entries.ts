import type { DataFile, ManifestEntry } from '../../formats/meta/types.ts'
import { serializeRow } from '../../formats/row/binary-row.ts'
import type { Increment } from '../plan/types.ts'

const EMPTY_ROW = serializeRow([], [])

/** Entries of an APPEND snapshot. */
export function appendEntries(increments: readonly Increment[]): readonly ManifestEntry[] {
  return increments.flatMap((increment) => increment.added.map((file) => entryOf(increment, 'add', file)))
}

/**
 * Entries of a COMPACT snapshot: of each bucket first what goes, then what comes. Expiry of Paimon walks them in order and
 * would delete an upgraded file whose ADD came before its DELETE.
 */
export function compactEntries(increments: readonly Increment[], dropDeleteStats: boolean): readonly ManifestEntry[] {
  return increments.flatMap((increment) => [
    ...increment.compactBefore.map((file) => entryOf(increment, 'delete', dropDeleteStats ? withoutStats(file) : file)),
    ...increment.compactAfter.map((file) => entryOf(increment, 'add', file)),
  ])
}

/** Entries of the changelog of either. */
export function changelogEntries(increments: readonly Increment[]): readonly ManifestEntry[] {
  return increments.flatMap((increment) => increment.changelog.map((file) => entryOf(increment, 'add', file)))
}

function entryOf(increment: Increment, kind: ManifestEntry['kind'], file: DataFile): ManifestEntry {
  const { partition, bucket, totalBuckets } = increment
  return { kind, partition, bucket, totalBuckets, file }
}

/** `manifest.delete-file-drop-stats`: nobody prunes by the statistics of a removed file. */
function withoutStats(file: DataFile): DataFile {
  return { ...file, valueStats: { min: EMPTY_ROW, max: EMPTY_ROW, nullCounts: [] }, valueStatsColumns: [] }
}

import type { DataFile, IndexEntry, ManifestEntry } from '../../formats/meta/types.ts'
import { serializeRow } from '../../formats/row/binary-row.ts'
import type { Increment } from '../plan/types.ts'
import { replaceVectors } from '../plan/vectors.ts'
import type { SnapshotChanges } from './publish-snapshot.ts'

const EMPTY_ROW = serializeRow([], [])

export const NO_CHANGES: SnapshotChanges = { files: [], changelog: [] }

/** What an APPEND snapshot changes. */
export function appendChanges(increments: readonly Increment[]): SnapshotChanges {
  return {
    files: increments.flatMap((increment) => increment.added.map((file) => entryOf(increment, 'add', file))),
    changelog: changelogEntries(increments),
  }
}

/**
 * What a COMPACT snapshot changes: of each bucket first what goes, then what comes. Expiry of Paimon walks the entries in order and
 * would delete an upgraded file whose ADD came before its DELETE. `indexes` are the index files of the snapshot before.
 */
export function compactChanges(
  increments: readonly Increment[],
  indexes: readonly IndexEntry[],
  dropDeleteStats: boolean,
): SnapshotChanges {
  const marked = increments.flatMap(({ partition, bucket, vectors }) =>
    vectors === undefined ? [] : { partition, bucket, vectors },
  )
  return {
    files: increments.flatMap((increment) => [
      ...increment.compactBefore.map((file) =>
        entryOf(increment, 'delete', dropDeleteStats ? withoutStats(file) : file),
      ),
      ...increment.compactAfter.map((file) => entryOf(increment, 'add', file)),
    ]),
    changelog: changelogEntries(increments),
    indexes: marked.length === 0 ? undefined : replaceVectors(indexes, marked),
  }
}

function changelogEntries(increments: readonly Increment[]): readonly ManifestEntry[] {
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

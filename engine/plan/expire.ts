import type { ManifestEntry, Snapshot } from '../../formats/meta/types.ts'
import { assert } from '../assert.ts'
import { entryId, pathId } from './entry-id.ts'

/** What decides which snapshots end. Ids are snapshot ids. */
export interface RetentionInput {
  readonly earliest: number
  readonly latest: number
  readonly nowMillis: number
  /** `snapshot.num-retained.min`, at least 1. */
  readonly retainMin: number
  /** `snapshot.num-retained.max`, at least `retainMin`. */
  readonly retainMax: number
  /** `snapshot.time-retained`. */
  readonly retainMillis: number
  /** `snapshot.expire.limit`: snapshots of one run. */
  readonly limit: number
  /** Snapshots that a consumer reads next, or that a reader of this process has pinned: they and all later ones stay. */
  readonly needed: readonly number[]
}

/** Snapshots [begin, end) end; empty when `begin >= end`. `end` is the new earliest. */
export interface ExpireRange {
  readonly begin: number
  readonly end: number
}

/**
 * Which snapshots expire. More than `retainMax` are never kept and fewer than `retainMin` never left; between the two, the
 * first snapshot young enough ends the range. Needed snapshots and the limit of one run come first.
 *
 * `timeOf` gives the time of a snapshot, undefined for one that is missing: gaps are passed over. The latest always stays.
 */
export function snapshotsToExpire(input: RetentionInput, timeOf: (id: number) => number | undefined): ExpireRange {
  const { earliest, latest, nowMillis, retainMillis } = input
  assert(input.retainMin >= 1, 'at least one snapshot is retained', { retainMin: input.retainMin })
  const tooMany = Math.max(latest - input.retainMax + 1, earliest)
  let end = Math.min(latest - input.retainMin + 1, earliest + input.limit, ...input.needed)
  for (let id = tooMany; id < end; id++) {
    const time = timeOf(id)
    if (time !== undefined && time >= nowMillis - retainMillis) end = id
  }
  return { begin: earliest, end: Math.max(earliest, end) }
}

/** Tags as expiry sees them: what they name and when. */
export interface TaggedSnapshot {
  readonly snapshotId: number
}

/** The tag whose files matter for what snapshot `id` removed: the nearest one before it. Undefined when there is none. */
export function nearestTag<T extends TaggedSnapshot>(tags: readonly T[], id: number): T | undefined {
  let nearest: T | undefined
  for (const tag of tags) {
    if (tag.snapshotId < id && (nearest === undefined || tag.snapshotId > nearest.snapshotId)) nearest = tag
  }
  return nearest
}

/**
 * The data files that become unused when all snapshots before one end: those its delta removes, unless
 *
 * - the delta adds the same file again, at another level (an upgrade): C082. Here the order of the two does not matter, as
 *   some writers put ADD before DELETE;
 * - the nearest tag before it still names the file: `taggedFiles` holds the `pathId`s of all files of that tag.
 *
 * A file lives in one unbroken range of snapshots, so when the nearest tag lacks it, earlier tags lack it too. Extra files
 * go with their data file. The same holds for each snapshot in (begin, end] of a range, one at a time.
 */
export function expiredDataFiles(
  delta: readonly ManifestEntry[],
  taggedFiles: ReadonlySet<string>,
): readonly ManifestEntry[] {
  const removed = new Map<string, ManifestEntry>()
  const removedIds = new Set<string>()
  for (const entry of delta) {
    if (entry.kind === 'add') continue
    removed.set(pathId(entry), entry)
    removedIds.add(entryId(entry))
  }
  for (const entry of delta) {
    if (entry.kind === 'add' && !removedIds.has(entryId(entry))) removed.delete(pathId(entry))
  }
  return [...removed].filter(([path]) => !taggedFiles.has(path)).map(([, entry]) => entry)
}

/** `pathId`s of the live entries of a tag, for `expiredDataFiles`. */
export function taggedFiles(live: readonly ManifestEntry[]): ReadonlySet<string> {
  return new Set(live.map(pathId))
}

/** Names of all files that a snapshot uses besides data files, by folder. */
export interface MetadataFiles {
  /** In `manifest/`: manifest lists, manifests, and the index manifest. */
  readonly manifests: readonly string[]
  /** Paths. */
  readonly indexes: readonly string[]
  /** In `statistics/`. */
  readonly statistics: readonly string[]
}

/** Files of `manifest/` that a snapshot names itself; the manifests inside its lists have to be read. */
export function namedManifests(snapshot: Snapshot): readonly string[] {
  const { baseManifestList, deltaManifestList, changelogManifestList, indexManifest } = snapshot
  return [baseManifestList, deltaManifestList, changelogManifestList, indexManifest].filter(
    (name) => name !== undefined,
  )
}

/**
 * The snapshots whose metadata must survive an expiry of `range`: the first that stays, and the tagged ones that were
 * among or just before those that end.
 */
export function keptSnapshots<T extends TaggedSnapshot>(
  range: ExpireRange,
  tags: readonly T[],
): { readonly firstKept: number; readonly tags: readonly T[] } {
  const inside = tags.filter(({ snapshotId }) => snapshotId >= range.begin && snapshotId < range.end)
  const before = nearestTag(tags, range.begin)
  const sameBefore = before === undefined ? [] : tags.filter((tag) => tag.snapshotId === before.snapshotId)
  return { firstKept: range.end, tags: [...sameBefore, ...inside] }
}

/** What ended snapshots used and kept ones do not. Each name once, in the order given. */
export function expiredMetadata(expired: readonly MetadataFiles[], kept: readonly MetadataFiles[]): MetadataFiles {
  const difference = (of: (files: MetadataFiles) => readonly string[]) => {
    const used = new Set(kept.flatMap(of))
    return [...new Set(expired.flatMap(of))].filter((name) => !used.has(name))
  }
  return {
    manifests: difference((files) => files.manifests),
    indexes: difference((files) => files.indexes),
    statistics: difference((files) => files.statistics),
  }
}

/** All that is loaded for one expiry. */
export interface ExpireInput {
  readonly range: ExpireRange
  /** Delta entries of each snapshot in (begin, end], in order. Null = unreadable: its files are left to the orphan cleaner. */
  readonly deltas: readonly { readonly id: number; readonly entries: readonly ManifestEntry[] | null }[]
  /** `files`: see `taggedFiles`. Only tags that are nearest to some id of `deltas` need theirs. */
  readonly tags: readonly (TaggedSnapshot & { readonly files: ReadonlySet<string> })[]
  /** Files that the changelogs of the ended snapshots add; empty while long-lived changelogs keep them. */
  readonly changelogFiles: readonly ManifestEntry[]
  /** Of the snapshots in [begin, end) that exist, and of those in `keptSnapshots`. */
  readonly expiredMetadata: readonly MetadataFiles[]
  readonly keptMetadata: readonly MetadataFiles[]
}

/** What an expiry removes, in this order: EARLIEST := `earliest`, data files, metadata, snapshot files. A dry run prints it. */
export interface ExpirePlan {
  readonly earliest: number
  readonly dataFiles: readonly ManifestEntry[]
  readonly metadata: MetadataFiles
  /** Ids from `begin` on; some may be missing on disk. */
  readonly snapshots: readonly number[]
}

/** The whole plan of an expiry from loaded data. Nothing is read or removed here. */
export function planExpire(input: ExpireInput): ExpirePlan {
  const { begin, end } = input.range
  const dataFiles = new Map<string, ManifestEntry>()
  for (const { id, entries } of input.deltas) {
    assert(id > begin && id <= end, 'only deltas in (begin, end] tell what is unused', { id, begin, end })
    const tagged = nearestTag(input.tags, id)?.files ?? new Set<string>()
    for (const entry of expiredDataFiles(entries ?? [], tagged)) dataFiles.set(pathId(entry), entry)
  }
  for (const entry of input.changelogFiles) dataFiles.set(pathId(entry), entry)
  return {
    earliest: end,
    dataFiles: [...dataFiles.values()],
    metadata: expiredMetadata(input.expiredMetadata, input.keptMetadata),
    snapshots: Array.from({ length: Math.max(0, end - begin) }, (_, i) => begin + i),
  }
}

/**
 * The snapshots that keep files of a tag alive once it is deleted: the nearest tag before it, and the nearer of the next
 * tag and the earliest snapshot after it. Null = deleting the tag frees nothing, because its snapshot is still there or
 * another tag names the same one (C085, C087).
 *
 * `others` are all tags but the one deleted. What goes: `unusedFiles` of its live entries, and `expiredMetadata`.
 */
export function protectorsOfTag<T extends TaggedSnapshot>(
  snapshotId: number,
  others: readonly T[],
  earliest: number,
): readonly number[] | null {
  if (snapshotId >= earliest || others.some((tag) => tag.snapshotId === snapshotId)) return null
  const before = nearestTag(others, snapshotId)
  const after = others.map((tag) => tag.snapshotId).filter((id) => id > snapshotId)
  return [...(before === undefined ? [] : [before.snapshotId]), Math.min(earliest, ...after)]
}

/** Entries whose file none of the sets names; see `taggedFiles`. */
export function unusedFiles(
  live: readonly ManifestEntry[],
  used: readonly ReadonlySet<string>[],
): readonly ManifestEntry[] {
  return live.filter((entry) => !used.some((paths) => paths.has(pathId(entry))))
}

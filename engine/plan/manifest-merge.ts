import type { ManifestEntry, ManifestFile } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import { entryId, partitionId } from './entry-id.ts'

export interface ManifestMergeOptions {
  /** `manifest.target-file-size`. */
  readonly targetBytes: number
  /** `manifest.full-compaction-threshold-size`. */
  readonly fullThresholdBytes: number
  /** `manifest.merge-min-count`. */
  readonly minCount: number
}

/** For a request to compact manifests: everything small or with deletes is worth it. */
export function compactManifestOptions(targetBytes: number): ManifestMergeOptions {
  return { targetBytes, fullThresholdBytes: 1, minCount: 1 }
}

/** Neighbours in the list of manifests that stay as they are (`merge` false) or become new manifests together. */
export interface ManifestGroup {
  readonly merge: boolean
  readonly manifests: readonly ManifestFile[]
}

/** A manifest with its entries read. */
export interface LoadedManifest {
  readonly manifest: ManifestFile
  readonly entries: readonly ManifestEntry[]
}

/**
 * Entries in the order of their commits, cancelled: an ADD and a later DELETE of one file remove each other; a DELETE whose
 * ADD lies in an older manifest stays. Throws `CORRUPT` when a file is added twice.
 */
export function mergeEntries(entries: Iterable<ManifestEntry>): readonly ManifestEntry[] {
  const merged = new Map<string, ManifestEntry>()
  for (const entry of entries) {
    const id = entryId(entry)
    const existing = merged.get(id)
    if (entry.kind === 'delete' && existing?.kind === 'add') {
      merged.delete(id)
    } else if (existing !== undefined) {
      throw new TableError(
        'CORRUPT',
        `The manifests ${entry.kind} ${entry.file.name} of bucket ${entry.bucket} twice. Go back to an earlier snapshot.`,
        { file: entry.file.name, bucket: entry.bucket, level: entry.file.level },
      )
    } else {
      merged.set(id, entry)
    }
  }
  return [...merged.values()]
}

/** Ids of all files that the entries remove; see `liveEntries`. */
export function deletedIds(entries: Iterable<ManifestEntry>): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const entry of entries) if (entry.kind === 'delete') ids.add(entryId(entry))
  return ids
}

/** The ADD entries that no DELETE takes back: the files of a snapshot, given the entries of all its manifests in any order. */
export function liveEntries(entries: Iterable<ManifestEntry>, deleted: ReadonlySet<string>): readonly ManifestEntry[] {
  const live: ManifestEntry[] = []
  for (const entry of entries) if (entry.kind === 'add' && !deleted.has(entryId(entry))) live.push(entry)
  return live
}

/**
 * Whether enough bytes lie in manifests that want a change (small, or with deletes) to rewrite them all at once. If so,
 * `planFullRewrite` comes next, with the DELETE entries; else, or when that gives up, `planMinorMerge`.
 */
export function wantsFullRewrite(manifests: readonly ManifestFile[], options: ManifestMergeOptions): boolean {
  let bytes = 0
  for (const manifest of manifests) if (mustChange(manifest, options)) bytes += manifest.bytes
  return bytes >= options.fullThresholdBytes
}

/**
 * Which manifests a full rewrite reads: those that want a change and those that may hold a file that is deleted. Null = not
 * worth it, fewer than two are left.
 *
 * `deletes` are the DELETE entries of all manifests; `mayHold` says whether a manifest's partition range meets a partition.
 */
export function planFullRewrite(
  manifests: readonly ManifestFile[],
  deletes: readonly ManifestEntry[],
  options: ManifestMergeOptions,
  mayHold: (manifest: ManifestFile, partition: Uint8Array) => boolean,
): { readonly keep: readonly ManifestFile[]; readonly rewrite: readonly ManifestFile[] } | null {
  const partitions = new Map<string, Uint8Array>()
  for (const { partition } of deletes) partitions.set(partitionId(partition), partition)
  const touched = [...partitions.values()]
  const keep: ManifestFile[] = []
  const rewrite: ManifestFile[] = []
  for (const manifest of manifests) {
    const needed = mustChange(manifest, options) || touched.some((partition) => mayHold(manifest, partition))
    if (needed) rewrite.push(manifest)
    else keep.push(manifest)
  }
  return rewrite.length <= 1 ? null : { keep, rewrite }
}

/**
 * The second half of a full rewrite: which of the loaded manifests stay after all, as they want no change and lose no file,
 * and the surviving ADD entries of the others, to be written anew and rolled at the target size.
 */
export function fullRewrite(
  loaded: readonly LoadedManifest[],
  deleted: ReadonlySet<string>,
  options: ManifestMergeOptions,
): { readonly keep: readonly ManifestFile[]; readonly entries: readonly ManifestEntry[] } {
  const keep: ManifestFile[] = []
  const rewritten: ManifestEntry[] = []
  for (const { manifest, entries } of loaded) {
    const live = liveEntries(entries, deleted)
    if (live.length === entries.length && !mustChange(manifest, options)) keep.push(manifest)
    else rewritten.push(...live)
  }
  return { keep, entries: rewritten }
}

/**
 * The merge that each commit does: walks the list and merges neighbours each time they reach the target size together. The
 * rest is merged only once it counts `minCount` manifests. Merging a group is `mergeEntries` over its entries in order.
 */
export function planMinorMerge(
  manifests: readonly ManifestFile[],
  options: ManifestMergeOptions,
): readonly ManifestGroup[] {
  const groups: ManifestGroup[] = []
  let gathered: ManifestFile[] = []
  let bytes = 0
  for (const manifest of manifests) {
    gathered.push(manifest)
    bytes += manifest.bytes
    if (bytes >= options.targetBytes) {
      groups.push({ merge: gathered.length > 1, manifests: gathered })
      gathered = []
      bytes = 0
    }
  }
  if (gathered.length > 0) {
    groups.push({ merge: gathered.length > 1 && gathered.length >= options.minCount, manifests: gathered })
  }
  return groups
}

function mustChange(manifest: ManifestFile, options: ManifestMergeOptions): boolean {
  return manifest.deletedFiles > 0 || manifest.bytes < options.targetBytes
}

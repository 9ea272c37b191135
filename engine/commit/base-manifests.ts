import type { ManifestEntry, ManifestFile } from '../../formats/meta/types.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { meetsPartition } from '../plan/bounds.ts'
import {
  deletedIds,
  fullRewrite,
  type ManifestMergeOptions,
  mergeEntries,
  planFullRewrite,
  planMinorMerge,
  wantsFullRewrite,
} from '../plan/manifest-merge.ts'
import type { ManifestWriter } from '../store/manifest-writer.ts'
import type { Manifests } from '../store/manifests.ts'

/**
 * The manifests of the base list of the next snapshot: those of the one before, the small ones merged so that their number
 * stays bounded however many commits there are.
 */
export async function mergeBaseManifests(
  manifests: readonly ManifestFile[],
  options: ManifestMergeOptions,
  partitionFields: readonly Field[],
  reader: Manifests,
  writer: ManifestWriter,
): Promise<readonly ManifestFile[]> {
  if (wantsFullRewrite(manifests, options)) {
    const rewritten = await rewriteAll(manifests, options, partitionFields, reader, writer)
    if (rewritten !== undefined) return rewritten
  }
  const merged: ManifestFile[] = []
  for (const group of planMinorMerge(manifests, options)) {
    if (!group.merge) merged.push(...group.manifests)
    else merged.push(...(await writer.writeManifests(mergeEntries(await reader.readAll(group.manifests)))))
  }
  return merged
}

async function rewriteAll(
  manifests: readonly ManifestFile[],
  options: ManifestMergeOptions,
  partitionFields: readonly Field[],
  reader: Manifests,
  writer: ManifestWriter,
): Promise<readonly ManifestFile[] | undefined> {
  const withDeletes = manifests.filter((manifest) => manifest.deletedFiles > 0)
  const deletes = (await reader.readAll(withDeletes)).filter((entry) => entry.kind === 'delete')
  const plan = planFullRewrite(manifests, deletes, options, (manifest, partition) =>
    meetsPartition(manifest.partitionStats, manifest.addedFiles + manifest.deletedFiles, partition, partitionFields),
  )
  if (plan === null) return undefined
  const loaded: { manifest: ManifestFile; entries: readonly ManifestEntry[] }[] = []
  for (const manifest of plan.rewrite) loaded.push({ manifest, entries: await reader.read(manifest) })
  const { keep, entries } = fullRewrite(loaded, deletedIds(deletes), options)
  return [...plan.keep, ...keep, ...(await writer.writeManifests(entries))]
}

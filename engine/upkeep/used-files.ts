import { parseBranchFolder } from '../../formats/meta/names.ts'
import type { IndexEntry, ManifestEntry, ManifestFile, Snapshot } from '../../formats/meta/types.ts'
import { isTableError } from '../errors.ts'
import { pathId } from '../plan/entry-id.ts'
import { type MetadataFiles, namedManifests } from '../plan/expire.ts'
import { listIfPresent } from '../store/listing.ts'
import { MAIN_BRANCH } from '../store/paths.ts'
import { branchStore, dataPathsOf, type TableStore } from '../store/table-store.ts'

/** What a read that fails means. `must`: the files are needed, so stop. `may`: the snapshot is half gone already, go on. */
export type Strictness = 'must' | 'may'

/**
 * Everything in `manifest/`, `index/` and `statistics/` that a snapshot uses. Manifests come before the lists that name
 * them, so that a removal which stops half-way can be taken up again.
 */
export async function metadataOf(store: TableStore, snapshot: Snapshot, strict: Strictness): Promise<MetadataFiles> {
  const { changelogManifestList, indexManifest } = snapshot
  const lists: [name: string, bytes: number | undefined][] = [
    [snapshot.baseManifestList, snapshot.baseManifestListSize],
    [snapshot.deltaManifestList, snapshot.deltaManifestListSize],
  ]
  if (changelogManifestList !== undefined) lists.push([changelogManifestList, snapshot.changelogManifestListSize])
  const manifests: string[] = []
  for (const [name, bytes] of lists) {
    const list = await tolerant<readonly ManifestFile[]>(strict, [], () => store.manifests.readList(name, bytes))
    for (const manifest of list) manifests.push(manifest.name)
  }
  const indexes = indexManifest === undefined ? [] : await tolerant(strict, [], () => store.indexes.read(indexManifest))
  return {
    manifests: [...manifests, ...namedManifests(snapshot)],
    indexes: await indexPaths(store, snapshot, indexes),
    statistics: snapshot.statistics === undefined ? [] : [snapshot.statistics],
  }
}

/** Index files lie in `index/`, or in the folders of their buckets: the table says once and for all where. */
async function indexPaths(
  store: TableStore,
  { schemaId }: Snapshot,
  indexes: readonly IndexEntry[],
): Promise<readonly string[]> {
  if (indexes.length === 0) return []
  const paths = dataPathsOf(store.paths, await store.schemas.read(schemaId))
  return indexes.map((entry) => paths.indexFile(entry))
}

/** The result of `read`; `fallback` for a file that is missing or damaged, where that is allowed. Other errors are thrown. */
export async function tolerant<T>(strict: Strictness, fallback: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (strict === 'may' && isTableError(error, 'CORRUPT')) return fallback
    throw error
  }
}

/**
 * What a long-lived changelog keeps of its snapshot: the lists of its changelog, or, where it has none, those that tell which files
 * were flushed. Other writers keep less, or more.
 */
export async function changelogMetadata(store: TableStore, snapshot: Snapshot): Promise<MetadataFiles> {
  const { changelogManifestList, changelogManifestListSize } = snapshot
  if (changelogManifestList === undefined) {
    const { indexManifest: _, statistics: __, ...lists } = snapshot
    return metadataOf(store, lists, 'may')
  }
  const list = await tolerant<readonly ManifestFile[]>('may', [], () =>
    store.manifests.readList(changelogManifestList, changelogManifestListSize),
  )
  return { manifests: [...list.map(({ name }) => name), changelogManifestList], indexes: [], statistics: [] }
}

/** The data files that a long-lived changelog is read from. */
export async function changelogFiles(store: TableStore, snapshot: Snapshot): Promise<readonly ManifestEntry[]> {
  const { changelogManifestList, commitKind } = snapshot
  if (changelogManifestList === undefined && commitKind !== 'APPEND') return []
  const entries = await tolerant<readonly ManifestEntry[]>('may', [], () =>
    changelogManifestList === undefined
      ? store.manifests.deltaEntries(snapshot)
      : store.manifests.changelogEntries(snapshot),
  )
  return entries.filter((entry) => entry.kind === 'add')
}

/** What other branches and long-lived changelogs use: an expiry of one branch removes none of it. */
export interface OtherUsers {
  readonly metadata: readonly MetadataFiles[]
  /** `pathId`s. */
  readonly dataFiles: ReadonlySet<string>
}

/**
 * Reads it all, or throws: what cannot be read cannot be spared. Costs two listings when there are neither. `leaving` are snapshots
 * that leave their changelog behind; changelogs in `gone` count no more.
 */
export async function otherUsers(
  store: TableStore,
  leaving: readonly Snapshot[] = [],
  gone: ReadonlySet<number> = new Set(),
): Promise<OtherUsers> {
  const metadata: MetadataFiles[] = []
  const dataFiles = new Set<string>()
  const use = (entries: readonly ManifestEntry[]) => {
    for (const entry of entries) dataFiles.add(pathId(entry))
  }
  for (const branch of await otherBranches(store)) {
    for (const snapshot of await allSnapshots(branchStore(store, branch))) {
      metadata.push(await metadataOf(store, snapshot, 'must'))
      use(await store.manifests.liveEntries(snapshot))
      use(await store.manifests.changelogEntries(snapshot))
    }
  }
  const changelogs = new Map(leaving.map((snapshot) => [snapshot.id, snapshot]))
  for (const id of await store.changelogs.ids()) {
    const changelog = changelogs.has(id) || gone.has(id) ? undefined : await store.changelogs.find(id)
    if (changelog !== undefined) changelogs.set(id, changelog)
  }
  for (const changelog of changelogs.values()) {
    // Of a changelog only a part is left, by design: what is there is in use, what is missing is not.
    metadata.push(await changelogMetadata(store, changelog))
    use(await changelogFiles(store, changelog))
  }
  return { metadata, dataFiles }
}

async function otherBranches(store: TableStore): Promise<readonly string[]> {
  const folders = await listIfPresent(store.fs, store.paths.branches)
  const names = folders.flatMap(({ name, kind }) => (kind === 'file' ? [] : (parseBranchFolder(name) ?? [])))
  return [MAIN_BRANCH, ...names].filter((name) => name !== store.paths.branch)
}

/** Snapshots and tags of a branch, the latter whether or not their snapshot is still there. */
async function allSnapshots(store: TableStore): Promise<readonly Snapshot[]> {
  const found: Snapshot[] = []
  for (const id of await store.snapshots.ids()) {
    const snapshot = await store.snapshots.find(id)
    if (snapshot !== undefined) found.push(snapshot)
  }
  return [...found, ...(await store.tags.list()).map((tag) => tag.snapshot)]
}

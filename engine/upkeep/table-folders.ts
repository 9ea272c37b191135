import { posix } from 'node:path'
import { parseBranchFolder } from '../../formats/meta/names.ts'
import { type FolderKind, type ListedFile, mayBeOrphan } from '../plan/orphans.ts'
import { mapLimited } from '../store/concurrent.ts'
import { withPath } from '../store/errors.ts'
import { listIfPresent } from '../store/listing.ts'
import { MAIN_BRANCH } from '../store/paths.ts'
import { branchStore, type TableStore } from '../store/table-store.ts'

/** A folder that holds files of the table. */
export interface TableFolder {
  readonly path: string
  readonly kind: FolderKind
}

/** The branches of a table by the folders that are there, main first. */
export async function branchesOf(store: TableStore): Promise<readonly string[]> {
  const folders = await listIfPresent(store.fs, store.paths.branches)
  return [MAIN_BRANCH, ...folders.flatMap(({ name, kind }) => (kind === 'file' ? [] : (parseBranchFolder(name) ?? [])))]
}

/** Folders of metadata that are there or not: those all branches share, and those of each branch. */
export function metadataFolders(store: TableStore, branches: readonly string[]): readonly TableFolder[] {
  const { manifests, indexes, statistics } = store.paths
  const shared = [manifests, indexes, statistics].map((path) => ({ path, kind: 'shared' as const }))
  return [
    ...shared,
    ...branches.flatMap((branch) => {
      const { snapshots, changelogs, schemas, tags, consumers } = branchStore(store, branch).paths
      return [
        { path: snapshots, kind: 'snapshots' as const },
        { path: changelogs, kind: 'changelogs' as const },
        ...[schemas, tags, consumers].map((path) => ({ path, kind: 'kept' as const })),
      ]
    }),
  ]
}

/** Folders of data files: `bucket-*` below as many partition folders as there are partition keys. Links are not followed. */
export async function bucketFolders(
  store: TableStore,
  partitionKeys: number,
  folder: string = store.paths.table,
): Promise<readonly string[]> {
  const below = (await listIfPresent(store.fs, folder)).filter(({ kind }) => kind === 'directory')
  if (partitionKeys === 0) {
    return below.flatMap(({ name }) => (name.startsWith('bucket-') ? [posix.join(folder, name)] : []))
  }
  const partitions = below.filter(({ name }) => name.includes('='))
  const found = await mapLimited(partitions, ({ name }) =>
    bucketFolders(store, partitionKeys - 1, posix.join(folder, name)),
  )
  return found.flat()
}

/** The files of a folder whose names say that they could be orphans. A folder that cannot be listed is an error. */
export async function filesIn(store: TableStore, { path: folder, kind }: TableFolder): Promise<readonly ListedFile[]> {
  const entries = (await listIfPresent(store.fs, folder)).filter(
    (entry) => entry.kind === 'file' && mayBeOrphan(kind, entry.name),
  )
  const files = await mapLimited(entries, async ({ name }) => {
    const path = posix.join(folder, name)
    const stat = await withPath(path, () => store.fs.stat(path))
    return stat === undefined ? [] : [{ path, name, ...stat }]
  })
  return files.flat()
}

import { posix } from 'node:path'
import type { FileSystem } from '../../engine/ports/file-system.ts'
import { dataPathsOf, type TableStore } from '../../engine/store/table-store.ts'
import { parseSnapshot } from '../../formats/meta/snapshot.ts'
import type { Snapshot } from '../../formats/meta/types.ts'

/** Absolute paths of all files below a folder, sorted. */
export async function allFiles(fs: FileSystem, folder: string): Promise<string[]> {
  const found: string[] = []
  for (const { name, kind } of await fs.list(folder)) {
    const path = posix.join(folder, name)
    if (kind === 'directory') found.push(...(await allFiles(fs, path)))
    else found.push(path)
  }
  return found.sort()
}

/** Every file that a snapshot needs to be read: data, extra and index files, manifests and lists, statistics, schema. */
export async function filesOfSnapshot(store: TableStore, snapshot: Snapshot): Promise<Set<string>> {
  const used = new Set<string>()
  const paths = dataPathsOf(store.paths, await store.schemas.latest())
  const { base, delta, changelog } = await store.manifests.listsOf(snapshot)
  for (const list of [snapshot.baseManifestList, snapshot.deltaManifestList, snapshot.changelogManifestList]) {
    if (list !== undefined) used.add(store.manifests.path(list))
  }
  for (const { name } of [...base, ...delta, ...(changelog ?? [])]) used.add(store.manifests.path(name))
  for (const { partition, bucket, file } of await store.manifests.liveEntries(snapshot)) {
    for (const path of paths.filesOf(partition, bucket, file)) used.add(path)
  }
  if (snapshot.indexManifest !== undefined) used.add(store.manifests.path(snapshot.indexManifest))
  for (const entry of await store.indexes.entriesOf(snapshot)) used.add(paths.indexFile(entry))
  if (snapshot.statistics !== undefined) used.add(posix.join(store.paths.statistics, snapshot.statistics))
  used.add(store.schemas.path(snapshot.schemaId))
  return used
}

/** The changelog files that a snapshot's commit wrote. */
export async function changelogFilesOf(store: TableStore, snapshot: Snapshot): Promise<Set<string>> {
  const paths = dataPathsOf(store.paths, await store.schemas.latest())
  const entries = await store.manifests.changelogEntries(snapshot)
  return new Set(entries.flatMap(({ partition, bucket, file }) => paths.filesOf(partition, bucket, file)))
}

/** Files of the table that nothing names: snapshots, tags, long-lived changelogs, schemas and hints are the roots. */
export async function unnamedFiles(store: TableStore): Promise<string[]> {
  const { fs, paths } = store
  const named = new Set<string>()
  const add = (files: Iterable<string>) => {
    for (const file of files) named.add(file)
  }
  for (const id of await store.snapshots.allIds()) {
    const snapshot = (await store.snapshots.find(id))!
    add([store.snapshots.path(id)])
    add(await filesOfSnapshot(store, snapshot))
    add(await changelogFilesOf(store, snapshot))
  }
  for (const { name, snapshot } of await store.tags.list()) {
    add([store.tags.path(name)])
    add(await filesOfSnapshot(store, snapshot))
  }
  const data = dataPathsOf(paths, await store.schemas.latest())
  const all = await allFiles(fs, paths.table)
  for (const path of all) {
    const name = posix.basename(path)
    if (name === 'LATEST' || name === 'EARLIEST' || name.startsWith('schema-')) named.add(path)
    if (!name.startsWith('changelog-') || posix.dirname(path) !== paths.changelogs) continue
    // Parts of a long-lived changelog are gone by design; what it still names counts.
    const changelog = parseSnapshot(await fs.readFile(path))
    named.add(path)
    for (const list of [changelog.baseManifestList, changelog.deltaManifestList, changelog.changelogManifestList]) {
      if (list === undefined) continue
      named.add(store.manifests.path(list))
      for (const manifest of await store.manifests.readList(list).catch(() => [])) {
        named.add(store.manifests.path(manifest.name))
        for (const entry of await store.manifests.read(manifest).catch(() => [])) {
          add(data.filesOf(entry.partition, entry.bucket, entry.file))
        }
      }
    }
  }
  return all.filter((path) => !named.has(path))
}

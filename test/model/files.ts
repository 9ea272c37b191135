import type { FileSystem } from '../../engine/ports/file-system.ts'
import type { Random } from '../../engine/ports/random.ts'
import { dataPathsOf, openTableStore } from '../../engine/store/table-store.ts'
import { metadataOf } from '../../engine/upkeep/used-files.ts'
import type { Codecs } from '../../formats/compress/codec.ts'

/** What lies in a table's folders beside what its snapshots and tags name. */
export interface FileReport {
  /** Named by a snapshot or a tag, but not there. */
  readonly missing: readonly string[]
  /** There, but named by nobody. */
  readonly unnamed: readonly string[]
  /** Snapshots whose expiry did not end: the next expiry has to finish it. */
  readonly halfExpired: readonly number[]
}

/** Compares the folders of a table with what all its snapshots and tags name. */
export async function fileReport(fs: FileSystem, random: Random, codecs: Codecs, table: string): Promise<FileReport> {
  const store = openTableStore({ fs, random }, codecs, table)
  const paths = dataPathsOf(store.paths, await store.schemas.latest())
  const named = new Set<string>()
  const ids = await store.snapshots.ids()
  const snapshots = await Promise.all(ids.map((id) => store.snapshots.read(id)))
  for (const snapshot of [...snapshots, ...(await store.tags.list()).map((tag) => tag.snapshot)]) {
    for (const entry of await store.manifests.liveEntries(snapshot)) {
      for (const path of paths.filesOf(entry.partition, entry.bucket, entry.file)) named.add(path)
    }
    const { manifests } = await metadataOf(store, snapshot, 'must')
    for (const name of manifests) named.add(`${store.paths.manifests}/${name}`)
  }
  const present = new Set<string>()
  for await (const path of filesBelow(fs, table)) {
    if (/\/(snapshot|schema|tag)\/[^/.][^/]*$/.test(path)) continue
    present.add(path)
  }
  return {
    missing: [...named].filter((path) => !present.has(path)),
    unnamed: [...present].filter((path) => !named.has(path)),
    halfExpired: (await store.snapshots.allIds()).filter((id) => !ids.includes(id)),
  }
}

async function* filesBelow(fs: FileSystem, folder: string): AsyncGenerator<string> {
  for (const { name, kind } of await fs.list(folder)) {
    if (kind === 'directory') yield* filesBelow(fs, `${folder}/${name}`)
    else yield `${folder}/${name}`
  }
}

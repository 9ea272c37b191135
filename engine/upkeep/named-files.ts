import type { DataFile, Snapshot } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import { namedManifests } from '../plan/expire.ts'
import { mapLimited } from '../store/concurrent.ts'
import { isMissing } from '../store/errors.ts'
import { branchStore, type TableStore } from '../store/table-store.ts'
import { branchesOf } from './table-folders.ts'

/**
 * Names of all files that anything in the table names: snapshots, also leftovers below EARLIEST, then tags, then changelogs,
 * branch by branch, main first. In this order whatever takes over a file from another is looked at after it.
 *
 * Reads it all or throws. A file may only be missing where its snapshot went meanwhile, or is half gone by design. `wanted` are
 * the names that matter; the rest is not kept.
 */
export async function namedFiles(store: TableStore, wanted: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const walk = new NameWalk(store, wanted)
  for (const branch of await branchesOf(store)) await walk.branch(branchStore(store, branch))
  return walk.named
}

class NameWalk {
  readonly #store: TableStore
  readonly #wanted: ReadonlySet<string>
  readonly #seen = new Set<string>()
  readonly named = new Set<string>()

  constructor(store: TableStore, wanted: ReadonlySet<string>) {
    this.#store = store
    this.#wanted = wanted
  }

  async branch(store: TableStore): Promise<void> {
    const { snapshots, changelogs, tags, schemas, paths } = store
    if ((await schemas.ids()).length === 0) {
      throw new TableError(
        'CORRUPT',
        `Branch ${paths.branch} has no schema, so what it needs is not known: nothing is removed. Restore ${paths.schemas}, or delete the branch.`,
        { path: paths.schemas, value: paths.branch },
      )
    }
    await mapLimited(await snapshots.allIds(), (id) =>
      this.#add(snapshots.find(id), async () => !(await snapshots.isLive(id))),
    )
    await mapLimited(await tags.list(), ({ name, snapshot }) =>
      this.#add(Promise.resolve(snapshot), async () => !(await tags.names()).includes(name)),
    )
    // Of a changelog only a part is left, by design.
    await mapLimited(await changelogs.ids(), (id) => this.#add(changelogs.find(id), async () => true))
  }

  /** `gone` tells whether what names these files has been taken away by now, or is half gone anyway. */
  async #add(load: Promise<Snapshot | undefined>, gone: () => Promise<boolean>): Promise<void> {
    const snapshot = await load
    if (snapshot === undefined) return
    const { manifests, indexes } = this.#store
    for (const name of namedManifests(snapshot)) this.#name(name)
    if (snapshot.statistics !== undefined) this.#name(snapshot.statistics)
    for (const [name, bytes] of listsOf(snapshot)) {
      await this.#once(name, gone, async () => {
        for (const manifest of await manifests.readList(name, bytes)) {
          this.#name(manifest.name)
          await this.#once(manifest.name, gone, async () => {
            for (const { file } of await manifests.read(manifest)) this.#file(file)
          })
        }
      })
    }
    const { indexManifest } = snapshot
    if (indexManifest === undefined) return
    await this.#once(indexManifest, gone, async () => {
      for (const { name } of await indexes.read(indexManifest)) this.#name(name)
    })
  }

  /** Reads a file of metadata the first time it is named. One that is missing is read again for the next who names it. */
  async #once(name: string, gone: () => Promise<boolean>, read: () => Promise<void>): Promise<void> {
    if (this.#seen.has(name)) return
    try {
      await read()
      this.#seen.add(name)
    } catch (error) {
      if (!isMissing(error) || !(await gone())) throw error
    }
  }

  #file(file: DataFile): void {
    this.#name(file.name)
    for (const extra of file.extraFiles) this.#name(extra)
  }

  #name(name: string): void {
    if (this.#wanted.has(name)) this.named.add(name)
  }
}

function listsOf(snapshot: Snapshot): readonly [name: string, bytes: number | undefined][] {
  const { changelogManifestList } = snapshot
  return [
    [snapshot.baseManifestList, snapshot.baseManifestListSize],
    [snapshot.deltaManifestList, snapshot.deltaManifestListSize],
    ...(changelogManifestList === undefined
      ? []
      : [[changelogManifestList, snapshot.changelogManifestListSize] as [string, number | undefined]]),
  ]
}

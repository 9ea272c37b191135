import { posix } from 'node:path'
import type { ManifestEntry, Snapshot } from '../../formats/meta/types.ts'
import type { ExpirePlan } from '../plan/expire.ts'
import { mapLimited } from '../store/concurrent.ts'
import { isMissing, withPath } from '../store/errors.ts'
import { type DataPaths, inside } from '../store/paths.ts'
import type { TableStore } from '../store/table-store.ts'

/** Removes the files of plans, in the order that can be taken up again after a crash, and counts them. */
export class Remover {
  readonly #store: TableStore
  readonly #dataPaths: DataPaths
  readonly #dryRun: boolean
  readonly #cleanEmptyDirectories: boolean
  readonly files: string[] = []
  /** A dry run comes by a file twice that a changelog and a snapshot give up. */
  readonly #seen = new Set<string>()
  bytes = 0

  constructor(
    store: TableStore,
    dataPaths: DataPaths,
    options: { readonly dryRun: boolean; readonly cleanEmptyDirectories: boolean },
  ) {
    this.#store = store
    this.#dataPaths = dataPaths
    this.#dryRun = options.dryRun
    this.#cleanEmptyDirectories = options.cleanEmptyDirectories
  }

  /**
   * Data files first: what they are is only known as long as manifests name them. Snapshot files last and in ascending
   * order: as long as one is there, the next run finds it and the rest of the range.
   */
  async remove(plan: Pick<ExpirePlan, 'dataFiles' | 'metadata'>, ended: readonly Snapshot[]): Promise<void> {
    const { paths, snapshots } = this.#store
    await this.removeDataFiles(plan.dataFiles)
    const { indexes, statistics, manifests } = plan.metadata
    await this.#removeAll(indexes)
    await this.#removeAll(statistics.map((name) => posix.join(paths.statistics, inside(name, null))))
    // One after the other: a list must not go before the manifests that only it names.
    for (const name of manifests) await this.#removeFile(posix.join(paths.manifests, inside(name, null)))
    for (const { id } of ended) await this.#removeFile(snapshots.path(id))
    if (!this.#dryRun && ended.length > 0) await snapshots.sync()
  }

  /** The files of changelogs themselves, once nothing is left of what they name. */
  async removeChangelogs(ended: readonly Snapshot[]): Promise<void> {
    for (const { id } of ended) await this.#removeFile(this.#store.changelogs.path(id))
  }

  /** Data files and the files beside them; then, if asked for, the folders they leave empty. */
  async removeDataFiles(entries: readonly ManifestEntry[]): Promise<void> {
    const folders = new Set<string>()
    const files = entries.flatMap(({ partition, bucket, file }) => {
      folders.add(this.#dataPaths.bucketFolder(partition, bucket))
      return this.#dataPaths.filesOf(partition, bucket, file)
    })
    await this.#removeAll(files)
    if (this.#cleanEmptyDirectories && !this.#dryRun) for (const folder of folders) await this.#removeEmpty(folder)
  }

  async #removeAll(files: readonly string[]): Promise<void> {
    await mapLimited(files, (path) => this.#removeFile(path))
  }

  async #removeFile(path: string): Promise<void> {
    const { fs } = this.#store
    await withPath(path, async () => {
      const stat = await fs.stat(path)
      if (stat === undefined || this.#seen.has(path)) return
      if (!this.#dryRun) {
        try {
          await fs.unlink(path)
        } catch (error) {
          if (isMissing(error)) return
          throw error
        }
      }
      this.#seen.add(path)
      this.files.push(path)
      this.bytes += stat.bytes
    })
  }

  /** The folder and those above it, up to the table's, as long as they are empty. */
  async #removeEmpty(folder: string): Promise<void> {
    const { fs, paths } = this.#store
    for (let path = folder; path.startsWith(`${paths.table}/`); path = posix.dirname(path)) {
      try {
        await fs.removeDirectory(path)
      } catch {
        // Not empty, or gone, or in use: an empty folder does no harm.
        return
      }
    }
  }
}

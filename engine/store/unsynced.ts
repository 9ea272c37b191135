import { posix } from 'node:path'
import { allEnded } from './concurrent.ts'
import { withPath } from './errors.ts'
import { createUnique, type Publisher, replace } from './publish.ts'

/** Files that may wait for their sync: their bytes are in memory so long, and the caller's thread has written them one by one. */
const MOST_FILES = 64

interface UnsyncedFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** After a sync that failed nobody knows what of the file is on the disk, and the next one may say that all is well. */
  failed: boolean
}

/**
 * Small data files that are written and can be read, but are not durable yet: they are synced together with the manifests that name
 * them. Their bytes are kept so long, so that a file that could not be synced is written again.
 */
export class Unsynced {
  readonly #publisher: Publisher
  readonly #files = new Map<string, UnsyncedFile>()
  #writing = 0

  constructor(publisher: Publisher) {
    this.#publisher = publisher
  }

  /** Runs what creates a file or two; gives undefined, and does nothing, when as many files wait for their sync as may. */
  async admit<T>(run: () => Promise<T>): Promise<T | undefined> {
    if (this.#files.size + this.#writing >= MOST_FILES) return undefined
    this.#writing++
    try {
      return await run()
    } finally {
      this.#writing--
    }
  }

  /** Creates a file under a name that nobody else can have, its folder when absent. */
  async create(path: string, bytes: Uint8Array): Promise<void> {
    await createUnique(this.#publisher.fs, path, bytes, { sync: false })
    this.#files.set(posix.basename(path), { path, bytes, failed: false })
  }

  /** A file that was, or will be, removed. */
  forget(name: string): void {
    this.#files.delete(name)
  }

  /** Makes those of these files durable that are not, and their names. What fails stays to be tried again. */
  async settle(names: readonly string[]): Promise<void> {
    const files = names.flatMap((name) => this.#files.get(name) ?? [])
    const again = files.filter((file) => file.failed)
    await allEnded(again.map((file) => this.#writeAgain(file)))
    const folders = new Set(files.map(({ path }) => posix.dirname(path)))
    await allEnded([
      ...files.map((file) => this.#sync(file)),
      ...[...folders].map((folder) => withPath(folder, () => this.#publisher.fs.syncDirectory(folder))),
    ])
    for (const name of names) this.#files.delete(name)
  }

  async #sync(file: UnsyncedFile): Promise<void> {
    try {
      await withPath(file.path, () => this.#publisher.fs.syncFile(file.path))
    } catch (error) {
      file.failed = true
      throw error
    }
  }

  async #writeAgain(file: UnsyncedFile): Promise<void> {
    // Under its name there is always a whole file: somebody may be about to read it.
    await replace(this.#publisher, file.path, file.bytes, { durable: false })
    file.failed = false
  }
}

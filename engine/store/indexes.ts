import { posix } from 'node:path'
import type { Codecs } from '../../formats/compress/codec.ts'
import { decodeIndexManifest } from '../../formats/meta/index-manifest.ts'
import type { IndexEntry, Snapshot } from '../../formats/meta/types.ts'
import type { FileSystem } from '../ports/file-system.ts'
import { Cache } from './cache.ts'
import { withPath } from './errors.ts'
import { inside } from './paths.ts'

const ENTRY_BYTES = 512

/**
 * Reads index manifests. Each is complete: it names every index file of its snapshot, so a commit without index changes
 * carries the name of the last one forward.
 */
export class Indexes {
  readonly #fs: FileSystem
  readonly #folder: string
  readonly #codecs: Codecs
  readonly #cache: Cache<readonly IndexEntry[]>

  constructor(fs: FileSystem, folder: string, codecs: Codecs, cacheBytes: number) {
    this.#fs = fs
    this.#folder = folder
    this.#codecs = codecs
    this.#cache = new Cache(cacheBytes)
  }

  path(name: string): string {
    return posix.join(this.#folder, inside(name, null))
  }

  /** The index files of a snapshot; none when it names no index manifest. */
  async entriesOf(snapshot: Snapshot): Promise<readonly IndexEntry[]> {
    return snapshot.indexManifest === undefined ? [] : this.read(snapshot.indexManifest)
  }

  async read(name: string): Promise<readonly IndexEntry[]> {
    return this.#cache.getOrLoad(name, async () => {
      const path = this.path(name)
      const file = await withPath(path, () => this.#fs.readFile(path))
      const value = await withPath(path, () => decodeIndexManifest(file, this.#codecs, name))
      return { value, bytes: file.length + value.length * ENTRY_BYTES }
    })
  }
}

import { posix } from 'node:path'
import type { Codecs } from '../../formats/compress/codec.ts'
import { decodeManifest } from '../../formats/meta/manifest.ts'
import { decodeManifestList } from '../../formats/meta/manifest-list.ts'
import type { ManifestEntry, ManifestFile, Snapshot } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import { mergeEntries } from '../plan/manifest-merge.ts'
import type { FileSystem } from '../ports/file-system.ts'
import { Cache } from './cache.ts'
import { mapLimited } from './concurrent.ts'
import { withPath } from './errors.ts'
import { inside } from './paths.ts'

/** A parsed entry or list record takes about this much memory beside the bytes it points into. */
const RECORD_BYTES = 1024

/** The three manifest lists of a snapshot, read. */
export interface SnapshotManifests {
  readonly base: readonly ManifestFile[]
  readonly delta: readonly ManifestFile[]
  /** Undefined when the snapshot has no changelog. */
  readonly changelog: readonly ManifestFile[] | undefined
}

/**
 * Reads manifest lists and manifests. Both never change under their names, so parsed ones are kept. A file of another
 * length than it is said to have, or with another number of entries, is `CORRUPT`: a cut at a block's end would go unseen otherwise,
 * and rows with it.
 */
export class Manifests {
  readonly #fs: FileSystem
  readonly #folder: string
  readonly #codecs: Codecs
  readonly #lists: Cache<readonly ManifestFile[]>
  readonly #manifests: Cache<readonly ManifestEntry[]>

  constructor(fs: FileSystem, folder: string, codecs: Codecs, cacheBytes: number) {
    this.#fs = fs
    this.#folder = folder
    this.#codecs = codecs
    this.#lists = new Cache(cacheBytes / 4)
    this.#manifests = new Cache(cacheBytes)
  }

  path(name: string): string {
    return posix.join(this.#folder, inside(name, null))
  }

  /** The manifests that a list names, oldest first. `bytes` is the size that the snapshot gives, if it does. */
  async readList(name: string, bytes?: number): Promise<readonly ManifestFile[]> {
    return this.#lists.getOrLoad(name, async () => {
      const file = await this.#readFile(name, bytes)
      const value = await withPath(this.path(name), () => decodeManifestList(file, this.#codecs, name))
      return { value, bytes: file.length + value.length * RECORD_BYTES }
    })
  }

  /** The entries of a manifest, in file order. */
  async read(manifest: ManifestFile): Promise<readonly ManifestEntry[]> {
    return this.#manifests.getOrLoad(manifest.name, async () => {
      const path = this.path(manifest.name)
      const file = await this.#readFile(manifest.name, manifest.bytes)
      const value = await withPath(path, () => decodeManifest(file, this.#codecs, manifest.name))
      const expected = manifest.addedFiles + manifest.deletedFiles
      if (value.length !== expected) {
        throw new TableError(
          'CORRUPT',
          `${path} has ${value.length} entries, its list says ${expected}. Restore the file, or go back to an older snapshot.`,
          { path, expected, actual: value.length },
        )
      }
      return { value, bytes: file.length + value.length * RECORD_BYTES }
    })
  }

  /** Keeps what was just written, so that the next commit does not read it back. */
  keepList(name: string, bytes: number, value: readonly ManifestFile[]): void {
    this.#lists.set(name, value, bytes + value.length * RECORD_BYTES)
  }

  /** Like `keepList`, for the entries of a manifest. */
  keep(manifest: ManifestFile, value: readonly ManifestEntry[]): void {
    this.#manifests.set(manifest.name, value, manifest.bytes + value.length * RECORD_BYTES)
  }

  /** Entries of several manifests, in order. */
  async readAll(manifests: readonly ManifestFile[]): Promise<readonly ManifestEntry[]> {
    return (await mapLimited(manifests, (manifest) => this.read(manifest))).flat()
  }

  async listsOf(snapshot: Snapshot): Promise<SnapshotManifests> {
    const { changelogManifestList } = snapshot
    const [base, delta, changelog] = await Promise.all([
      this.readList(snapshot.baseManifestList, snapshot.baseManifestListSize),
      this.deltaListOf(snapshot),
      changelogManifestList === undefined
        ? undefined
        : this.readList(changelogManifestList, snapshot.changelogManifestListSize),
    ])
    return { base, delta, changelog }
  }

  async deltaListOf(snapshot: Snapshot): Promise<readonly ManifestFile[]> {
    return this.readList(snapshot.deltaManifestList, snapshot.deltaManifestListSize)
  }

  /** What a snapshot's commit added and removed, in order. */
  async deltaEntries(snapshot: Snapshot): Promise<readonly ManifestEntry[]> {
    return this.readAll(await this.deltaListOf(snapshot))
  }

  /** The changelog files of a snapshot's commit. The other lists may be gone. */
  async changelogEntries(snapshot: Snapshot): Promise<readonly ManifestEntry[]> {
    const { changelogManifestList, changelogManifestListSize } = snapshot
    if (changelogManifestList === undefined) return []
    return this.readAll(await this.readList(changelogManifestList, changelogManifestListSize))
  }

  /**
   * The data files of a snapshot, as `add` entries: base and delta, cancelled against each other. `CORRUPT` when an entry
   * removes a file that is not there, or adds one twice.
   */
  async liveEntries(snapshot: Snapshot): Promise<readonly ManifestEntry[]> {
    const { base, delta } = await this.listsOf(snapshot)
    const entries = await this.readAll([...base, ...delta])
    const path = this.path(snapshot.deltaManifestList)
    const live = await withPath(path, () => mergeEntries(entries))
    const dangling = live.find((entry) => entry.kind === 'delete')
    if (dangling !== undefined) {
      throw new TableError(
        'CORRUPT',
        `Snapshot ${snapshot.id} removes ${dangling.file.name} of bucket ${dangling.bucket}, which it does not have. Go back to an older snapshot.`,
        { path, snapshot: snapshot.id, file: dangling.file.name, bucket: dangling.bucket },
      )
    }
    return live
  }

  async #readFile(name: string, expectedBytes: number | undefined): Promise<Uint8Array> {
    const path = this.path(name)
    const file = await withPath(path, () => this.#fs.readFile(path))
    if (expectedBytes !== undefined && file.length !== expectedBytes) {
      throw new TableError(
        'CORRUPT',
        `${path} has ${file.length} bytes, expected ${expectedBytes}. Restore the file, or go back to an older snapshot.`,
        { path, expected: expectedBytes, actual: file.length },
      )
    }
    return file
  }
}

import { posix } from 'node:path'
import type { Codecs } from '../../formats/compress/codec.ts'
import { encodeIndexManifest } from '../../formats/meta/index-manifest.ts'
import { encodeManifest } from '../../formats/meta/manifest.ts'
import { encodeManifestList } from '../../formats/meta/manifest-list.ts'
import { type MetadataKind, metadataName } from '../../formats/meta/names.ts'
import type { IndexEntry, ManifestEntry, ManifestFile } from '../../formats/meta/types.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import type { FileSystem } from '../ports/file-system.ts'
import type { Random } from '../ports/random.ts'
import { allEnded } from './concurrent.ts'
import { withPath } from './errors.ts'
import { describeManifest } from './manifest-stats.ts'
import { createUnique } from './publish.ts'

/** What a commit needs to write its manifests. */
export interface ManifestWriterOptions {
  readonly fs: FileSystem
  readonly random: Random
  readonly codecs: Codecs
  /** Folder of manifests. */
  readonly folder: string
  /** Types of the partition columns, for the bounds in manifest lists. */
  readonly partitionTypes: readonly DataType[]
  /** Option `manifest.compression`. */
  readonly compression: string
  /** Option `manifest.target-file-size`. */
  readonly targetBytes: number
}

/** A metadata file just written; `bytes` is its exact length, which goes into the file that names it. */
export interface WrittenFile {
  readonly name: string
  readonly bytes: number
}

interface EncodedManifest {
  readonly name: string
  readonly entries: readonly ManifestEntry[]
  readonly bytes: Uint8Array
}

/** Bytes on their way to the disk; a rewrite of many manifests waits there instead of holding all of them. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024

/**
 * Writes the manifests of one attempt to commit. The files do not depend on each other, so they are written side by side, and
 * synced together: a call gives the name at once, `sync` waits for all and throws what failed. Nothing it writes is visible before a
 * snapshot names it; an attempt that does not get there calls `abort`. Names hold one UUID and count up.
 */
export class ManifestWriter {
  readonly #options: ManifestWriterOptions
  readonly #manifestUuid: string
  readonly #listUuid: string
  readonly #indexUuid: string
  readonly #counters = new Map<MetadataKind, number>()
  readonly #pending = new Set<Promise<void>>()
  #pendingBytes = 0
  #failure: { readonly error: unknown } | undefined
  #written: string[] = []

  constructor(options: ManifestWriterOptions) {
    this.#options = options
    this.#manifestUuid = options.random.uuid()
    this.#listUuid = options.random.uuid()
    this.#indexUuid = options.random.uuid()
  }

  /** Entries in order, in as many manifests as the target size asks for; none for no entries. */
  async writeManifests(entries: readonly ManifestEntry[]): Promise<readonly ManifestFile[]> {
    if (entries.length === 0) return []
    const whole = this.#manifest(entries)
    const { targetBytes } = this.#options
    // Entries compress alike, so equal parts are about equally large.
    const parts = Math.min(entries.length, Math.ceil(whole.bytes.length / targetBytes))
    if (parts <= 1) return [await this.#writeManifest(whole)]
    const perFile = Math.ceil(entries.length / parts)
    const files: ManifestFile[] = []
    for (let start = 0; start < entries.length; start += perFile) {
      files.push(await this.#writeManifest(this.#manifest(entries.slice(start, start + perFile))))
    }
    return files
  }

  /** A manifest list; an empty one is a file too. */
  async writeList(manifests: readonly ManifestFile[]): Promise<WrittenFile> {
    const { codecs, compression } = this.#options
    const name = this.#nextName('manifest-list', this.#listUuid)
    return this.#write(name, encodeManifestList(manifests, codecs, compression, name))
  }

  /** The complete index manifest of a snapshot. */
  async writeIndexManifest(entries: readonly IndexEntry[]): Promise<WrittenFile> {
    const { codecs, compression } = this.#options
    const name = this.#nextName('index-manifest', this.#indexUuid)
    return this.#write(name, encodeIndexManifest(entries, codecs, compression, name))
  }

  /** Resolves when all files written, and their names, are durable: once, before the snapshot is published. */
  async sync(): Promise<void> {
    const { fs, folder } = this.#options
    await this.#settled()
    if (this.#failure !== undefined) throw this.#failure.error
    const folders = this.#written.length > 0 ? [folder] : []
    await allEnded([
      ...this.#written.map((path) => withPath(path, () => fs.syncFile(path))),
      ...folders.map((path) => withPath(path, () => fs.syncDirectory(path))),
    ])
  }

  /** Removes what was written; what cannot be removed is left to the orphans. Never after a publish with unknown outcome. */
  async abort(): Promise<void> {
    await this.#settled()
    const written = this.#written
    this.#written = []
    for (const path of written) await this.#options.fs.unlink(path).catch(() => undefined)
  }

  #manifest(entries: readonly ManifestEntry[]): EncodedManifest {
    const { codecs, compression } = this.#options
    const name = this.#nextName('manifest', this.#manifestUuid)
    return { name, entries, bytes: encodeManifest(entries, codecs, compression, name) }
  }

  async #writeManifest({ name, entries, bytes }: EncodedManifest): Promise<ManifestFile> {
    await this.#write(name, bytes)
    return describeManifest(name, bytes.length, entries, this.#options.partitionTypes)
  }

  #nextName(kind: MetadataKind, uuid: string): string {
    const counter = this.#counters.get(kind) ?? 0
    this.#counters.set(kind, counter + 1)
    return metadataName(kind, uuid, counter)
  }

  async #write(name: string, bytes: Uint8Array): Promise<WrittenFile> {
    const path = posix.join(this.#options.folder, name)
    this.#written.push(path)
    this.#start(path, bytes)
    if (this.#pendingBytes > MAX_PENDING_BYTES) await this.#settled()
    return { name, bytes: bytes.length }
  }

  #start(path: string, bytes: Uint8Array): void {
    this.#pendingBytes += bytes.length
    const writing = createUnique(this.#options.fs, path, bytes, { sync: false })
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => {
        this.#pendingBytes -= bytes.length
        this.#pending.delete(writing)
      })
    this.#pending.add(writing)
  }

  async #settled(): Promise<void> {
    await Promise.all(this.#pending)
  }
}

import { corrupt } from '../bytes/format-error.ts'
import type { ByteSource } from '../bytes/source.ts'
import type { CodecName, Codecs } from '../compress/codec.ts'
import type { PageHeader } from './footer.ts'
import { ChunkBytes, checkPage, decompressBody, type ReadCounters } from './page.ts'
import type { PageShelf, ShelvedPage } from './page-shelf.ts'

/** What a chunk is read with. */
export interface ChunkContext {
  readonly source: ByteSource
  readonly codecs: Codecs
  readonly counters: ReadCounters
  readonly shelf?: PageShelf | undefined
  /** Rows of a flat column may be overwritten when the next but one are taken. */
  readonly reuse?: boolean | undefined
}

/** A page whose header is known. `bytes` = what its body inflates to, where an earlier reader has left it. */
export type FoundPage = Omit<ShelvedPage, 'bytes'> & { readonly bytes: Uint8Array | undefined }

/** Above the size of the pool that small buffers of Node share. */
const LEAST_REUSED = 16 * 1024

interface KeptPage {
  readonly offset: number
  readonly page: ShelvedPage
}

/**
 * The pages of one chunk, read and inflated. One is in use at a time, so they share memory; where a shelf waits for them, those
 * that the last rows lie in stay as they are.
 */
export class ChunkPages {
  readonly #codecs: Codecs
  readonly #codec: CodecName
  readonly #counters: ReadCounters
  readonly #bytes: ChunkBytes
  readonly #end: number
  readonly #shelf: PageShelf | undefined
  /** Memory that the next page may take. */
  readonly #free: Uint8Array[] = []
  #dictionary: KeptPage | undefined
  /** The data pages that the last rows lie in. */
  #kept: KeptPage[] = []

  /** `end` is that of the chunk in the file. */
  constructor({ source, codecs, counters, shelf }: ChunkContext, codec: CodecName, end: number) {
    this.#codecs = codecs
    this.#codec = codec
    this.#counters = counters
    this.#bytes = new ChunkBytes(source, counters)
    this.#end = end
    // Without compression there is nothing to save.
    this.#shelf = codec === 'none' ? undefined : shelf
  }

  header(offset: number, limit: number): FoundPage {
    const shelved = this.#shelf?.take(offset)
    if (shelved !== undefined) return shelved
    const { header, length } = this.#bytes.header(offset, limit)
    return { header, bodyOffset: offset + length, bytes: undefined }
  }

  body(header: PageHeader, offset: number, limit: number): Uint8Array {
    const { compressedPageSize } = header
    if (compressedPageSize > this.#end - offset) {
      throw corrupt(
        `page at byte ${offset} has ${compressedPageSize} bytes, ${this.#end - offset} are left in its chunk`,
      )
    }
    const body = this.#bytes.take(offset, compressedPageSize, Math.max(limit, offset + compressedPageSize))
    checkPage(header, body, offset)
    return body
  }

  /** Bytes that the next page overwrites, unless they are of a page that is kept. */
  inflate(stored: Uint8Array, codec: CodecName, size: number): Uint8Array {
    this.#counters.pagesDecoded++
    const bytes = decompressBody(this.#codecs, codec, stored, size, this.#free.pop())
    if (this.#shelf === undefined && codec === 'zstd') this.#reuse(bytes)
    return bytes
  }

  /** What a dictionary inflates to; it goes on the shelf with the pages. */
  dictionary(offset: number, { header, bodyOffset, bytes: known }: FoundPage, limit: number): Uint8Array {
    const inflate = (): Uint8Array => {
      this.#counters.pagesDecoded++
      const name = this.#codec
      return decompressBody(this.#codecs, name, this.body(header, bodyOffset, limit), header.uncompressedPageSize)
    }
    const bytes = known ?? inflate()
    const page = { header, bodyOffset, bytes }
    if (this.#shelf?.keepsAll !== true) this.#dictionary = { offset, page }
    else if (known === undefined) this.#shelf.put(offset, page)
    return bytes
  }

  /** A data page of version 1 that has been opened; `known` if a shelf had it. */
  keep(offset: number, page: ShelvedPage, known: boolean): void {
    if (this.#shelf?.keepsAll !== true) {
      if (this.#shelf !== undefined) this.#kept.push({ offset, page })
    } else if (!known) this.#shelf.put(offset, page)
  }

  /** More rows are asked for: pages that are used up are not wanted again. `open` = the last one is not. */
  goOn(open: boolean): void {
    while (this.#kept.length > (open ? 1 : 0)) this.#reuse(this.#kept.shift()!.page.bytes)
  }

  #reuse({ buffer, byteLength }: Uint8Array): void {
    // Other methods may give back their input, or a piece of a pool: neither is ours.
    const own = this.#codec === 'zstd' && buffer.byteLength >= LEAST_REUSED && buffer.byteLength < byteLength * 2
    if (own && this.#free.length < 2) this.#free.push(new Uint8Array(buffer))
  }

  /** Leaves the pages of the last rows to the next reader. Nothing may be read afterwards. */
  shelve(): void {
    for (const { offset, page } of this.#kept) this.#shelf?.put(offset, page)
    if (this.#dictionary !== undefined) this.#shelf?.put(this.#dictionary.offset, this.#dictionary.page)
    this.#kept = []
    this.#dictionary = undefined
  }
}

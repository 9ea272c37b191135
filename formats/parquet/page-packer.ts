import type { Codec, CodecName } from '../compress/codec.ts'

/** What must be left of a page at most, in 64ths, for compression to be worth its time. */
const WORTHWHILE = 58
/** The same for a chunk that is stored as it is to change its mind. */
const CLEARLY_WORTHWHILE = 48
/** Pages below this are stored as they are while nothing larger has come: compressing them saves no block of the disk. */
const TINY = 256

/**
 * Compresses the pages of one chunk, or leaves all of them as they are where the first shows that it does not pay: random numbers,
 * packed deltas, blobs that are compressed already. Compressing those is the slowest thing a codec can be asked for, and reading them
 * back costs as much again as it saves in bytes. Later pages are tried now and then.
 */
export class PagePacker {
  readonly #codec: Codec
  readonly #level: number
  #stored: boolean
  #pages = 0

  constructor(codec: Codec, level: number) {
    this.#codec = codec
    this.#level = level
    this.#stored = codec.name === 'none'
  }

  /** How the pages of the chunk are compressed so far. Once a page has been compressed this stays. */
  get codec(): CodecName {
    return this.#stored ? 'none' : this.#codec.name
  }

  /** The next chunk starts. */
  reset(): void {
    this.#pages = 0
    this.#stored = this.#codec.name === 'none'
  }

  /** A data page. Where `codec` becomes another one by it, the pages before it must be packed again, with `compress`. */
  pack(bytes: Uint8Array): Uint8Array {
    const page = this.#pages++
    if (this.#codec.name === 'none') return bytes.slice()
    if (!this.#stored && page > 0) return this.compress(bytes)
    // The first page, or one of a chunk that is stored as it is: the second, fourth, eighth, then each sixteenth.
    const tried = page < 16 ? (page & (page - 1)) === 0 : page % 16 === 0
    if (!tried || bytes.length < TINY) {
      this.#stored = true
      return bytes.slice()
    }
    const packed = this.compress(bytes)
    const most = page === 0 ? WORTHWHILE : CLEARLY_WORTHWHILE
    this.#stored = packed.length * 64 > bytes.length * most
    return this.#stored ? bytes.slice() : packed
  }

  /** Bytes that the codec makes of these. */
  compress(bytes: Uint8Array): Uint8Array {
    return this.#codec.name === 'none' ? bytes.slice() : this.#codec.compress(bytes, this.#level)
  }

  /** Pages of a dictionary are small beside the data pages, and worth it: the chunk is compressed from the first page on. */
  compressAll(): void {
    this.#pages = Math.max(this.#pages, 1)
  }
}

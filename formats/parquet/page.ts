import { crc32 } from '../bytes/crc32.ts'
import { corrupt, FormatError, unsupported } from '../bytes/format-error.ts'
import type { ByteSource } from '../bytes/source.ts'
import type { CodecName, Codecs } from '../compress/codec.ts'
import { createDecoder } from './decoders.ts'
import { CompressionCodec, Encoding, type PageHeader, PageType, pageHeader } from './footer.ts'
import { BitPackedLevels, type LevelDecoder, RleDecoder } from './rle.ts'
import type { LeafNode } from './schema-tree.ts'
import { ThriftReader } from './thrift.ts'
import type { ValueBuffer, ValueDecoder } from './value-buffer.ts'

/** What reading has cost so far. */
export interface ReadCounters {
  bytesRead: number
  pagesDecoded: number
}

/** Bytes read ahead at a time. */
const READ_BLOCK = 512 * 1024

/** First guess for the length of a page header; doubled when it does not suffice. */
const HEADER_GUESS = 4096

/** The codec of a chunk by its number in the footer. */
export function codecName(codec: number): CodecName {
  switch (codec) {
    case CompressionCodec.UNCOMPRESSED:
      return 'none'
    case CompressionCodec.SNAPPY:
      return 'snappy'
    case CompressionCodec.GZIP:
      return 'gzip'
    case CompressionCodec.BROTLI:
      return 'brotli'
    case CompressionCodec.LZ4:
      return 'lz4_hadoop'
    case CompressionCodec.ZSTD:
      return 'zstd'
    case CompressionCodec.LZ4_RAW:
      return 'lz4_raw'
    default:
      throw unsupported(`Parquet compression ${codec}`)
  }
}

/**
 * Most bytes that a byte of input can become, by method: a length above it is a lie, and nothing is allocated for it. Zstd
 * stores 128 KiB in a block of 4 bytes, deflate 258 bytes in 2 bits, LZ4 255 in one byte, snappy 64 in 3.
 */
const MAX_EXPANSION: Record<CodecName, number> = {
  none: 1,
  snappy: 32,
  gzip: 1100,
  lz4_raw: 256,
  lz4_hadoop: 256,
  zstd: 45000,
  brotli: 1 << 20,
}

/** Window over one column chunk: reads in blocks, ahead of the reader, never past `limit`. */
export class ChunkBytes {
  private readonly source: ByteSource
  private readonly counters: ReadCounters
  private window: Uint8Array = new Uint8Array(0)
  private start = 0

  constructor(source: ByteSource, counters: ReadCounters) {
    this.source = source
    this.counters = counters
  }

  /** Bytes `[offset, offset + length)` of the file; `limit` ends what may be read ahead. */
  take(offset: number, length: number, limit: number): Uint8Array {
    const at = offset - this.start
    if (at < 0 || at + length > this.window.length) {
      const bytes = Math.max(length, Math.min(READ_BLOCK, limit - offset))
      if (offset < 0 || offset + bytes > this.source.bytes) {
        throw corrupt(`bytes ${offset} to ${offset + bytes} are past the end of a file of ${this.source.bytes}`)
      }
      this.counters.bytesRead += bytes
      // One page of its own: nothing of it serves a later call, so it is not held.
      if (bytes > READ_BLOCK) return this.source.read(offset, bytes)
      this.window = this.source.read(offset, bytes)
      this.start = offset
      return this.window.subarray(0, length)
    }
    return this.window.subarray(at, at + length)
  }

  /** The page header at `offset` and its length. */
  header(offset: number, limit: number): { readonly header: PageHeader; readonly length: number } {
    for (let guess = HEADER_GUESS; ; guess *= 8) {
      const bytes = this.take(offset, Math.min(guess, limit - offset), limit)
      const reader = new ThriftReader(bytes)
      try {
        return { header: checkHeader(pageHeader.read(reader), offset), length: reader.offset }
      } catch (error) {
        // Cut short or broken? Only more bytes can tell.
        if (guess >= limit - offset || !(error instanceof FormatError)) throw error
      }
    }
  }
}

function checkHeader(header: PageHeader, offset: number): PageHeader {
  const { type, dataPage, dataPageV2, dictionaryPage, compressedPageSize, uncompressedPageSize } = header
  const counts = dataPage ?? dataPageV2 ?? dictionaryPage
  const expected =
    type === PageType.DATA_PAGE
      ? dataPage
      : type === PageType.DATA_PAGE_V2
        ? dataPageV2
        : type === PageType.DICTIONARY_PAGE
          ? dictionaryPage
          : header
  if (expected === undefined) throw corrupt(`page of type ${type} at byte ${offset} lacks the header of its type`)
  if (compressedPageSize < 0 || uncompressedPageSize < 0 || (counts?.numValues ?? 0) < 0) {
    throw corrupt(`page at byte ${offset} has a negative size or count`)
  }
  return header
}

/** The decoders of a data page, each at its first value. */
export interface PageContent {
  readonly repetition: LevelDecoder | undefined
  readonly definition: LevelDecoder | undefined
  readonly values: ValueDecoder
}

/** Checks the CRC of a page when it has one. It covers the page as it is stored, levels included. */
export function checkPage(header: PageHeader, body: Uint8Array, offset: number): void {
  if (header.crc === undefined) return
  const actual = crc32(body) | 0
  if (actual !== header.crc) {
    throw corrupt(`page at byte ${offset} has CRC ${hex(actual)}, its header says ${hex(header.crc)}`)
  }
}

function hex(crc: number): string {
  return (crc >>> 0).toString(16).padStart(8, '0')
}

/**
 * Inflates `body`, perhaps into `target`; empty stays empty, whatever the codec: writers differ on whether nothing is compressed to
 * something.
 */
export function decompressBody(
  codecs: Codecs,
  name: CodecName,
  body: Uint8Array,
  size: number,
  target?: Uint8Array,
): Uint8Array {
  if (size === 0) return new Uint8Array(0)
  if (size > body.length * MAX_EXPANSION[name] + 1024) {
    throw corrupt(`page of ${body.length} bytes claims to be ${size} bytes uncompressed with ${name}`)
  }
  return codecs.get(name).decompress(body, size, target)
}

/** Inflates what is stored of a page to so many bytes. */
export type Inflate = (stored: Uint8Array, codec: CodecName, size: number) => Uint8Array

/** Takes apart a data page of either version. Damage that shows up first inside a level or value is found when it is read. */
export function openDataPage(
  leaf: LeafNode,
  header: PageHeader,
  body: Uint8Array,
  codec: CodecName,
  dictionary: ValueBuffer | undefined,
  inflate: Inflate,
): PageContent {
  const v2 = header.dataPageV2
  if (header.type === PageType.DATA_PAGE_V2 && v2 !== undefined) {
    const repetitionBytes = v2.repetitionLevelsByteLength
    const levelBytes = repetitionBytes + v2.definitionLevelsByteLength
    if (
      repetitionBytes < 0 ||
      v2.definitionLevelsByteLength < 0 ||
      levelBytes > Math.min(body.length, header.uncompressedPageSize)
    ) {
      throw corrupt(`page of ${body.length} bytes claims ${levelBytes} bytes of levels`)
    }
    const stored = body.subarray(levelBytes)
    const name = v2.isCompressed === false ? 'none' : codec
    const bytes = inflate(stored, name, header.uncompressedPageSize - levelBytes)
    return {
      repetition: leaf.repetition > 0 ? new RleDecoder(body, 0, repetitionBytes, bitsFor(leaf.repetition)) : undefined,
      definition:
        leaf.definition > 0 ? new RleDecoder(body, repetitionBytes, levelBytes, bitsFor(leaf.definition)) : undefined,
      values: lazyDecoder(leaf, v2.encoding, bytes, 0, dictionary),
    }
  }
  const v1 = header.dataPage!
  const bytes = inflate(body, codec, header.uncompressedPageSize)
  const repetition = levelsV1(bytes, 0, v1.numValues, leaf.repetition, v1.repetitionLevelEncoding)
  const definition = levelsV1(bytes, repetition.end, v1.numValues, leaf.definition, v1.definitionLevelEncoding)
  return {
    repetition: repetition.decoder,
    definition: definition.decoder,
    values: lazyDecoder(leaf, v1.encoding, bytes, definition.end, dictionary),
  }
}

function bitsFor(level: number): number {
  return 32 - Math.clz32(level)
}

function levelsV1(
  bytes: Uint8Array,
  start: number,
  count: number,
  maxLevel: number,
  encoding: number,
): { readonly decoder: LevelDecoder | undefined; readonly end: number } {
  if (maxLevel === 0 || count === 0) return { decoder: undefined, end: start }
  const width = bitsFor(maxLevel)
  if (encoding === Encoding.BIT_PACKED) {
    const end = start + Math.ceil((count * width) / 8)
    if (end > bytes.length) throw corrupt(`page of ${bytes.length} bytes ends inside its bit-packed levels`)
    return { decoder: new BitPackedLevels(bytes, start, width), end }
  }
  if (encoding !== Encoding.RLE) throw unsupported(`Parquet encoding ${encoding} of levels`)
  if (bytes.length - start < 4) throw corrupt(`page of ${bytes.length} bytes ends inside the length of its levels`)
  const length = new DataView(bytes.buffer, bytes.byteOffset + start, 4).getUint32(0, true)
  const end = start + 4 + length
  if (end > bytes.length) throw corrupt(`page of ${bytes.length} bytes claims ${length} bytes of levels`)
  return { decoder: new RleDecoder(bytes, start + 4, end, width), end }
}

/** A page without values may hold no bytes for them, so its decoder is made only when one is asked for. */
function lazyDecoder(
  leaf: LeafNode,
  encoding: number,
  bytes: Uint8Array,
  start: number,
  dictionary: ValueBuffer | undefined,
): ValueDecoder {
  let decoder: ValueDecoder | undefined
  const open = (): ValueDecoder => {
    decoder ??= createDecoder(leaf.element, encoding, bytes, start, dictionary)
    return decoder
  }
  return {
    read: (out, count) => {
      if (count > 0) open().read(out, count)
    },
    skip: (count) => {
      if (count > 0) open().skip(count)
    },
  }
}

import { unsupported } from '../bytes/format-error.ts'
import type { CodecName } from '../compress/codec.ts'
import type { Chunk, ColumnWriter } from './column-write.ts'
import { type ColumnIndex, type ColumnMetaData, CompressionCodec, Encoding, PageType } from './footer.ts'
import { boundaryOrder, chunkStatistics, pageMax, pageMin } from './write-statistics.ts'

/** A chunk that is in the file: where it and its data pages start. */
export interface PlacedChunk {
  readonly writer: ColumnWriter
  readonly chunk: Chunk
  readonly offset: number
  readonly pageOffsets: readonly number[]
}

const codecNumbers: Readonly<Record<CodecName, number>> = {
  none: CompressionCodec.UNCOMPRESSED,
  snappy: CompressionCodec.SNAPPY,
  gzip: CompressionCodec.GZIP,
  lz4_raw: CompressionCodec.LZ4_RAW,
  lz4_hadoop: CompressionCodec.LZ4,
  zstd: CompressionCodec.ZSTD,
  brotli: CompressionCodec.BROTLI,
}

/** The number of a codec in Parquet files. Brotli is refused: Java's reader of Paimon tables cannot read it. */
export function codecNumber(name: CodecName): number {
  if (name === 'brotli') throw unsupported('Parquet files are not written with brotli: Paimon in Java cannot read it')
  return codecNumbers[name]
}

function isText(writer: ColumnWriter): boolean {
  return writer.leaf.element.logicalType?.string === true
}

/** What the footer says of a chunk. */
export function chunkMetaData({ writer, chunk, offset, pageOffsets }: PlacedChunk): ColumnMetaData {
  const { leaf, order } = writer
  const pages = chunk.dictionary === undefined ? chunk.pages : [chunk.dictionary, ...chunk.pages]
  let uncompressed = 0
  let compressed = 0
  for (const page of pages) {
    uncompressed += page.uncompressedBytes
    compressed += page.bytes
  }
  return {
    type: leaf.element.type!,
    encodings: encodingsOf(writer, chunk),
    path: leaf.path,
    codec: codecNumber(chunk.codec),
    numValues: chunk.slots,
    totalUncompressedSize: uncompressed,
    totalCompressedSize: compressed,
    dataPageOffset: pageOffsets[0]!,
    ...(chunk.dictionary === undefined ? {} : { dictionaryPageOffset: offset }),
    statistics: chunkStatistics(order, chunk.bounds, chunk.nullCount, isText(writer)),
    encodingStats: encodingStats(chunk),
  }
}

/** Of levels first, BIT_PACKED standing for "has none", then of values. */
function encodingsOf({ leaf }: ColumnWriter, chunk: Chunk): readonly number[] {
  const encodings = new Set<number>()
  if (leaf.repetition === 0 || leaf.definition === 0) encodings.add(Encoding.BIT_PACKED)
  if (leaf.repetition > 0 || leaf.definition > 0) encodings.add(Encoding.RLE)
  if (chunk.dictionary !== undefined) encodings.add(Encoding.PLAIN_DICTIONARY)
  for (const page of chunk.pages) encodings.add(page.encoding)
  return [...encodings]
}

function encodingStats(chunk: Chunk): NonNullable<ColumnMetaData['encodingStats']> {
  const counts = new Map<number, number>()
  for (const page of chunk.pages) counts.set(page.encoding, (counts.get(page.encoding) ?? 0) + 1)
  const stats = [...counts].map(([encoding, count]) => ({ pageType: PageType.DATA_PAGE as number, encoding, count }))
  if (chunk.dictionary === undefined) return stats
  return [{ pageType: PageType.DICTIONARY_PAGE, encoding: Encoding.PLAIN_DICTIONARY, count: 1 }, ...stats]
}

/** Undefined where a page has values but no bounds: a column index needs them all. */
export function chunkColumnIndex({ writer, chunk }: PlacedChunk): ColumnIndex | undefined {
  const { order } = writer
  const text = isText(writer)
  const nullPages: boolean[] = []
  const minValues: Uint8Array[] = []
  const maxValues: Uint8Array[] = []
  for (const { bounds } of chunk.pages) {
    if (bounds.kind === 'unknown') return undefined
    const known = bounds.kind === 'known'
    nullPages.push(!known)
    minValues.push(known ? pageMin(order, bounds.min, text) : new Uint8Array(0))
    maxValues.push(known ? pageMax(order, bounds.max, text) : new Uint8Array(0))
  }
  const withValues = (values: readonly Uint8Array[]): Uint8Array[] => values.filter((_, i) => !nullPages[i])
  return {
    nullPages,
    minValues,
    maxValues,
    boundaryOrder: boundaryOrder(order, withValues(minValues), withValues(maxValues)),
    nullCounts: chunk.pages.map((page) => page.nullCount),
  }
}

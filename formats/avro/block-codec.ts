import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import { crc32 } from '../bytes/crc32.ts'
import { corrupt, unsupported } from '../bytes/format-error.ts'
import type { Codecs } from '../compress/codec.ts'

/** What the avro layer needs of compression, for callers that may not import that layer. */
export type BlockCodecs = Codecs

/** The names that `avro.codec` holds. */
export type AvroCodecName = 'null' | 'deflate' | 'snappy' | 'zstandard'

/** One codec of Avro's blocks. `place` is for messages. */
export interface BlockCodec {
  compress(block: Uint8Array): Uint8Array
  decompress(block: Uint8Array, place: string): Uint8Array
}

/** Deflate cannot shrink further than 1032 to 1, so this bounds what an inflated block may take. */
const MAX_DEFLATE_RATIO = 1032
const ZSTD_LEVEL = 1

/** The Avro codec for a value of the option `manifest.compression`. Throws UNSUPPORTED for a name not known. */
export function avroCodecName(compression: string): AvroCodecName {
  switch (compression.toLowerCase()) {
    case 'zstd':
    case 'zstandard':
      return 'zstandard'
    case 'none':
    case 'null':
      return 'null'
    case 'snappy':
      return 'snappy'
    case 'deflate':
      return 'deflate'
  }
  throw unsupported(
    `compression ${JSON.stringify(compression)} of Avro files: known are zstd, snappy, deflate and none`,
  )
}

/** The codec that a header names. Throws UNSUPPORTED for bzip2, xz and what else there may be. */
export function blockCodec(name: string, codecs: BlockCodecs): BlockCodec {
  switch (name) {
    case 'null':
      return { compress: (block) => block, decompress: (block) => block }
    case 'deflate':
      return { compress: (block) => deflateRawSync(block), decompress: inflate }
    case 'zstandard': {
      const zstd = codecs.get('zstd')
      return { compress: (block) => zstd.compress(block, ZSTD_LEVEL), decompress: (block) => zstd.decompress(block) }
    }
    case 'snappy':
      return snappy(codecs)
  }
  throw unsupported(`avro.codec ${JSON.stringify(name)}: known are null, deflate, snappy and zstandard`)
}

function inflate(block: Uint8Array, place: string): Uint8Array {
  const maxOutputLength = Math.min(block.length * MAX_DEFLATE_RATIO + 64, 2 ** 31 - 1)
  try {
    return inflateRawSync(block, { maxOutputLength, finishFlush: constants.Z_FINISH })
  } catch (cause) {
    throw corrupt(`${place}: the deflate stream is damaged`, cause)
  }
}

/** Snappy's raw format, then the CRC-32 of the uncompressed bytes, big-endian. */
function snappy(codecs: BlockCodecs): BlockCodec {
  const codec = codecs.get('snappy')
  return {
    compress: (block) => {
      const compressed = codec.compress(block)
      const framed = new Uint8Array(compressed.length + 4)
      framed.set(compressed)
      new DataView(framed.buffer).setUint32(compressed.length, crc32(block) >>> 0)
      return framed
    },
    decompress: (framed, place) => {
      const end = framed.length - 4
      if (end < 1) throw corrupt(`${place}: a snappy block of ${framed.length} bytes`)
      const block = codec.decompress(framed.subarray(0, end))
      const expected = new DataView(framed.buffer, framed.byteOffset, framed.byteLength).getUint32(end)
      const actual = crc32(block) >>> 0
      if (actual !== expected) {
        throw corrupt(`${place}: expected the CRC ${expected.toString(16)}, found ${actual.toString(16)}`)
      }
      return block
    },
  }
}

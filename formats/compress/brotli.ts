import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { corrupt } from '../bytes/format-error.ts'
import type { Codec } from './codec.ts'
import { MAX_DECOMPRESSED_BYTES, plainBytes } from './limits.ts'

/** BROTLI, RFC 7932. Read only in practice: Paimon's Java reader refuses it, so no table file is ever written with it. */
export const brotliCodec: Codec = {
  name: 'brotli',
  compress: (bytes, level) =>
    plainBytes(brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: level ?? 4 } })),
  decompress(bytes, uncompressedBytes) {
    try {
      const maxOutputLength = Math.max(1, uncompressedBytes ?? MAX_DECOMPRESSED_BYTES)
      return plainBytes(brotliDecompressSync(bytes, { maxOutputLength }))
    } catch (cause) {
      throw corrupt(`brotli: ${bytes.length} bytes cannot be decompressed`, cause)
    }
  },
}

import { gunzipSync, gzipSync } from 'node:zlib'
import { corrupt } from '../bytes/format-error.ts'
import type { Codec } from './codec.ts'
import { MAX_DECOMPRESSED_BYTES, plainBytes } from './limits.ts'

/** GZIP of Parquet: gzip members, RFC 1952; several in a row are one stream. Levels 1 to 9, default 6. */
export const gzipCodec: Codec = {
  name: 'gzip',
  compress: (bytes, level) => plainBytes(gzipSync(bytes, level === undefined ? {} : { level })),
  decompress(bytes, uncompressedBytes) {
    try {
      return plainBytes(
        gunzipSync(bytes, { maxOutputLength: Math.max(1, uncompressedBytes ?? MAX_DECOMPRESSED_BYTES) }),
      )
    } catch (cause) {
      throw corrupt(`gzip: ${bytes.length} bytes cannot be decompressed`, cause)
    }
  },
}

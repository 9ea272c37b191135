import { crc32 } from '../bytes/crc32.ts'
import type { Codec } from '../compress/codec.ts'
import { encodePageHeader, type PageHeader } from './footer.ts'

/** A page as it will lie in the file: it knows nothing of its place, so it can wait in memory for the row group to end. */
export interface SealedPage {
  readonly header: Uint8Array
  readonly body: Uint8Array
  /** Bytes in the file, header included. */
  readonly bytes: number
  /** The same before compression. */
  readonly uncompressedBytes: number
}

/** Compresses a page and puts its header before it, with the CRC-32 of the compressed bytes. `body` may be used again afterwards. */
export function sealPage(
  header: Omit<PageHeader, 'uncompressedPageSize' | 'compressedPageSize' | 'crc'>,
  body: Uint8Array,
  codec: Codec,
  level: number,
): SealedPage {
  const packed = codec.name === 'none' ? body.slice() : codec.compress(body, level)
  const head = encodePageHeader({
    ...header,
    uncompressedPageSize: body.length,
    compressedPageSize: packed.length,
    crc: crc32(packed) | 0,
  })
  return {
    header: head,
    body: packed,
    bytes: head.length + packed.length,
    uncompressedBytes: head.length + body.length,
  }
}

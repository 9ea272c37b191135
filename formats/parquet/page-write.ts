import { crc32 } from '../bytes/crc32.ts'
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

/** What the header of a page says beside its sizes and its CRC. */
export type PageKind = Omit<PageHeader, 'uncompressedPageSize' | 'compressedPageSize' | 'crc'>

/** Puts the header before a page, with the CRC-32 of its bytes as they are stored. `bytes`: how long it is before compression. */
export function sealPage(kind: PageKind, bytes: number, packed: Uint8Array): SealedPage {
  const head = encodePageHeader({
    ...kind,
    uncompressedPageSize: bytes,
    compressedPageSize: packed.length,
    crc: crc32(packed) | 0,
  })
  return { header: head, body: packed, bytes: head.length + packed.length, uncompressedBytes: head.length + bytes }
}

import { corrupt } from '../bytes/format-error.ts'

/**
 * The key hashes of one dynamic bucket (docs/format/hash-index.md), in file order: bare 32-bit numbers, no header. Throws
 * CORRUPT when the length is not a whole number of hashes; compare the count with the index manifest's.
 */
export function decodeHashIndex(bytes: Uint8Array): Int32Array {
  if (bytes.length % 4 !== 0) throw corrupt(`hash index: ${bytes.length} bytes are no whole number of 4-byte hashes`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const hashes = new Int32Array(bytes.length / 4)
  for (let i = 0; i < hashes.length; i++) hashes[i] = view.getInt32(i * 4)
  return hashes
}

/** The file with these hashes, in the order given. Each hash should be there once. */
export function encodeHashIndex(hashes: Int32Array): Uint8Array {
  const bytes = new Uint8Array(hashes.length * 4)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < hashes.length; i++) view.setInt32(i * 4, hashes[i]!)
  return bytes
}

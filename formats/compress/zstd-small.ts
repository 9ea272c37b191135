import { Decompress } from 'fzstd'

/** Bits of the descriptor, the byte behind the magic number: a window as large as the content; a checksum. */
const SINGLE_SEGMENT = 0x20
const CHECKSUM = 0x04

/** Bytes of content, of all frames together, that are decompressed sooner than another implementation is set up. */
export const SMALL_BYTES = 256 * 1024

/** Whether `decompressSmall` takes a frame: in memory of its content, and with no checksum that it would not test. */
export function isPlainFrame(frame: Uint8Array): boolean {
  return (frame[4]! & (SINGLE_SEGMENT | CHECKSUM)) === SINGLE_SEGMENT
}

/**
 * Decompresses a frame in JavaScript: for those of a small table's manifests, before there is a reason to set up a faster
 * implementation, which takes some 15 ms. Throws when more comes out than announced; what is less is left to the caller.
 */
export function decompressSmall(frame: Uint8Array, contentBytes: number): Uint8Array {
  const target = new Uint8Array(contentBytes)
  let at = 0
  // Block by block: in one call, a frame that ends early would be filled up with zeros.
  new Decompress((block) => {
    target.set(block, at)
    at += block.length
  }).push(frame, true)
  return target.subarray(0, at)
}

import { corrupt } from '../bytes/format-error.ts'

/**
 * Most bytes one call may decompress to: 512 MiB. Pages and Avro blocks are about 1 MiB; a WebAssembly heap ends at 2 GiB
 * and must hold input and output together, so a damaged or hostile length has to fail before it is allocated.
 */
export const MAX_DECOMPRESSED_BYTES = 512 * 1024 * 1024

/** First guess for an output of unknown length; doubled from there. */
export const FIRST_GUESS_BYTES = 4 * 1024 * 1024

/** Checks a length announced by a file before anything is allocated from it. */
export function checkAnnounced(codec: string, bytes: number): void {
  if (!(Number.isSafeInteger(bytes) && bytes >= 0 && bytes <= MAX_DECOMPRESSED_BYTES)) {
    throw corrupt(`${codec}: ${bytes} uncompressed bytes announced, at most ${MAX_DECOMPRESSED_BYTES} are accepted`)
  }
}

/** Checks that as many bytes came out as were announced; `expected` undefined = nothing was. */
export function checkLength(codec: string, actual: number, expected: number | undefined): void {
  if (expected !== undefined && actual !== expected) {
    throw corrupt(`${codec}: ${actual} bytes after decompression, expected ${expected}`)
  }
}

/** The bytes as a plain `Uint8Array`: a Node `Buffer` shares memory on `slice`, which callers must not meet. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

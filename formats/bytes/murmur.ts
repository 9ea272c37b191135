const SEED = 42
const C1 = 0xcc9e2d51
const C2 = 0x1b873593

/**
 * Murmur3 (x86, 32 bits) with seed 42 over little-endian 32-bit words: Paimon's hash of a BinaryRow, as a signed int32.
 * `end - start` must be a multiple of four, which it is for every BinaryRow.
 */
export function murmur32(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let hash = SEED
  for (let i = start; i < end; i += 4) {
    hash = mixWord(hash, bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24))
  }
  return finish(hash, end - start)
}

/** Hash of the four words `0, 0, low, high`: a row of one column of eight bytes or less that is not null. */
export function murmur32Slot(low: number, high: number): number {
  return finish(mixWord(mixWord(AFTER_HEADER, low), high), 16)
}

/** Hash of a row of one column whose value is bytes `[start, end)`, eight or more: header, length and offset, padded value. */
export function murmur32Bytes(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start
  let hash = mixWord(mixWord(AFTER_HEADER, length), FIRST_OFFSET)
  const tail = end - (length & 3)
  for (let i = start; i < tail; i += 4) {
    hash = mixWord(hash, bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24))
  }
  if (tail < end) {
    let word = 0
    for (let i = tail; i < end; i++) word |= bytes[i]! << ((i - tail) * 8)
    hash = mixWord(hash, word)
  }
  // The value ends on a multiple of eight: one more word of zeros where its words are odd in number.
  if (((length + 3) >>> 2) & 1) hash = mixWord(hash, 0)
  return finish(hash, FIRST_OFFSET + ((length + 7) & ~7))
}

function mixWord(hash: number, word: number): number {
  let k = Math.imul(word, C1)
  k = (k << 15) | (k >>> 17)
  k = hash ^ Math.imul(k, C2)
  k = (k << 13) | (k >>> 19)
  return (Math.imul(k, 5) + 0xe6546b64) | 0
}

function finish(hash: number, length: number): number {
  let h = hash ^ length
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** Where the variable part of a row of one column starts. */
const FIRST_OFFSET = 16

/** State after the eight zero bytes of header that start every row of 56 columns or less without nulls. */
const AFTER_HEADER = mixWord(mixWord(SEED, 0), 0)

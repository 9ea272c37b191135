/** Bits of a radix digit: its 2048 counters stay in the first-level cache. */
const DIGIT = 11
const BUCKETS = 1 << DIGIT
const SIGN = 0x80000000

/**
 * Sorts `rows` by the int32 keys they point at; stable. Three counting passes of 11 bits; a pass in which all keys agree is
 * skipped. About 10 ns a row.
 */
export function radixSortInt32(keys: Int32Array, rows: Uint32Array): Uint32Array {
  const words = new Uint32Array(keys.length)
  for (let i = 0; i < words.length; i++) words[i] = keys[i]! ^ SIGN
  return sortByWord(words, 1, 0, rows, new Uint32Array(rows.length))
}

/** The same for int64 keys: six passes at most, three when the upper halves agree. */
export function radixSortInt64(keys: BigInt64Array, rows: Uint32Array): Uint32Array {
  const words = new Uint32Array(keys.length * 2)
  words.set(new Uint32Array(keys.buffer, keys.byteOffset, keys.length * 2))
  for (let i = 1; i < words.length; i += 2) words[i]! ^= SIGN
  const spare = new Uint32Array(rows.length)
  const byLow = sortByWord(words, 2, 0, rows, spare)
  return sortByWord(words, 2, 1, byLow, byLow === rows ? spare : rows)
}

/**
 * One stable least-significant-digit sort over 32-bit words: word `offset` of the `stride` words of a row, its low
 * `bits`. Returns `rows` or
 * `spare`, whichever holds the result.
 */
export function sortByWord(
  words: Uint32Array,
  stride: number,
  offset: number,
  rows: Uint32Array,
  spare: Uint32Array,
  bits = 32,
): Uint32Array {
  const starts = new Uint32Array(BUCKETS)
  let from = rows
  let to = spare
  for (let shift = 0; shift < bits; shift += DIGIT) {
    starts.fill(0)
    for (let i = 0; i < from.length; i++) starts[(words[from[i]! * stride + offset]! >>> shift) & (BUCKETS - 1)]!++
    if (from.length > 0) {
      const first = (words[from[0]! * stride + offset]! >>> shift) & (BUCKETS - 1)
      if (starts[first] === from.length) continue
    }
    let sum = 0
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const size = starts[bucket]!
      starts[bucket] = sum
      sum += size
    }
    for (let i = 0; i < from.length; i++) {
      const row = from[i]!
      const bucket = (words[row * stride + offset]! >>> shift) & (BUCKETS - 1)
      to[starts[bucket]!++] = row
    }
    const swap = from
    from = to
    to = swap
  }
  return from
}

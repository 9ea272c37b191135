/** Bits of a radix digit: its 2048 counters stay in the first-level cache. */
const DIGIT = 11
const BUCKETS = 1 << DIGIT
const SIGN = 0x80000000

/** Sorts `rows` by the int32 keys they point at; stable. Three counting passes of 11 bits at most, some 3 ns a row each. */
export function radixSortInt32(keys: Int32Array, rows: Uint32Array): Uint32Array {
  const words = new Uint32Array(rows.length)
  for (let i = 0; i < rows.length; i++) words[i] = keys[rows[i]!]! ^ SIGN
  return sortPairs(words, rows)
}

/** The same for int64 keys: by their lower halves, then, where they differ, by the upper ones. */
export function radixSortInt64(keys: BigInt64Array, rows: Uint32Array): Uint32Array {
  const halves = new Uint32Array(keys.buffer, keys.byteOffset, keys.length * 2)
  const words = new Uint32Array(rows.length)
  for (let i = 0; i < rows.length; i++) words[i] = halves[rows[i]! * 2]!
  const byLow = sortPairs(words, rows)
  if (!upperHalvesDiffer(halves)) return byLow
  for (let i = 0; i < rows.length; i++) words[i] = halves[byLow[i]! * 2 + 1]! ^ SIGN
  return sortPairs(words, byLow)
}

/** A look at all in order costs less than one at each in the order of the lower halves. */
function upperHalvesDiffer(halves: Uint32Array): boolean {
  for (let i = 3; i < halves.length; i += 2) if (halves[i] !== halves[1]) return true
  return false
}

/**
 * Sorts `rows` by a word each, which moves along with its row: both are read in order, where a pass that looked the words up
 * would jump about. A pass in which all digits agree is skipped. May use the memory of both arguments.
 */
function sortPairs(words: Uint32Array, rows: Uint32Array): Uint32Array {
  const count = rows.length
  let differ = 0
  for (let i = 1; i < count; i++) differ |= words[i]! ^ words[0]!
  const starts = new Uint32Array(BUCKETS)
  let [from, to] = [rows, rows]
  let [fromWords, toWords] = [words, words]
  for (let shift = 0; shift < 32; shift += DIGIT) {
    if (((differ >>> shift) & (BUCKETS - 1)) === 0) continue
    if (to === from) {
      to = new Uint32Array(count)
      toWords = new Uint32Array(count)
    }
    starts.fill(0)
    for (let i = 0; i < count; i++) starts[(fromWords[i]! >>> shift) & (BUCKETS - 1)]!++
    let sum = 0
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const size = starts[bucket]!
      starts[bucket] = sum
      sum += size
    }
    for (let i = 0; i < count; i++) {
      const word = fromWords[i]!
      const place = starts[(word >>> shift) & (BUCKETS - 1)]!++
      to[place] = from[i]!
      toWords[place] = word
    }
    ;[from, to] = [to, from]
    ;[fromWords, toWords] = [toWords, fromWords]
  }
  return from
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

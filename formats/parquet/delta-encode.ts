import { grown } from './page-values.ts'

/*
 * DELTA_BINARY_PACKED: varints of the block size, mini-blocks a block, number of values, zigzag of the first value; then for
 * each block zigzag of its smallest delta, a byte with the bit width of each mini-block, and the mini-blocks: deltas less the
 * smallest, bit-packed from the low bit. Arithmetic wraps round at the width of the type.
 */
const BLOCK = 128
const MINI_BLOCK = 32
const MINI_BLOCKS = BLOCK / MINI_BLOCK
/** Fewer values than this in a page are not worth another encoding than Java's choice. */
const LEAST_VALUES = 2048

/**
 * Whether deltas are the better form for a chunk that starts with these values: a page of some size, and less than a third of PLAIN. This
 * is where a general compressor does badly: sequence numbers, sorted keys, timestamps in order. Up to four fifths it depends on what
 * the compressor makes of either form.
 */
export function chooseDelta(words: Int32Array, count: number, width: 4 | 8): 'yes' | 'perhaps' | 'no' {
  if (count < LEAST_VALUES) return 'no'
  const share = deltaBytes(words, count, width) / (count * width)
  return share < 1 / 3 ? 'yes' : share < 4 / 5 ? 'perhaps' : 'no'
}

/** Bytes that `encodeDelta` would take, without packing; headers are rounded up. */
export function deltaBytes(words: Int32Array, count: number, width: 4 | 8): number {
  const deltas = new Deltas(width)
  let bytes = 30
  for (let from = 1; from < count; from += BLOCK) {
    deltas.load(words, from, Math.min(count, from + BLOCK))
    bytes += 10 + MINI_BLOCKS
    for (let mini = 0; mini < MINI_BLOCKS; mini++) bytes += deltas.bitWidth(mini) * (MINI_BLOCK / 8)
  }
  return bytes
}

/** Writes `count` values, given as little-endian words, behind `at` bytes of `body`. */
export function encodeDelta(
  words: Int32Array,
  count: number,
  width: 4 | 8,
  body: Uint8Array,
  at: number,
): { readonly body: Uint8Array; readonly length: number } {
  const blocks = Math.ceil(Math.max(0, count - 1) / BLOCK)
  const target = grown(body, at, at + 40 + blocks * (14 + BLOCK * width))
  at = putVarint(BLOCK, 0, target, at)
  at = putVarint(MINI_BLOCKS, 0, target, at)
  at = putVarint(count, 0, target, at)
  if (count === 0) return { body: target, length: putVarint(0, 0, target, at) }
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength)
  const deltas = new Deltas(width)
  at = putZigzag(words[0]!, width === 8 ? words[1]! : words[0]! >> 31, target, at)
  for (let from = 1; from < count; from += BLOCK) {
    deltas.load(words, from, Math.min(count, from + BLOCK))
    at = putZigzag(deltas.minLow, deltas.minHigh, target, at)
    const widths = at
    at += MINI_BLOCKS
    for (let mini = 0; mini < MINI_BLOCKS; mini++) {
      const bits = deltas.bitWidth(mini)
      target[widths + mini] = bits
      at = deltas.pack(mini, bits, view, at)
    }
  }
  return { body: target, length: at }
}

/** The deltas of one block, as low and high words, less the smallest of them. */
class Deltas {
  minLow = 0
  minHigh = 0
  private readonly width: 4 | 8
  private readonly low = new Int32Array(BLOCK)
  private readonly high = new Int32Array(BLOCK)
  private count = 0

  constructor(width: 4 | 8) {
    this.width = width
  }

  /** Deltas of values `[from, to)` to the ones before them. */
  load(words: Int32Array, from: number, to: number): void {
    const { low, high } = this
    this.count = to - from
    if (this.width === 4) this.load4(words, from, to)
    else this.load8(words, from, to)
    const { minLow, minHigh } = this
    for (let i = 0; i < this.count; i++) {
      const borrow = low[i]! >>> 0 < minLow >>> 0 ? 1 : 0
      low[i] = (low[i]! - minLow) | 0
      // Values of 32 bits wrap at 32: what is above does not count.
      high[i] = this.width === 4 ? 0 : (high[i]! - minHigh - borrow) | 0
    }
  }

  private load4(words: Int32Array, from: number, to: number): void {
    const { low } = this
    let least = 0x7fffffff
    for (let i = from; i < to; i++) {
      const delta = (words[i]! - words[i - 1]!) | 0
      low[i - from] = delta
      if (delta < least) least = delta
    }
    this.minLow = least
    this.minHigh = least >> 31
  }

  private load8(words: Int32Array, from: number, to: number): void {
    const { low, high } = this
    let minLow = -1
    let minHigh = 0x7fffffff
    let beforeLow = words[2 * from - 2]!
    let beforeHigh = words[2 * from - 1]!
    for (let i = from; i < to; i++) {
      const nextLow = words[2 * i]!
      const nextHigh = words[2 * i + 1]!
      const deltaLow = (nextLow - beforeLow) | 0
      const deltaHigh = (nextHigh - beforeHigh - (nextLow >>> 0 < beforeLow >>> 0 ? 1 : 0)) | 0
      low[i - from] = deltaLow
      high[i - from] = deltaHigh
      if (deltaHigh < minHigh || (deltaHigh === minHigh && deltaLow >>> 0 < minLow >>> 0)) {
        minHigh = deltaHigh
        minLow = deltaLow
      }
      beforeLow = nextLow
      beforeHigh = nextHigh
    }
    this.minLow = minLow
    this.minHigh = minHigh
  }

  /** Bits of the largest value of a mini-block; 0 for one that holds none. */
  bitWidth(mini: number): number {
    let low = 0
    let high = 0
    const end = Math.min(this.count, (mini + 1) * MINI_BLOCK)
    for (let i = mini * MINI_BLOCK; i < end; i++) {
      low |= this.low[i]!
      high |= this.high[i]!
    }
    return high !== 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(low)
  }

  /** Packs a mini-block, the rest of a started one as zeros: 32 values make as many words as they have bits. */
  pack(mini: number, bitWidth: number, target: DataView, at: number): number {
    const first = mini * MINI_BLOCK
    const { low, high } = this
    // Beyond the last value there are still those of the block before.
    for (let i = Math.max(first, this.count); i < first + MINI_BLOCK; i++) {
      low[i] = 0
      high[i] = 0
    }
    const lowBits = Math.min(32, bitWidth)
    let word = 0
    let used = 0
    for (let i = first; i < first + MINI_BLOCK && bitWidth > 0; i++) {
      word |= low[i]! << used
      used += lowBits
      if (used >= 32) {
        target.setInt32(at, word, true)
        at += 4
        used -= 32
        word = used === 0 ? 0 : low[i]! >>> (lowBits - used)
      }
      if (bitWidth <= 32) continue
      word |= high[i]! << used
      used += bitWidth - 32
      if (used >= 32) {
        target.setInt32(at, word, true)
        at += 4
        used -= 32
        word = used === 0 ? 0 : high[i]! >>> (bitWidth - 32 - used)
      }
    }
    return at
  }
}

/** Zigzag of a 64-bit number in two words, as a varint. */
function putZigzag(low: number, high: number, target: Uint8Array, at: number): number {
  const sign = high >> 31
  return putVarint((low << 1) ^ sign, ((high << 1) | (low >>> 31)) ^ sign, target, at)
}

function putVarint(low: number, high: number, target: Uint8Array, at: number): number {
  while (high !== 0 || low >>> 0 >= 128) {
    target[at++] = (low & 127) | 128
    low = (low >>> 7) | (high << 25)
    high >>>= 7
  }
  target[at++] = low
  return at
}

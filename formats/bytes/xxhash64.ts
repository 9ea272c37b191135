// The five 64-bit primes of the algorithm, in halves.
const P1_LOW = 0x85ebca87 | 0
const P1_HIGH = 0x9e3779b1 | 0
const P2_LOW = 0x27d4eb4f | 0
const P2_HIGH = 0xc2b2ae3d | 0
const P3_LOW = 0x9e3779f9 | 0
const P3_HIGH = 0x165667b1 | 0
const P4_LOW = 0xc2b2ae63 | 0
const P4_HIGH = 0x85ebca77 | 0
const P5_LOW = 0x165667c5 | 0
const P5_HIGH = 0x27d4eb2f | 0

/**
 * 64-bit arithmetic in two 32-bit halves: each function leaves its answer here. A bigint a step would be an allocation a step;
 * module variables are not, and nothing here can be entered twice.
 */
let low = 0
let high = 0

/** xxHash64 with seed 0 of bytes `[start, end)`; `out[0]` gets the low and `out[1]` the high half, signed. */
export function xxhash64(out: Int32Array, bytes: Uint8Array, start = 0, end = bytes.length): void {
  const length = end - start
  let at = start
  if (length >= 32) {
    at = hashStripes(bytes, start, end)
  } else {
    low = P5_LOW
    high = P5_HIGH
  }
  add(low, high, length | 0, Math.floor(length / 0x100000000))
  for (; at + 8 <= end; at += 8) {
    const accumulatorLow = low
    const accumulatorHigh = high
    round(0, 0, word(bytes, at), word(bytes, at + 4))
    low ^= accumulatorLow
    high ^= accumulatorHigh
    rotate(27)
    multiply(low, high, P1_LOW, P1_HIGH)
    add(low, high, P4_LOW, P4_HIGH)
  }
  if (at + 4 <= end) {
    const accumulatorLow = low
    const accumulatorHigh = high
    multiply(word(bytes, at), 0, P1_LOW, P1_HIGH)
    low ^= accumulatorLow
    high ^= accumulatorHigh
    rotate(23)
    multiply(low, high, P2_LOW, P2_HIGH)
    add(low, high, P3_LOW, P3_HIGH)
    at += 4
  }
  for (; at < end; at++) {
    const accumulatorLow = low
    const accumulatorHigh = high
    multiply(bytes[at]!, 0, P5_LOW, P5_HIGH)
    low ^= accumulatorLow
    high ^= accumulatorHigh
    rotate(11)
    multiply(low, high, P1_LOW, P1_HIGH)
  }
  // Avalanche: h ^= h >>> 33, * P2, h ^= h >>> 29, * P3, h ^= h >>> 32.
  low ^= high >>> 1
  multiply(low, high, P2_LOW, P2_HIGH)
  low ^= (low >>> 29) | (high << 3)
  high ^= high >>> 29
  multiply(low, high, P3_LOW, P3_HIGH)
  out[0] = low ^ high
  out[1] = high
}

/** Four accumulators over stripes of 32 bytes, folded into one; returns where the rest starts. */
function hashStripes(bytes: Uint8Array, start: number, end: number): number {
  // P1 + P2, P2, 0, -P1
  add(P1_LOW, P1_HIGH, P2_LOW, P2_HIGH)
  let aLow = low
  let aHigh = high
  let bLow = P2_LOW
  let bHigh = P2_HIGH
  let cLow = 0
  let cHigh = 0
  let dLow = -P1_LOW | 0
  let dHigh = ~P1_HIGH
  let at = start
  for (; at + 32 <= end; at += 32) {
    round(aLow, aHigh, word(bytes, at), word(bytes, at + 4))
    aLow = low
    aHigh = high
    round(bLow, bHigh, word(bytes, at + 8), word(bytes, at + 12))
    bLow = low
    bHigh = high
    round(cLow, cHigh, word(bytes, at + 16), word(bytes, at + 20))
    cLow = low
    cHigh = high
    round(dLow, dHigh, word(bytes, at + 24), word(bytes, at + 28))
    dLow = low
    dHigh = high
  }
  let sumLow = 0
  let sumHigh = 0
  const gather = (halfLow: number, halfHigh: number, bits: number): void => {
    low = halfLow
    high = halfHigh
    rotate(bits)
    add(sumLow, sumHigh, low, high)
    sumLow = low
    sumHigh = high
  }
  gather(aLow, aHigh, 1)
  gather(bLow, bHigh, 7)
  gather(cLow, cHigh, 12)
  gather(dLow, dHigh, 18)
  merge(aLow, aHigh)
  merge(bLow, bHigh)
  merge(cLow, cHigh)
  merge(dLow, dHigh)
  return at
}

/** (accumulator + input * P2) rotated left by 31, * P1 */
function round(accumulatorLow: number, accumulatorHigh: number, inputLow: number, inputHigh: number): void {
  multiply(inputLow, inputHigh, P2_LOW, P2_HIGH)
  add(accumulatorLow, accumulatorHigh, low, high)
  rotate(31)
  multiply(low, high, P1_LOW, P1_HIGH)
}

/** (hash ^ round(0, accumulator)) * P1 + P4 */
function merge(accumulatorLow: number, accumulatorHigh: number): void {
  const hashLow = low
  const hashHigh = high
  round(0, 0, accumulatorLow, accumulatorHigh)
  multiply(low ^ hashLow, high ^ hashHigh, P1_LOW, P1_HIGH)
  add(low, high, P4_LOW, P4_HIGH)
}

function add(aLow: number, aHigh: number, bLow: number, bHigh: number): void {
  const sum = (aLow >>> 0) + (bLow >>> 0)
  low = sum | 0
  high = (aHigh + bHigh + (sum > 0xffffffff ? 1 : 0)) | 0
}

/** Low 64 bits of a product, by 16-bit digits where a 32-bit product would overflow a double. */
function multiply(aLow: number, aHigh: number, bLow: number, bHigh: number): void {
  const a0 = aLow & 0xffff
  const a1 = aLow >>> 16
  const b0 = bLow & 0xffff
  const b1 = bLow >>> 16
  const middle = a1 * b0 + Math.floor((a0 * b0) / 0x10000)
  const carry = a0 * b1 + (middle & 0xffff)
  const top = a1 * b1 + Math.floor(middle / 0x10000) + Math.floor(carry / 0x10000)
  high = (top + Math.imul(aLow, bHigh) + Math.imul(aHigh, bLow)) | 0
  low = Math.imul(aLow, bLow)
}

/** Rotates left by 1 to 31 bits. */
function rotate(bits: number): void {
  const oldLow = low
  low = (low << bits) | (high >>> (32 - bits))
  high = (high << bits) | (oldLow >>> (32 - bits))
}

function word(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

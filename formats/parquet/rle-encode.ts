/** Bits that hold every number up to `largest`; 0 for 0. */
export function bitsFor(largest: number): number {
  return 32 - Math.clz32(largest)
}

/** Most bytes `encodeHybrid` writes for `count` values. */
export function hybridBound(count: number, bitWidth: number): number {
  // Literals of whole groups, and headers: at most one of up to five bytes for each run of eight.
  return Math.ceil(count / 8) * (bitWidth + 1) + 5 * (2 + Math.ceil(count / 8))
}

/**
 * Parquet's run-length / bit-packing hybrid of `values[0, count)`, written into `target` from `at`; returns the end.
 *
 *   run:      varint(length << 1)       the value in ceil(bitWidth / 8) bytes
 *   literals: varint(groups << 1 | 1)   groups of eight values, bit-packed from the low bit
 *
 * Runs of eight and more become runs; what is between is packed, the last group filled with zeros. `bitWidth` is at most 24.
 */
export function encodeHybrid(
  values: Int32Array | Uint8Array,
  count: number,
  bitWidth: number,
  target: Uint8Array,
  at: number,
): number {
  let literals = 0
  let i = 0
  while (i < count) {
    const value = values[i]!
    let end = i + 1
    while (end < count && values[end] === value) end++
    // Literals come in whole groups: the run lends the values that fill the last one.
    const lent = (8 - ((i - literals) & 7)) & 7
    if (end - i - lent >= 8) {
      if (i + lent > literals) at = packLiterals(values, literals, i + lent, bitWidth, target, at)
      at = putVarint((end - i - lent) * 2, target, at)
      for (let bits = 0; bits < bitWidth; bits += 8) target[at++] = value >>> bits
      literals = end
    }
    i = end
  }
  return literals < count ? packLiterals(values, literals, count, bitWidth, target, at) : at
}

function packLiterals(
  values: Int32Array | Uint8Array,
  from: number,
  to: number,
  bitWidth: number,
  target: Uint8Array,
  at: number,
): number {
  const groups = (to - from + 7) >>> 3
  at = putVarint(groups * 2 + 1, target, at)
  const end = at + groups * bitWidth
  let held = 0
  let bits = 0
  for (let i = from; i < to; i++) {
    held |= values[i]! << bits
    bits += bitWidth
    while (bits >= 8) {
      target[at++] = held
      held >>>= 8
      bits -= 8
    }
  }
  if (bits > 0) target[at++] = held
  target.fill(0, at, end)
  return end
}

function putVarint(value: number, target: Uint8Array, at: number): number {
  while (value >= 128) {
    target[at++] = (value % 128) | 128
    value = Math.floor(value / 128)
  }
  target[at++] = value
  return at
}

import { corrupt } from '../bytes/format-error.ts'
import type { Column } from '../column/column.ts'

const EPOCH_JULIAN_DAY = 2440588
const NANOS_A_DAY = 86400000000000n

/** 32-bit integers as 64-bit ones, without a bigint per value. */
export function wordsToLongs(words: Int32Array, unsigned: boolean): BigInt64Array {
  const halves = new Int32Array(words.length * 2)
  for (let i = 0; i < words.length; i++) {
    halves[2 * i] = words[i]!
    halves[2 * i + 1] = unsigned ? 0 : words[i]! >> 31
  }
  return new BigInt64Array(halves.buffer)
}

/** 64-bit integers as 128-bit ones. */
export function wordsToWide(longs: BigInt64Array, unsigned: boolean): BigInt64Array {
  const from = new Int32Array(longs.buffer, longs.byteOffset, longs.length * 2)
  const to = new Int32Array(longs.length * 4)
  for (let i = 0; i < longs.length; i++) {
    to[4 * i] = from[2 * i]!
    to[4 * i + 1] = from[2 * i + 1]!
    if (!unsigned && from[2 * i + 1]! < 0) {
      to[4 * i + 2] = -1
      to[4 * i + 3] = -1
    }
  }
  return new BigInt64Array(to.buffer)
}

/**
 * INT96 timestamps as 128-bit epoch nanoseconds: 8 bytes of nanoseconds of the day, which Paimon makes negative before 1970,
 * then 4 bytes of Julian day. Nulls stay zero.
 */
export function int96ToNanos(bytes: Uint8Array, length: number, valid: Uint8Array | undefined): BigInt64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, length * 12)
  const values = new BigInt64Array(length * 2)
  for (let i = 0; i < length; i++) {
    if (valid !== undefined && valid[i] === 0) continue
    const day = view.getInt32(i * 12 + 8, true) - EPOCH_JULIAN_DAY
    const nanos = BigInt(day) * NANOS_A_DAY + view.getBigInt64(i * 12, true)
    values[2 * i] = nanos
    values[2 * i + 1] = nanos >> 64n
  }
  return values
}

/**
 * Big-endian two's complement as a DECIMAL column, in 64 or 128 bits. Value i lies at `offsets[i]`, or at `i * width` without
 * offsets; an empty value is zero. CORRUPT when a value needs more bits.
 */
export function bytesToDecimals(
  bytes: Uint8Array,
  offsets: Int32Array | undefined,
  width: number,
  length: number,
  type: { readonly precision: number },
  valid: Uint8Array | undefined,
): Column {
  const words = type.precision <= 18 ? 2 : 4
  const halves = new Int32Array(length * words)
  for (let i = 0; i < length; i++) {
    const start = offsets === undefined ? i * width : offsets[i]!
    let at = (offsets === undefined ? start + width : offsets[i + 1]!) - 1
    if (at < start) continue
    const sign = bytes[start]! >= 0x80 ? -1 : 0
    for (let k = 0; k < words; k++) {
      let word = 0
      for (let shift = 0; shift < 32; shift += 8) word |= (at >= start ? bytes[at--]! : sign & 0xff) << shift
      halves[i * words + k] = word
    }
    let fits = halves[i * words + words - 1]! < 0 === sign < 0
    for (; at >= start; at--) if (bytes[at] !== (sign & 0xff)) fits = false
    if (!fits)
      throw corrupt(`decimal ${i} of a page needs more than ${words * 32} bits, precision is ${type.precision}`)
  }
  const values = new BigInt64Array(halves.buffer)
  return words === 2 ? { kind: 'fixed', length, values, valid } : { kind: 'wide', length, values, valid }
}

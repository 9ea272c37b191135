import { unsupported } from '../bytes/format-error.ts'
import { describeType } from '../types/parse.ts'
import type { DataType } from '../types/row-type.ts'
import { ARITY_BYTES } from './binary-row.ts'
import { headerBytes, SLOT_BYTES, slotKind } from './slot.ts'

/** Negative, zero or positive, as `Array.prototype.sort` wants it. */
export type RowOrder = (a: Uint8Array, b: Uint8Array) => number

type SlotOrder = (a: Uint8Array, b: Uint8Array, slot: number) => number

/**
 * Key order over serialised rows (with field count) of these types: field by field, numbers and times by value, false before
 * true, text and binary by unsigned bytes, null first. FLOAT and DOUBLE compare with `<` and `>` only, so NaN ties with
 * everything, as in Paimon. Compares in place: nothing is decoded into objects and nothing is allocated.
 *
 * The rows are trusted: both must be serialised rows of these types, as `deserializeRow` would accept.
 */
export function rowCompare(types: readonly DataType[]): RowOrder {
  const orders = types.map(slotOrder)
  const first = ARITY_BYTES + headerBytes(types.length)
  return (a, b) => {
    for (let field = 0; field < orders.length; field++) {
      const nullA = isNull(a, field)
      const nullB = isNull(b, field)
      if (nullA || nullB) {
        if (nullA && nullB) continue
        return nullA ? -1 : 1
      }
      const order = orders[field]!(a, b, first + field * SLOT_BYTES)
      if (order !== 0) return order
    }
    return 0
  }
}

function isNull(row: Uint8Array, field: number): boolean {
  const bit = field + 8
  return ((row[ARITY_BYTES + (bit >>> 3)]! >>> (bit & 7)) & 1) === 1
}

function slotOrder(type: DataType): SlotOrder {
  switch (slotKind(type)) {
    case 'i8':
      return (a, b, slot) => ((a[slot]! << 24) >> 24) - ((b[slot]! << 24) >> 24)
    case 'i16':
      return (a, b, slot) => int16(a, slot) - int16(b, slot)
    case 'i32':
      return (a, b, slot) => sign(word(a, slot), word(b, slot))
    case 'i64':
      return (a, b, slot) => compareInt64(a, slot, b, slot)
    case 'f32':
      return (a, b, slot) => sign(float32(a, slot), float32(b, slot))
    case 'f64':
      return (a, b, slot) => sign(float64(a, slot), float64(b, slot))
    case 'bytes':
      return compareBytes
    case 'decimal':
      return compareDecimals
    case 'micros':
    case 'nanos':
      return (a, b, slot) => {
        const order = compareInt64(a, ARITY_BYTES + word(a, slot + 4), b, ARITY_BYTES + word(b, slot + 4))
        return order !== 0 ? order : word(a, slot) - word(b, slot)
      }
    case 'nested':
      throw unsupported(`keys of type ${describeType(type)} have no order`)
  }
}

function sign(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function int16(row: Uint8Array, at: number): number {
  return ((row[at]! | (row[at + 1]! << 8)) << 16) >> 16
}

function word(row: Uint8Array, at: number): number {
  return row[at]! | (row[at + 1]! << 8) | (row[at + 2]! << 16) | (row[at + 3]! << 24)
}

function compareInt64(a: Uint8Array, atA: number, b: Uint8Array, atB: number): number {
  const high = sign(word(a, atA + 4), word(b, atB + 4))
  return high !== 0 ? high : sign(word(a, atA) >>> 0, word(b, atB) >>> 0)
}

const floatBits = new Int32Array(2)
const floats = new Float32Array(floatBits.buffer)
const doubles = new Float64Array(floatBits.buffer)

function float32(row: Uint8Array, at: number): number {
  floatBits[0] = word(row, at)
  return floats[0]!
}

function float64(row: Uint8Array, at: number): number {
  floatBits[0] = word(row, at)
  floatBits[1] = word(row, at + 4)
  return doubles[0]!
}

function compareBytes(a: Uint8Array, b: Uint8Array, slot: number): number {
  const lengthA = bytesLength(a, slot)
  const lengthB = bytesLength(b, slot)
  const startA = bytesStart(a, slot)
  const startB = bytesStart(b, slot)
  const common = Math.min(lengthA, lengthB)
  for (let i = 0; i < common; i++) {
    const order = a[startA + i]! - b[startB + i]!
    if (order !== 0) return order
  }
  return lengthA - lengthB
}

function bytesLength(row: Uint8Array, slot: number): number {
  const mark = row[slot + 7]!
  return mark >= 0x80 ? mark & 0x7f : word(row, slot)
}

function bytesStart(row: Uint8Array, slot: number): number {
  return row[slot + 7]! >= 0x80 ? slot : ARITY_BYTES + word(row, slot + 4)
}

/** Big-endian two's complement of any length, compared from the top as if both were extended by their sign. */
function compareDecimals(a: Uint8Array, b: Uint8Array, slot: number): number {
  const lengthA = word(a, slot)
  const lengthB = word(b, slot)
  const startA = ARITY_BYTES + word(a, slot + 4)
  const startB = ARITY_BYTES + word(b, slot + 4)
  const signA = (a[startA]! << 24) >> 31
  const signB = (b[startB]! << 24) >> 31
  if (signA !== signB) return signA - signB
  for (let left = Math.max(lengthA, lengthB); left > 0; left--) {
    const byteA = left > lengthA ? signA & 0xff : a[startA + lengthA - left]!
    const byteB = left > lengthB ? signB & 0xff : b[startB + lengthB - left]!
    if (byteA !== byteB) return byteA - byteB
  }
  return 0
}

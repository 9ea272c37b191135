import { corrupt, unsupported } from '../bytes/format-error.ts'
import type { Column, FixedArray } from '../column/column.ts'
import type { DataType } from '../types/row-type.ts'
import { bytesToDecimals, int96ToNanos, wordsToLongs, wordsToWide } from './convert-wide.ts'
import { PhysicalType } from './footer.ts'
import type { LeafMeaning } from './leaf-type.ts'
import type { LeafNode } from './schema-tree.ts'
import type { BytesBuffer, FixedBuffer, ValueBuffer } from './value-buffer.ts'

type Valid = Uint8Array | undefined

/**
 * Values of a leaf as a column of the Paimon type asked for. Same kind of value, any physical form: integers of any width,
 * decimals of one scale, times in any unit, text and bytes alike. UNSUPPORTED when the kinds differ or a value does not fit.
 */
export function convertLeaf(leaf: LeafNode, type: DataType, buffer: ValueBuffer, valid: Valid): Column {
  const column = buffer.kind === 'bytes' ? fromBytes(leaf, type, buffer, valid) : fromFixed(leaf, type, buffer, valid)
  if (column === undefined) throw mismatch(leaf, type)
  return column
}

function mismatch(leaf: LeafNode, type: DataType): Error {
  return unsupported(
    `column ${leaf.path.join('.')} is ${leaf.type.kind} in the file and cannot be read as ${type.kind}`,
  )
}

function fixed(values: FixedArray, length: number, valid: Valid): Column {
  return { kind: 'fixed', length, values, valid }
}

function fromBytes(leaf: LeafNode, type: DataType, buffer: BytesBuffer, valid: Valid): Column | undefined {
  const { length, offsets, data, size } = buffer
  switch (type.kind) {
    case 'char':
    case 'varchar':
    case 'binary':
    case 'varbinary':
      return { kind: 'bytes', length, data: data.subarray(0, size), offsets: offsets.subarray(0, length + 1), valid }
    case 'decimal':
      return sameScale(leaf.meaning, type.scale) ? bytesToDecimals(data, offsets, 0, length, type, valid) : undefined
    default:
      return undefined
  }
}

function sameScale(meaning: LeafMeaning, scale: number): boolean {
  if (meaning.kind === 'integer') return scale === 0
  return meaning.kind === 'decimal' && meaning.scale === scale
}

function fromFixed(leaf: LeafNode, type: DataType, buffer: FixedBuffer, valid: Valid): Column | undefined {
  const { length } = buffer
  switch (leaf.element.type) {
    case PhysicalType.BOOLEAN:
      return type.kind === 'boolean' ? fixed(buffer.bytes.subarray(0, length), length, valid) : undefined
    case PhysicalType.INT32:
      return fromInt32(leaf, type, buffer.words.subarray(0, length), valid)
    case PhysicalType.INT64:
      return fromInt64(leaf, type, buffer.longs.subarray(0, length), valid)
    case PhysicalType.INT96:
      if (type.kind !== 'timestamp' && type.kind !== 'timestamp_ltz') return undefined
      return fromNanos(int96ToNanos(buffer.bytes, length, valid), type.precision, length, valid)
    case PhysicalType.FLOAT:
      return type.kind === 'float' ? fixed(new Float32Array(buffer.words.buffer, 0, length), length, valid) : undefined
    case PhysicalType.DOUBLE:
      return type.kind === 'double' ? fixed(new Float64Array(buffer.words.buffer, 0, length), length, valid) : undefined
    default:
      return fromFixedBytes(leaf, type, buffer, valid)
  }
}

function fromFixedBytes(leaf: LeafNode, type: DataType, buffer: FixedBuffer, valid: Valid): Column | undefined {
  const { length, bytes, width } = buffer
  switch (type.kind) {
    case 'decimal':
      return sameScale(leaf.meaning, type.scale)
        ? bytesToDecimals(bytes, undefined, width, length, type, valid)
        : undefined
    case 'char':
    case 'varchar':
    case 'binary':
    case 'varbinary': {
      const offsets = new Int32Array(length + 1)
      if (valid === undefined) {
        for (let i = 0; i <= length; i++) offsets[i] = i * width
        return { kind: 'bytes', length, data: bytes.subarray(0, length * width), offsets, valid }
      }
      const data = new Uint8Array(length * width)
      let at = 0
      for (let i = 0; i < length; i++) {
        if (valid[i] === 1) {
          data.set(bytes.subarray(i * width, (i + 1) * width), at)
          at += width
        }
        offsets[i + 1] = at
      }
      return { kind: 'bytes', length, data: data.subarray(0, at), offsets, valid }
    }
    case 'float':
      return leaf.meaning.kind === 'float16' ? fixed(halfFloats(bytes, length), length, valid) : undefined
    default:
      return undefined
  }
}

/** IEEE half precision, little-endian. */
function halfFloats(bytes: Uint8Array, length: number): Float32Array {
  const values = new Float32Array(length)
  for (let i = 0; i < length; i++) {
    const bits = bytes[2 * i]! | (bytes[2 * i + 1]! << 8)
    const exponent = (bits >> 10) & 31
    const fraction = bits & 1023
    const size =
      exponent === 31
        ? fraction === 0
          ? Number.POSITIVE_INFINITY
          : Number.NaN
        : exponent === 0
          ? fraction * 2 ** -24
          : (1024 + fraction) * 2 ** (exponent - 25)
    values[i] = bits >> 15 === 1 ? -size : size
  }
  return values
}

const INTEGERS = ['plain', 'integer', 'unknown']

function fromInt32(leaf: LeafNode, type: DataType, words: Int32Array, valid: Valid): Column | undefined {
  const { meaning } = leaf
  const length = words.length
  const unsigned = meaning.kind === 'integer' && !meaning.signed && meaning.bits === 32
  switch (type.kind) {
    case 'tinyint':
    case 'smallint': {
      if (!INTEGERS.includes(meaning.kind)) return undefined
      const values = type.kind === 'tinyint' ? new Int8Array(length) : new Int16Array(length)
      let lost = 0
      for (let i = 0; i < length; i++) {
        values[i] = words[i]!
        lost |= values[i]! ^ words[i]!
      }
      if (lost !== 0) throw unsupported(`column ${leaf.path.join('.')} has integers too large for ${type.kind}`)
      return fixed(values, length, valid)
    }
    case 'int':
      if (!INTEGERS.includes(meaning.kind)) return undefined
      if (unsigned && words.some((word) => word < 0)) {
        throw unsupported(`column ${leaf.path.join('.')} has unsigned integers too large for int`)
      }
      return fixed(words, length, valid)
    case 'bigint':
      if (!INTEGERS.includes(meaning.kind)) return undefined
      return fixed(wordsToLongs(words, unsigned), length, valid)
    case 'date':
      return meaning.kind === 'date' || meaning.kind === 'plain' ? fixed(words, length, valid) : undefined
    case 'time':
      return meaning.kind === 'time' || meaning.kind === 'plain' ? fixed(words, length, valid) : undefined
    case 'decimal': {
      if (!sameScale(meaning, type.scale)) return undefined
      const longs = wordsToLongs(words, unsigned)
      if (type.precision <= 18) return fixed(longs, length, valid)
      return { kind: 'wide', length, values: wordsToWide(longs, false), valid }
    }
    default:
      return undefined
  }
}

function fromInt64(leaf: LeafNode, type: DataType, longs: BigInt64Array, valid: Valid): Column | undefined {
  const { meaning } = leaf
  const length = longs.length
  const unsigned = meaning.kind === 'integer' && !meaning.signed
  switch (type.kind) {
    case 'bigint':
      if (!INTEGERS.includes(meaning.kind) && meaning.kind !== 'time') return undefined
      if (unsigned && longs.some((long) => long < 0n)) {
        throw unsupported(`column ${leaf.path.join('.')} has unsigned integers too large for bigint`)
      }
      return fixed(longs, length, valid)
    case 'decimal':
      if (!sameScale(meaning, type.scale)) return undefined
      if (type.precision > 18) return { kind: 'wide', length, values: wordsToWide(longs, unsigned), valid }
      return unsigned ? undefined : fixed(longs, length, valid)
    case 'time':
      return meaning.kind === 'time' ? fixed(exactMillis(leaf, longs, meaning.unit), length, valid) : undefined
    case 'timestamp':
    case 'timestamp_ltz': {
      if (meaning.kind !== 'timestamp' && meaning.kind !== 'plain') return undefined
      const wanted = type.precision <= 3 ? 'millis' : type.precision <= 6 ? 'micros' : 'nanos'
      const unit = meaning.kind === 'timestamp' ? meaning.unit : wanted
      if (unit === wanted) {
        if (unit === 'nanos') return { kind: 'wide', length, values: wordsToWide(longs, false), valid }
        return fixed(longs, length, valid)
      }
      return rescaled(leaf, longs, TICKS[unit], wanted, valid)
    }
    default:
      return undefined
  }
}

/** Ticks in a second. */
const TICKS = { millis: 1000n, micros: 1000000n, nanos: 1000000000n } as const

function exactMillis(leaf: LeafNode, longs: BigInt64Array, unit: keyof typeof TICKS): Int32Array {
  const divisor = TICKS[unit] / TICKS.millis
  const values = new Int32Array(longs.length)
  for (let i = 0; i < longs.length; i++) {
    const millis = longs[i]! / divisor
    if (millis * divisor !== longs[i]) {
      throw unsupported(`column ${leaf.path.join('.')} has times finer than a millisecond: read it as bigint`)
    }
    values[i] = Number(millis)
  }
  return values
}

/** Times in another unit: exact when it is finer, rounded down when it is coarser. */
function rescaled(
  leaf: LeafNode,
  longs: BigInt64Array,
  ticks: bigint,
  wanted: keyof typeof TICKS,
  valid: Valid,
): Column {
  const length = longs.length
  const target = TICKS[wanted]
  if (wanted === 'nanos') {
    const factor = target / ticks
    const values = new BigInt64Array(length * 2)
    for (let i = 0; i < length; i++) {
      const nanos = longs[i]! * factor
      values[2 * i] = nanos
      values[2 * i + 1] = nanos >> 64n
    }
    return { kind: 'wide', length, values, valid }
  }
  const values = new BigInt64Array(length)
  if (target > ticks) {
    const factor = target / ticks
    const limit = 0x7fffffffffffffffn / factor
    for (let i = 0; i < length; i++) {
      const long = longs[i]!
      if (long > limit || long < -limit) throw corrupt(`column ${leaf.path.join('.')} has a timestamp beyond ${wanted}`)
      values[i] = long * factor
    }
  } else {
    const divisor = ticks / target
    for (let i = 0; i < length; i++) {
      const long = longs[i]!
      const quotient = long / divisor
      values[i] = quotient * divisor > long ? quotient - 1n : quotient
    }
  }
  return fixed(values, length, valid)
}

/** Nanoseconds in 128 bits to the unit of a precision, rounded down. */
function fromNanos(nanos: BigInt64Array, precision: number, length: number, valid: Valid): Column {
  if (precision > 6) return { kind: 'wide', length, values: nanos, valid }
  const divisor = precision <= 3 ? 1000000n : 1000n
  const values = new BigInt64Array(length)
  for (let i = 0; i < length; i++) {
    const value = (nanos[2 * i + 1]! << 64n) | BigInt.asUintN(64, nanos[2 * i]!)
    const quotient = value / divisor
    values[i] = quotient * divisor > value ? quotient - 1n : quotient
  }
  return fixed(values, length, valid)
}

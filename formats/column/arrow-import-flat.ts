import { isUtf8 } from 'node:buffer'
import type * as Arrow from 'apache-arrow'
import { type DataType, MAX_LENGTH } from '../types/row-type.ts'
import { type BytesColumn, type Column, storageOf } from './column.ts'
import { ValueError } from './value-error.ts'

type Mask = Uint8Array | undefined

/** Flat Arrow data as a column, its values under nulls still unclean; undefined when the type does not widen to the column's. */
export function importFlat(
  arrow: typeof Arrow,
  path: string,
  type: DataType,
  data: Arrow.Data,
  valid: Mask,
): Column | undefined {
  const { DataType: is } = arrow
  switch (type.kind) {
    case 'boolean':
      return is.isBool(data.type) ? { kind: 'fixed', length: data.length, values: booleans(data) } : undefined
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
      return is.isInt(data.type) ? integers(type.kind, data) : undefined
    case 'float':
    case 'double': {
      if (!is.isFloat(data.type) || data.type.precision === arrow.Precision.HALF) return undefined
      const values = data.values as Float32Array | Float64Array
      if (type.kind === 'double')
        return {
          kind: 'fixed',
          length: data.length,
          values: values instanceof Float64Array ? values : Float64Array.from(values),
        }
      return values instanceof Float32Array ? { kind: 'fixed', length: data.length, values } : undefined
    }
    case 'decimal':
      return is.isDecimal(data.type) ? decimals(path, type, data as Arrow.Data<Arrow.Decimal>, valid) : undefined
    case 'date':
      return is.isDate(data.type) ? dates(arrow, path, data as Arrow.Data<Arrow.Date_>, valid) : undefined
    case 'time':
      return is.isTime(data.type) ? times(path, data as Arrow.Data<Arrow.Time>, valid) : undefined
    case 'timestamp':
    case 'timestamp_ltz':
      return timestamps(arrow, path, type, data, valid)
    case 'char':
    case 'varchar':
      return is.isUtf8(data.type) || is.isLargeUtf8(data.type) ? sized(path, type.length, true, data, valid) : undefined
    case 'binary':
    case 'varbinary':
      if (is.isFixedSizeBinary(data.type)) return fixedBinary(path, type.length, data.type.byteWidth, data)
      return is.isBinary(data.type) || is.isLargeBinary(data.type)
        ? sized(path, type.length, false, data, valid)
        : undefined
    default:
      throw new TypeError(`${type.kind} columns have no Arrow form`)
  }
}

function booleans(data: Arrow.Data): Uint8Array {
  const packed = data.values as Uint8Array
  const values = new Uint8Array(data.length)
  for (let row = 0; row < values.length; row++)
    values[row] = (packed[(data.offset + row) >> 3]! >> ((data.offset + row) & 7)) & 1
  return values
}

const integerClasses = { tinyint: Int8Array, smallint: Int16Array, int: Int32Array, bigint: BigInt64Array } as const
const integerWidths = { tinyint: 8, smallint: 16, int: 32, bigint: 64 } as const

function integers(kind: keyof typeof integerClasses, data: Arrow.Data): Column | undefined {
  const { bitWidth, isSigned } = data.type as Arrow.Int
  const needed = isSigned ? bitWidth : bitWidth * 2
  if (needed > integerWidths[kind]) return undefined
  const { length } = data
  const values = data.values as Int32Array | BigInt64Array
  if (values instanceof integerClasses[kind]) return { kind: 'fixed', length, values }
  if (kind !== 'bigint') return { kind: 'fixed', length, values: integerClasses[kind].from(values as Int32Array) }
  const wide = new BigInt64Array(length)
  for (let row = 0; row < length; row++) wide[row] = BigInt(values[row]!)
  return { kind: 'fixed', length, values: wide }
}

function decimals(
  path: string,
  type: Extract<DataType, { readonly kind: 'decimal' }>,
  data: Arrow.Data<Arrow.Decimal>,
  valid: Mask,
): Column | undefined {
  const { scale, bitWidth } = data.type
  if (scale > type.scale || scale < 0 || bitWidth % 32 !== 0) return undefined
  const factor = 10n ** BigInt(type.scale - scale)
  const limit = 10n ** BigInt(type.precision)
  const perRow = bitWidth / 32
  const words = data.values
  const wide = storageOf(type) === 'wide'
  const values = new BigInt64Array(data.length * (wide ? 2 : 1))
  for (let row = 0; row < data.length; row++) {
    if (valid?.[row] === 0) continue
    let value = 0n
    for (let word = perRow - 1; word >= 0; word--) value = (value << 32n) | BigInt(words[row * perRow + word]!)
    value = BigInt.asIntN(bitWidth, value) * factor
    if (value >= limit || value <= -limit)
      throw new ValueError(path, value, `has more than ${type.precision} digits`, row)
    if (wide) {
      values[row * 2] = BigInt.asIntN(64, value)
      values[row * 2 + 1] = value >> 64n
    } else values[row] = value
  }
  return wide ? { kind: 'wide', length: data.length, values } : { kind: 'fixed', length: data.length, values }
}

const DAY = 86_400_000

function dates(arrow: typeof Arrow, path: string, data: Arrow.Data<Arrow.Date_>, valid: Mask): Column {
  const { length } = data
  if (data.type.unit === arrow.DateUnit.DAY) return { kind: 'fixed', length, values: data.values as Int32Array }
  const values = new Int32Array(length)
  eachMilli(data, valid, (millis, row) => {
    const days = millis / DAY
    if (!Number.isInteger(days) || days !== (days | 0))
      throw new ValueError(path, millis, 'milliseconds are not a whole day', row)
    values[row] = days
  })
  return { kind: 'fixed', length, values }
}

/** Date64 holds milliseconds as 64-bit integers, which this library of Arrow gives as bigints. */
function eachMilli(data: Arrow.Data<Arrow.Date_>, valid: Mask, take: (millis: number, row: number) => void): void {
  const values = data.values as unknown as ArrayLike<number | bigint>
  for (let row = 0; row < data.length; row++) if (valid?.[row] !== 0) take(Number(values[row]), row)
}

function times(path: string, data: Arrow.Data<Arrow.Time>, valid: Mask): Column {
  const { length } = data
  const perSecond = 10n ** (3n * BigInt(data.type.unit))
  const source = data.values as ArrayLike<number | bigint>
  const values = new Int32Array(length)
  for (let row = 0; row < length; row++) {
    if (valid?.[row] === 0) continue
    const value = BigInt(source[row]!)
    const millis = (value * 1000n) / perSecond
    if ((value * 1000n) % perSecond !== 0n) throw new ValueError(path, value, 'has digits below the millisecond', row)
    if (millis < 0n || millis >= BigInt(DAY)) throw new ValueError(path, value, 'is not a time of day', row)
    values[row] = Number(millis)
  }
  return { kind: 'fixed', length, values }
}

/** Units coarser than the column's are multiplied out; finer ones do not widen. Date64 is a timestamp in milliseconds. */
function timestamps(
  arrow: typeof Arrow,
  path: string,
  type: { readonly kind: DataType['kind']; readonly precision: number },
  data: Arrow.Data,
  valid: Mask,
): Column | undefined {
  const { DataType: is } = arrow
  const { length } = data
  let digits = 3
  if (is.isTimestamp(data.type)) {
    if (type.kind === 'timestamp' && data.type.timezone) return undefined
    digits = data.type.unit * 3
  } else if (!is.isDate(data.type) || data.type.unit !== arrow.DateUnit.MILLISECOND) return undefined
  const own = type.precision <= 3 ? 3 : type.precision <= 6 ? 6 : 9
  if (digits > own) return undefined
  const source = data.values as BigInt64Array
  const step = 10n ** BigInt(Math.max(0, digits - type.precision))
  if (digits === own && own < 9 && step === 1n) return { kind: 'fixed', length, values: source }
  const factor = 10n ** BigInt(own - digits)
  const values = new BigInt64Array(own === 9 ? length * 2 : length)
  for (let row = 0; row < length; row++) {
    if (valid?.[row] === 0) continue
    const value = source[row]!
    if (value % step !== 0n)
      throw new ValueError(path, value, `has more than ${type.precision} digits of a second`, row)
    const scaled = value * factor
    if (own === 9) {
      values[row * 2] = BigInt.asIntN(64, scaled)
      values[row * 2 + 1] = scaled >> 64n
    } else {
      if (BigInt.asIntN(64, scaled) !== scaled)
        throw new ValueError(path, value, 'is out of range of the timestamp', row)
      values[row] = scaled
    }
  }
  return own === 9 ? { kind: 'wide', length, values } : { kind: 'fixed', length, values }
}

function sized(path: string, limit: number, text: boolean, data: Arrow.Data, valid: Mask): BytesColumn {
  const bytes = data.values as Uint8Array
  const { length } = data
  const column: BytesColumn = { kind: 'bytes', length, data: bytes, offsets: offsetsOf(path, data) }
  if (text) requireUtf8(path, column, valid)
  if (limit === MAX_LENGTH) return column
  const { offsets } = column
  for (let row = 0; row < length; row++) {
    if (valid?.[row] === 0 || offsets[row + 1]! - offsets[row]! <= limit) continue
    const size = text ? codePoints(bytes, offsets[row]!, offsets[row + 1]!) : offsets[row + 1]! - offsets[row]!
    if (size > limit)
      throw new ValueError(path, bytes.slice(offsets[row], offsets[row + 1]), `of ${size} is longer than ${limit}`, row)
  }
  return column
}

/** Arrow does not look whether text is UTF-8; a value that is not could be stored, and never asked for again. */
function requireUtf8(path: string, { data, offsets, length }: BytesColumn, valid: Mask): void {
  const [start, end] = [offsets[0] ?? 0, offsets[length] ?? 0]
  // A value starts with a character when the whole is text and no value starts within one.
  let whole = isUtf8(data.subarray(start, end))
  for (let row = 0; whole && row < length; row++) {
    const at = offsets[row]!
    if (at < end && (data[at]! & 0xc0) === 0x80) whole = false
  }
  if (whole) return
  for (let row = 0; row < length; row++) {
    const value = data.subarray(offsets[row], offsets[row + 1])
    if (valid?.[row] !== 0 && !isUtf8(value)) throw new ValueError(path, value.slice(), 'is not UTF-8', row)
  }
}

function offsetsOf(path: string, data: Arrow.Data): Int32Array {
  const offsets = data.valueOffsets as Int32Array | BigInt64Array
  if (offsets instanceof Int32Array) return offsets
  if (offsets.length > 0 && offsets.at(-1)! > 0x7fffffffn) {
    throw new ValueError(path, offsets.at(-1), 'bytes are more than 2^31 - 1 in one batch: give smaller ones')
  }
  return Int32Array.from(offsets, Number)
}

function codePoints(bytes: Uint8Array, start: number, end: number): number {
  let count = 0
  for (let i = start; i < end; i++) if ((bytes[i]! & 0xc0) !== 0x80) count++
  return count
}

function fixedBinary(path: string, limit: number, width: number, data: Arrow.Data): BytesColumn {
  if (width > limit) throw new ValueError(path, `FixedSizeBinary[${width}]`, `is longer than ${limit}`)
  const { length } = data
  const offsets = Int32Array.from({ length: length + 1 }, (_, row) => row * width)
  return { kind: 'bytes', length, data: data.values as Uint8Array, offsets }
}

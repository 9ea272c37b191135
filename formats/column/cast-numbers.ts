import type { DataType } from '../types/row-type.ts'
import { type Column, type FixedArray, type FixedColumn, type Storage, storageOf } from './column.ts'

type NumericType = DataType & {
  readonly kind: 'boolean' | 'tinyint' | 'smallint' | 'int' | 'bigint' | 'float' | 'double' | 'decimal'
}

/** BOOLEAN, integers, FLOAT, DOUBLE and DECIMAL: any of them can be cast to any other. */
export function isNumeric(type: DataType): type is NumericType {
  switch (type.kind) {
    case 'boolean':
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
    case 'float':
    case 'double':
    case 'decimal':
      return true
    default:
      return false
  }
}

/**
 * Numbers as Java casts them: integers keep their low bits, floating numbers lose their fraction and saturate, true is 1, all
 * but zero is true. A DECIMAL rounds half up; a value beyond its precision, an infinity and NaN become null.
 */
export function castNumbers(from: NumericType, to: NumericType, column: Column): Column {
  if (to.kind === 'decimal') return castToDecimal(from, to, column)
  if (from.kind === 'decimal') return castFromDecimal(from, to, column)
  const { values, valid, length } = column as FixedColumn
  const storage = storageOf(to)
  if (storage === storageOf(from)) return column
  return { kind: 'fixed', length, valid, values: castPrimitive(values, storage, length) }
}

function castPrimitive(source: FixedArray, to: Storage, length: number): FixedArray {
  const values = source.length === length ? source : source.subarray(0, length)
  if (to === 'uint8')
    return Uint8Array.from(values as ArrayLike<number | bigint>, (value) => (Number(value) === 0 ? 0 : 1))
  if (values instanceof BigInt64Array) return narrowInt64(values, to)
  if (to === 'int64') return toInt64(values)
  if (values instanceof Float32Array || values instanceof Float64Array) {
    if (to === 'float32') return Float32Array.from(values)
    if (to === 'float64') return Float64Array.from(values)
    const integers = new Int32Array(length)
    for (let i = 0; i < length; i++) integers[i] = clamp(values[i]!, -0x80000000, 0x7fffffff)
    return to === 'int32' ? integers : narrowInt32(integers, to)
  }
  return narrowInt32(values, to)
}

/** Typed arrays wrap and round exactly as Java does between these classes. */
function narrowInt32(values: Exclude<FixedArray, BigInt64Array>, to: Storage): FixedArray {
  switch (to) {
    case 'int8':
      return new Int8Array(values)
    case 'int16':
      return new Int16Array(values)
    case 'float32':
      return new Float32Array(values)
    case 'float64':
      return new Float64Array(values)
    default:
      return new Int32Array(values)
  }
}

function narrowInt64(values: BigInt64Array, to: Storage): FixedArray {
  if (to === 'float32') return Float32Array.from({ length: values.length }, (_, i) => int64ToFloat(values[i]!))
  if (to === 'float64') return Float64Array.from({ length: values.length }, (_, i) => Number(values[i]!))
  // The low word alone decides the narrower integers.
  const words = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  const low = new Int32Array(values.length)
  for (let i = 0; i < low.length; i++) low[i] = words[2 * i]!
  return to === 'int32' ? low : narrowInt32(low, to)
}

/** Rounded once: by way of a double the last bit could be rounded twice. */
function int64ToFloat(value: bigint): number {
  const number = Number(value)
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) return Math.fround(number)
  const sticky = (value & 0x3ffn) === 0n ? 0n : 1n
  return Math.fround(Number((value >> 10n) | sticky)) * 1024
}

function toInt64(values: Exclude<FixedArray, BigInt64Array>): BigInt64Array {
  const result = new BigInt64Array(values.length)
  if (values instanceof Float32Array || values instanceof Float64Array) {
    for (let i = 0; i < values.length; i++) result[i] = floatToInt64(values[i]!)
    return result
  }
  const words = new Int32Array(result.buffer)
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    words[2 * i] = value
    words[2 * i + 1] = value >> 31
  }
  return result
}

function floatToInt64(value: number): bigint {
  if (Number.isNaN(value)) return 0n
  if (value >= 2 ** 63) return 0x7fffffffffffffffn
  if (value <= -(2 ** 63)) return -0x8000000000000000n
  return BigInt(Math.trunc(value))
}

function clamp(value: number, min: number, max: number): number {
  if (Number.isNaN(value)) return 0
  return value <= min ? min : value >= max ? max : Math.trunc(value)
}

type DecimalType = DataType & { readonly kind: 'decimal' }

function castToDecimal(from: NumericType, to: DecimalType, column: Column): Column {
  const { valid, length } = column
  if (from.kind === 'decimal' && from.scale === to.scale && from.precision <= to.precision) {
    if (storageOf(from) === storageOf(to)) return column
  }
  const read = unscaledReader(from, to.scale, column)
  const limit = powerOfTen(to.precision)
  const wide = storageOf(to) === 'wide'
  const values = new BigInt64Array(wide ? 2 * length : length)
  let fits: Uint8Array | undefined
  for (let row = 0; row < length; row++) {
    if (valid !== undefined && valid[row] !== 1) continue
    const unscaled = read(row)
    if (unscaled === undefined || unscaled >= limit || unscaled <= -limit) {
      fits ??= valid === undefined ? new Uint8Array(length).fill(1) : valid.slice(0, length)
      fits[row] = 0
    } else if (wide) {
      values[2 * row] = BigInt.asIntN(64, unscaled)
      values[2 * row + 1] = unscaled >> 64n
    } else {
      values[row] = unscaled
    }
  }
  return { kind: wide ? 'wide' : 'fixed', length, valid: fits ?? valid, values }
}

/** Reads a row as an integer of units 10^-scale, rounded half up; undefined for NaN and infinities. */
function unscaledReader(from: NumericType, scale: number, column: Column): (row: number) => bigint | undefined {
  if (from.kind === 'decimal') {
    const read = decimalReader(column)
    return (row) => rescale(read(row), from.scale, scale)
  }
  const { values } = column as FixedColumn
  if (from.kind === 'float' || from.kind === 'double') return (row) => floatToUnscaled(values[row] as number, scale)
  const factor = powerOfTen(scale)
  return (row) => BigInt(values[row]!) * factor
}

function castFromDecimal(from: DecimalType, to: NumericType, column: Column): Column {
  const { valid, length } = column
  const read = decimalReader(column)
  const storage = storageOf(to)
  const present = (row: number): boolean => valid === undefined || valid[row] === 1
  if (storage === 'float32' || storage === 'float64') {
    const numbers = new Float64Array(length)
    // Through text: a division of two doubles could be off by a unit in the last place.
    for (let row = 0; row < length; row++) if (present(row)) numbers[row] = Number(`${read(row)}e-${from.scale}`)
    return { kind: 'fixed', length, valid, values: castPrimitive(numbers, storage, length) }
  }
  const whole = powerOfTen(from.scale)
  const integers = new BigInt64Array(length)
  for (let row = 0; row < length; row++) {
    if (!present(row)) continue
    const unscaled = read(row)
    if (storage === 'uint8') integers[row] = unscaled === 0n ? 0n : 1n
    else integers[row] = BigInt.asIntN(64, unscaled / whole)
  }
  const values = storage === 'int64' ? integers : castPrimitive(integers, storage, length)
  return { kind: 'fixed', length, valid, values }
}

/** Reads a DECIMAL column of either width as its unscaled integer. */
export function decimalReader(column: Column): (row: number) => bigint {
  const { values } = column as FixedColumn & { readonly values: BigInt64Array }
  if (column.kind !== 'wide') return (row) => values[row]!
  return (row) => (values[2 * row + 1]! << 64n) | BigInt.asUintN(64, values[2 * row]!)
}

function rescale(unscaled: bigint, from: number, to: number): bigint {
  if (to >= from) return unscaled * powerOfTen(to - from)
  const divisor = powerOfTen(from - to)
  const rest = unscaled % divisor
  const half = 2n * (rest < 0n ? -rest : rest) >= divisor
  return unscaled / divisor + (half ? (unscaled < 0n ? -1n : 1n) : 0n)
}

/** The shortest decimal text of the double is the value that is rounded, as Java's `BigDecimal.valueOf` has it. */
function floatToUnscaled(value: number, scale: number): bigint | undefined {
  if (!Number.isFinite(value)) return undefined
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e')
  const [whole = '', part = ''] = mantissa.split('.')
  const digits = BigInt(whole + part)
  const digitsScale = part.length - Number(exponent)
  // Far below half a unit: nothing to round, and no power of ten that large to build.
  if (digitsScale - scale > 40) return 0n
  return digitsScale < 0 ? digits * powerOfTen(scale - digitsScale) : rescale(digits, digitsScale, scale)
}

const powers: bigint[] = [1n]

function powerOfTen(exponent: number): bigint {
  for (let i = powers.length; i <= exponent; i++) powers.push(powers[i - 1]! * 10n)
  return powers[exponent]!
}

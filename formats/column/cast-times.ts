import type { DataType } from '../types/row-type.ts'
import { decimalReader } from './cast-numbers.ts'
import { type Column, type FixedColumn, storageOf } from './column.ts'

const DAY_MILLIS = 86_400_000

/**
 * Casts between DATE, TIME and TIMESTAMP that need no time zone; undefined for all others. Digits beyond the precision asked
 * for are cut: towards the past, but below milliseconds towards 1970, as Paimon does.
 */
export function castTimes(from: DataType, to: DataType, column: Column): Column | undefined {
  if (to.kind === 'time') {
    if (from.kind === 'time') return column
    return from.kind === 'timestamp' ? timestampTo(from.precision, column, millisOfDay) : undefined
  }
  if (to.kind === 'date') {
    if (from.kind === 'date') return column
    return from.kind === 'timestamp' ? timestampTo(from.precision, column, daysOf) : undefined
  }
  if (!isTimestamp(to)) return undefined
  if (isTimestamp(from)) return from.kind === to.kind ? changePrecision(from, to, column) : undefined
  return from.kind === 'date' && to.kind === 'timestamp' ? dateToTimestamp(to, column) : undefined
}

type TimestampType = DataType & { readonly kind: 'timestamp' | 'timestamp_ltz' }

function isTimestamp(type: DataType): type is TimestampType {
  return type.kind === 'timestamp' || type.kind === 'timestamp_ltz'
}

/** Units of a timestamp column in a millisecond. */
function unitsPerMilli(precision: number): bigint {
  return precision <= 3 ? 1n : precision <= 6 ? 1_000n : 1_000_000n
}

function changePrecision(from: TimestampType, to: TimestampType, column: Column): Column {
  const same = storageOf(from) === storageOf(to) && unitsPerMilli(from.precision) === unitsPerMilli(to.precision)
  if (same && to.precision >= from.precision) return column
  const read = decimalReader(column)
  const fromUnits = unitsPerMilli(from.precision)
  const toUnits = unitsPerMilli(to.precision)
  const { precision } = to
  const cut = precision < from.precision
  const step = 10n ** BigInt(precision < 3 ? 3 - precision : precision <= 6 ? 6 - precision : 9 - precision)
  return timestamps(to, column, (row) => {
    const value = read(row)
    if (toUnits > fromUnits) return value * (toUnits / fromUnits)
    const scaled = floorDiv(value, fromUnits / toUnits)
    if (!cut || precision === 3) return scaled
    return precision < 3 ? scaled - (scaled % step) : floorDiv(scaled, step) * step
  })
}

function dateToTimestamp(to: TimestampType, column: Column): Column {
  const days = (column as FixedColumn).values as Int32Array
  const unitsPerDay = BigInt(DAY_MILLIS) * unitsPerMilli(to.precision)
  return timestamps(to, column, (row) => BigInt(days[row]!) * unitsPerDay)
}

/** A timestamp column of the same nulls, each value from `read`. */
function timestamps(to: TimestampType, column: Column, read: (row: number) => bigint): Column {
  const { length, valid } = column
  const wide = storageOf(to) === 'wide'
  const values = new BigInt64Array(wide ? 2 * length : length)
  for (let row = 0; row < length; row++) {
    if (valid !== undefined && valid[row] !== 1) continue
    const value = read(row)
    if (wide) {
      values[2 * row] = BigInt.asIntN(64, value)
      values[2 * row + 1] = value >> 64n
    } else {
      values[row] = value
    }
  }
  return { kind: wide ? 'wide' : 'fixed', length, valid, values }
}

function timestampTo(precision: number, column: Column, part: (millis: bigint) => number): Column {
  const { length, valid } = column
  const read = decimalReader(column)
  const units = unitsPerMilli(precision)
  const values = new Int32Array(length)
  for (let row = 0; row < length; row++) {
    if (valid === undefined || valid[row] === 1) values[row] = part(floorDiv(read(row), units))
  }
  return { kind: 'fixed', length, valid, values }
}

function daysOf(millis: bigint): number {
  return Number(floorDiv(millis, BigInt(DAY_MILLIS)))
}

function millisOfDay(millis: bigint): number {
  return Number(millis - floorDiv(millis, BigInt(DAY_MILLIS)) * BigInt(DAY_MILLIS))
}

function floorDiv(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  return value % divisor < 0n ? quotient - 1n : quotient
}

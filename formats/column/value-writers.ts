import type { DataType } from '../types/row-type.ts'
import type { ValueForm } from '../types/value-form.ts'
import type { ColumnBuilder } from './builder-memory.ts'
import type { BytesBuilder } from './bytes-builder.ts'
import { parseDecimal } from './decimal-text.ts'
import { type FixedBuilder, WideBuilder } from './fixed-builders.ts'
import type { ListBuilder, MapBuilder, RowBuilder } from './nested-builders.ts'
import { fieldGetter, isRecord, unknownName } from './record.ts'
import { ValueError } from './value-error.ts'

/** Appends one JavaScript value to a builder, or throws a `ValueError`; nested builders may then hold part of a row. */
export type ValueWriter = (value: unknown) => void

const DAY = 86_400_000

/** Chooses the writer for a type, once; `key` refuses NaN and -0.0, which have no place in an order of keys. */
export function valueWriter(
  path: string,
  type: DataType,
  form: ValueForm | undefined,
  builder: ColumnBuilder,
  key = false,
): ValueWriter {
  const write = presentWriter(path, type, form, builder, key)
  if (!type.nullable) {
    return (value) => {
      if (value === null || value === undefined)
        throw new ValueError(path, value, 'is not allowed: the column is NOT NULL')
      write(value)
    }
  }
  return (value) => {
    if (value === null || value === undefined) builder.appendNull()
    else write(value)
  }
}

function presentWriter(
  path: string,
  type: DataType,
  form: ValueForm | undefined,
  builder: ColumnBuilder,
  key: boolean,
): ValueWriter {
  switch (type.kind) {
    case 'boolean':
      return booleanWriter(path, builder as FixedBuilder)
    case 'tinyint':
      return integerWriter(path, builder as FixedBuilder, -128, 127)
    case 'smallint':
      return integerWriter(path, builder as FixedBuilder, -32768, 32767)
    case 'int':
      return integerWriter(path, builder as FixedBuilder, -2147483648, 2147483647)
    case 'bigint':
      return readableWith(
        path,
        form,
        (value) => typeof value === 'bigint' && !isSafe(value),
        bigintWriter(path, builder as FixedBuilder),
      )
    case 'float':
    case 'double':
      return floatWriter(path, type.kind === 'float', builder as FixedBuilder, key)
    case 'decimal':
      return decimalWriter(path, type, builder as FixedBuilder | WideBuilder)
    case 'date':
      return dateWriter(path, builder as FixedBuilder)
    case 'time': {
      const write = integerWriter(path, builder as FixedBuilder, 0, DAY - 1)
      const step = 10 ** Math.max(0, 3 - type.precision)
      if (step === 1) return write
      return (value) => {
        if (Number(value) % step !== 0) throw new ValueError(path, value, lostDigits(type.precision))
        write(value)
      }
    }
    case 'timestamp':
    case 'timestamp_ltz':
      return readableWith(
        path,
        form,
        (value) => typeof value === 'bigint' && !isDate(value, type.precision),
        timestampWriter(path, type.precision, builder as FixedBuilder | WideBuilder),
      )
    case 'char':
    case 'varchar':
      return textWriter(path, type.length, builder as BytesBuilder)
    case 'binary':
    case 'varbinary':
      return bytesWriter(path, type.length, builder as BytesBuilder)
    case 'array':
      return listWriter(
        path,
        valueWriter(`${path}[]`, type.element, form?.children?.[0], (builder as ListBuilder).child),
        builder as ListBuilder,
      )
    case 'map':
      return mapWriter(path, type, form, builder as MapBuilder)
    case 'row':
      return rowValueWriter(path, type, form, builder as RowBuilder)
    case 'variant':
    case 'multiset':
      throw new TypeError(`${type.kind} values cannot be written`)
  }
}

/** A mode gives back what it took: a value that it could not read again is refused when it is written. */
function readableWith(
  path: string,
  form: ValueForm | undefined,
  unreadable: (value: unknown) => boolean,
  write: ValueWriter,
): ValueWriter {
  if (form?.mode === undefined) return write
  return (value) => {
    if (unreadable(value)) throw new ValueError(path, value, `does not fit the form '${form.mode}' of the column`)
    write(value)
  }
}

function isSafe(value: bigint): boolean {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
}

/** Whether a Date holds a timestamp, in the unit of its precision, without a loss. */
function isDate(value: bigint, precision: number): boolean {
  const perMilli = precision <= 3 ? 1n : precision <= 6 ? 1000n : 1_000_000n
  return value % perMilli === 0n && !Number.isNaN(new Date(Number(value / perMilli)).getTime())
}

function booleanWriter(path: string, builder: FixedBuilder): ValueWriter {
  return (value) => {
    if (typeof value !== 'boolean') throw new ValueError(path, value, 'is not a boolean')
    builder.pushNumber(value ? 1 : 0)
  }
}

function integerWriter(path: string, builder: FixedBuilder, min: number, max: number): ValueWriter {
  return (value) => {
    if (typeof value !== 'number') throw new ValueError(path, value, 'is not a number')
    if (!Number.isInteger(value)) throw new ValueError(path, value, 'is not a whole number')
    if (value < min || value > max) throw new ValueError(path, value, `is out of range (${min} to ${max})`)
    builder.pushNumber(value)
  }
}

function bigintWriter(path: string, builder: FixedBuilder): ValueWriter {
  return (value) => {
    if (typeof value === 'bigint') {
      if (BigInt.asIntN(64, value) !== value) throw new ValueError(path, value, 'is out of range (64 bits)')
      builder.pushBigInt(value)
    } else if (typeof value === 'number') {
      if (!Number.isSafeInteger(value)) {
        throw new ValueError(path, value, 'is not a whole number that a number holds exactly: give a bigint')
      }
      builder.pushBigInt(BigInt(value))
    } else throw new ValueError(path, value, 'is not a bigint')
  }
}

function floatWriter(path: string, single: boolean, builder: FixedBuilder, key: boolean): ValueWriter {
  return (value) => {
    if (typeof value !== 'number') throw new ValueError(path, value, 'is not a number')
    if (key && (Number.isNaN(value) || Object.is(value, -0)))
      throw new ValueError(path, value, 'is not allowed in a key')
    if (single && Number.isFinite(value) && !Number.isFinite(Math.fround(value))) {
      throw new ValueError(path, value, 'is out of range of FLOAT')
    }
    if (single && key && Object.is(Math.fround(value), -0))
      throw new ValueError(path, value, 'is -0.0 as FLOAT: not allowed in a key')
    builder.pushNumber(value)
  }
}

function decimalWriter(
  path: string,
  { precision, scale }: { readonly precision: number; readonly scale: number },
  builder: FixedBuilder | WideBuilder,
): ValueWriter {
  const push = pusher(builder)
  return (value) => {
    if (typeof value !== 'string') throw new ValueError(path, value, 'is not a string of digits')
    const unscaled = parseDecimal(value, precision, scale)
    if (typeof unscaled === 'string')
      throw new ValueError(path, value, `${unscaled} of DECIMAL(${precision}, ${scale})`)
    push(unscaled)
  }
}

function dateWriter(path: string, builder: FixedBuilder): ValueWriter {
  const write = integerWriter(path, builder, -2147483648, 2147483647)
  return (value) => {
    if (!(value instanceof Date)) {
      write(value)
      return
    }
    const millis = millisOf(path, value)
    if (millis % DAY !== 0) throw new ValueError(path, value, 'has a time of day: a DATE would lose it')
    builder.pushNumber(millis / DAY)
  }
}

function timestampWriter(path: string, precision: number, builder: FixedBuilder | WideBuilder): ValueWriter {
  const digits = precision <= 3 ? 3 : precision <= 6 ? 6 : 9
  const perMilli = 10n ** BigInt(digits - 3)
  const step = 10n ** BigInt(digits - precision)
  // Nanoseconds are stored as milliseconds and a rest, so their milliseconds have to fit 64 bits.
  const limit = digits === 9 ? perMilli << 63n : 1n << 63n
  const push = pusher(builder)
  return (value) => {
    let units: bigint
    if (value instanceof Date) units = BigInt(millisOf(path, value)) * perMilli
    else if (typeof value === 'bigint') units = value
    else throw new ValueError(path, value, 'is neither a bigint nor a Date')
    if (units >= limit || units < -limit) throw new ValueError(path, value, 'is out of range of the timestamp')
    if (step !== 1n && units % step !== 0n) throw new ValueError(path, value, lostDigits(precision))
    push(units)
  }
}

function textWriter(path: string, length: number, builder: BytesBuilder): ValueWriter {
  return (value) => {
    if (typeof value !== 'string') throw new ValueError(path, value, 'is not a string')
    const points = builder.pushText(value)
    if (points < 0) throw new ValueError(path, value, 'holds half of a surrogate pair, which has no UTF-8 form')
    if (points > length) {
      builder.truncate(builder.length - 1)
      throw new ValueError(path, value, `has ${points} characters, more than ${length}`)
    }
  }
}

function bytesWriter(path: string, length: number, builder: BytesBuilder): ValueWriter {
  return (value) => {
    if (!(value instanceof Uint8Array)) throw new ValueError(path, value, 'is not a Uint8Array')
    if (value.length > length) throw new ValueError(path, value, `has ${value.length} bytes, more than ${length}`)
    builder.push(value)
  }
}

function listWriter(path: string, element: ValueWriter, builder: ListBuilder): ValueWriter {
  return (value) => {
    if (!Array.isArray(value)) throw new ValueError(path, value, 'is not an array')
    for (const item of value as readonly unknown[]) element(item)
    builder.endRow()
  }
}

function mapWriter(
  path: string,
  type: Extract<DataType, { readonly kind: 'map' }>,
  form: ValueForm | undefined,
  builder: MapBuilder,
): ValueWriter {
  const keyPath = `${path}.key`
  const writeKey = valueWriter(keyPath, { ...type.key, nullable: false }, form?.children?.[0], builder.keys)
  const writeValue = valueWriter(`${path}.value`, type.value, form?.children?.[1], builder.values)
  return (value) => {
    if (!Array.isArray(value) && !(value instanceof Map))
      throw new ValueError(path, value, 'is not an array of [key, value] pairs')
    for (const pair of value as Iterable<unknown>) {
      if (!Array.isArray(pair) || pair.length !== 2) throw new ValueError(path, pair, 'is not a [key, value] pair')
      writeKey(pair[0])
      writeValue(pair[1])
    }
    builder.endRow()
  }
}

function rowValueWriter(
  path: string,
  type: Extract<DataType, { readonly kind: 'row' }>,
  form: ValueForm | undefined,
  builder: RowBuilder,
): ValueWriter {
  const names = new Set(type.fields.map((field) => field.name))
  const getters = type.fields.map((field) => fieldGetter(field.name))
  const writers = type.fields.map((field, index) =>
    valueWriter(`${path}.${field.name}`, field.type, form?.children?.[index], builder.children[index]!),
  )
  return (value) => {
    if (!isRecord(value)) throw new ValueError(path, value, 'is not an object')
    const unknown = unknownName(value, names)
    if (unknown !== undefined)
      throw new ValueError(`${path}.${unknown}`, value[unknown], 'is given, but there is no such field')
    for (let i = 0; i < writers.length; i++) writers[i]!(getters[i]!(value))
    builder.endRow()
  }
}

function pusher(builder: FixedBuilder | WideBuilder): (value: bigint) => void {
  return builder instanceof WideBuilder ? (value) => builder.push(value) : (value) => builder.pushBigInt(value)
}

function millisOf(path: string, value: Date): number {
  const millis = value.getTime()
  if (Number.isNaN(millis)) throw new ValueError(path, value, 'is not a point in time')
  return millis
}

function lostDigits(precision: number): string {
  return `has more than ${precision} digits of a second: they would be lost`
}

import { isAscii } from 'node:buffer'
import type { DataType } from '../types/row-type.ts'
import type { ValueForm } from '../types/value-form.ts'
import type { BytesColumn, Column, FixedColumn, ListColumn, MapColumn, RowColumn, WideColumn } from './column.ts'
import { printDecimal } from './decimal-text.ts'
import { recordMakerOf } from './record-maker.ts'
import { ValueError } from './value-error.ts'

/** Gives the value of a row of one column in its JavaScript form. */
export type ValueReader = (row: number) => unknown

const DAY = 86_400_000
/** Largest distance from the epoch that a `Date` holds. */
const MAX_DATE = 8_640_000_000_000_000

/** Chooses the reader of a column by type and form. Throws a `ValueError` where a form would lose digits. */
export function valueReader(path: string, type: DataType, form: ValueForm | undefined, column: Column): ValueReader {
  const read = presentReader(path, type, form, column)
  const { valid } = column
  return valid === undefined ? read : (row) => (valid[row] === 0 ? null : read(row))
}

function presentReader(path: string, type: DataType, form: ValueForm | undefined, column: Column): ValueReader {
  switch (type.kind) {
    case 'boolean': {
      const { values } = column as FixedColumn
      return (row) => values[row] === 1
    }
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'float':
    case 'double':
    case 'time': {
      const { values } = column as FixedColumn
      return (row) => values[row]
    }
    case 'bigint':
      return bigintReader(path, form, column as FixedColumn)
    case 'decimal': {
      const read = integerReader(column)
      const { scale } = type
      return (row) => printDecimal(read(row), scale)
    }
    case 'date': {
      const { values } = column as FixedColumn
      if (form?.mode !== 'date') return (row) => values[row]
      return (row) => dateOf(path, values[row] as number, Number(values[row]) * DAY)
    }
    case 'timestamp':
    case 'timestamp_ltz':
      return timestampReader(path, type.precision, form, column)
    case 'char':
    case 'varchar':
      return textReader(column as BytesColumn)
    case 'binary':
    case 'varbinary': {
      const { data, offsets } = column as BytesColumn
      // A copy: the bytes of the batch are shared with caches and other readers.
      return (row) => new Uint8Array(data.subarray(offsets[row], offsets[row + 1]))
    }
    case 'array': {
      const { offsets, child } = column as ListColumn
      const read = valueReader(`${path}[]`, type.element, form?.children?.[0], child)
      return (row) => {
        const items: unknown[] = []
        for (let i = offsets[row]!; i < offsets[row + 1]!; i++) items.push(read(i))
        return items
      }
    }
    case 'map': {
      const { offsets, keys, values } = column as MapColumn
      const readKey = valueReader(`${path}.key`, type.key, form?.children?.[0], keys)
      const readValue = valueReader(`${path}.value`, type.value, form?.children?.[1], values)
      return (row) => {
        const pairs: [unknown, unknown][] = []
        for (let i = offsets[row]!; i < offsets[row + 1]!; i++) pairs.push([readKey(i), readValue(i)])
        return pairs
      }
    }
    case 'row': {
      const { children } = column as RowColumn
      const { fields } = type
      const make = recordMakerOf(fields)
      const readers = fields.map((field, index) =>
        valueReader(`${path}.${field.name}`, field.type, form?.children?.[index], children[index]!),
      )
      return (row) => {
        const record = make()
        for (let i = 0; i < readers.length; i++) record[fields[i]!.name] = readers[i]!(row)
        return record
      }
    }
    case 'variant':
    case 'multiset':
      throw new TypeError(`${type.kind} values cannot be read`)
  }
}

function bigintReader(path: string, form: ValueForm | undefined, column: FixedColumn): ValueReader {
  const values = column.values as BigInt64Array
  if (form?.mode !== 'number') return (row) => values[row]
  // Two halves make the number without a bigint for each value: a quarter of the time (tools/bench/micro/int64.mjs).
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  return (row) => {
    const number = halves[row * 2 + 1]! * 0x1_0000_0000 + (halves[row * 2]! >>> 0)
    if (!Number.isSafeInteger(number))
      throw new ValueError(path, values[row], 'does not fit a number: read it as bigint')
    return number
  }
}

function integerReader(column: Column): (row: number) => bigint {
  if (column.kind === 'fixed') {
    const values = column.values as BigInt64Array
    return (row) => values[row]!
  }
  const { values } = column as WideColumn
  return (row) => {
    const low = values[row * 2]!
    const high = values[row * 2 + 1]!
    return high === low >> 63n ? low : (high << 64n) | BigInt.asUintN(64, low)
  }
}

function timestampReader(path: string, precision: number, form: ValueForm | undefined, column: Column): ValueReader {
  const read = integerReader(column)
  if (form?.mode !== 'date') return read
  const perMilli = precision <= 3 ? 1n : precision <= 6 ? 1000n : 1_000_000n
  return (row) => {
    const units = read(row)
    if (units % perMilli !== 0n)
      throw new ValueError(path, units, 'has digits below the millisecond: a Date would lose them')
    return dateOf(path, units, Number(units / perMilli))
  }
}

function dateOf(path: string, stored: number | bigint, millis: number): Date {
  if (Math.abs(millis) > MAX_DATE) throw new ValueError(path, stored, 'is beyond what a Date holds')
  return new Date(millis)
}

/** What `toString` calls in the end; Node has them on every buffer, its types do not. */
interface TextSlices {
  latin1Slice(start: number, end: number): string
  utf8Slice(start: number, end: number): string
}

/** Text of plain ASCII, which is most of it, is decoded as Latin-1: half the cost, found out once a batch. */
function textReader({ data, offsets, length }: BytesColumn): ValueReader {
  const first = offsets[0]!
  const end = offsets[length]!
  const buffer = Buffer.from(data.buffer, data.byteOffset, data.byteLength) as Buffer & TextSlices
  // Not `toString`, which looks the encoding up for each value: 30 of 130 ns for 18 characters.
  if (isAscii(data.subarray(first, end))) return (row) => buffer.latin1Slice(offsets[row]!, offsets[row + 1]!)
  return (row) => buffer.utf8Slice(offsets[row]!, offsets[row + 1]!)
}

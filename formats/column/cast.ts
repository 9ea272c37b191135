import { unsupported } from '../bytes/format-error.ts'
import { describeType } from '../types/parse.ts'
import type { DataType } from '../types/row-type.ts'
import { castBytes, castToText } from './cast-bytes.ts'
import { castNumbers, isNumeric } from './cast-numbers.ts'
import { castTimes } from './cast-times.ts'
import { type Column, storageOf } from './column.ts'
import { nullColumn } from './constant.ts'

/**
 * A column of one type read as another, for files written before a column changed its type; same length, nulls stay null.
 *
 *   numbers      every pair of BOOLEAN, integers, FLOAT, DOUBLE, DECIMAL. Integers wrap, floating numbers saturate towards
 *                integers; a DECIMAL rounds half up and is null where the value does not fit
 *   text, bytes  lengths cut, CHAR padded with blanks, BINARY with zeros; text ↔ bytes is UTF-8 as it is
 *   any flat     to text, as Paimon prints it (`valueText`); not TIMESTAMP WITH LOCAL TIME ZONE
 *   times        DATE ↔ TIMESTAMP, TIMESTAMP to TIME, other precisions (digits cut, not rounded)
 *   nested       element by element; fields of a ROW by id, new ones null
 *
 * Columns whose layout does not change share their buffers with the input. Throws UNSUPPORTED naming both types for any other
 * pair, among them all that depend on a time zone, and text to anything but text and bytes.
 */
export function castColumn(from: DataType, to: DataType, column: Column): Column {
  if (isNumeric(from) && isNumeric(to)) return castNumbers(from, to, column)
  switch (to.kind) {
    case 'char':
    case 'varchar':
    case 'binary':
    case 'varbinary': {
      if (storageOf(from) === 'bytes') return castBytes(from, to, column)
      const isText = to.kind === 'char' || to.kind === 'varchar'
      if (isText && storageOf(from) !== 'nested' && from.kind !== 'timestamp_ltz') return castToText(from, to, column)
      break
    }
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamp_ltz': {
      const cast = castTimes(from, to, column)
      if (cast !== undefined) return cast
      break
    }
    case 'array':
    case 'multiset':
      if (from.kind === to.kind) return castElements(from, to, column)
      break
    case 'map':
      if (from.kind === 'map' && column.kind === 'map') {
        const keys = castColumn(from.key, to.key, column.keys)
        return { ...column, keys, values: castColumn(from.value, to.value, column.values) }
      }
      break
    case 'row':
      if (from.kind === 'row' && column.kind === 'row') {
        const children = to.fields.map((field) => {
          const index = from.fields.findIndex((old) => old.id === field.id)
          if (index < 0) return nullColumn(field.type, column.length)
          return castColumn(from.fields[index]!.type, field.type, column.children[index]!)
        })
        return { ...column, children }
      }
      break
    default:
  }
  throw unsupported(`a column written as ${describeType(from)} cannot be read as ${describeType(to)}`)
}

function castElements(
  from: DataType & { readonly kind: 'array' | 'multiset' },
  to: DataType & { readonly kind: 'array' | 'multiset' },
  column: Column,
): Column {
  if (column.kind === 'list') return { ...column, child: castColumn(from.element, to.element, column.child) }
  // A MULTISET is a map of elements to counts.
  if (column.kind === 'map') return { ...column, keys: castColumn(from.element, to.element, column.keys) }
  throw unsupported(`${describeType(from)} in a column of kind ${column.kind}`)
}

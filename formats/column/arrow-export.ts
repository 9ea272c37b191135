import type * as Arrow from 'apache-arrow'
import type { DataType } from '../types/row-type.ts'
import { arrowType } from './arrow-types.ts'
import type { Column, FixedColumn, WideColumn } from './column.ts'
import { ValueError } from './value-error.ts'

/** One column as Arrow data; see `toRecordBatch`. `path` names it in errors. */
export function exportColumn(arrow: typeof Arrow, path: string, type: DataType, column: Column): Arrow.Data {
  const base = { type: arrowType(arrow, type), length: column.length, ...nulls(column) }
  // makeData is typed for one Arrow type at a time; here the type is known only at run time.
  const make = (parts: object): Arrow.Data =>
    arrow.makeData({ ...base, ...parts } as Parameters<typeof arrow.makeData>[0])
  switch (type.kind) {
    case 'boolean':
      return make({ data: bits((column as FixedColumn).values as Uint8Array, column.length) })
    case 'decimal':
      return make({ data: column.kind === 'wide' ? words(column.values) : widened(column as FixedColumn) })
    case 'timestamp':
    case 'timestamp_ltz':
      return make({ data: column.kind === 'wide' ? nanoseconds(path, column) : (column as FixedColumn).values })
    case 'array': {
      const list = column as Extract<Column, { readonly kind: 'list' }>
      return make({ valueOffsets: list.offsets, child: exportColumn(arrow, `${path}[]`, type.element, list.child) })
    }
    case 'map': {
      const map = column as Extract<Column, { readonly kind: 'map' }>
      const entries = (base.type as Arrow.Map_).children[0]!.type
      const children = [
        exportColumn(arrow, `${path}.key`, type.key, map.keys),
        exportColumn(arrow, `${path}.value`, type.value, map.values),
      ]
      const child = arrow.makeData({ type: entries, length: map.keys.length, nullCount: 0, children })
      return make({ valueOffsets: map.offsets, child })
    }
    case 'row': {
      const { children } = column as Extract<Column, { readonly kind: 'row' }>
      return make({
        children: type.fields.map((field, index) =>
          exportColumn(arrow, `${path}.${field.name}`, field.type, children[index]!),
        ),
      })
    }
    default:
      if (column.kind === 'bytes') return make({ valueOffsets: column.offsets, data: column.data })
      return make({ data: (column as FixedColumn).values })
  }
}

function nulls(column: Column): { nullCount: number; nullBitmap?: Uint8Array } {
  const { valid, length } = column
  if (valid === undefined) return { nullCount: 0 }
  let nullCount = 0
  for (let row = 0; row < length; row++) if (valid[row] === 0) nullCount++
  return { nullCount, nullBitmap: bits(valid, length) }
}

/** Arrow's bits: the first row is the lowest bit of the first byte; padded to 8 bytes. */
function bits(bytes: Uint8Array, length: number): Uint8Array {
  const result = new Uint8Array(((length + 63) >> 6) << 3)
  for (let row = 0; row < length; row++) if (bytes[row] !== 0) result[row >> 3]! |= 1 << (row & 7)
  return result
}

function words(values: BigInt64Array): Uint32Array {
  return new Uint32Array(values.buffer, values.byteOffset, values.length * 2)
}

function widened(column: FixedColumn): Uint32Array {
  const values = column.values as BigInt64Array
  const wide = new BigInt64Array(column.length * 2)
  for (let row = 0; row < column.length; row++) {
    wide[row * 2] = values[row]!
    if (values[row]! < 0n) wide[row * 2 + 1] = -1n
  }
  return words(wide)
}

function nanoseconds(path: string, { values, length }: WideColumn): BigInt64Array {
  const result = new BigInt64Array(length)
  for (let row = 0; row < length; row++) {
    const low = values[row * 2]!
    const high = values[row * 2 + 1]!
    if (high !== low >> 63n) {
      const value = (high << 64n) | BigInt.asUintN(64, low)
      throw new ValueError(path, value, 'is beyond what Arrow holds in nanoseconds (years 1678 to 2261)', row)
    }
    result[row] = low
  }
  return result
}

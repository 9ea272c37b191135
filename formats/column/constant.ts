import type { DataType } from '../types/row-type.ts'
import { type Column, type FixedArray, storageOf } from './column.ts'

/** A column of `rows` nulls: what a file knows of a column that was added after it. */
export function nullColumn(type: DataType, rows: number): Column {
  return columnOfZeros(type, rows, new Uint8Array(rows))
}

/**
 * A column of `rows` zero values: 0, false, the epoch, empty text, empty lists. Deletes carry them in NOT NULL columns, where
 * no reader looks. Nullable fields inside a ROW are null.
 */
export function zeroColumn(type: DataType, rows: number): Column {
  return columnOfZeros(type, rows, undefined)
}

function columnOfZeros(type: DataType, rows: number, valid: Uint8Array | undefined): Column {
  const storage = storageOf(type)
  switch (storage) {
    case 'wide':
      return { kind: 'wide', length: rows, values: new BigInt64Array(rows * 2), valid }
    case 'bytes':
      return { kind: 'bytes', length: rows, data: new Uint8Array(0), offsets: new Int32Array(rows + 1), valid }
    case 'nested':
      return nestedZeros(type, rows, valid)
    default:
      return { kind: 'fixed', length: rows, values: new arrays[storage](rows), valid }
  }
}

function nestedZeros(type: DataType, rows: number, valid: Uint8Array | undefined): Column {
  switch (type.kind) {
    case 'array':
      return {
        kind: 'list',
        length: rows,
        offsets: new Int32Array(rows + 1),
        child: zeroColumn(type.element, 0),
        valid,
      }
    case 'multiset': {
      const values = zeroColumn({ kind: 'int', nullable: false }, 0)
      return {
        kind: 'map',
        length: rows,
        offsets: new Int32Array(rows + 1),
        keys: zeroColumn(type.element, 0),
        values,
        valid,
      }
    }
    case 'map': {
      const values = zeroColumn(type.value, 0)
      return {
        kind: 'map',
        length: rows,
        offsets: new Int32Array(rows + 1),
        keys: zeroColumn(type.key, 0),
        values,
        valid,
      }
    }
    case 'row': {
      const children = type.fields.map((field) =>
        valid !== undefined || field.type.nullable ? nullColumn(field.type, rows) : zeroColumn(field.type, rows),
      )
      return { kind: 'row', length: rows, children, valid }
    }
    default:
      throw new TypeError(`${type.kind} has no column`)
  }
}

/** Class of `FixedColumn.values` by storage. */
export const arrays = {
  uint8: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  float32: Float32Array,
  float64: Float64Array,
} as const satisfies Record<string, new (length: number) => FixedArray>

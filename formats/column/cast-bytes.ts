import { type DataType, MAX_LENGTH } from '../types/row-type.ts'
import { valueText } from '../types/value-text.ts'
import { decimalReader } from './cast-numbers.ts'
import type { BytesColumn, Column, FixedColumn } from './column.ts'

type BytesType = DataType & { readonly kind: 'char' | 'varchar' | 'binary' | 'varbinary' }

/**
 * Text and bytes cut to a shorter length: text after so many code points, bytes after so many bytes. CHAR fills up with
 * blanks and BINARY with zeros. Types that cannot cut or fill share the column.
 */
export function castBytes(from: DataType, to: BytesType, column: Column): Column {
  const source = column as BytesColumn
  const grows = to.kind === 'varchar' || to.kind === 'varbinary'
  const sameUnit = isText(from) === isText(to)
  if (grows && (to.length === MAX_LENGTH || (sameUnit && 'length' in from && from.length <= to.length))) return column
  return mapBytes(source, to)
}

/** Flat values as text, cut or filled up to the length of the type like any text. */
export function castToText(from: DataType, to: BytesType, column: Column): Column {
  const { length, valid } = column
  const read = scalarReader(column)
  const encoder = new TextEncoder()
  const offsets = new Int32Array(length + 1)
  let data = new Uint8Array(16 * length)
  let end = 0
  for (let row = 0; row < length; row++) {
    if (valid === undefined || valid[row] === 1) {
      const text = encoder.encode(valueText(from, read(row)))
      data = ensure(data, end + text.length)
      data.set(text, end)
      end += text.length
    }
    offsets[row + 1] = end
  }
  const text: BytesColumn = { kind: 'bytes', length, valid, data: data.subarray(0, end), offsets }
  return to.kind === 'varchar' && to.length === MAX_LENGTH ? text : mapBytes(text, to)
}

function isText(type: DataType): boolean {
  return type.kind === 'char' || type.kind === 'varchar'
}

function scalarReader(column: Column): (row: number) => number | bigint {
  if (column.kind === 'wide') return decimalReader(column)
  const { values } = column as FixedColumn
  return (row) => values[row]!
}

function mapBytes(source: BytesColumn, to: BytesType): BytesColumn {
  const { length, valid } = source
  const text = isText(to)
  const fill = to.kind === 'char' ? 0x20 : to.kind === 'binary' ? 0 : -1
  const offsets = new Int32Array(length + 1)
  let data = new Uint8Array(source.offsets[length]! - source.offsets[0]!)
  let end = 0
  for (let row = 0; row < length; row++) {
    if (valid === undefined || valid[row] === 1) {
      const start = source.offsets[row]!
      const size = source.offsets[row + 1]! - start
      const units = text ? pointsWithin(source.data, start, size, to.length) : Math.min(size, to.length)
      const kept = text ? bytesOfPoints(source.data, start, size, to.length) : units
      const missing = fill < 0 ? 0 : to.length - units
      data = ensure(data, end + kept + missing)
      data.set(source.data.subarray(start, start + kept), end)
      end += kept
      if (missing > 0) data.fill(fill, end, end + missing)
      end += missing
    }
    offsets[row + 1] = end
  }
  return { kind: 'bytes', length, valid, data: data.subarray(0, end), offsets }
}

/** Code points of a value, counted no further than `most`. */
function pointsWithin(data: Uint8Array, start: number, size: number, most: number): number {
  let points = 0
  for (let i = start; i < start + size && points < most; i++) if ((data[i]! & 0xc0) !== 0x80) points++
  return points
}

/** Bytes of the first `most` code points. */
function bytesOfPoints(data: Uint8Array, start: number, size: number, most: number): number {
  if (size <= most) return size
  let points = 0
  for (let i = 0; i < size; i++) {
    if ((data[start + i]! & 0xc0) === 0x80) continue
    if (points === most) return i
    points++
  }
  return size
}

function ensure(data: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  if (size <= data.length) return data
  const grown = new Uint8Array(Math.max(size, data.length * 2))
  grown.set(data)
  return grown
}

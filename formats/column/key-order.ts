import type { DataType } from '../types/row-type.ts'
import { type BytesColumn, type Column, type FixedColumn, storageOf } from './column.ts'
import { compareRanges } from './compare.ts'

/**
 * How the keys of a table are compared: one int, one 64-bit integer, or bytes by unsigned bytes, shorter first. Anything but one
 * column of these becomes a *normalized key* in bytes whose order is the order of the key.
 */
export type KeyForm = 'int32' | 'int64' | 'bytes'

/** The keys of a batch in comparable form; row i of the batch is row i here. */
export type Keys =
  | { readonly form: 'int32'; readonly rows: number; readonly values: Int32Array }
  | { readonly form: 'int64'; readonly rows: number; readonly values: BigInt64Array }
  | { readonly form: 'bytes'; readonly rows: number; readonly data: Uint8Array; readonly offsets: Int32Array }

/** Form of the keys with these column types. */
export function keyFormOf(types: readonly DataType[]): KeyForm {
  const storage = types.length === 1 ? storageOf(types[0]!) : 'nested'
  switch (storage) {
    case 'uint8':
    case 'int8':
    case 'int16':
    case 'int32':
      return 'int32'
    case 'int64':
      return 'int64'
    default:
      return 'bytes'
  }
}

/**
 * Keys of a batch from its key columns, which hold no nulls. One int, bigint or bytes column is used as it is, without a copy.
 *
 * A normalized key is the parts of all columns behind each other:
 *
 *   integers, dates, decimals, timestamps   big endian, sign bit flipped, width of the column (16 bytes for wide ones)
 *   boolean                                 one byte
 *   float, double                           IEEE bits; negative ones inverted, else sign bit flipped; -0.0 as 0.0, NaN last
 *   text, bytes                             00 becomes 00 FF, closed by 00 00; as they are in the last column
 */
export function keysOf(columns: readonly Column[], types: readonly DataType[], rows: number): Keys {
  const form = keyFormOf(types)
  const first = columns[0]!
  if (form === 'int32') {
    const { values } = first as FixedColumn
    return { form, rows, values: values instanceof Int32Array ? values : Int32Array.from(values as Int16Array) }
  }
  if (form === 'int64') return { form, rows, values: (first as FixedColumn).values as BigInt64Array }
  if (first.kind === 'bytes' && columns.length === 1) return { form, rows, data: first.data, offsets: first.offsets }
  return normalize(columns, rows)
}

/** Compares key `a` of one batch with key `b` of another: negative, zero, positive. The forms must be the same. */
export function compareKeys(left: Keys, a: number, right: Keys, b: number): number {
  if (left.form === 'bytes') {
    const other = right as typeof left
    const [start, end] = [other.offsets[b]!, other.offsets[b + 1]!]
    return compareRanges(left.data, left.offsets[a]!, left.offsets[a + 1]!, other.data, start, end)
  }
  if (left.form === 'int64') {
    const other = right as typeof left
    return left.values[a]! < other.values[b]! ? -1 : left.values[a]! > other.values[b]! ? 1 : 0
  }
  const x = left.values[a]!
  const y = (right as typeof left).values[b]!
  return x < y ? -1 : x > y ? 1 : 0
}

/** First row in `[start, end)` of sorted keys that is above key `b` of `right`; `end` when none is. */
export function firstKeyAfter(keys: Keys, start: number, end: number, right: Keys, b: number): number {
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(keys, middle, right, b) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

function normalize(columns: readonly Column[], rows: number): Keys {
  const last = columns.length - 1
  const offsets = new Int32Array(rows + 1)
  let fixedWidth = 0
  columns.forEach((column, index) => {
    if (column.kind === 'bytes') addLengths(column, offsets, rows, index === last)
    else fixedWidth += widthOf(column)
  })
  let total = 0
  for (let row = 0; row < rows; row++) {
    total += offsets[row + 1]! + fixedWidth
    offsets[row + 1] = total
  }
  if (total > 0x7fffffff) throw new RangeError(`the keys of ${rows} rows take ${total} bytes, more than 2^31 - 1`)
  const data = new Uint8Array(total)
  const at = offsets.slice(0, rows)
  columns.forEach((column, index) => {
    if (column.kind === 'bytes') {
      if (index === last) writeRaw(column, data, at, rows)
      else writeEscaped(column, data, at, rows)
    } else if (column.kind === 'wide') writeWords(column.values, 2, data, at, rows)
    else writeFixed(column as FixedColumn, data, at, rows)
  })
  return { form: 'bytes', rows, data, offsets }
}

function widthOf(column: Column): number {
  if (column.kind === 'wide') return 16
  if (column.kind === 'fixed') return column.values.BYTES_PER_ELEMENT
  throw new TypeError(`a ${column.kind} column cannot be part of a key`)
}

function addLengths(column: BytesColumn, lengths: Int32Array, rows: number, raw: boolean): void {
  const { data, offsets } = column
  for (let row = 0; row < rows; row++) {
    const start = offsets[row]!
    const end = offsets[row + 1]!
    let length = end - start
    if (!raw) {
      length += 2
      for (let i = start; i < end; i++) if (data[i] === 0) length++
    }
    lengths[row + 1]! += length
  }
}

function writeRaw(column: BytesColumn, target: Uint8Array, at: Int32Array, rows: number): void {
  const { data, offsets } = column
  for (let row = 0; row < rows; row++) {
    let to = at[row]!
    for (let i = offsets[row]!; i < offsets[row + 1]!; i++) target[to++] = data[i]!
  }
}

function writeEscaped(column: BytesColumn, target: Uint8Array, at: Int32Array, rows: number): void {
  const { data, offsets } = column
  for (let row = 0; row < rows; row++) {
    let to = at[row]!
    for (let i = offsets[row]!; i < offsets[row + 1]!; i++) {
      const byte = data[i]!
      target[to++] = byte
      if (byte === 0) target[to++] = 0xff
    }
    at[row] = to + 2 // the two bytes left zero close the part
  }
}

function writeFixed(column: FixedColumn, target: Uint8Array, at: Int32Array, rows: number): void {
  const { values } = column
  if (values instanceof BigInt64Array) writeWords(values, 1, target, at, rows)
  else if (values instanceof Float64Array || values instanceof Float32Array) writeFloats(values, target, at, rows)
  else writeInts(values, target, at, rows)
}

function writeInts(
  values: Uint8Array | Int8Array | Int16Array | Int32Array,
  target: Uint8Array,
  at: Int32Array,
  rows: number,
): void {
  const width = values.BYTES_PER_ELEMENT
  const flip = values instanceof Uint8Array ? 0 : 1 << (width * 8 - 1)
  for (let row = 0; row < rows; row++) {
    const bits = values[row]! ^ flip
    let to = at[row]!
    for (let shift = (width - 1) * 8; shift >= 0; shift -= 8) target[to++] = bits >>> shift
    at[row] = to
  }
}

/** Integers of `words` 64-bit words, low word first. Reads the halves as int32, so that no bigint is made. */
function writeWords(values: BigInt64Array, words: 1 | 2, target: Uint8Array, at: Int32Array, rows: number): void {
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  const perRow = words * 2
  for (let row = 0; row < rows; row++) {
    let to = at[row]!
    for (let half = perRow - 1; half >= 0; half--) {
      const raw = halves[row * perRow + half]!
      const bits = half === perRow - 1 ? raw ^ 0x80000000 : raw
      target[to++] = bits >>> 24
      target[to++] = bits >>> 16
      target[to++] = bits >>> 8
      target[to++] = bits
    }
    at[row] = to
  }
}

function writeFloats(values: Float64Array | Float32Array, target: Uint8Array, at: Int32Array, rows: number): void {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength)
  const double = values instanceof Float64Array
  for (let row = 0; row < rows; row++) {
    const to = at[row]!
    const value = values[row]! + 0 // turns -0.0 into 0.0
    if (double) view.setFloat64(to, Number.isNaN(value) ? NaN : value)
    else view.setFloat32(to, Number.isNaN(value) ? NaN : value)
    const width = double ? 8 : 4
    if (target[to]! >= 0x80 && !Number.isNaN(value)) for (let i = 0; i < width; i++) target[to + i]! ^= 0xff
    else target[to]! |= 0x80
    at[row] = to + width
  }
}

import type { Column, FixedArray, FixedColumn } from './column.ts'
import type { Scratch } from './memory.ts'

/** Source of each row; undefined = all from the first. */
export type Source = Uint16Array | undefined

/** Null mask of the chosen rows; undefined when none of them is null. */
export function gatherValid(
  columns: readonly Column[],
  source: Source,
  row: Uint32Array,
  count: number,
  memory: Scratch,
): Uint8Array | undefined {
  if (columns.every((column) => column.valid === undefined)) return undefined
  const masks = columns.map((column) => column.valid ?? new Uint8Array(column.length).fill(1))
  const valid = new Uint8Array(memory(count), 0, count)
  gather1(masks, source, row, count, valid)
  return valid.includes(0) ? valid : undefined
}

interface ArrayClass {
  new (buffer: ArrayBuffer, offset: number, length: number): FixedArray
  readonly BYTES_PER_ELEMENT: number
}

/** Values of a fixed width. One loop a width: V8 keeps each of them monomorphic, where one loop over all array classes would not be. */
export function gatherFixed(
  columns: readonly FixedColumn[],
  source: Source,
  row: Uint32Array,
  count: number,
  memory: Scratch,
): FixedArray {
  const ArrayClass = columns[0]!.values.constructor as ArrayClass
  const target = new ArrayClass(memory(count * ArrayClass.BYTES_PER_ELEMENT), 0, count)
  const inputs = columns.map((column) => column.values)
  switch (target.BYTES_PER_ELEMENT) {
    case 1:
      gather1(inputs.map(asUint8), source, row, count, asUint8(target))
      break
    case 2:
      gather2(inputs.map(asInt16), source, row, count, asInt16(target))
      break
    case 4:
      gather4(inputs.map(asInt32), source, row, count, asInt32(target))
      break
    default:
      gather8(inputs.map(asInt64), source, row, count, asInt64(target))
  }
  return target
}

function asUint8(values: FixedArray): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.length)
}

function asInt16(values: FixedArray): Int16Array {
  return new Int16Array(values.buffer, values.byteOffset, values.length)
}

function asInt32(values: FixedArray): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length)
}

function asInt64(values: FixedArray): BigInt64Array {
  return new BigInt64Array(values.buffer, values.byteOffset, values.length)
}

function gather1(
  inputs: readonly Uint8Array[],
  source: Source,
  row: Uint32Array,
  count: number,
  target: Uint8Array,
): void {
  if (source === undefined) {
    const values = inputs[0]!
    for (let i = 0; i < count; i++) target[i] = values[row[i]!]!
  } else for (let i = 0; i < count; i++) target[i] = inputs[source[i]!]![row[i]!]!
}

function gather2(
  inputs: readonly Int16Array[],
  source: Source,
  row: Uint32Array,
  count: number,
  target: Int16Array,
): void {
  if (source === undefined) {
    const values = inputs[0]!
    for (let i = 0; i < count; i++) target[i] = values[row[i]!]!
  } else for (let i = 0; i < count; i++) target[i] = inputs[source[i]!]![row[i]!]!
}

function gather4(
  inputs: readonly Int32Array[],
  source: Source,
  row: Uint32Array,
  count: number,
  target: Int32Array,
): void {
  if (source === undefined) {
    const values = inputs[0]!
    for (let i = 0; i < count; i++) target[i] = values[row[i]!]!
  } else for (let i = 0; i < count; i++) target[i] = inputs[source[i]!]![row[i]!]!
}

function gather8(
  inputs: readonly BigInt64Array[],
  source: Source,
  row: Uint32Array,
  count: number,
  target: BigInt64Array,
): void {
  if (source === undefined) {
    const values = inputs[0]!
    for (let i = 0; i < count; i++) target[i] = values[row[i]!]!
  } else for (let i = 0; i < count; i++) target[i] = inputs[source[i]!]![row[i]!]!
}

/** Signed 128-bit values: two words a row. */
export function gatherWide(
  inputs: readonly BigInt64Array[],
  source: Source,
  row: Uint32Array,
  count: number,
  target: BigInt64Array,
): void {
  for (let i = 0; i < count; i++) {
    const values = inputs[source === undefined ? 0 : source[i]!]!
    const from = row[i]! * 2
    target[i * 2] = values[from]!
    target[i * 2 + 1] = values[from + 1]!
  }
}

/** Offsets, from 0, of the chosen strings or lists. Throws a RangeError past 2^31 - 1. */
export function gatherOffsets(
  columns: readonly { readonly offsets: Int32Array }[],
  source: Source,
  row: Uint32Array,
  count: number,
  memory: Scratch,
): Int32Array {
  const inputs = columns.map((column) => column.offsets)
  const target = new Int32Array(memory((count + 1) * 4), 0, count + 1)
  target[0] = 0
  let at = 0
  for (let i = 0; i < count; i++) {
    const offsets = inputs[source === undefined ? 0 : source[i]!]!
    const from = row[i]!
    at += offsets[from + 1]! - offsets[from]!
    target[i + 1] = at
  }
  if (at > 0x7fffffff)
    throw new RangeError(`${count} rows hold ${at} bytes or elements, more than 2^31 - 1 in one column`)
  return target
}

/** Which rows of the children the chosen lists consist of. */
export function elementRows(
  columns: readonly { readonly offsets: Int32Array }[],
  source: Source,
  row: Uint32Array,
  count: number,
  elements: number,
): { readonly source: Source; readonly row: Uint32Array } {
  const innerRow = new Uint32Array(elements)
  const innerSource = source === undefined ? undefined : new Uint16Array(elements)
  let at = 0
  for (let i = 0; i < count; i++) {
    const from = source === undefined ? 0 : source[i]!
    const offsets = columns[from]!.offsets
    const end = offsets[row[i]! + 1]!
    for (let element = offsets[row[i]!]!; element < end; element++) {
      if (innerSource !== undefined) innerSource[at] = from
      innerRow[at++] = element
    }
  }
  return { source: innerSource, row: innerRow }
}

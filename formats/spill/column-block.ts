import { corrupt } from '../bytes/format-error.ts'
import type { ByteReader } from '../bytes/reader.ts'
import type { ByteWriter } from '../bytes/writer.ts'
import type { Column, FixedArray } from '../column/column.ts'
import { arrays } from '../column/constant.ts'
import { sliceColumn } from '../column/slice.ts'

/**
 * A column of known length in a spill block, little endian (the byte order of every platform that runs Node):
 *
 *   column := kind (u8) has-mask (u8) [mask, a byte a row] body
 *   fixed  := class (u8) values          wide := 16 bytes a row
 *   bytes  := offsets from 0 (i32 each) data
 *   list   := offsets column             map := offsets column column       row := count (u32) column*
 */
const kinds = ['fixed', 'wide', 'bytes', 'list', 'map', 'row'] as const

/** As deep as types can be (types/parse.ts): damage must not exhaust the stack. */
const MAX_DEPTH = 66

type ArrayClass = { new (buffer: ArrayBuffer): FixedArray; readonly BYTES_PER_ELEMENT: number }

const classes: readonly ArrayClass[] = Object.values(arrays)

/** Bytes that a column takes in a block, about. */
export function columnBytes(column: Column): number {
  const mask = column.valid === undefined ? 0 : column.length
  switch (column.kind) {
    case 'fixed':
      return mask + column.length * column.values.BYTES_PER_ELEMENT
    case 'wide':
      return mask + column.length * 16
    case 'bytes':
      return mask + column.length * 4 + column.offsets[column.length]! - column.offsets[0]!
    case 'list':
      return mask + column.length * 4 + columnBytes(elements(column, column.child))
    case 'map':
      return (
        mask +
        column.length * 4 +
        columnBytes(elements(column, column.keys)) +
        columnBytes(elements(column, column.values))
      )
    case 'row':
      return column.children.reduce((sum, child) => sum + columnBytes(child), mask)
  }
}

export function writeColumn(writer: ByteWriter, column: Column): void {
  writer.u8(kinds.indexOf(column.kind))
  writer.u8(column.valid === undefined ? 0 : 1)
  if (column.valid !== undefined) writer.bytes(column.valid.subarray(0, column.length))
  switch (column.kind) {
    case 'fixed':
      writer.u8(classes.findIndex((type) => column.values instanceof type))
      writer.bytes(bytesOf(column.values, column.length))
      break
    case 'wide':
      writer.bytes(bytesOf(column.values, column.length * 2))
      break
    case 'bytes':
      writeOffsets(writer, column.offsets, column.length)
      writer.bytes(column.data.subarray(column.offsets[0], column.offsets[column.length]))
      break
    case 'list':
      writeOffsets(writer, column.offsets, column.length)
      writeColumn(writer, elements(column, column.child))
      break
    case 'map':
      writeOffsets(writer, column.offsets, column.length)
      writeColumn(writer, elements(column, column.keys))
      writeColumn(writer, elements(column, column.values))
      break
    case 'row':
      writer.i32le(column.children.length)
      for (const child of column.children) writeColumn(writer, child)
  }
}

export function readColumn(reader: ByteReader, length: number, depth = 0): Column {
  const at = reader.position
  if (depth > MAX_DEPTH) throw corrupt(`spill column at offset ${at} is nested deeper than ${MAX_DEPTH} levels`)
  const kind = kinds[reader.u8()]
  const valid = reader.u8() === 0 ? undefined : reader.take(length)
  switch (kind) {
    case 'fixed': {
      const type = classes[reader.u8()]
      if (type === undefined) throw corrupt(`spill column at offset ${at} has an unknown class`)
      return { kind, length, values: readArray(reader, type, length), valid }
    }
    case 'wide':
      return { kind, length, values: readArray(reader, BigInt64Array, length * 2), valid }
    case 'bytes': {
      const offsets = readOffsets(reader, length)
      return { kind, length, offsets, data: reader.take(offsets[length]!), valid }
    }
    case 'list': {
      const offsets = readOffsets(reader, length)
      return { kind, length, offsets, child: readColumn(reader, offsets[length]!, depth + 1), valid }
    }
    case 'map': {
      const offsets = readOffsets(reader, length)
      const keys = readColumn(reader, offsets[length]!, depth + 1)
      return { kind, length, offsets, keys, values: readColumn(reader, offsets[length]!, depth + 1), valid }
    }
    case 'row': {
      const children: Column[] = []
      for (let count = reader.u32le(); count > 0; count--) children.push(readColumn(reader, length, depth + 1))
      return { kind, length, children, valid }
    }
    case undefined:
      throw corrupt(`spill column at offset ${at} has an unknown kind`)
  }
}

function elements(column: { readonly offsets: Int32Array; readonly length: number }, child: Column): Column {
  return sliceColumn(child, column.offsets[0]!, column.offsets[column.length]!)
}

function bytesOf(values: FixedArray, count: number): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, count * values.BYTES_PER_ELEMENT)
}

function writeOffsets(writer: ByteWriter, offsets: Int32Array, length: number): void {
  const first = offsets[0]!
  const used = offsets.subarray(0, length + 1)
  writer.bytes(bytesOf(first === 0 ? used : used.map((offset) => offset - first), length + 1))
}

function readOffsets(reader: ByteReader, length: number): Int32Array {
  const at = reader.position
  const offsets = readArray(reader, Int32Array, length + 1)
  let last = 0
  for (let i = 0; i <= length; i++) {
    if (offsets[i]! < last || offsets[0] !== 0) throw corrupt(`spill offsets at ${at} do not ascend from 0`)
    last = offsets[i]!
  }
  return offsets
}

/** Copies, since a block knows no alignment; the bytes are checked before the array is allocated. */
function readArray<T extends FixedArray>(
  reader: ByteReader,
  type: { new (buffer: ArrayBuffer): T; readonly BYTES_PER_ELEMENT: number },
  count: number,
): T {
  const bytes = reader.take(count * type.BYTES_PER_ELEMENT)
  return new type(bytes.slice().buffer as ArrayBuffer)
}

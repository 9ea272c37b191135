import { murmur32, murmur32Bytes, murmur32Slot } from '../bytes/murmur.ts'
import type { BytesColumn, Column, FixedColumn } from '../column/column.ts'
import type { DataType } from '../types/row-type.ts'
import { rowWriter, wordsOf } from './column-rows.ts'
import { RowBuffer } from './row-buffer.ts'
import { slotKind } from './slot.ts'

/** Hash of a BinaryRow without field count, as a signed int32: what bucket functions and hash indexes build on. */
export function hashRow(bytes: Uint8Array): number {
  return murmur32(bytes)
}

/**
 * `hashRow(encodeRow(...))` of the first `rows` rows of the columns. A single column without nulls of a number, a boolean or
 * bytes is hashed where it lies; any other key is written into one reused buffer. Throws UNSUPPORTED for nested columns.
 */
export function hashColumns(types: readonly DataType[], columns: readonly Column[], rows: number): Int32Array {
  const hashes = new Int32Array(rows)
  const [type] = types
  const [column] = columns
  if (type !== undefined && column !== undefined && types.length === 1 && column.valid === undefined) {
    switch (slotKind(type)) {
      case 'i32':
      case 'f32': {
        const words = wordsOf(column as FixedColumn)
        for (let i = 0; i < rows; i++) hashes[i] = murmur32Slot(words[i]!, 0)
        return hashes
      }
      case 'i64':
      case 'f64': {
        const words = wordsOf(column as FixedColumn)
        for (let i = 0; i < rows; i++) hashes[i] = murmur32Slot(words[2 * i]!, words[2 * i + 1]!)
        return hashes
      }
      case 'bytes':
        hashBytes(column as BytesColumn, hashes)
        return hashes
      default:
    }
  }
  const row = new RowBuffer()
  const write = rowWriter(types, columns, row)
  for (let i = 0; i < rows; i++) {
    write(i)
    hashes[i] = murmur32(row.bytes, 0, row.length)
  }
  return hashes
}

function hashBytes(column: BytesColumn, hashes: Int32Array): void {
  const { data, offsets } = column
  for (let i = 0; i < hashes.length; i++) {
    const start = offsets[i]!
    const length = offsets[i + 1]! - start
    if (length < 8) {
      // Inline: the value and, in the top byte, its length.
      let low = 0
      let high = (0x80 | length) << 24
      for (let j = 0; j < length; j++) {
        if (j < 4) low |= data[start + j]! << (8 * j)
        else high |= data[start + j]! << (8 * (j - 4))
      }
      hashes[i] = murmur32Slot(low, high)
    } else {
      hashes[i] = murmur32Bytes(data, start, start + length)
    }
  }
}

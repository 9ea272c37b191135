import { unsupported } from '../bytes/format-error.ts'
import type { BytesColumn, Column, FixedColumn, WideColumn } from '../column/column.ts'
import { describeType } from '../types/parse.ts'
import type { DataType } from '../types/row-type.ts'
import type { RowBuffer } from './row-buffer.ts'
import { DECIMAL_BYTES, slotKind } from './slot.ts'

type FieldWriter = (row: number) => void

/** Microseconds whose high word stays inside these bounds are exact as a double. */
const SAFE_HIGH = 0x1fffff

/**
 * A function that writes row i of the columns into `out` as a BinaryRow. The loop of each field is chosen here, once; a call
 * allocates nothing, save for TIMESTAMP p > 6 and times out of the range of a double.
 */
export function rowWriter(
  types: readonly DataType[],
  columns: readonly Column[],
  out: RowBuffer,
): (row: number) => void {
  const writers = types.map((type, field) => nullable(type, columns[field]!, field, out))
  return (row) => {
    out.begin(writers.length)
    for (const write of writers) write(row)
  }
}

function nullable(type: DataType, column: Column, field: number, out: RowBuffer): FieldWriter {
  const write = fieldWriter(type, column, field, out)
  const { valid } = column
  if (valid === undefined) return write
  const kind = slotKind(type)
  const room = kind === 'decimal' ? DECIMAL_BYTES : kind === 'micros' || kind === 'nanos' ? 8 : 0
  return (row) => {
    if (valid[row] === 1) write(row)
    else if (room === 0) out.setNull(field)
    else out.setNullReserving(field, room)
  }
}

function fieldWriter(type: DataType, column: Column, field: number, out: RowBuffer): FieldWriter {
  switch (slotKind(type)) {
    case 'i8': {
      const { values } = column as FixedColumn
      return (row) => out.setWords(field, Number(values[row]) & 0xff, 0)
    }
    case 'i16': {
      const { values } = column as FixedColumn
      return (row) => out.setWords(field, Number(values[row]) & 0xffff, 0)
    }
    case 'i32':
    case 'f32': {
      const words = wordsOf(column as FixedColumn)
      return (row) => out.setWords(field, words[row]!, 0)
    }
    case 'i64':
    case 'f64': {
      const words = wordsOf(column as FixedColumn)
      return (row) => out.setWords(field, words[2 * row]!, words[2 * row + 1]!)
    }
    case 'bytes': {
      const { data, offsets } = column as BytesColumn
      return (row) => out.setBytes(field, data, offsets[row]!, offsets[row + 1]!)
    }
    case 'decimal': {
      const words = wordsOf(column as WideColumn)
      return (row) =>
        out.setDecimal(field, words[4 * row]!, words[4 * row + 1]!, words[4 * row + 2]!, words[4 * row + 3]!)
    }
    case 'micros': {
      const words = wordsOf(column as FixedColumn)
      const values = (column as FixedColumn).values as BigInt64Array
      return (row) => {
        const high = words[2 * row + 1]!
        if (high > SAFE_HIGH || high < -SAFE_HIGH) {
          writeTime(out, field, values[row]!, 1_000n, 1_000n)
          return
        }
        const micros = high * 0x100000000 + (words[2 * row]! >>> 0)
        const millis = Math.floor(micros / 1_000)
        out.setSafeTimestamp(field, millis, (micros - millis * 1_000) * 1_000)
      }
    }
    case 'nanos': {
      const { values } = column as WideColumn
      return (row) => {
        const nanos = (values[2 * row + 1]! << 64n) | BigInt.asUintN(64, values[2 * row]!)
        writeTime(out, field, nanos, 1_000_000n, 1n)
      }
    }
    case 'nested':
      throw unsupported(`a value of type ${describeType(type)} in a key, a partition or statistics`)
  }
}

function writeTime(out: RowBuffer, field: number, value: bigint, perMilli: bigint, nanosPerUnit: bigint): void {
  let rest = value % perMilli
  if (rest < 0n) rest += perMilli
  out.setTimestamp(field, (value - rest) / perMilli, Number(rest * nanosPerUnit))
}

/** The same memory as 32-bit words: 64-bit values are then read without making bigints. Little-endian machines only. */
export function wordsOf(column: FixedColumn | WideColumn): Int32Array {
  const { values } = column
  return new Int32Array(values.buffer, values.byteOffset, values.byteLength >>> 2)
}

import { type Column, type Scalar, storageOf } from '../../formats/column/column.ts'
import type { DataType } from '../../formats/types/row-type.ts'

/** A scalar in the unit of its column, or text for a column of bytes. */
export type Value = Scalar | string | null

const arrays = {
  uint8: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
} as const

/** A flat column of these values; it has a null mask only when there is a null. */
export function columnOf(type: DataType, values: readonly Value[]): Column {
  const length = values.length
  const valid = values.includes(null) ? Uint8Array.from(values, (value) => (value === null ? 0 : 1)) : undefined
  const storage = storageOf(type)
  if (storage === 'nested') throw new Error('flat types only')
  if (storage === 'bytes') {
    const parts = values.map((value) => Buffer.from((value ?? '') as string | Uint8Array))
    const offsets = new Int32Array(length + 1)
    parts.forEach((part, i) => {
      offsets[i + 1] = offsets[i]! + part.length
    })
    return { kind: 'bytes', length, valid, data: Buffer.concat(parts), offsets }
  }
  if (storage === 'int64') {
    return { kind: 'fixed', length, valid, values: BigInt64Array.from(values, (value) => (value ?? 0n) as bigint) }
  }
  if (storage === 'wide') {
    const wide = values.map((value) => (value ?? 0n) as bigint)
    return {
      kind: 'wide',
      length,
      valid,
      values: BigInt64Array.from(wide.flatMap((v) => [BigInt.asIntN(64, v), v >> 64n])),
    }
  }
  return { kind: 'fixed', length, valid, values: arrays[storage].from(values as number[]) }
}

/** Values of a flat column; bytes as UTF-8 text. */
export function valuesOf(column: Column): Value[] {
  return Array.from({ length: column.length }, (_, row) => {
    if (column.valid !== undefined && column.valid[row] !== 1) return null
    if (column.kind === 'fixed') return column.values[row]!
    if (column.kind === 'wide')
      return (column.values[2 * row + 1]! << 64n) | BigInt.asUintN(64, column.values[2 * row]!)
    if (column.kind === 'bytes')
      return Buffer.from(column.data).toString('utf8', column.offsets[row], column.offsets[row + 1])
    throw new Error('flat columns only')
  })
}

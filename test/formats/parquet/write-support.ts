import type { Batch, Column, FixedArray } from '../../../formats/column/column.ts'
import { storageOf } from '../../../formats/column/column.ts'
import {
  createParquetWriter,
  defaultParquetOptions,
  type ParquetWriter,
  type ParquetWriterOptions,
} from '../../../formats/parquet/file-write.ts'
import type { DataType, Field } from '../../../formats/types/row-type.ts'
import { codecs, jsonOf, type Row } from './support.ts'

/** A value as tests write it: text as string, bytes as array, rows as arrays in field order, maps as pairs. */
export type Value = null | number | bigint | boolean | string | Uint8Array | readonly Value[]

export const options: ParquetWriterOptions = { ...defaultParquetOptions, createdBy: 'lakelet version 0.1.0' }

const arrays = {
  uint8: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
} as const

/** A column of values, made the slow and plain way. */
export function columnOf(type: DataType, values: readonly Value[]): Column {
  const length = values.length
  const valid = values.includes(null) ? Uint8Array.from(values, (value) => (value === null ? 0 : 1)) : undefined
  const storage = storageOf(type)
  switch (storage) {
    case 'nested':
      return nestedColumn(type, values, valid)
    case 'bytes': {
      const parts = values.map((v) =>
        typeof v === 'string' ? Buffer.from(v) : ((v ?? new Uint8Array(0)) as Uint8Array),
      )
      return { kind: 'bytes', length, valid, data: new Uint8Array(Buffer.concat(parts)), offsets: offsetsOf(parts) }
    }
    case 'wide': {
      const wide = new BigInt64Array(2 * length)
      for (const [i, value] of values.entries()) {
        wide[2 * i] = BigInt.asIntN(64, BigInt((value ?? 0) as number))
        wide[2 * i + 1] = BigInt((value ?? 0) as number) >> 64n
      }
      return { kind: 'wide', length, valid, values: wide }
    }
    case 'int64':
      return { kind: 'fixed', length, valid, values: BigInt64Array.from(values, (v) => BigInt((v ?? 0) as number)) }
    default: {
      const fixed: FixedArray = new arrays[storage](values.map((value) => Number(value ?? 0)))
      return { kind: 'fixed', length, valid, values: fixed }
    }
  }
}

function offsetsOf(parts: readonly { readonly length: number }[]): Int32Array {
  const offsets = new Int32Array(parts.length + 1)
  for (const [i, part] of parts.entries()) offsets[i + 1] = offsets[i]! + part.length
  return offsets
}

function nestedColumn(type: DataType, values: readonly Value[], valid: Uint8Array | undefined): Column {
  const length = values.length
  const lists = values.map((value) => (value ?? []) as readonly Value[])
  if (type.kind === 'row') {
    const children = type.fields.map((field, i) =>
      columnOf(
        field.type,
        values.map((value) => (value === null ? null : (value as readonly Value[])[i]!)),
      ),
    )
    return { kind: 'row', length, valid, children }
  }
  const offsets = offsetsOf(lists)
  if (type.kind === 'array')
    return { kind: 'list', length, valid, offsets, child: columnOf(type.element, lists.flat(1)) }
  const pairs = lists.flat(1) as readonly (readonly Value[])[]
  const [key, value] = type.kind === 'map' ? [type.key, type.value] : [(type as { element: DataType }).element, INT]
  const keys = columnOf(
    key,
    pairs.map((pair) => pair[0]!),
  )
  const counts = columnOf(
    value,
    pairs.map((pair) => pair[1]!),
  )
  return { kind: 'map', length, valid, offsets, keys, values: counts }
}

const INT: DataType = { kind: 'int', nullable: false }

export function batchOf(fields: readonly Field[], columns: Readonly<Record<string, readonly Value[]>>): Batch {
  const made = fields.map((field) => columnOf(field.type, columns[field.name]!))
  return { fields, rows: made[0]?.length ?? 0, columns: made }
}

export interface Written {
  readonly bytes: Uint8Array
  readonly result: ReturnType<ParquetWriter['finish']>
}

/** A file in memory; the sink copies, as its contract allows writers to use their buffers again. */
export function writeFile(
  fields: readonly Field[],
  batches: readonly Batch[],
  changes: Partial<ParquetWriterOptions> = {},
): Written {
  const parts: Uint8Array[] = []
  const sink = { write: (bytes: Uint8Array) => void parts.push(bytes.slice()) }
  const writer = createParquetWriter(sink, fields, codecs, { ...options, ...changes })
  for (const batch of batches) writer.write(batch)
  const result = writer.finish()
  return { bytes: new Uint8Array(Buffer.concat(parts)), result }
}

/** Rows of batches in the JSON form of the readers' tests. */
export function expectedRows(batches: readonly Batch[]): Row[] {
  return batches.flatMap((batch) =>
    Array.from({ length: batch.rows }, (_, row) =>
      Object.fromEntries(batch.fields.map((f, i) => [f.name, jsonOf(f.type, batch.columns[i]!, row)])),
    ),
  )
}

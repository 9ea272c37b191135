import { readFileSync } from 'node:fs'
import type { ByteSource } from '../../../formats/bytes/source.ts'
import type { Column } from '../../../formats/column/column.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { openParquet, type ParquetFile, type ReadOptions, readBatches } from '../../../formats/parquet/file-read.ts'
import type { DataType } from '../../../formats/types/row-type.ts'

export const codecs = loadCodecs()

export const fixtures = new URL('../../golden/parquet/', import.meta.url)

/** A file in memory that counts what is read of it and refuses what it does not hold. */
function memorySource(bytes: Uint8Array): ByteSource {
  return {
    bytes: bytes.length,
    read(offset, length) {
      if (!Number.isSafeInteger(offset) || offset < 0 || length < 0 || offset + length > bytes.length) {
        throw new RangeError(`read of ${offset}, ${length} in ${bytes.length} bytes`)
      }
      return bytes.subarray(offset, offset + length)
    },
  }
}

export function openBytes(bytes: Uint8Array): ParquetFile {
  return openParquet(memorySource(bytes), codecs)
}

export function fixtureBytes(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${name}.parquet`, fixtures)))
}

export function fixtureRows(name: string): Record<string, unknown>[] {
  return JSON.parse(readFileSync(new URL(`${name}.json`, fixtures), 'utf8'))
}

export type Row = Record<string, unknown>

/** Rows of a file in the JSON form of the fixtures. */
export function rowsOf(file: ParquetFile, options: Partial<ReadOptions> = {}): Row[] {
  const rows: Row[] = []
  const columns = options.columns ?? file.fields.map((field) => field.name)
  for (const { batch } of readBatches(file, { batchRows: 1024, ...options, columns })) {
    for (let row = 0; row < batch.rows; row++) {
      rows.push(Object.fromEntries(batch.fields.map((f, i) => [f.name, jsonOf(f.type, batch.columns[i]!, row)])))
    }
  }
  return rows
}

/** A value as the golden tables and the fixtures print it; also checks that what lies under a null is zero. */
export function jsonOf(type: DataType, column: Column, row: number): unknown {
  if (column.valid !== undefined && column.valid[row] === 0) {
    if (column.kind === 'fixed' && Number(column.values[row]) !== 0)
      throw new Error(`value under a null: ${column.values[row]}`)
    if (column.kind === 'wide' && column.values[2 * row] !== 0n) throw new Error('value under a null')
    if (column.kind === 'bytes' && column.offsets[row] !== column.offsets[row + 1])
      throw new Error('bytes under a null')
    return null
  }
  if (column.valid !== undefined && column.valid[row] !== 1) throw new Error(`valid holds ${column.valid[row]}`)
  switch (column.kind) {
    case 'fixed':
      return fixedJson(type, column.values[row]!)
    case 'wide': {
      const value = (column.values[2 * row + 1]! << 64n) | BigInt.asUintN(64, column.values[2 * row]!)
      return type.kind === 'decimal' ? decimalText(value, type.scale) : timestampText(type, value, 1000000000n)
    }
    case 'bytes': {
      const bytes = column.data.subarray(column.offsets[row]!, column.offsets[row + 1]!)
      const text = type.kind === 'char' || type.kind === 'varchar'
      return Buffer.from(bytes).toString(text ? 'utf8' : 'base64')
    }
    case 'list': {
      const element = (type as { element: DataType }).element
      return range(column.offsets, row).map((i) => jsonOf(element, column.child, i))
    }
    case 'map': {
      const int: DataType = { kind: 'int', nullable: false }
      const [key, value] = type.kind === 'map' ? [type.key, type.value] : [(type as { element: DataType }).element, int]
      return range(column.offsets, row).map((i) => [jsonOf(key, column.keys, i), jsonOf(value, column.values, i)])
    }
    case 'row': {
      const { fields } = type as { fields: readonly { name: string; type: DataType }[] }
      return Object.fromEntries(fields.map((field, i) => [field.name, jsonOf(field.type, column.children[i]!, row)]))
    }
  }
}

function range(offsets: Int32Array, row: number): number[] {
  return Array.from({ length: offsets[row + 1]! - offsets[row]! }, (_, i) => offsets[row]! + i)
}

function fixedJson(type: DataType, value: number | bigint): unknown {
  switch (type.kind) {
    case 'boolean':
      return value === 1
    case 'bigint':
      return String(value)
    case 'decimal':
      return decimalText(value as bigint, type.scale)
    case 'float':
    case 'double':
      return Number.isFinite(value) ? value : String(value)
    case 'date':
      return new Date((value as number) * 86400000).toISOString().slice(0, 10)
    case 'time':
      return new Date(value as number)
        .toISOString()
        .slice(11, 23)
        .slice(0, type.precision === 0 ? 8 : 9 + type.precision)
    case 'timestamp':
    case 'timestamp_ltz':
      return timestampText(type, value as bigint, type.precision <= 3 ? 1000n : 1000000n)
    default:
      return value
  }
}

function decimalText(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : ''
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

function timestampText(type: DataType, ticks: bigint, perSecond: bigint): string {
  const { kind, precision } = type as { kind: string; precision: number }
  let seconds = ticks / perSecond
  if (seconds * perSecond > ticks) seconds -= 1n
  const digits = String(perSecond).length - 1
  const fraction = String(ticks - seconds * perSecond)
    .padStart(digits, '0')
    .slice(0, precision)
  const text = new Date(Number(seconds) * 1000).toISOString().replace('+00', '').slice(0, -5)
  return `${text}${precision > 0 ? `.${fraction}` : ''}${kind === 'timestamp_ltz' ? 'Z' : ''}`
}

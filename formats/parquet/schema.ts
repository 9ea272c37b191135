import { unsupported } from '../bytes/format-error.ts'
import type { DataType, Field } from '../types/row-type.ts'
import { ConvertedType, type LogicalType, PhysicalType, Repetition, type SchemaElement } from './footer.ts'

/** Name of the root, as Paimon writes it. */
const ROOT = 'paimon_schema'

/**
 * Ids of nodes that have no field of their own: for column id F and nesting depth d (1 for the first level inside F),
 * `BASE + 1024 F + d` for elements and map values, `BASE - 1024 F - d` for map keys.
 */
const NESTED_ID_BASE = 536870911
const NESTED_ID_STEP = 1024

/**
 * Paimon's Parquet schema for columns: depth first, the root at the front. A negative field id leaves out the ids of the
 * field and of what is inside it. Nullable types are optional, others required.
 */
export function schemaOfFields(fields: readonly Field[]): readonly SchemaElement[] {
  const elements: SchemaElement[] = [{ name: ROOT, numChildren: fields.length }]
  for (const field of fields) appendNode(elements, field.name, field.type, field.id, field.id, 0)
  return elements
}

/** Bytes of a FIXED_LEN_BYTE_ARRAY that holds every decimal of this precision: the least k with 2^(8k-1) >= 10^precision. */
export function decimalBytes(precision: number): number {
  const largest = 10n ** BigInt(precision)
  let bytes = 1
  while (2n ** BigInt(8 * bytes - 1) < largest) bytes++
  return bytes
}

/** `owner` and `depth` say where inside which column the node lies; `id` is its own id. */
function appendNode(
  elements: SchemaElement[],
  name: string,
  type: DataType,
  id: number,
  owner: number,
  depth: number,
): void {
  const base = {
    name,
    repetition: type.nullable ? Repetition.OPTIONAL : Repetition.REQUIRED,
    ...(id < 0 ? {} : { fieldId: id }),
  }
  const inner = depth + 1
  const elementId = owner < 0 ? -1 : NESTED_ID_BASE + NESTED_ID_STEP * owner + inner
  const keyId = owner < 0 ? -1 : NESTED_ID_BASE - NESTED_ID_STEP * owner - inner
  switch (type.kind) {
    case 'array':
      elements.push({ ...base, numChildren: 1, convertedType: ConvertedType.LIST, logicalType: { list: true } })
      elements.push({ name: 'list', repetition: Repetition.REPEATED, numChildren: 1 })
      appendNode(elements, 'element', type.element, elementId, owner, inner)
      return
    case 'map':
    case 'multiset': {
      const map = type.kind === 'map'
      const key: DataType = { ...(map ? type.key : type.element), nullable: false }
      const value: DataType = map ? type.value : { kind: 'int', nullable: false }
      elements.push({ ...base, numChildren: 1, convertedType: ConvertedType.MAP, logicalType: { map: true } })
      const entry = { name: 'key_value', repetition: Repetition.REPEATED, numChildren: 2 }
      elements.push({ ...entry, convertedType: ConvertedType.MAP_KEY_VALUE })
      appendNode(elements, 'key', key, keyId, owner, inner)
      appendNode(elements, 'value', value, elementId, owner, inner)
      return
    }
    case 'row':
      elements.push({ ...base, numChildren: type.fields.length })
      for (const field of type.fields) appendNode(elements, field.name, field.type, field.id, field.id, 0)
      return
    case 'variant':
      elements.push({ ...base, numChildren: 2 })
      for (const [i, part] of ['value', 'metadata'].entries()) {
        elements.push({ type: PhysicalType.BYTE_ARRAY, repetition: Repetition.REQUIRED, name: part, fieldId: i })
      }
      return
    default:
      elements.push({ ...base, ...leafOf(type) })
  }
}

type Annotation = Pick<SchemaElement, 'type' | 'typeLength' | 'convertedType' | 'scale' | 'precision' | 'logicalType'>

function leafOf(type: DataType): Annotation {
  switch (type.kind) {
    case 'boolean':
      return { type: PhysicalType.BOOLEAN }
    case 'tinyint':
      return integer(8, ConvertedType.INT_8)
    case 'smallint':
      return integer(16, ConvertedType.INT_16)
    case 'int':
      return { type: PhysicalType.INT32 }
    case 'bigint':
      return { type: PhysicalType.INT64 }
    case 'float':
      return { type: PhysicalType.FLOAT }
    case 'double':
      return { type: PhysicalType.DOUBLE }
    case 'date':
      return { type: PhysicalType.INT32, convertedType: ConvertedType.DATE, logicalType: { date: true } }
    case 'char':
    case 'varchar':
      return { type: PhysicalType.BYTE_ARRAY, convertedType: ConvertedType.UTF8, logicalType: { string: true } }
    case 'binary':
    case 'varbinary':
      return { type: PhysicalType.BYTE_ARRAY }
    case 'decimal':
      return decimal(type.precision, type.scale)
    case 'time': {
      const time: LogicalType = { time: { isAdjustedToUTC: true, unit: { millis: true } } }
      return { type: PhysicalType.INT32, convertedType: ConvertedType.TIME_MILLIS, logicalType: time }
    }
    case 'timestamp':
    case 'timestamp_ltz': {
      if (type.precision > 6) return { type: PhysicalType.INT96 }
      const millis = type.precision <= 3
      return {
        type: PhysicalType.INT64,
        convertedType: millis ? ConvertedType.TIMESTAMP_MILLIS : ConvertedType.TIMESTAMP_MICROS,
        logicalType: {
          timestamp: {
            isAdjustedToUTC: type.kind === 'timestamp_ltz',
            unit: millis ? { millis: true } : { micros: true },
          },
        },
      }
    }
    default:
      throw unsupported(`Parquet has no leaf for a column of kind ${type.kind}`)
  }
}

function integer(bitWidth: number, convertedType: number): Annotation {
  return { type: PhysicalType.INT32, convertedType, logicalType: { integer: { bitWidth, isSigned: true } } }
}

function decimal(precision: number, scale: number): Annotation {
  const annotation = {
    convertedType: ConvertedType.DECIMAL,
    scale,
    precision,
    logicalType: { decimal: { scale, precision } },
  }
  if (precision <= 9) return { type: PhysicalType.INT32, ...annotation }
  if (precision <= 18) return { type: PhysicalType.INT64, ...annotation }
  return { type: PhysicalType.FIXED_LEN_BYTE_ARRAY, typeLength: decimalBytes(precision), ...annotation }
}

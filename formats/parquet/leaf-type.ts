import type { DataType } from '../types/row-type.ts'
import { MAX_LENGTH } from '../types/row-type.ts'
import { ConvertedType, type LogicalType, PhysicalType, type SchemaElement } from './footer.ts'

/** What the numbers of a leaf mean, from its logical type or, in older files, its converted type. */
export type LeafMeaning =
  | { readonly kind: 'plain' | 'text' | 'date' | 'float16' | 'unknown' }
  | { readonly kind: 'integer'; readonly bits: number; readonly signed: boolean }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'time'; readonly unit: TimeUnitName }
  | { readonly kind: 'timestamp'; readonly unit: TimeUnitName; readonly utc: boolean }

export type TimeUnitName = 'millis' | 'micros' | 'nanos'

/**
 * Meaning of a leaf. An annotation that does not fit the physical type, or that is unknown, leaves the plain physical type:
 * the column stays readable.
 */
export function meaningOf(element: SchemaElement): LeafMeaning {
  const meaning = fromLogical(element.logicalType ?? {}) ?? fromConverted(element) ?? { kind: 'plain' as const }
  return fits(meaning, element) ? meaning : { kind: 'plain' }
}

function unitOf(unit: { millis?: true; micros?: true; nanos?: true }): TimeUnitName | undefined {
  return unit.millis ? 'millis' : unit.micros ? 'micros' : unit.nanos ? 'nanos' : undefined
}

function fromLogical(type: LogicalType): LeafMeaning | undefined {
  if (type.string || type.enum || type.json) return { kind: 'text' }
  if (type.date) return { kind: 'date' }
  if (type.float16) return { kind: 'float16' }
  if (type.unknown) return { kind: 'unknown' }
  if (type.integer) return { kind: 'integer', bits: type.integer.bitWidth, signed: type.integer.isSigned }
  if (type.decimal) return { kind: 'decimal', precision: type.decimal.precision, scale: type.decimal.scale }
  const unit = unitOf((type.time ?? type.timestamp)?.unit ?? {})
  if (unit === undefined) return undefined
  if (type.time) return { kind: 'time', unit }
  return type.timestamp && { kind: 'timestamp', unit, utc: type.timestamp.isAdjustedToUTC }
}

/** Converted time types are in UTC by definition. */
function fromConverted(element: SchemaElement): LeafMeaning | undefined {
  switch (element.convertedType) {
    case ConvertedType.UTF8:
    case ConvertedType.ENUM:
    case ConvertedType.JSON:
      return { kind: 'text' }
    case ConvertedType.DATE:
      return { kind: 'date' }
    case ConvertedType.DECIMAL:
      return { kind: 'decimal', precision: element.precision ?? 0, scale: element.scale ?? 0 }
    case ConvertedType.TIME_MILLIS:
      return { kind: 'time', unit: 'millis' }
    case ConvertedType.TIME_MICROS:
      return { kind: 'time', unit: 'micros' }
    case ConvertedType.TIMESTAMP_MILLIS:
      return { kind: 'timestamp', unit: 'millis', utc: true }
    case ConvertedType.TIMESTAMP_MICROS:
      return { kind: 'timestamp', unit: 'micros', utc: true }
    case ConvertedType.UINT_8:
    case ConvertedType.UINT_16:
    case ConvertedType.UINT_32:
    case ConvertedType.UINT_64:
      return { kind: 'integer', bits: 8 << (element.convertedType - ConvertedType.UINT_8), signed: false }
    case ConvertedType.INT_8:
    case ConvertedType.INT_16:
    case ConvertedType.INT_32:
    case ConvertedType.INT_64:
      return { kind: 'integer', bits: 8 << (element.convertedType - ConvertedType.INT_8), signed: true }
    default:
      return undefined
  }
}

function fits(meaning: LeafMeaning, { type, typeLength }: SchemaElement): boolean {
  const { INT32, INT64, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY } = PhysicalType
  switch (meaning.kind) {
    case 'plain':
      return true
    case 'unknown':
      return true
    case 'text':
      return type === BYTE_ARRAY || type === FIXED_LEN_BYTE_ARRAY
    case 'float16':
      return type === FIXED_LEN_BYTE_ARRAY && typeLength === 2
    case 'date':
      return type === INT32
    case 'integer':
      return (type === INT32 && [8, 16, 32].includes(meaning.bits)) || (type === INT64 && meaning.bits === 64)
    case 'decimal': {
      const { precision, scale } = meaning
      if (precision < 1 || precision > 38 || scale < 0 || scale > precision) return false
      if (type === INT32) return precision <= 9
      if (type === INT64) return precision <= 18
      return type === BYTE_ARRAY || type === FIXED_LEN_BYTE_ARRAY
    }
    case 'time':
      return meaning.unit === 'millis' ? type === INT32 : type === INT64
    case 'timestamp':
      return type === INT64
  }
}

/**
 * The Paimon type that holds every value of a leaf: unsigned integers become the next wider type (uint64 DECIMAL(20, 0)),
 * nanosecond timestamps and INT96 TIMESTAMP(9). TIME finer than Paimon's milliseconds is read as BIGINT in its own unit.
 */
export function typeOfLeaf(element: SchemaElement, meaning: LeafMeaning, nullable: boolean): DataType {
  switch (meaning.kind) {
    case 'text':
      return { kind: 'varchar', length: MAX_LENGTH, nullable }
    case 'date':
      return { kind: 'date', nullable }
    case 'float16':
      return { kind: 'float', nullable }
    case 'decimal':
      return { kind: 'decimal', precision: meaning.precision, scale: meaning.scale, nullable }
    case 'integer': {
      const { bits, signed } = meaning
      if (bits === 64)
        return signed ? { kind: 'bigint', nullable } : { kind: 'decimal', precision: 20, scale: 0, nullable }
      const kinds = ['tinyint', 'smallint', 'int', 'bigint'] as const
      return { kind: kinds[(bits === 8 ? 0 : bits === 16 ? 1 : 2) + (signed ? 0 : 1)]!, nullable }
    }
    case 'time':
      return meaning.unit === 'millis' ? { kind: 'time', precision: 3, nullable } : { kind: 'bigint', nullable }
    case 'timestamp': {
      const precision = meaning.unit === 'millis' ? 3 : meaning.unit === 'micros' ? 6 : 9
      return { kind: meaning.utc ? 'timestamp_ltz' : 'timestamp', precision, nullable }
    }
    case 'unknown':
    case 'plain':
      return physicalType(element, nullable)
  }
}

function physicalType(element: SchemaElement, nullable: boolean): DataType {
  switch (element.type) {
    case PhysicalType.BOOLEAN:
      return { kind: 'boolean', nullable }
    case PhysicalType.INT32:
      return { kind: 'int', nullable }
    case PhysicalType.INT64:
      return { kind: 'bigint', nullable }
    case PhysicalType.INT96:
      return { kind: 'timestamp', precision: 9, nullable }
    case PhysicalType.FLOAT:
      return { kind: 'float', nullable }
    case PhysicalType.DOUBLE:
      return { kind: 'double', nullable }
    case PhysicalType.FIXED_LEN_BYTE_ARRAY:
      return { kind: 'binary', length: element.typeLength ?? 0, nullable }
    default:
      return { kind: 'varbinary', length: MAX_LENGTH, nullable }
  }
}

import type * as Arrow from 'apache-arrow'
import type { DataType } from '../types/row-type.ts'

/** The Arrow type that a column is given out as. TypeError for VARIANT and MULTISET. */
export function arrowType(arrow: typeof Arrow, type: DataType): Arrow.DataType {
  switch (type.kind) {
    case 'boolean':
      return new arrow.Bool()
    case 'tinyint':
      return new arrow.Int8()
    case 'smallint':
      return new arrow.Int16()
    case 'int':
      return new arrow.Int32()
    case 'bigint':
      return new arrow.Int64()
    case 'float':
      return new arrow.Float32()
    case 'double':
      return new arrow.Float64()
    case 'decimal':
      return new arrow.Decimal(type.scale, type.precision, 128)
    case 'date':
      return new arrow.DateDay()
    case 'time':
      return new arrow.TimeMillisecond()
    case 'timestamp':
    case 'timestamp_ltz': {
      const { MILLISECOND, MICROSECOND, NANOSECOND } = arrow.TimeUnit
      const unit = type.precision <= 3 ? MILLISECOND : type.precision <= 6 ? MICROSECOND : NANOSECOND
      return new arrow.Timestamp(unit, type.kind === 'timestamp_ltz' ? 'UTC' : null)
    }
    case 'char':
    case 'varchar':
      return new arrow.Utf8()
    case 'binary':
    case 'varbinary':
      return new arrow.Binary()
    case 'array':
      return new arrow.List(new arrow.Field('element', arrowType(arrow, type.element), type.element.nullable))
    case 'map': {
      const key = new arrow.Field('key', arrowType(arrow, type.key), false)
      const value = new arrow.Field('value', arrowType(arrow, type.value), type.value.nullable)
      const entries = new arrow.Struct<{ key: Arrow.DataType; value: Arrow.DataType }>([key, value])
      return new arrow.Map_(new arrow.Field('entries', entries, false))
    }
    case 'row':
      return new arrow.Struct(
        type.fields.map((field) => new arrow.Field(field.name, arrowType(arrow, field.type), field.type.nullable)),
      )
    case 'variant':
    case 'multiset':
      throw new TypeError(`${type.kind} columns have no Arrow form`)
  }
}

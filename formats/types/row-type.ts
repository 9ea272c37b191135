/**
 * Paimon's data types. `STRING` is `varchar` and `BYTES` is `varbinary` of the largest length. Nullability belongs to the
 * type, as in schema files (`"BIGINT NOT NULL"`).
 */
export type DataType =
  | {
      readonly kind: 'boolean' | 'tinyint' | 'smallint' | 'int' | 'bigint' | 'float' | 'double' | 'date' | 'variant'
      readonly nullable: boolean
    }
  | { readonly kind: 'char' | 'varchar' | 'binary' | 'varbinary'; readonly length: number; readonly nullable: boolean }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number; readonly nullable: boolean }
  | { readonly kind: 'time' | 'timestamp' | 'timestamp_ltz'; readonly precision: number; readonly nullable: boolean }
  | { readonly kind: 'array' | 'multiset'; readonly element: DataType; readonly nullable: boolean }
  | { readonly kind: 'map'; readonly key: DataType; readonly value: DataType; readonly nullable: boolean }
  | { readonly kind: 'row'; readonly fields: readonly Field[]; readonly nullable: boolean }

/** A named column, or a named field inside a ROW. Ids are unique in a table and never used again. */
export interface Field {
  readonly id: number
  readonly name: string
  readonly type: DataType
  readonly description?: string
  readonly defaultValue?: string
}

/** Length of STRING and BYTES: 2^31 - 1. */
export const MAX_LENGTH = 2147483647

/** Same type with another nullability. */
export function withNullable(type: DataType, nullable: boolean): DataType {
  return type.nullable === nullable ? type : { ...type, nullable }
}

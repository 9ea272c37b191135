import type { DataType, Field } from '../types/row-type.ts'

export type FixedArray = Uint8Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Float32Array | Float64Array

interface ColumnBase {
  readonly length: number
  /** One byte a row, 1 = present, 0 = null; absent = no nulls. Values under a null are zero (bytes: empty). */
  readonly valid?: Uint8Array | undefined
}

/**
 * One value of a fixed width a row.
 *
 *   BOOLEAN                              Uint8Array, 0 or 1
 *   TINYINT SMALLINT                     Int8Array, Int16Array
 *   INT DATE TIME                        Int32Array (DATE days since 1970-01-01, TIME ms of the day)
 *   BIGINT, DECIMAL p <= 18              BigInt64Array (DECIMAL unscaled)
 *   TIMESTAMP and LTZ p <= 3 / p <= 6    BigInt64Array, epoch ms / epoch microseconds
 *   FLOAT DOUBLE                         Float32Array, Float64Array
 */
export interface FixedColumn extends ColumnBase {
  readonly kind: 'fixed'
  readonly values: FixedArray
}

/**
 * A signed 128-bit integer a row: DECIMAL p > 18 (unscaled), TIMESTAMP and LTZ p > 6 (epoch nanoseconds).
 * `values[2 * i]` holds the low 64 bits, `values[2 * i + 1]` the high ones, both as signed BigInt64.
 */
export interface WideColumn extends ColumnBase {
  readonly kind: 'wide'
  readonly values: BigInt64Array
}

/** CHAR VARCHAR STRING (UTF-8), BINARY VARBINARY BYTES. Value i is `data[offsets[i], offsets[i + 1])`; `offsets[0]` need not be 0. */
export interface BytesColumn extends ColumnBase {
  readonly kind: 'bytes'
  readonly data: Uint8Array
  readonly offsets: Int32Array
}

/** ARRAY. Elements of row i are `child[offsets[i], offsets[i + 1])`. */
export interface ListColumn extends ColumnBase {
  readonly kind: 'list'
  readonly offsets: Int32Array
  readonly child: Column
}

/** MAP, and MULTISET (values = INT counts). Entries of row i are `[offsets[i], offsets[i + 1])`; keys have no nulls. */
export interface MapColumn extends ColumnBase {
  readonly kind: 'map'
  readonly offsets: Int32Array
  readonly keys: Column
  readonly values: Column
}

/** ROW. Children have the length of the column; under a null row they hold nulls. */
export interface RowColumn extends ColumnBase {
  readonly kind: 'row'
  readonly children: readonly Column[]
}

export type Column = FixedColumn | WideColumn | BytesColumn | ListColumn | MapColumn | RowColumn

/** Columns of one length under named fields. */
export interface Batch {
  readonly fields: readonly Field[]
  readonly rows: number
  readonly columns: readonly Column[]
}

/** One value outside a column, in the unit of its column: statistics, literals of predicates, keys. UTF-8 for text. */
export type Scalar = number | bigint | Uint8Array

/** What a flat type is stored as: the class of `FixedColumn.values`, or `wide`, or `bytes`; nested types have none. */
export type Storage =
  | 'uint8'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'float32'
  | 'float64'
  | 'wide'
  | 'bytes'
  | 'nested'

/** How a column of this type is laid out; see `FixedColumn` and `WideColumn`. */
export function storageOf(type: DataType): Storage {
  switch (type.kind) {
    case 'boolean':
      return 'uint8'
    case 'tinyint':
      return 'int8'
    case 'smallint':
      return 'int16'
    case 'int':
    case 'date':
    case 'time':
      return 'int32'
    case 'bigint':
      return 'int64'
    case 'decimal':
      return type.precision <= 18 ? 'int64' : 'wide'
    case 'timestamp':
    case 'timestamp_ltz':
      return type.precision <= 6 ? 'int64' : 'wide'
    case 'float':
      return 'float32'
    case 'double':
      return 'float64'
    case 'char':
    case 'varchar':
    case 'binary':
    case 'varbinary':
      return 'bytes'
    case 'array':
    case 'multiset':
    case 'map':
    case 'row':
    case 'variant':
      return 'nested'
  }
}

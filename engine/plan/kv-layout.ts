import type { TableSchema } from '../../formats/meta/types.ts'
import type { DataType, Field } from '../../formats/types/row-type.ts'
import { withNullable } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'

/**
 * Columns of the records of a primary-key table, in the order of its data files: the trimmed primary key, sequence number,
 * kind, then columns of the table (all of them, or those a read asks for).
 *
 *   _KEY_k … │ _SEQUENCE_NUMBER │ _VALUE_KIND │ k … v …
 *   0 … n-1    n                  n + 1         n + 2 …
 */
export interface KvLayout {
  readonly fields: readonly Field[]
  /** Columns of the table among `fields`, with their names and ids in the schema. */
  readonly values: readonly Field[]
  /** The trimmed primary key as it is in the schema: names without prefix, ids of the table. */
  readonly keys: readonly Field[]
  readonly keyTypes: readonly DataType[]
  readonly keyIndexes: readonly number[]
  readonly sequence: number
  readonly kind: number
  /** Index in `fields` of the first column of the table. */
  readonly firstValue: number
}

/** Prefix of key columns in data files. */
export const KEY_PREFIX = '_KEY_'

const KEY_FIELD_ID = 1073741823
const SEQUENCE_FIELD: Field = { id: 2147483646, name: '_SEQUENCE_NUMBER', type: { kind: 'bigint', nullable: false } }
const KIND_FIELD: Field = { id: 2147483645, name: '_VALUE_KIND', type: { kind: 'tinyint', nullable: false } }

/** Primary keys that are no partition keys, in primary-key order: what a bucket is sorted by. */
export function trimmedPrimaryKey(schema: TableSchema): readonly Field[] {
  const partition = new Set(schema.partitionKeys)
  return schema.primaryKeys.filter((name) => !partition.has(name)).map((name) => fieldNamed(schema, name))
}

/** The partition columns, in partition-key order. */
export function partitionFields(schema: TableSchema): readonly Field[] {
  return schema.partitionKeys.map((name) => fieldNamed(schema, name))
}

/** Layout of the records of a table; `columns` narrows the columns of the table to those names, in that order. */
export function kvLayout(schema: TableSchema, columns?: readonly string[]): KvLayout {
  const keys = trimmedPrimaryKey(schema)
  const values = columns === undefined ? schema.fields : columns.map((name) => fieldNamed(schema, name))
  const keyFields = keys.map(
    (field): Field => ({
      id: KEY_FIELD_ID + field.id,
      name: KEY_PREFIX + field.name,
      type: withNullable(field.type, false),
    }),
  )
  return {
    fields: [...keyFields, SEQUENCE_FIELD, KIND_FIELD, ...values],
    values,
    keys,
    keyTypes: keyFields.map((field) => field.type),
    keyIndexes: keys.map((_, index) => index),
    sequence: keys.length,
    kind: keys.length + 1,
    firstValue: keys.length + 2,
  }
}

/** A layout with some columns of the table only, by their positions in it. */
export function narrowLayout(schema: TableSchema, { fields }: KvLayout, indexes: readonly number[]): KvLayout {
  return kvLayout(
    schema,
    indexes.map((index) => fields[index]!.name),
  )
}

/** The column of that name; `INVALID` naming it when the table has none. */
export function fieldNamed(schema: TableSchema, name: string): Field {
  const field = schema.fields.find((candidate) => candidate.name === name)
  if (field !== undefined) return field
  const known = schema.fields.map((candidate) => candidate.name).join(', ')
  throw new TableError('INVALID', `Unknown column ${JSON.stringify(name)}. Choose one of ${known}.`, { column: name })
}

import type { Batch, Column } from '../../formats/column/column.ts'
import { zeroColumn } from '../../formats/column/constant.ts'
import { gather } from '../../formats/column/gather.ts'
import { batchOfRows, type ValueForms } from '../../formats/column/values.ts'
import type { TableSchema } from '../../formats/meta/types.ts'
import { type Field, withNullable } from '../../formats/types/row-type.ts'
import { isPlainObject } from '../api/keys.ts'
import { asTableError } from '../api/value-errors.ts'
import { TableError } from '../errors.ts'
import type { MergeSpec } from '../options/merge-spec.ts'

/** Whether what a delete does depends on other columns than the key. */
function needsRows(spec: MergeSpec): boolean {
  if (spec.sequenceFields.length > 0 || spec.groups.length > 0) return true
  return spec.engine === 'aggregation' && !spec.removeOnDelete
}

/** Makes delete records of rows that hold the key and as much of the other columns as the delete needs. */
export class DeletedRows {
  readonly #schema: TableSchema
  readonly #forms: ValueForms
  readonly #spec: MergeSpec
  /** Columns of the table, of which those outside the key may be left out. */
  readonly #fields: readonly Field[]
  readonly #keys: ReadonlySet<string>
  readonly #notNull: ReadonlySet<string>

  constructor(schema: TableSchema, forms: ValueForms, spec: MergeSpec) {
    this.#schema = schema
    this.#forms = forms
    this.#spec = spec
    this.#keys = new Set(schema.primaryKeys)
    this.#notNull = new Set(schema.fields.filter(({ type }) => !type.nullable).map(({ name }) => name))
    this.#fields = schema.fields.map((field) =>
      this.#keys.has(field.name) ? field : { ...field, type: withNullable(field.type, true) },
    )
  }

  /** Whether records have to be made of rows: keys alone are quicker. */
  takes(keys: readonly unknown[]): boolean {
    const width = this.#keys.size
    return needsRows(this.#spec) || keys.some((key) => isPlainObject(key) && Object.keys(key).length > width)
  }

  /** `INVALID` naming row and column when one does not fit, or is missing without which the delete would do nothing. */
  batch(rows: readonly unknown[]): Batch {
    const records = rows.map((row, index) => this.#checked(row, index))
    try {
      const batch = batchOfRows(this.#fields, records, { forms: this.#forms, keys: this.#keys })
      const columns = batch.columns.map((column, index) => this.#filled(column, index))
      return { fields: this.#schema.fields, rows: batch.rows, columns }
    } catch (error) {
      throw asTableError(error, 'write')
    }
  }

  #checked(row: unknown, index: number): unknown {
    const [key] = this.#keys
    const record = this.#keys.size === 1 && !isPlainObject(row) ? { [key!]: row } : row
    if (!isPlainObject(record)) return record
    // What a delete ends is gone: its own values must not come back with the next row.
    if (this.#spec.removeOnDelete) return this.#keyOf(record)
    const missing = this.#spec.ignoreDelete ? undefined : this.#missingOf(record)
    if (missing === undefined) return record
    throw new TableError(
      'INVALID',
      `Row ${index} to delete: ${missing}. Give the row, as in delete({ ${[...this.#keys].join(', ')}, … }).`,
      { value: row, row: index },
    )
  }

  #keyOf(record: Readonly<Record<string, unknown>>): unknown {
    const others = Object.keys(record).filter((name) => !this.#fields.some((field) => field.name === name))
    return Object.fromEntries([...this.#keys, ...others].map((name) => [name, record[name]]))
  }

  /** NOT NULL columns that were left out hold zero values: a reader of the file expects one. */
  #filled(column: Column, index: number): Column {
    const { type } = this.#schema.fields[index]!
    if (type.nullable || column.valid === undefined) return column
    const source = Uint16Array.from(column.valid, (valid) => 1 - valid)
    return gather([column, zeroColumn(type, column.length)], source, Uint32Array.from(source.keys()), column.length)
  }

  /** What a delete lacks to have the effect that is meant, and no other. */
  #missingOf(record: Readonly<Record<string, unknown>>): string | undefined {
    const { sequenceFields, groups } = this.#spec
    const isGiven = (name: string) => record[name] !== undefined
    const sequence = sequenceFields.find((name) => record[name] === undefined || record[name] === null)
    if (sequence !== undefined) {
      return `'${sequence}' is the sequence.field, and without a value the delete is older than any row`
    }
    const ordering = groups.flatMap((group) => group.fields)
    if (ordering.length > 0) {
      if (!ordering.some(isGiven)) {
        return `without sequence fields (${ordering.join(', ')}) it is older than what is there`
      }
      const unclear = ordering.find((name) => !isGiven(name) && this.#notNull.has(name))
      return unclear === undefined ? undefined : `'${unclear}' orders a sequence group and is never null`
    }
    const takesBack = this.#spec.engine === 'aggregation' && !this.#spec.removeOnDelete
    if (!takesBack || Object.keys(record).some((name) => !this.#keys.has(name) && isGiven(name))) return undefined
    return 'an aggregation takes back the values that a delete gives'
  }
}

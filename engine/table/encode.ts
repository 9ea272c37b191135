import { type BatchSize, sizeFor } from '../../formats/column/builder.ts'
import { castColumn } from '../../formats/column/cast.ts'
import type { Batch, Column } from '../../formats/column/column.ts'
import { nullColumn, zeroColumn } from '../../formats/column/constant.ts'
import { batchOfRows, rowsOf, type ValueForms } from '../../formats/column/values.ts'
import type { TableSchema } from '../../formats/meta/types.ts'
import { MAX_LENGTH, withNullable } from '../../formats/types/row-type.ts'
import type { Keys } from '../api/keys.ts'
import { asTableError } from '../api/value-errors.ts'
import { TableError } from '../errors.ts'
import type { MergeSpec } from '../options/merge-spec.ts'
import { DeletedRows } from './deleted-rows.ts'

/** Turns rows and keys that callers give into batches of all columns of a table. */
export class RowEncoder {
  readonly #schema: TableSchema
  readonly #forms: ValueForms
  readonly #keys: Keys
  readonly #keyNames: ReadonlySet<string>
  /** JavaScript values of columns that have a default, in the form rows have. */
  readonly #defaults: ReadonlyMap<string, unknown>
  readonly #deleted: DeletedRows
  /** Of the last rows: the next will be like them. */
  #widths: BatchSize['widths']

  constructor(schema: TableSchema, forms: ValueForms, keys: Keys, spec: MergeSpec) {
    this.#schema = schema
    this.#forms = forms
    this.#keys = keys
    this.#keyNames = new Set(schema.primaryKeys)
    this.#defaults = defaultsOf(schema, forms)
    this.#deleted = new DeletedRows(schema, forms, spec)
  }

  /** `INVALID` naming row, column and value when one does not fit. */
  rows(rows: readonly unknown[]): Batch {
    const filled = this.#defaults.size === 0 ? rows : rows.map((row) => this.#withDefaults(row))
    try {
      const options = { forms: this.#forms, keys: this.#keyNames, widths: this.#widths }
      const batch = batchOfRows(this.#schema.fields, filled, options)
      this.#widths = sizeFor(batch).widths
      return batch
    } catch (error) {
      throw asTableError(error, 'write')
    }
  }

  /** Delete records: the key, what is given of the other columns, and else zero values in NOT NULL columns, null in the others. */
  deletes(keys: readonly unknown[]): Batch {
    if (this.#deleted.takes(keys)) return this.#deleted.batch(keys)
    const batch = this.#keys.batch(keys)
    const given = new Map<string, Column>(batch.fields.map((field, index) => [field.name, batch.columns[index]!]))
    const columns = this.#schema.fields.map(
      ({ name, type }) =>
        given.get(name) ?? (type.nullable ? nullColumn(type, batch.rows) : zeroColumn(type, batch.rows)),
    )
    return { fields: this.#schema.fields, rows: batch.rows, columns }
  }

  #withDefaults(row: unknown): unknown {
    if (typeof row !== 'object' || row === null) return row
    const filled: Record<string, unknown> = { ...row }
    for (const [name, value] of this.#defaults) filled[name] ??= value
    return filled
  }
}

/** Default texts of the schema, cast to their columns as Paimon casts them; `UNSUPPORTED` for columns that are not of text or bytes. */
export function defaultsOf(schema: TableSchema, forms: ValueForms): ReadonlyMap<string, unknown> {
  const defaults = new Map<string, unknown>()
  for (const field of schema.fields) {
    if (field.defaultValue === undefined) continue
    const text = new TextEncoder().encode(field.defaultValue)
    const column: Column = { kind: 'bytes', length: 1, data: text, offsets: Int32Array.of(0, text.length) }
    try {
      const type = withNullable(field.type, true)
      const cast = castColumn({ kind: 'varchar', length: MAX_LENGTH, nullable: true }, type, column)
      const [row] = rowsOf({ fields: [{ ...field, type }], rows: 1, columns: [cast] }, forms)
      defaults.set(field.name, row![field.name])
    } catch (error) {
      throw new TableError(
        'UNSUPPORTED',
        `Column ${JSON.stringify(field.name)} has the default ${JSON.stringify(field.defaultValue)}, and this version fills in defaults of text and bytes columns only. Leave it out, or write the table with Apache Paimon.`,
        { column: field.name, value: field.defaultValue },
        error,
      )
    }
  }
  return defaults
}

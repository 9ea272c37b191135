import { BatchBuilder, type BatchSize } from '../../formats/column/builder.ts'
import type { Batch, Column, FixedColumn } from '../../formats/column/column.ts'
import { serializeRowAt } from '../../formats/row/binary-row.ts'
import type { DataType, Field } from '../../formats/types/row-type.ts'
import type { BufferedRows } from '../tasks/task.ts'

/** `_VALUE_KIND` of rows: of all of them, or one a row. */
export type RowKinds = number | Int8Array

const KIND_FIELD: Field = { id: -1, name: '_VALUE_KIND', type: { kind: 'tinyint', nullable: false } }

/**
 * Rows of one bucket that no file holds yet, in arrival order, in memory that threads share. Row i has the sequence number
 * `firstSequence + i`.
 */
export class WriteBuffer {
  #firstSequence: bigint
  readonly #fields: readonly Field[]
  readonly #keys: readonly number[]
  readonly #keyTypes: readonly DataType[]
  readonly #rows: BatchBuilder
  /** The last view, while it shows all rows. */
  #view: BufferedRows | undefined
  /** The newest row of each key; of each row the one before it of its key, or -1. */
  #index: Map<string, number> | undefined
  readonly #previous: number[] = []

  /**
   * `fields` are all columns of the table, `keys` the indexes of the trimmed primary key among them. `size` is how large the
   * buffer may become, as far as known.
   */
  constructor(fields: readonly Field[], keys: readonly number[], firstSequence: bigint, size?: BatchSize) {
    this.#firstSequence = firstSequence
    this.#fields = fields
    this.#keys = keys
    this.#keyTypes = keys.map((index) => fields[index]!.type)
    this.#rows = new BatchBuilder([...fields, KIND_FIELD], { shared: true, ...(size && { size }) })
  }

  get firstSequence(): bigint {
    return this.#firstSequence
  }

  /** Another writer took our numbers: the rows move above them. */
  raise(offset: bigint): void {
    this.#firstSequence += offset
    this.#view = undefined
  }

  get rows(): number {
    return this.#rows.rows
  }

  get bytes(): number {
    return this.#rows.byteLength
  }

  /** Appends the chosen rows of a batch of all columns; of one kind, or with a kind a row. */
  append(values: Batch, kinds: RowKinds, rows?: Uint32Array): void {
    const count = rows?.length ?? values.rows
    const each = typeof kinds === 'number' ? new Int8Array(values.rows).fill(kinds) : kinds
    const column: Column = { kind: 'fixed', length: values.rows, values: each }
    if (count > 0) {
      this.#view = undefined
      this.#rows.appendBatch(
        { fields: this.#rows.fields, rows: values.rows, columns: [...values.columns, column] },
        rows,
      )
    }
  }

  /** The rows so far, without a copy; later appends do not show. The same object until then. */
  view(): BufferedRows {
    if (this.#view !== undefined) return this.#view
    const { rows, columns } = this.#rows.view()
    const kinds = (columns.at(-1) as FixedColumn).values as Int8Array
    this.#view = {
      values: { fields: this.#fields, rows, columns: columns.slice(0, -1) },
      kinds: kinds.subarray(0, rows),
      firstSequence: this.#firstSequence,
    }
    return this.#view
  }

  /**
   * The newest row of a key (a serialised BinaryRow), or -1. The first call after appends indexes the new rows, some
   * microseconds each; a buffer that nobody looks into pays nothing.
   */
  find(key: Uint8Array): number {
    this.#index ??= new Map()
    if (this.#previous.length < this.rows) {
      const { columns } = this.#rows.view()
      const keys = this.#keys.map((index) => columns[index]!)
      for (let row = this.#previous.length; row < this.rows; row++) {
        const text = textOf(serializeRowAt(this.#keyTypes, keys, row))
        this.#previous.push(this.#index.get(text) ?? -1)
        this.#index.set(text, row)
      }
    }
    return this.#index.get(textOf(key)) ?? -1
  }

  /** All rows of a key, newest first; costs what `find` does. */
  findAll(key: Uint8Array): readonly number[] {
    const rows: number[] = []
    for (let row = this.find(key); row >= 0; row = this.#previous[row]!) rows.push(row)
    return rows
  }
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}

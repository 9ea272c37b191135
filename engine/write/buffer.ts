import { BatchBuilder, type BatchSize } from '../../formats/column/builder.ts'
import type { Batch, Column, FixedColumn } from '../../formats/column/column.ts'
import { serializeRowAt } from '../../formats/row/binary-row.ts'
import type { DataType, Field } from '../../formats/types/row-type.ts'
import type { BufferedRows } from '../tasks/task.ts'

/** Kind of a record as stored: +I and -D are all that this library writes. */
export const INSERT = 0
export const DELETE = 3

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
  #index: Map<string, number> | undefined
  #indexed = 0

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

  /** Appends the chosen rows of a batch of all columns, all with one kind. */
  append(values: Batch, kind: typeof INSERT | typeof DELETE, rows?: Uint32Array): void {
    const count = rows?.length ?? values.rows
    const kinds: Column = { kind: 'fixed', length: values.rows, values: new Int8Array(values.rows).fill(kind) }
    if (count > 0) {
      this.#view = undefined
      this.#rows.appendBatch(
        { fields: this.#rows.fields, rows: values.rows, columns: [...values.columns, kinds] },
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
    if (this.#indexed < this.rows) {
      const { columns } = this.#rows.view()
      const keys = this.#keys.map((index) => columns[index]!)
      for (; this.#indexed < this.rows; this.#indexed++) {
        this.#index.set(textOf(serializeRowAt(this.#keyTypes, keys, this.#indexed)), this.#indexed)
      }
    }
    return this.#index.get(textOf(key)) ?? -1
  }
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}

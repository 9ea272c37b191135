import type { DataType, Field } from '../types/row-type.ts'
import type { ColumnBuilder } from './builder-memory.ts'
import { BytesBuilder } from './bytes-builder.ts'
import { type Batch, type Column, storageOf } from './column.ts'
import { FixedBuilder, WideBuilder } from './fixed-builders.ts'
import { heapMemory, type Memory, sharedMemory } from './memory.ts'
import { ListBuilder, MapBuilder, RowBuilder } from './nested-builders.ts'

/**
 * An empty builder for one column; `rows` and, for text and bytes, `width` in bytes a row are first guesses. VARIANT has none: a
 * TypeError.
 */
export function createColumnBuilder(
  type: DataType,
  memory: Memory = heapMemory,
  rows = 16,
  width?: number,
): ColumnBuilder {
  const storage = storageOf(type)
  if (storage === 'bytes') return new BytesBuilder(memory, rows, width)
  if (storage === 'wide') return new WideBuilder(memory, rows)
  if (storage !== 'nested') return new FixedBuilder(storage, memory, rows)
  switch (type.kind) {
    case 'array':
      return new ListBuilder(createColumnBuilder(type.element, memory, rows), memory, rows)
    case 'map':
      return new MapBuilder(
        createColumnBuilder(type.key, memory, rows),
        createColumnBuilder(type.value, memory, rows),
        memory,
        rows,
      )
    case 'multiset': {
      const counts = new FixedBuilder('int32', memory, rows)
      return new MapBuilder(createColumnBuilder(type.element, memory, rows), counts, memory, rows)
    }
    case 'row':
      return new RowBuilder(
        type.fields.map((field) => createColumnBuilder(field.type, memory, rows)),
        memory,
      )
    default:
      throw new TypeError(`a column of ${type.kind} cannot be built`)
  }
}

/** How large a batch is, or may become. */
export interface BatchSize {
  readonly rows: number
  /** Bytes a row of the columns of text and bytes; undefined = unknown, as for all other columns. */
  readonly widths?: readonly (number | undefined)[] | undefined
}

/** The size of a batch with an eighth more room, as a guess for the next one like it. */
export function sizeFor({ rows, columns }: Batch): BatchSize {
  const widths = columns.map((column) =>
    column.kind === 'bytes' && rows > 0 ? (column.data.length / rows) * 1.125 : undefined,
  )
  return { rows: Math.ceil(rows * 1.125), widths }
}

/**
 * Growing columns of one length: a write buffer.
 *
 * B1 A batch given by `view` never changes, whatever is appended or truncated later: it shares memory with the builder, and
 *    the builder moves to fresh memory before it would overwrite a row that a view shows.
 * B2 After `truncate(n)` the builder is as it was at n rows.
 * B3 Between calls all columns have the length `rows`; columns may be filled one by one, then `rows` must be called last.
 */
export class BatchBuilder {
  readonly fields: readonly Field[]
  readonly columns: readonly ColumnBuilder[]

  /**
   * `shared` keeps the memory in SharedArrayBuffers, so that views reach other threads without a copy. `size` is how much is
   * expected: a good guess saves the copies of growing.
   */
  constructor(fields: readonly Field[], options: { readonly shared?: boolean; readonly size?: BatchSize } = {}) {
    this.fields = fields
    const { shared = false, size } = options
    const memory = shared ? sharedMemory : heapMemory
    this.columns = fields.map(({ type }, index) => createColumnBuilder(type, memory, size?.rows, size?.widths?.[index]))
  }

  get rows(): number {
    return this.columns[0]?.length ?? 0
  }

  /** Bytes in use by the rows, without slack: what a memory budget should count. */
  get byteLength(): number {
    return this.columns.reduce((sum, column) => sum + column.byteLength, 0)
  }

  /** Appends the rows of a batch with the same columns, or those chosen by `rows`, in that order. */
  appendBatch(batch: Batch, rows?: Uint32Array): void {
    this.columns.forEach((builder, index) => {
      builder.appendColumn(batch.columns[index]!, rows)
    })
  }

  truncate(rows: number): void {
    for (const column of this.columns) column.truncate(rows)
  }

  /** The rows so far, without a copy; see B1. */
  view(): Batch {
    const columns: readonly Column[] = this.columns.map((column) => column.view())
    return { fields: this.fields, rows: this.rows, columns }
  }
}

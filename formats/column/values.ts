import type { DataType, Field } from '../types/row-type.ts'
import type { ValueForm } from '../types/value-form.ts'
import { BatchBuilder, type BatchSize, createColumnBuilder } from './builder.ts'
import type { ColumnBuilder } from './builder-memory.ts'
import { BytesBuilder } from './bytes-builder.ts'
import type { Batch, Column, Scalar } from './column.ts'
import { columnWriter } from './column-writers.ts'
import { FixedBuilder, WideBuilder } from './fixed-builders.ts'
import { fieldGetter, isRecord, unknownName } from './record.ts'
import { recordMakerOf } from './record-maker.ts'
import { ValueError } from './value-error.ts'
import { valueReader } from './value-readers.ts'
import { valueWriter } from './value-writers.ts'

/** Forms of the columns that have one; the others take and give what loses nothing. */
export type ValueForms = ReadonlyMap<string, ValueForm>

export interface RowWriterOptions {
  readonly forms?: ValueForms | undefined
  /** Columns in which NaN and -0.0 are refused. */
  readonly keys?: ReadonlySet<string> | undefined
}

/** Turns row objects into columns. */
export interface RowWriter {
  /** Appends all rows or, when one does not fit, none: a `ValueError` with the position of the row. */
  append(rows: readonly unknown[]): void
}

/** Rows written column by column at a time: what they hold stays in the cache for all columns. */
const CHUNK = 512

/** A writer into a builder; the loop of each column is chosen here, once. Throws a TypeError for VARIANT and MULTISET. */
export function createRowWriter(builder: BatchBuilder, { forms, keys }: RowWriterOptions = {}): RowWriter {
  const check = recordChecker(new Set(builder.fields.map((field) => field.name)))
  const columns = builder.fields.map(({ name, type }, index) => ({
    get: fieldGetter(name),
    write: columnWriter(name, type, forms?.get(name), builder.columns[index]!, keys?.has(name)),
  }))
  const appendAll = (rows: readonly unknown[], at: { row: number }): void => {
    const values: unknown[] = new Array(Math.min(rows.length, CHUNK)).fill(undefined)
    for (let start = 0; start < rows.length; start += CHUNK) {
      const count = Math.min(rows.length - start, CHUNK)
      for (let i = 0; i < count; i++) {
        at.row = start + i
        check(rows[at.row])
      }
      for (const { get, write } of columns) {
        for (let i = 0; i < count; i++) values[i] = get(rows[start + i] as Record<string, unknown>)
        at.row = start
        write(values, count, at)
      }
    }
  }
  return {
    append(rows) {
      const before = builder.rows
      const at = { row: 0 }
      try {
        appendAll(rows, at)
      } catch (error) {
        builder.truncate(before)
        throw error instanceof ValueError ? error.atRow(at.row) : error
      }
    },
  }
}

/**
 * Refuses what is no row, and names that are no column. Rows mostly have the names of the row before, in the same order: then
 * comparing them is all it takes.
 */
function recordChecker(names: ReadonlySet<string>): (row: unknown) => void {
  let known: readonly string[] = []
  return (row) => {
    if (!isRecord(row)) throw new ValueError('', row, 'is not a row: give an object with a value for each column')
    let position = 0
    for (const name in row) if (name !== known[position++]) position = Infinity
    if (position !== Infinity) return
    const unknown = unknownName(row, names)
    if (unknown !== undefined) throw new ValueError(unknown, row[unknown], 'is given, but there is no such column')
    known = Object.keys(row)
  }
}

/** Row objects as a batch of their own; see `RowWriter.append`. `widths` as far as they can be guessed. */
export function batchOfRows(
  fields: readonly Field[],
  rows: readonly unknown[],
  options: RowWriterOptions & Pick<BatchSize, 'widths'> = {},
): Batch {
  const builder = new BatchBuilder(fields, { size: { rows: rows.length, widths: options.widths } })
  createRowWriter(builder, options).append(rows)
  return builder.view()
}

/** Rows `[start, end)` of a batch as plain objects with the columns in order. Throws a `ValueError` where a form loses digits. */
export function rowsOf(batch: Batch, forms?: ValueForms, start = 0, end = batch.rows): Record<string, unknown>[] {
  const make = recordMakerOf(batch.fields)
  const rows: Record<string, unknown>[] = []
  for (let row = start; row < end; row++) rows.push(make())
  batch.fields.forEach(({ name, type }, index) => {
    const read = valueReader(name, type, forms?.get(name), batch.columns[index]!)
    for (let row = start; row < end; row++) rows[row - start]![name] = read(row)
  })
  return rows
}

/** Row objects of some columns for those who come back to them: the readers of the columns are chosen once. */
export interface RowReader {
  one(row: number): Record<string, unknown>
  /** The objects of `rows[i]` into `into[at[i]]`, column by column. */
  some(rows: readonly number[], into: unknown[], at: readonly number[]): void
}

/** Throws, as what it gives does, a `ValueError` where a form would lose digits. */
export function createRowReader(batch: Batch, forms?: ValueForms): RowReader {
  const make = recordMakerOf(batch.fields)
  const names = batch.fields.map((field) => field.name)
  const readers = batch.fields.map(({ name, type }, index) =>
    valueReader(name, type, forms?.get(name), batch.columns[index]!),
  )
  return {
    one(row) {
      const record = make()
      for (let i = 0; i < readers.length; i++) record[names[i]!] = readers[i]!(row)
      return record
    },
    some(rows, into, at) {
      const records: Record<string, unknown>[] = []
      for (let i = 0; i < rows.length; i++) records.push(make())
      names.forEach((name, index) => {
        const read = readers[index]!
        for (let i = 0; i < rows.length; i++) records[i]![name] = read(rows[i]!)
      })
      for (let i = 0; i < rows.length; i++) into[at[i]!] = records[i]
    },
  }
}

/** Turns values of one column into its scalars, null into null; they throw a `ValueError`. */
export function scalarWriter(
  column: string,
  type: DataType,
  form: ValueForm | undefined,
  key = false,
): (value: unknown) => Scalar | null {
  const builder = createColumnBuilder(type, undefined, 1)
  if (!isFlat(builder)) throw new TypeError(`a ${type.kind} column has no scalars`)
  const write = valueWriter(column, type, form, builder, key)
  return (value) => {
    builder.truncate(0)
    write(value)
    return value === null || value === undefined ? null : builder.at(0)
  }
}

/** One value as the scalar of its column, null for null: range bounds, literals. Throws a `ValueError`. */
export function toScalar(
  column: string,
  type: DataType,
  form: ValueForm | undefined,
  value: unknown,
  key = false,
): Scalar | null {
  return scalarWriter(column, type, form, key)(value)
}

/** A scalar as a column of one row. */
export function scalarColumn(type: DataType, scalar: Scalar): Column {
  const builder = createColumnBuilder(type, undefined, 1)
  if (builder instanceof BytesBuilder) builder.push(scalar as Uint8Array)
  else if (builder instanceof WideBuilder) builder.push(BigInt(scalar as bigint))
  else if (builder instanceof FixedBuilder && typeof scalar === 'bigint') builder.pushBigInt(scalar)
  else if (builder instanceof FixedBuilder) builder.pushNumber(scalar as number)
  else throw new TypeError(`a ${type.kind} column has no scalars`)
  return builder.view()
}

/** The JavaScript form of a scalar of a flat column. */
export function fromScalar(
  column: string,
  type: DataType,
  form: ValueForm | undefined,
  scalar: Scalar | null,
): unknown {
  return scalar === null ? null : valueReader(column, type, form, scalarColumn(type, scalar))(0)
}

function isFlat(builder: ColumnBuilder): builder is FixedBuilder | WideBuilder | BytesBuilder {
  return builder instanceof FixedBuilder || builder instanceof WideBuilder || builder instanceof BytesBuilder
}

import type * as Arrow from 'apache-arrow'
import type { Field } from '../types/row-type.ts'
import { exportColumn } from './arrow-export.ts'
import { importVector } from './arrow-import.ts'
import { arrowType } from './arrow-types.ts'
import type { Batch, Column } from './column.ts'
import { nullColumn } from './constant.ts'
import { ValueError } from './value-error.ts'

/** The module of apache-arrow, as `loadArrow` gives it. */
export type ArrowModule = typeof Arrow

/** Loads apache-arrow, on first use: it takes some 100 ms, which a program without Arrow should not pay. */
export function loadArrow(): Promise<ArrowModule> {
  return import('apache-arrow')
}

/**
 * A batch as an Arrow RecordBatch. Values, text and offsets are shared, not copied; null masks and booleans become bits,
 * 64-bit decimals 128-bit ones. TIMESTAMP p <= 3 is Timestamp[ms], p <= 6 [us], above [ns]: a `ValueError` for points in time
 * that 64 bits of nanoseconds do not hold. LTZ has the zone UTC. TypeError for VARIANT and MULTISET.
 */
export function toRecordBatch(arrow: ArrowModule, batch: Batch): Arrow.RecordBatch {
  const schema = new arrow.Schema(
    batch.fields.map((field) => new arrow.Field(field.name, arrowType(arrow, field.type), field.type.nullable)),
  )
  const children = batch.fields.map((field, index) =>
    exportColumn(arrow, field.name, field.type, batch.columns[index]!),
  )
  const data = arrow.makeData({ type: new arrow.Struct(schema.fields), length: batch.rows, nullCount: 0, children })
  return new arrow.RecordBatch(schema, data)
}

export interface FromArrowOptions {
  /** Columns in which NaN and -0.0 are refused. */
  readonly keys?: ReadonlySet<string> | undefined
}

/**
 * Rows of a RecordBatch or Table as a batch with the given fields. Columns are found by name; nullable ones may be absent. A type
 * must be that of the column or one that widens to it without loss; dictionaries are decoded. Throws a `ValueError` with the
 * column for anything else, for nulls in NOT NULL columns and for values that the column does not hold. Buffers are shared
 * where the layout is the same: the source must not change while the batch is in use.
 */
export function fromArrow(
  arrow: ArrowModule,
  source: Arrow.RecordBatch | Arrow.Table,
  fields: readonly Field[],
  options: FromArrowOptions = {},
): Batch {
  const names = new Set(fields.map((field) => field.name))
  const seen = new Set<string>()
  for (const { name } of source.schema.fields) {
    if (!names.has(name)) throw new ValueError(name, undefined, 'is given, but there is no such column')
    if (seen.has(name)) throw new ValueError(name, undefined, 'is given twice')
    seen.add(name)
  }
  const rows = source.numRows
  const columns = fields.map((field): Column => {
    const index = source.schema.fields.findIndex(({ name }) => name === field.name)
    const column =
      index < 0
        ? nullColumn(field.type, rows)
        : importVector(arrow, field.name, field.type, source.getChildAt(index) as Arrow.Vector)
    checkColumn(field, column, options.keys?.has(field.name) === true)
    return column
  })
  return { fields, rows, columns }
}

function checkColumn({ name, type }: Field, column: Column, key: boolean): void {
  const firstNull = column.valid?.indexOf(0) ?? -1
  if (!type.nullable && firstNull >= 0)
    throw new ValueError(name, null, 'is not allowed: the column is NOT NULL', firstNull)
  if (!key || column.kind !== 'fixed') return
  const { values } = column
  if (!(values instanceof Float64Array || values instanceof Float32Array)) return
  for (let row = 0; row < column.length; row++) {
    const value = values[row]!
    if (Number.isNaN(value) || Object.is(value, -0)) throw new ValueError(name, value, 'is not allowed in a key', row)
  }
}

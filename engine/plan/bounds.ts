import { compareScalars } from '../../formats/column/compare.ts'
import type { ColumnBounds } from '../../formats/column/predicate-tree.ts'
import type { DataFile, SimpleStats } from '../../formats/meta/types.ts'
import { ARITY_BYTES, decodeRow } from '../../formats/row/binary-row.ts'
import { readStats } from '../../formats/row/simple-stats.ts'
import { type DataType, type Field, MAX_LENGTH, withNullable } from '../../formats/types/row-type.ts'

/** What is known of a column, by its name in the schema that is read; undefined = nothing. */
export type BoundsOf = (column: string) => ColumnBounds | undefined

/** Bounds of the trimmed primary key of a file, from its key statistics. `keys` in primary-key order. */
export function keyBounds(file: DataFile, keys: readonly Field[]): BoundsOf {
  return lookup(keys, readStats(statTypes(keys), file.keyStats, file.rows))
}

/**
 * Bounds of the columns of a file, from its value statistics. `fileFields` are the fields of the schema the file was written
 * with, `readFields` those it is read with; they meet by id. A column that came after the file is all null; a column whose
 * type changed in a way that could move a value past its bounds is unknown.
 */
export function valueBounds(file: DataFile, fileFields: readonly Field[], readFields: readonly Field[]): BoundsOf {
  const stored = file.valueStatsColumns
  const inStats =
    stored === null ? fileFields : stored.flatMap((name) => fileFields.find((field) => field.name === name) ?? [])
  // A name that the schema lacks would shift all columns behind it.
  if (stored !== null && inStats.length !== stored.length) return () => undefined
  const stats = readStats(statTypes(inStats), file.valueStats, file.rows)
  const byId = new Map(inStats.map((field, i) => [field.id, { field, bounds: stats[i] }]))
  const written = new Set(fileFields.map((field) => field.id))
  const bounds = new Map<string, ColumnBounds>()
  for (const field of readFields) {
    const known = byId.get(field.id)
    if (known !== undefined) {
      if (keepsOrder(known.field.type, field.type)) bounds.set(field.name, withNaN(field.type, known.bounds))
    } else if (!written.has(field.id)) {
      bounds.set(field.name, { min: null, max: null, nullCount: file.rows, rows: file.rows })
    }
  }
  return (column) => bounds.get(column)
}

/** Exact bounds of the partition columns, from one partition: a single row. */
export function partitionBounds(partition: Uint8Array, partitionFields: readonly Field[]): BoundsOf {
  const values = decodeRow(statTypes(partitionFields), partition.subarray(ARITY_BYTES))
  return lookup(
    partitionFields,
    values.map((value) => ({ min: value, max: value, nullCount: value === null ? 1 : 0, rows: 1 })),
  )
}

/** Bounds of the partition columns over all entries of a manifest, for pruning manifests. `entries` = added + deleted files. */
export function manifestBounds(stats: SimpleStats, entries: number, partitionFields: readonly Field[]): BoundsOf {
  return lookup(partitionFields, readStats(statTypes(partitionFields), stats, entries))
}

/** Whether a manifest's partition range, as `manifestBounds` gives it, meets one partition. Without partition columns: yes. */
export function meetsPartition(
  stats: SimpleStats,
  entries: number,
  partition: Uint8Array,
  partitionFields: readonly Field[],
): boolean {
  const range = manifestBounds(stats, entries, partitionFields)
  const values = decodeRow(statTypes(partitionFields), partition.subarray(ARITY_BYTES))
  return partitionFields.every((field, i) => {
    const bounds = range(field.name)
    const value = values[i]
    if (bounds === undefined) return true
    if (value === null) return bounds.nullCount !== 0
    if (bounds.nullCount === bounds.rows) return false
    const aboveMin = bounds.min === null || compareScalars(value, bounds.min) >= 0
    const belowMax = bounds.max === null || compareScalars(value, bounds.max) <= 0
    return aboveMin && belowMax
  })
}

function lookup(fields: readonly Field[], bounds: readonly ColumnBounds[]): BoundsOf {
  const byName = new Map(fields.map((field, i) => [field.name, withNaN(field.type, bounds[i])]))
  return (column) => byName.get(column)
}

/** Statistics rows lay out every column as nullable. */
function statTypes(fields: readonly Field[]): readonly DataType[] {
  return fields.map((field) => withNullable(field.type, true))
}

function withNaN(type: DataType, bounds: ColumnBounds): ColumnBounds {
  return type.kind === 'float' || type.kind === 'double' ? { ...bounds, mayHoldNaN: true } : bounds
}

const integers = ['tinyint', 'smallint', 'int', 'bigint']

/** Whether bounds in one type are bounds in the other without a change: same type, a wider integer, a longer VARCHAR. */
function keepsOrder(from: DataType, to: DataType): boolean {
  const source = integers.indexOf(from.kind)
  if (source >= 0 && integers.indexOf(to.kind) >= source) return true
  if (from.kind === 'varchar' && to.kind === 'varchar') return to.length >= Math.min(from.length, MAX_LENGTH)
  return JSON.stringify(withNullable(from, true)) === JSON.stringify(withNullable(to, true))
}

import type { Scalar } from '../../formats/column/column.ts'
import type { ManifestEntry, ManifestFile } from '../../formats/meta/types.ts'
import { decodeRow } from '../../formats/row/binary-row.ts'
import { buildStats, type ColumnStats } from '../../formats/row/simple-stats.ts'
import { type DataType, withNullable } from '../../formats/types/row-type.ts'

const ARITY_BYTES = 4

/**
 * The record of a manifest list for a manifest with these entries: counts, and the bounds by which a reader leaves the
 * whole manifest out. `entries` is not empty.
 */
export function describeManifest(
  name: string,
  bytes: number,
  entries: readonly ManifestEntry[],
  partitionTypes: readonly DataType[],
): ManifestFile {
  const buckets = bounds(entries.map((entry) => entry.bucket))
  const levels = bounds(entries.map((entry) => entry.file.level))
  const added = entries.filter((entry) => entry.kind === 'add').length
  return {
    name,
    bytes,
    addedFiles: added,
    deletedFiles: entries.length - added,
    partitionStats: partitionStats(entries, partitionTypes),
    schemaId: bounds(entries.map((entry) => entry.file.schemaId)).max,
    minBucket: buckets.min,
    maxBucket: buckets.max,
    minLevel: levels.min,
    maxLevel: levels.max,
    minRowId: null,
    maxRowId: null,
  }
}

function partitionStats(entries: readonly ManifestEntry[], types: readonly DataType[]): ManifestFile['partitionStats'] {
  const nullable = types.map((type) => withNullable(type, true))
  const seen = new Set<string>()
  const columns: ColumnStats[] = nullable.map(() => ({ min: null, max: null, nullCount: 0 }))
  for (const { partition } of entries) {
    // The null count is of entries, as Paimon counts; bounds need each partition once.
    const values = decodeRow(nullable, partition.subarray(ARITY_BYTES))
    const key = Buffer.from(partition).toString('latin1')
    const fresh = !seen.has(key)
    seen.add(key)
    for (const [index, value] of values.entries()) {
      const column = columns[index]!
      if (value === null) columns[index] = { ...column, nullCount: column.nullCount! + 1 }
      else if (fresh) columns[index] = widen(column, value)
    }
  }
  return buildStats(nullable, columns)
}

function widen(column: ColumnStats, value: Scalar): ColumnStats {
  const min = column.min === null || compareScalars(value, column.min) < 0 ? value : column.min
  const max = column.max === null || compareScalars(value, column.max) > 0 ? value : column.max
  return { ...column, min, max }
}

/** Values of one column: text by its UTF-8 bytes, false before true, numbers by value. */
function compareScalars(a: Scalar, b: Scalar): number {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  return a < b ? -1 : a > b ? 1 : 0
}

function bounds(values: readonly number[]): { readonly min: number; readonly max: number } {
  let min = values[0]!
  let max = min
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  return { min, max }
}

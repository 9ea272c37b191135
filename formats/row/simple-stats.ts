import { corrupt } from '../bytes/format-error.ts'
import type { Scalar } from '../column/column.ts'
import type { ColumnBounds } from '../column/predicate-tree.ts'
import type { DataType } from '../types/row-type.ts'
import { ARITY_BYTES, decodeRow, rowArity, serializeRow } from './binary-row.ts'
import { truncateText, truncateTextUp } from './truncate-text.ts'

/** What a manifest entry keeps of a column; option `metadata.stats-mode` and its variants. */
export type StatsMode =
  | { readonly kind: 'none' | 'counts' | 'full' }
  | { readonly kind: 'truncate' /** code points, at least 1 */; readonly length: number }

/** What is known of one column; null = unknown. */
export interface ColumnStats {
  readonly min: Scalar | null
  readonly max: Scalar | null
  readonly nullCount: number | null
}

/** Bounds as two serialised BinaryRows and a null count a column: the shape of SimpleStats in manifests. */
export interface StatsRows {
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly nullCounts: readonly (number | null)[] | null
}

/**
 * Statistics of a column as a mode keeps them. Bounds are dropped for BINARY, nested types and TIMESTAMP p > 6, which Paimon
 * stores without, and for NaN, which orders nothing. Text is cut to whole code points: the minimum down, the maximum up, so both
 * stay bounds; where no text is above, both go.
 */
export function truncateBounds(type: DataType, stats: ColumnStats, mode: StatsMode): ColumnStats {
  const { min, max, nullCount } = stats
  if (mode.kind === 'none') return { min: null, max: null, nullCount: null }
  const unknown = { min: null, max: null, nullCount }
  if (mode.kind === 'counts' || !hasBounds(type)) return unknown
  if (isNotANumber(min) || isNotANumber(max)) return unknown
  if (mode.kind !== 'truncate' || !(min instanceof Uint8Array) || !(max instanceof Uint8Array)) return stats
  const upper = truncateTextUp(max, mode.length)
  return upper === undefined ? unknown : { min: truncateText(min, mode.length), max: upper, nullCount }
}

/** Rows and counts of columns, a field each, in order. `types` must be nullable: that decides how nulls are laid out. */
export function buildStats(types: readonly DataType[], columns: readonly ColumnStats[]): StatsRows {
  return {
    min: serializeRow(
      types,
      columns.map((column) => column.min),
    ),
    max: serializeRow(
      types,
      columns.map((column) => column.max),
    ),
    nullCounts: columns.map((column) => column.nullCount),
  }
}

/**
 * Inverse of `buildStats` for a file of `rows` rows. Rows without fields mean that nothing is known of any column, as some
 * writers leave them. A NaN bound, which Paimon writes where a column holds one, is unknown.
 */
export function readStats(types: readonly DataType[], stats: StatsRows, rows: number): ColumnBounds[] {
  const min = boundsRow(types, stats.min)
  const max = boundsRow(types, stats.max)
  const { nullCounts } = stats
  if (nullCounts !== null && nullCounts.length !== 0 && nullCounts.length !== types.length) {
    throw corrupt(`statistics count the nulls of ${nullCounts.length} columns, expected ${types.length}`)
  }
  return types.map((_, i) => {
    const lower = min?.[i] ?? null
    const upper = max?.[i] ?? null
    const unordered = isNotANumber(lower)
    return {
      min: unordered ? null : lower,
      max: unordered || isNotANumber(upper) ? null : upper,
      nullCount: nullCounts?.[i] ?? null,
      rows,
    }
  })
}

function boundsRow(types: readonly DataType[], bytes: Uint8Array): (Scalar | null)[] | undefined {
  const fields = rowArity(bytes)
  if (fields === 0) return undefined
  if (fields !== types.length) throw corrupt(`statistics have ${fields} columns, expected ${types.length}`)
  return decodeRow(types, bytes.subarray(ARITY_BYTES), 'nested as null')
}

function hasBounds(type: DataType): boolean {
  switch (type.kind) {
    case 'binary':
    case 'varbinary':
    case 'array':
    case 'multiset':
    case 'map':
    case 'row':
    case 'variant':
      return false
    case 'timestamp':
    case 'timestamp_ltz':
      return type.precision <= 6
    default:
      return true
  }
}

function isNotANumber(value: Scalar | null): boolean {
  return typeof value === 'number' && Number.isNaN(value)
}

import type { Scalar } from '../column/column.ts'
import { compareScalars } from '../column/compare.ts'
import type { ColumnBounds } from '../column/predicate-tree.ts'
import { type ColumnOrder, PhysicalType, type Statistics } from './footer.ts'
import type { LeafNode } from './schema-tree.ts'

/** Are bounds of this leaf in a known order? */
interface BoundsOrder {
  /** `minValue`, `maxValue` and the column index. */
  readonly current: boolean
  /** The deprecated `min` and `max`, which writers filled by signed comparison whatever the type. */
  readonly deprecated: boolean
}

function orderOf(leaf: LeafNode, order: ColumnOrder | undefined): BoundsOrder {
  const { element, meaning } = leaf
  const { INT32, INT64, FLOAT, DOUBLE, BOOLEAN } = PhysicalType
  const unsigned = meaning.kind === 'integer' && !meaning.signed
  const signed =
    ([INT32, INT64, FLOAT, DOUBLE, BOOLEAN] as readonly (number | undefined)[]).includes(element.type) && !unsigned
  const sortable = element.type !== PhysicalType.INT96 && meaning.kind !== 'float16' && meaning.kind !== 'unknown'
  // Without a column order the meaning of bounds is undefined, except where only one order makes sense.
  return { current: sortable && (order?.typeOrder === true || (order === undefined && signed)), deprecated: signed }
}

/**
 * What a row group says of a flat column, in the unit of its inferred type. Bounds that cannot be trusted are null: NaN, a
 * wrong length, an unknown order, the smallest above the largest. Inexact (truncated) bounds are still bounds.
 */
export function boundsOfChunk(
  leaf: LeafNode,
  statistics: Statistics | undefined,
  order: ColumnOrder | undefined,
  rows: number,
): ColumnBounds {
  const { current, deprecated } = orderOf(leaf, order)
  const usesCurrent = current && (statistics?.minValue !== undefined || statistics?.maxValue !== undefined)
  const min = usesCurrent ? statistics?.minValue : deprecated ? statistics?.min : undefined
  const max = usesCurrent ? statistics?.maxValue : deprecated ? statistics?.max : undefined
  const nullCount = leaf.definition === 0 ? 0 : (statistics?.nullCount ?? null)
  return bounds(leaf, min, max, nullCount, rows)
}

/** The same of one page, from the column index. */
export function boundsOfPage(
  leaf: LeafNode,
  min: Uint8Array,
  max: Uint8Array,
  nullCount: number | null,
  order: ColumnOrder | undefined,
  rows: number,
): ColumnBounds {
  const { current } = orderOf(leaf, order)
  return bounds(leaf, current ? min : undefined, current ? max : undefined, leaf.definition === 0 ? 0 : nullCount, rows)
}

function bounds(
  leaf: LeafNode,
  minBytes: Uint8Array | undefined,
  maxBytes: Uint8Array | undefined,
  nullCount: number | null,
  rows: number,
): ColumnBounds {
  const min = minBytes === undefined ? null : decodeBound(leaf, minBytes)
  const max = maxBytes === undefined ? null : decodeBound(leaf, maxBytes)
  const crossed = min !== null && max !== null && compareScalars(min, max) > 0
  const { type } = leaf.element
  const mayHoldNaN = type === PhysicalType.FLOAT || type === PhysicalType.DOUBLE
  const known = nullCount !== null && nullCount >= 0 && nullCount <= rows ? nullCount : null
  return {
    min: crossed ? null : min,
    max: crossed ? null : max,
    nullCount: known,
    rows,
    ...(mayHoldNaN && { mayHoldNaN }),
  }
}

/** A bound in the unit of the leaf's inferred type; null when its bytes do not fit or it is NaN. */
export function decodeBound(leaf: LeafNode, bytes: Uint8Array): Scalar | null {
  const { meaning, element } = leaf
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (element.type) {
    case PhysicalType.BOOLEAN:
      return bytes.length === 1 && bytes[0]! <= 1 ? bytes[0]! : null
    case PhysicalType.INT32: {
      if (bytes.length !== 4) return null
      const unsigned = meaning.kind === 'integer' && !meaning.signed
      const value = unsigned ? view.getUint32(0, true) : view.getInt32(0, true)
      return leaf.type.kind === 'bigint' || leaf.type.kind === 'decimal' ? BigInt(value) : value
    }
    case PhysicalType.INT64:
      if (bytes.length !== 8) return null
      return meaning.kind === 'integer' && !meaning.signed ? view.getBigUint64(0, true) : view.getBigInt64(0, true)
    case PhysicalType.FLOAT:
      return bytes.length === 4 ? numberOrNull(view.getFloat32(0, true)) : null
    case PhysicalType.DOUBLE:
      return bytes.length === 8 ? numberOrNull(view.getFloat64(0, true)) : null
    case PhysicalType.BYTE_ARRAY:
    case PhysicalType.FIXED_LEN_BYTE_ARRAY:
      return meaning.kind === 'decimal' ? bigEndian(bytes) : bytes
    default:
      return null
  }
}

function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
}

/** Two's complement, highest byte first; null beyond 128 bits. */
function bigEndian(bytes: Uint8Array): bigint | null {
  if (bytes.length === 0 || bytes.length > 16) return null
  let value = BigInt((bytes[0]! << 24) >> 24)
  for (let i = 1; i < bytes.length; i++) value = (value << 8n) | BigInt(bytes[i]!)
  return value
}

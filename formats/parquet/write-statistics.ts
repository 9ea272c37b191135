import type { Scalar } from '../column/column.ts'
import type { DataType } from '../types/row-type.ts'
import { BoundaryOrder, PhysicalType, type SchemaElement, type Statistics } from './footer.ts'

/** How the values of a leaf compare, and so what its bounds mean; `none`: no bounds are written. */
export type BoundOrder = 'boolean' | 'int32' | 'int64' | 'float' | 'double' | 'bytes' | 'signed-bytes' | 'none'

/**
 * Smallest and largest value in PLAIN form without length prefix, over the values that are not null. `none`: no such value.
 * `unknown`: values, but no bounds (INT96, or a NaN among them, which has no place in the order).
 */
export type Bounds =
  | { readonly kind: 'none' | 'unknown' }
  | { readonly kind: 'known'; readonly min: Uint8Array; readonly max: Uint8Array }

export const NO_VALUES: Bounds = { kind: 'none' }
export const UNKNOWN_BOUNDS: Bounds = { kind: 'unknown' }

/** Longest bounds in the page index and in chunks; longer text is cut, and then chunks say that the bound is not exact. */
const PAGE_BOUND_BYTES = 64
const CHUNK_BOUND_BYTES = 1024

/** The order that the format gives to a leaf (TYPE_ORDER). */
export function orderOf(element: SchemaElement): BoundOrder {
  switch (element.type) {
    case PhysicalType.BOOLEAN:
      return 'boolean'
    case PhysicalType.INT32:
      return 'int32'
    case PhysicalType.INT64:
      return 'int64'
    case PhysicalType.FLOAT:
      return 'float'
    case PhysicalType.DOUBLE:
      return 'double'
    case PhysicalType.BYTE_ARRAY:
      return 'bytes'
    case PhysicalType.FIXED_LEN_BYTE_ARRAY:
      return element.logicalType?.decimal ? 'signed-bytes' : 'bytes'
    default:
      return 'none'
  }
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Negative when `a` is before `b`. */
function compareBounds(order: BoundOrder, a: Uint8Array, b: Uint8Array): number {
  switch (order) {
    case 'boolean':
      return a[0]! - b[0]!
    case 'int32':
      return view(a).getInt32(0, true) - view(b).getInt32(0, true)
    case 'int64': {
      const left = view(a).getBigInt64(0, true)
      const right = view(b).getBigInt64(0, true)
      return left < right ? -1 : left > right ? 1 : 0
    }
    case 'float':
      return view(a).getFloat32(0, true) - view(b).getFloat32(0, true)
    case 'double': {
      // No subtraction: infinities of one sign would give NaN.
      const left = view(a).getFloat64(0, true)
      const right = view(b).getFloat64(0, true)
      return left < right ? -1 : left > right ? 1 : 0
    }
    default:
      return compareBytes(a, b, order === 'signed-bytes' ? 0x80 : 0)
  }
}

/** Unsigned bytes, shorter first; `flip` of 0x80 makes the first byte signed (two's complement of one width, big-endian). */
function compareBytes(a: Uint8Array, b: Uint8Array, flip: number): number {
  const shared = Math.min(a.length, b.length)
  if (shared > 0 && a[0] !== b[0]) return (a[0]! ^ flip) - (b[0]! ^ flip)
  for (let i = 1; i < shared; i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}

/** Bounds over both. */
export function mergeBounds(order: BoundOrder, a: Bounds, b: Bounds): Bounds {
  if (a.kind !== 'known') return a.kind === 'none' ? b : a
  if (b.kind !== 'known') return b.kind === 'none' ? a : b
  return {
    kind: 'known',
    min: compareBounds(order, a.min, b.min) <= 0 ? a.min : b.min,
    max: compareBounds(order, a.max, b.max) >= 0 ? a.max : b.max,
  }
}

/** Statistics of a chunk. The deprecated `min` and `max` are given where old readers understand them: signed numbers. */
export function chunkStatistics(order: BoundOrder, bounds: Bounds, nullCount: number, isText: boolean): Statistics {
  if (bounds.kind !== 'known') return { nullCount }
  const minValue = cutMin(bounds.min, CHUNK_BOUND_BYTES, order, isText)
  const maxValue = cutMax(bounds.max, CHUNK_BOUND_BYTES, order, isText)
  const signed = order !== 'bytes' && order !== 'signed-bytes'
  return {
    ...(signed ? { min: minValue, max: maxValue } : {}),
    nullCount,
    maxValue,
    minValue,
    // As Java, say nothing where bounds are exact.
    ...(maxValue === bounds.max ? {} : { isMaxValueExact: false }),
    ...(minValue === bounds.min ? {} : { isMinValueExact: false }),
  }
}

/** A lower bound for the page index, cut where the order allows it. */
export function pageMin(order: BoundOrder, min: Uint8Array, isText: boolean): Uint8Array {
  return cutMin(min, PAGE_BOUND_BYTES, order, isText)
}

/** An upper bound for the page index: cut and raised, or the maximum itself where nothing shorter is above it. */
export function pageMax(order: BoundOrder, max: Uint8Array, isText: boolean): Uint8Array {
  return cutMax(max, PAGE_BOUND_BYTES, order, isText)
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

function cutMin(min: Uint8Array, length: number, order: BoundOrder, isText: boolean): Uint8Array {
  if (order !== 'bytes' || min.length <= length) return min
  let end = length
  while (isText && end > 0 && isContinuation(min[end]!)) end--
  return min.slice(0, end)
}

function cutMax(max: Uint8Array, length: number, order: BoundOrder, isText: boolean): Uint8Array {
  if (order !== 'bytes' || max.length <= length) return max
  return (isText ? nextText(max, length) : nextBytes(max, length)) ?? max
}

/** The first `length` bytes plus one; bytes of 0xff fall away. */
function nextBytes(max: Uint8Array, length: number): Uint8Array | undefined {
  for (let end = length; end > 0; end--) {
    if (max[end - 1] === 0xff) continue
    const next = max.slice(0, end)
    next[end - 1]!++
    return next
  }
  return undefined
}

/** The same in code points, since readers decode text bounds; the order of UTF-8 bytes is that of code points. */
function nextText(max: Uint8Array, length: number): Uint8Array | undefined {
  let end = length
  while (end > 0 && isContinuation(max[end]!)) end--
  while (end > 0) {
    let start = end - 1
    while (start > 0 && isContinuation(max[start]!)) start--
    const last = new TextDecoder().decode(max.subarray(start, end)).codePointAt(0)!
    // Surrogates are not characters; nothing follows the last code point.
    const next = last === 0xd7ff ? 0xe000 : last + 1
    if (next <= 0x10ffff) {
      const tail = new TextEncoder().encode(String.fromCodePoint(next))
      const result = new Uint8Array(start + tail.length)
      result.set(max.subarray(0, start))
      result.set(tail, start)
      return result
    }
    end = start
  }
  return undefined
}

/** Whether page bounds, in file order and without pages of nulls, rise, fall, or neither. Rising wins where both hold. */
export function boundaryOrder(order: BoundOrder, mins: readonly Uint8Array[], maxs: readonly Uint8Array[]): number {
  let rising = true
  let falling = true
  for (let i = 1; i < mins.length; i++) {
    const min = compareBounds(order, mins[i - 1]!, mins[i]!)
    const max = compareBounds(order, maxs[i - 1]!, maxs[i]!)
    if (min > 0 || max > 0) rising = false
    if (min < 0 || max < 0) falling = false
  }
  return rising ? BoundaryOrder.ASCENDING : falling ? BoundaryOrder.DESCENDING : BoundaryOrder.UNORDERED
}

/** A bound in the unit of its column: see `Scalar`. */
export function boundScalar(order: BoundOrder, bound: Uint8Array, type: DataType): Scalar {
  switch (order) {
    case 'boolean':
      return bound[0]!
    case 'int32': {
      const value = view(bound).getInt32(0, true)
      return type.kind === 'decimal' ? BigInt(value) : value
    }
    case 'int64':
      return view(bound).getBigInt64(0, true)
    case 'float':
      return view(bound).getFloat32(0, true)
    case 'double':
      return view(bound).getFloat64(0, true)
    case 'signed-bytes': {
      let value = 0n
      for (const byte of bound) value = (value << 8n) | BigInt(byte)
      return BigInt.asIntN(bound.length * 8, value)
    }
    default:
      return bound
  }
}

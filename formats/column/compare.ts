import type { Column, FixedColumn, Scalar } from './column.ts'

/** Orders two byte ranges by unsigned bytes, the shorter first: UTF-8 text then follows code points. */
export function compareRanges(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const shared = Math.min(aEnd - aStart, bEnd - bStart)
  for (let i = 0; i < shared; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!
    if (difference !== 0) return difference
  }
  return aEnd - aStart - (bEnd - bStart)
}

/**
 * Orders two values of one column: bytes unsigned, numbers by value. -0.0 equals 0.0; NaN equals NaN and is above all other
 * numbers. A number and a bigint compare exactly.
 */
export function compareScalars(a: Scalar, b: Scalar): number {
  if (a instanceof Uint8Array) return compareRanges(a, 0, a.length, b as Uint8Array, 0, (b as Uint8Array).length)
  const other = b as number | bigint
  if (a < other) return -1
  if (a > other) return 1
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1
  return Number.isNaN(b) ? -1 : 0
}

/** Value of a row of a flat column, null for null. Bytes are a view. A call per row allocates: not for hot loops. */
export function scalarAt(column: Column, row: number): Scalar | null {
  if (column.valid !== undefined && column.valid[row] === 0) return null
  switch (column.kind) {
    case 'fixed':
      return (column as FixedColumn).values[row]!
    case 'wide':
      return (column.values[row * 2 + 1]! << 64n) | BigInt.asUintN(64, column.values[row * 2]!)
    case 'bytes':
      return column.data.subarray(column.offsets[row], column.offsets[row + 1])
    default:
      throw new TypeError(`a ${column.kind} column has no scalars`)
  }
}

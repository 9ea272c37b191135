import type { BytesColumn, Column, FixedColumn, WideColumn } from './column.ts'
import { compareRanges } from './compare.ts'

/** Orders row `a` of one column and row `b` of another of the same type, neither of them null: negative, zero, positive. */
export type RowOrder = (left: Column, a: number, right: Column, b: number) => number

/**
 * The order of the values of a flat column's kind: numbers by value, bytes unsigned. As in Java, -0.0 is below 0.0, and NaN, which
 * equals itself, above all numbers. Throws a TypeError for nested columns.
 */
export function rowOrderOf(column: Column): RowOrder {
  switch (column.kind) {
    case 'bytes':
      return compareBytes
    case 'wide':
      return compareWide
    case 'fixed':
      if (column.values instanceof BigInt64Array) return compareInt64
      if (column.values instanceof Float64Array || column.values instanceof Float32Array) return compareFloats
      return compareInts
    default:
      throw new TypeError(`a ${column.kind} column has no order`)
  }
}

/** True when a row holds no value. */
export function isNull(column: Column, row: number): boolean {
  return column.valid !== undefined && column.valid[row] === 0
}

function compareBytes(left: Column, a: number, right: Column, b: number): number {
  const [x, y] = [left as BytesColumn, right as BytesColumn]
  return compareRanges(x.data, x.offsets[a]!, x.offsets[a + 1]!, y.data, y.offsets[b]!, y.offsets[b + 1]!)
}

function compareWide(left: Column, a: number, right: Column, b: number): number {
  const [x, y] = [(left as WideColumn).values, (right as WideColumn).values]
  if (x[a * 2 + 1] !== y[b * 2 + 1]) return x[a * 2 + 1]! < y[b * 2 + 1]! ? -1 : 1
  const [low, other] = [BigInt.asUintN(64, x[a * 2]!), BigInt.asUintN(64, y[b * 2]!)]
  return low < other ? -1 : low > other ? 1 : 0
}

function compareInt64(left: Column, a: number, right: Column, b: number): number {
  const x = ((left as FixedColumn).values as BigInt64Array)[a]!
  const y = ((right as FixedColumn).values as BigInt64Array)[b]!
  return x < y ? -1 : x > y ? 1 : 0
}

function compareInts(left: Column, a: number, right: Column, b: number): number {
  return ((left as FixedColumn).values as Int32Array)[a]! - ((right as FixedColumn).values as Int32Array)[b]!
}

function compareFloats(left: Column, a: number, right: Column, b: number): number {
  const x = ((left as FixedColumn).values as Float64Array)[a]!
  const y = ((right as FixedColumn).values as Float64Array)[b]!
  if (x < y) return -1
  if (x > y) return 1
  if (x === y) return Number(Object.is(y, -0)) - Number(Object.is(x, -0))
  return Number(Number.isNaN(x)) - Number(Number.isNaN(y))
}

import type { BytesColumn, Column, Scalar } from './column.ts'
import { compareRanges, compareScalars, scalarAt } from './compare.ts'
import type { Predicate } from './predicate-tree.ts'

export const FALSE = 0
export const UNKNOWN = 1
export const TRUE = 2

type Comparison = Extract<Predicate, { readonly op: 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge' }>
type Leaf = Comparison | Extract<Predicate, { readonly op: 'in' }>

/** Truth of a comparison for each row, nulls not looked at yet. One loop a storage and direction. */
export function leafTruth(leaf: Leaf, column: Column, rows: number): Uint8Array {
  const truths = new Uint8Array(rows)
  if (leaf.op === 'in') {
    const sorted = [...leaf.values].sort(compareScalars)
    if (sorted.length === 0) return truths
    if (sorted.length === 1) return leafTruth({ op: 'eq', column: leaf.column, value: sorted[0]! }, column, rows)
    for (let i = 0; i < rows; i++) truths[i] = isIn(column, i, sorted) ? TRUE : FALSE
    return truths
  }
  const table = outcomes(leaf.op)
  const { value } = leaf
  if (column.kind === 'bytes') {
    if (!(value instanceof Uint8Array)) throw mismatch(leaf)
    compareBytes(column, value, table, truths)
  } else if (column.kind === 'wide') {
    if (value instanceof Uint8Array) throw mismatch(leaf)
    for (let i = 0; i < rows; i++) truths[i] = outcome(table, compareScalars(wideAt(column.values, i), value))
  } else if (column.kind === 'fixed') {
    if (value instanceof Uint8Array) throw mismatch(leaf)
    const { values } = column
    if (values instanceof BigInt64Array) compareInt64(values, value, table, truths)
    else
      compareNumbers(
        values instanceof Int32Array || values instanceof Float64Array ? values : new Float64Array(values),
        value,
        table,
        truths,
      )
  } else throw new TypeError(`column ${JSON.stringify(leaf.column)} is nested: it cannot be compared`)
  return truths
}

/** Truth for a value that is below, at, above the literal. */
type Table = readonly [below: number, equal: number, above: number]

function outcomes(op: Comparison['op']): Table {
  switch (op) {
    case 'eq':
      return [FALSE, TRUE, FALSE]
    case 'ne':
      return [TRUE, FALSE, TRUE]
    case 'lt':
      return [TRUE, FALSE, FALSE]
    case 'le':
      return [TRUE, TRUE, FALSE]
    case 'gt':
      return [FALSE, FALSE, TRUE]
    case 'ge':
      return [FALSE, TRUE, TRUE]
  }
}

function outcome([below, equal, above]: Table, order: number): number {
  return order < 0 ? below : order > 0 ? above : equal
}

function mismatch(leaf: Leaf): TypeError {
  return new TypeError(`the literal for column ${JSON.stringify(leaf.column)} has the wrong type`)
}

/** The literal as a number when it compares the same; a bigint beyond 2^53 and a fraction beside integers stay exact in JS. */
function compareNumbers(
  values: Int32Array | Float64Array,
  literal: number | bigint,
  table: Table,
  truths: Uint8Array,
): void {
  const [below, equal, above] = table
  if (typeof literal === 'bigint' && BigInt(Number(literal)) !== literal) {
    for (let i = 0; i < truths.length; i++) truths[i] = outcome(table, compareScalars(values[i]!, literal))
    return
  }
  const value = Number(literal)
  if (Number.isNaN(value)) {
    for (let i = 0; i < truths.length; i++) truths[i] = Number.isNaN(values[i]) ? equal : below
  } else if (values instanceof Int32Array) {
    for (let i = 0; i < truths.length; i++) {
      const item = values[i]!
      truths[i] = item < value ? below : item === value ? equal : above
    }
  } else {
    for (let i = 0; i < truths.length; i++) {
      const item = values[i]!
      truths[i] = item < value ? below : item === value ? equal : above // NaN: above
    }
  }
}

function compareInt64(values: BigInt64Array, literal: number | bigint, table: Table, truths: Uint8Array): void {
  const [below, equal, above] = table
  const whole = typeof literal === 'bigint' || Number.isInteger(literal)
  if (!whole || BigInt.asIntN(64, BigInt(literal)) !== BigInt(literal)) {
    for (let i = 0; i < truths.length; i++) truths[i] = outcome(table, compareScalars(values[i]!, literal))
    return
  }
  // A typed slot keeps the comparison free of bigint objects.
  const slot = BigInt64Array.of(BigInt(literal))
  for (let i = 0; i < truths.length; i++) {
    truths[i] = values[i]! < slot[0]! ? below : values[i]! > slot[0]! ? above : equal
  }
}

function compareBytes(column: BytesColumn, literal: Uint8Array, table: Table, truths: Uint8Array): void {
  const { data, offsets } = column
  const [below, equal, above] = table
  for (let i = 0; i < truths.length; i++) {
    const order = compareRanges(data, offsets[i]!, offsets[i + 1]!, literal, 0, literal.length)
    truths[i] = order < 0 ? below : order > 0 ? above : equal
  }
}

function wideAt(values: BigInt64Array, row: number): bigint {
  return (values[row * 2 + 1]! << 64n) | BigInt.asUintN(64, values[row * 2]!)
}

/** Binary search. */
function isIn(column: Column, row: number, sorted: readonly Scalar[]): boolean {
  const value = scalarAt(column, row)
  if (value === null) return false
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = compareScalars(sorted[middle]!, value)
    if (order === 0) return true
    if (order < 0) low = middle + 1
    else high = middle
  }
  return false
}

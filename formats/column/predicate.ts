import type { Batch, Column, Scalar } from './column.ts'
import { compareScalars } from './compare.ts'
import { FALSE, leafTruth, TRUE, UNKNOWN } from './predicate-kernels.ts'
import type { ColumnBounds, Predicate } from './predicate-tree.ts'

/**
 * Rows of a batch for which the predicate is true, ascending. SQL nulls; bytes by unsigned bytes; -0.0 = 0.0; NaN = NaN and
 * above every other number, so that `not (v <= x)` and `v > x` agree. Throws a RangeError for a column the batch lacks and a
 * TypeError for nested columns. One pass over each column named, in typed loops.
 */
export function select(predicate: Predicate, batch: Batch): Uint32Array {
  const truths = truthOf(predicate, batch)
  const rows = new Uint32Array(batch.rows)
  let count = 0
  for (let row = 0; row < rows.length; row++) if (truths[row] === TRUE) rows[count++] = row
  return rows.subarray(0, count)
}

/** Names of the columns a predicate looks at, each once. */
export function columnsOf(predicate: Predicate): readonly string[] {
  const names = new Set<string>()
  const visit = (node: Predicate): void => {
    if ('children' in node) node.children.forEach(visit)
    else if ('child' in node) visit(node.child)
    else names.add(node.column)
  }
  visit(predicate)
  return [...names]
}

/**
 * May a file, row group or page hold a row for which the predicate is true? False only when it surely does not.
 *
 * Unknown columns, null bounds and NaN bounds keep. Set `mayHoldNaN` for FLOAT and DOUBLE: writers leave NaN out of bounds, and
 * NaN is above every maximum.
 */
export function mightMatch(predicate: Predicate, bounds: (column: string) => ColumnBounds | undefined): boolean {
  return might(predicate, false, bounds)
}

/** Truth values are ordered false < unknown < true, so AND is the minimum, OR the maximum, NOT the mirror image. */
function truthOf(predicate: Predicate, batch: Batch): Uint8Array {
  switch (predicate.op) {
    case 'and': {
      const result = new Uint8Array(batch.rows).fill(TRUE)
      for (const child of predicate.children) {
        const truths = truthOf(child, batch)
        for (let i = 0; i < result.length; i++) if (truths[i]! < result[i]!) result[i] = truths[i]!
      }
      return result
    }
    case 'or': {
      const result = new Uint8Array(batch.rows).fill(FALSE)
      for (const child of predicate.children) {
        const truths = truthOf(child, batch)
        for (let i = 0; i < result.length; i++) if (truths[i]! > result[i]!) result[i] = truths[i]!
      }
      return result
    }
    case 'not': {
      const result = truthOf(predicate.child, batch)
      for (let i = 0; i < result.length; i++) result[i] = TRUE - result[i]!
      return result
    }
    case 'isNull':
    case 'isNotNull': {
      const { valid } = columnNamed(batch, predicate.column)
      const whenNull = predicate.op === 'isNull' ? TRUE : FALSE
      const result = new Uint8Array(batch.rows).fill(TRUE - whenNull)
      if (valid !== undefined) for (let i = 0; i < result.length; i++) if (valid[i] === 0) result[i] = whenNull
      return result
    }
    default: {
      const column = columnNamed(batch, predicate.column)
      const result = leafTruth(predicate, column, batch.rows)
      const { valid } = column
      if (valid !== undefined) for (let i = 0; i < result.length; i++) if (valid[i] === 0) result[i] = UNKNOWN
      return result
    }
  }
}

function columnNamed(batch: Batch, name: string): Column {
  const index = batch.fields.findIndex((field) => field.name === name)
  if (index < 0) throw new RangeError(`the batch has no column ${JSON.stringify(name)}`)
  return batch.columns[index]!
}

/** NOT is pushed down to the leaves, which is exact in three-valued logic. */
function might(node: Predicate, negated: boolean, bounds: (column: string) => ColumnBounds | undefined): boolean {
  switch (node.op) {
    case 'not':
      return might(node.child, !negated, bounds)
    case 'and':
    case 'or': {
      const all = (node.op === 'and') !== negated
      const test = (child: Predicate) => might(child, negated, bounds)
      return all ? node.children.every(test) : node.children.some(test)
    }
    default: {
      const known = bounds(node.column)
      return known === undefined || leafMight(node, negated, known)
    }
  }
}

type Leaf = Exclude<Predicate, { readonly op: 'and' | 'or' | 'not' }>
type Comparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

const opposite = { eq: 'ne', ne: 'eq', lt: 'ge', le: 'gt', gt: 'le', ge: 'lt' } as const satisfies Record<
  Comparison,
  Comparison
>

function leafMight(node: Leaf, negated: boolean, known: ColumnBounds): boolean {
  if (!('value' in node) && !('values' in node)) {
    const wantsNull = (node.op === 'isNull') !== negated
    return known.nullCount === null || (wantsNull ? known.nullCount > 0 : known.nullCount < known.rows)
  }
  if (known.nullCount !== null && known.nullCount >= known.rows) return false
  if ('values' in node) {
    const test = (value: Scalar) => comparisonMight(negated ? 'ne' : 'eq', value, known)
    return negated ? node.values.every(test) : node.values.some(test)
  }
  return comparisonMight(negated ? opposite[node.op] : node.op, node.value, known)
}

function comparisonMight(op: Comparison, value: Scalar, known: ColumnBounds): boolean {
  const min = usable(known.min)
  // NaN is above every other number, so it may be a value that the maximum does not tell of.
  const max = known.mayHoldNaN === true ? null : usable(known.max)
  switch (op) {
    case 'eq': {
      if (min !== null && compareScalars(value, min) < 0) return false
      const top = typeof value === 'number' && Number.isNaN(value) ? max : usable(known.max)
      return top === null || compareScalars(value, top) <= 0
    }
    case 'ne':
      return min === null || max === null || compareScalars(min, value) !== 0 || compareScalars(max, value) !== 0
    case 'lt':
      return min === null || compareScalars(min, value) < 0
    case 'le':
      return min === null || compareScalars(min, value) <= 0
    case 'gt':
      return max === null || compareScalars(max, value) > 0
    case 'ge':
      return max === null || compareScalars(max, value) >= 0
  }
}

function usable(bound: Scalar | null): Scalar | null {
  return typeof bound === 'number' && Number.isNaN(bound) ? null : bound
}

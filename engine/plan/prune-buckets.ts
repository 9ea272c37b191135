import { createColumnBuilder } from '../../formats/column/builder.ts'
import { BytesBuilder } from '../../formats/column/bytes-builder.ts'
import { type Column, type Scalar, storageOf } from '../../formats/column/column.ts'
import { compareScalars } from '../../formats/column/compare.ts'
import { FixedBuilder, WideBuilder } from '../../formats/column/fixed-builders.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { DataType, Field } from '../../formats/types/row-type.ts'
import { type BucketFunction, bucketing } from './bucket.ts'
import { conjuncts } from './prune.ts'

/** More combinations than this are not worth hashing: all buckets are read. */
const MAX_KEYS = 1000

/** Buckets that may hold matching rows, for a partition written with so many buckets; null = any. */
export type BucketsOf = (totalBuckets: number) => ReadonlySet<number> | null

/**
 * Which buckets a filter can be met in: when it fixes all bucket key columns by `=` or `in`, also inside AND and OR, the
 * keys are hashed as the writer did. Partitions may differ in their number of buckets, so the answer is a function of it;
 * dynamic buckets (a total below 1) tell nothing.
 */
export function bucketsOf(filter: Predicate, bucketKey: readonly Field[], kind: BucketFunction): BucketsOf {
  const keys = fixedKeys(filter, bucketKey)
  const types = bucketKey.map((field) => field.type)
  const columns = keys === null ? null : toColumns(keys, types)
  const answers = new Map<number, ReadonlySet<number>>()
  return (totalBuckets) => {
    if (keys === null || columns === null || totalBuckets < 1) return null
    let answer = answers.get(totalBuckets)
    if (answer === undefined) {
      answer = new Set(bucketing(kind, types, totalBuckets)(columns, keys.length))
      answers.set(totalBuckets, answer)
    }
    return answer
  }
}

type Key = readonly Scalar[]

/** All bucket keys that a matching row may have, or null when the filter leaves a column open. */
function fixedKeys(filter: Predicate, bucketKey: readonly Field[]): readonly Key[] | null {
  if (bucketKey.length === 0) return null
  if (filter.op === 'or') {
    const keys: Key[] = []
    for (const child of filter.children) {
      const own = fixedKeys(child, bucketKey)
      if (own === null || keys.length + own.length > MAX_KEYS) return null
      keys.push(...own)
    }
    return keys
  }
  const parts = conjuncts(filter)
  let best = combinations(parts, bucketKey)
  // One part of an AND may fix all columns tighter by itself: (a = 1 and b = 2 or a = 3 and b = 4) and c > 5.
  for (const part of filter.op === 'and' ? parts : []) {
    const own = part.op === 'or' ? fixedKeys(part, bucketKey) : null
    if (own !== null && (best === null || own.length < best.length)) best = own
  }
  return best
}

/** All combinations of the values that the parts leave to each column. */
function combinations(parts: readonly Predicate[], bucketKey: readonly Field[]): readonly Key[] | null {
  let keys: readonly Key[] = [[]]
  for (const field of bucketKey) {
    const values = fixedValues(parts, field.name)
    if (values === null || keys.length * values.length > MAX_KEYS) return null
    keys = keys.flatMap((key) => values.map((value) => [...key, value]))
  }
  return keys
}

/** The values that all parts together leave to a column; null = not fixed. */
function fixedValues(parts: readonly Predicate[], column: string): readonly Scalar[] | null {
  let values: readonly Scalar[] | null = null
  for (const part of parts) {
    const own = valuesOf(part, column)
    if (own === null) continue
    values = values === null ? own : values.filter((value) => own.some((other) => compareScalars(value, other) === 0))
  }
  return values
}

function valuesOf(part: Predicate, column: string): readonly Scalar[] | null {
  switch (part.op) {
    case 'eq':
      return part.column === column ? [part.value] : null
    case 'in':
      return part.column === column ? part.values : null
    case 'or': {
      const values = part.children.map((child) => fixedValues(conjuncts(child), column))
      return values.some((own) => own === null) ? null : values.flatMap((own) => own ?? [])
    }
    default:
      return null
  }
}

/** Keys as columns, or null when a literal is not in the unit of its column, so that nothing can be said. */
function toColumns(keys: readonly Key[], types: readonly DataType[]): readonly Column[] | null {
  const columns: Column[] = []
  for (const [i, type] of types.entries()) {
    const storage = storageOf(type)
    if (storage === 'nested') return null
    const builder = createColumnBuilder(type)
    for (const key of keys) {
      const value = key[i]
      if (builder instanceof BytesBuilder && value instanceof Uint8Array) builder.push(value)
      else if (builder instanceof WideBuilder && typeof value === 'bigint') builder.push(value)
      else if (builder instanceof FixedBuilder && storage === 'int64' && typeof value === 'bigint')
        builder.pushBigInt(value)
      // Floating keys hold no -0.0, which equals 0.0 and hashes differently.
      else if (builder instanceof FixedBuilder && storage !== 'int64' && typeof value === 'number')
        builder.pushNumber(value + 0)
      else return null
    }
    columns.push(builder.view())
  }
  return columns
}

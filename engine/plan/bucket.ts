import { type Column, storageOf } from '../../formats/column/column.ts'
import { hashColumns } from '../../formats/row/hash.ts'
import { describeType } from '../../formats/types/parse.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { hiveHash, hiveHashable } from './hive-hash.ts'

/** Values of option `bucket-function.type`. */
export const bucketFunctions = ['default', 'mod', 'hive'] as const

export type BucketFunction = (typeof bucketFunctions)[number]

/** Bucket of every row of a batch, from its bucket key columns. */
export type Bucketing = (columns: readonly Column[], rows: number) => Int32Array

/** Bucket of a Murmur hash: the absolute value of its remainder, whose sign is that of the hash. */
export function bucketOfHash(hash: number, buckets: number): number {
  return Math.abs(hash % buckets)
}

/**
 * How a table with a fixed number of buckets spreads rows; `types` are those of the bucket key, or of the trimmed primary key
 * where no bucket key is set. Every engine that writes the table must agree, or a key lookup looks in the wrong bucket.
 *
 *   default  |murmur(BinaryRow) rem n|
 *   mod      floorMod(value, n), for one INT or BIGINT column
 *   hive     (31 * h + hash(column) ...) & 0x7fffffff mod n
 *
 * Throws INVALID when the function cannot take these types.
 */
export function bucketing(kind: BucketFunction, types: readonly DataType[], buckets: number): Bucketing {
  switch (kind) {
    case 'default':
      return (columns, rows) => {
        const result = hashColumns(types, columns, rows)
        if (buckets === 1) return result.fill(0)
        for (let i = 0; i < rows; i++) result[i] = Math.abs(result[i]! % buckets)
        return result
      }
    case 'mod': {
      const [type] = types
      if (types.length !== 1 || type === undefined || (type.kind !== 'int' && type.kind !== 'bigint')) {
        throw refused(kind, 'one bucket key column of type INT or BIGINT', types)
      }
      return modBuckets(type, buckets)
    }
    case 'hive': {
      if (!types.every(hiveHashable)) throw refused(kind, 'bucket key columns without TIME and TIMESTAMP', types)
      return (columns, rows) => {
        const result = hiveHash(types, columns, rows)
        for (let i = 0; i < rows; i++) result[i] = (result[i]! & 0x7fffffff) % buckets
        return result
      }
    }
  }
}

function modBuckets(type: DataType, buckets: number): Bucketing {
  if (storageOf(type) === 'int32') {
    return ([column], rows) => {
      const values = fixedValues(column) as Int32Array
      const result = new Int32Array(rows)
      for (let i = 0; i < rows; i++) {
        const rest = values[i]! % buckets
        result[i] = rest < 0 ? rest + buckets : rest
      }
      return result
    }
  }
  const divisor = BigInt(buckets)
  return ([column], rows) => {
    const values = fixedValues(column) as BigInt64Array
    const result = new Int32Array(rows)
    for (let i = 0; i < rows; i++) {
      const rest = Number(values[i]! % divisor)
      result[i] = rest < 0 ? rest + buckets : rest
    }
    return result
  }
}

function fixedValues(column: Column | undefined) {
  if (column?.kind !== 'fixed') throw new TableError('INTERNAL', 'bucket key column is not of a fixed width')
  return column.values
}

function refused(kind: BucketFunction, needed: string, types: readonly DataType[]): TableError {
  return new TableError(
    'INVALID',
    `bucket-function.type=${kind} needs ${needed}, but the bucket key is (${types.map(describeType).join(', ')}). ` +
      'Choose another bucket key or bucket-function.type=default.',
    { option: 'bucket-function.type', value: kind },
  )
}

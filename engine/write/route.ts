import type { Batch, Column } from '../../formats/column/column.ts'
import type { TableSchema } from '../../formats/meta/types.ts'
import { serializeRow, serializeRowAt } from '../../formats/row/binary-row.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import type { ResolvedOptions } from '../options/resolve.ts'
import { type Bucketing, bucketing } from '../plan/bucket.ts'
import { fieldNamed, partitionFields, trimmedPrimaryKey } from '../plan/kv-layout.ts'

/** Rows of a batch that belong to one bucket; `rows` undefined = all of them. */
export interface Route {
  readonly partition: Uint8Array
  readonly bucket: number
  readonly rows: Uint32Array | undefined
}

/** Splits batches of all columns of a table by partition and bucket. */
export type Router = (batch: Batch) => readonly Route[]

/** The partition of a table that has no partition keys. */
const NO_PARTITION: Uint8Array = serializeRow([], [])

/** The columns that choose a bucket: `bucket-key`, else the trimmed primary key. */
export function bucketKeyFields(schema: TableSchema, options: ResolvedOptions) {
  const names = options['bucket-key']
  return names === undefined ? trimmedPrimaryKey(schema) : names.map((name) => fieldNamed(schema, name))
}

/** The router of a table with fixed buckets. */
export function createRouter(schema: TableSchema, options: ResolvedOptions): Router {
  const indexOf = (name: string) => schema.fields.findIndex((field) => field.name === name)
  const keys = bucketKeyFields(schema, options)
  const keyIndexes = keys.map((field) => indexOf(field.name))
  const bucketOf = bucketing(
    options['bucket-function.type'],
    keys.map((field) => field.type),
    options.bucket,
  )
  const partitions = partitionFields(schema)
  const partitionIndexes = partitions.map((field) => indexOf(field.name))
  const partitionTypes = partitions.map((field) => field.type)
  return (batch) => {
    const keyColumns = keyIndexes.map((index) => batch.columns[index]!)
    if (partitions.length === 0) return byBucket(batch, NO_PARTITION, undefined, keyColumns, bucketOf, options.bucket)
    const columns = partitionIndexes.map((index) => batch.columns[index]!)
    return byPartition(batch, columns, partitionTypes).flatMap(({ partition, rows }) =>
      byBucket(batch, partition, rows, keyColumns, bucketOf, options.bucket),
    )
  }
}

function byBucket(
  batch: Batch,
  partition: Uint8Array,
  rows: Uint32Array | undefined,
  keys: readonly Column[],
  bucketOf: Bucketing,
  buckets: number,
): readonly Route[] {
  if (buckets === 1) return [{ partition, bucket: 0, rows }]
  const bucketOfRow = bucketOf(keys, batch.rows)
  const selected = rows ?? Uint32Array.from({ length: batch.rows }, (_, row) => row)
  const counts = new Uint32Array(buckets)
  for (const row of selected) counts[bucketOfRow[row]!]!++
  const routes: { partition: Uint8Array; bucket: number; rows: Uint32Array }[] = []
  const target: (Uint32Array | undefined)[] = []
  for (let bucket = 0; bucket < buckets; bucket++) {
    if (counts[bucket] === 0) continue
    target[bucket] = new Uint32Array(counts[bucket]!)
    routes.push({ partition, bucket, rows: target[bucket]! })
  }
  counts.fill(0)
  for (const row of selected) {
    const bucket = bucketOfRow[row]!
    target[bucket]![counts[bucket]!++] = row
  }
  return routes
}

/** Rows by partition, in the order the partitions appear. */
function byPartition(
  batch: Batch,
  columns: readonly Column[],
  types: readonly DataType[],
): readonly { readonly partition: Uint8Array; readonly rows: Uint32Array }[] {
  const groups = new Map<string, { partition: Uint8Array; rows: number[] }>()
  for (let row = 0; row < batch.rows; row++) {
    const partition = serializeRowAt(types, columns, row)
    const id = Buffer.from(partition.buffer, partition.byteOffset, partition.byteLength).toString('latin1')
    const group = groups.get(id)
    if (group === undefined) groups.set(id, { partition, rows: [row] })
    else group.rows.push(row)
  }
  return [...groups.values()].map(({ partition, rows }) => ({ partition, rows: Uint32Array.from(rows) }))
}

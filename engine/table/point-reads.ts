import type { Batch, Scalar } from '../../formats/column/column.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { serializeRow, serializeRowAt } from '../../formats/row/binary-row.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { keyAt } from '../api/keys.ts'
import { TableError } from '../errors.ts'
import { type Bucketing, bucketing } from '../plan/bucket.ts'
import { partitionId } from '../plan/entry-id.ts'
import { partitionFields, trimmedPrimaryKey } from '../plan/kv-layout.ts'
import { buildLevels, type Levels } from '../plan/levels.ts'
import type { FoundRow } from '../read/blocks.ts'
import { type Lookup, lookUp } from '../read/lookup.ts'
import { DataFileReader } from '../store/data-reader.ts'
import { bucketOf, type TableView } from '../store/view.ts'
import type { BufferedRows } from '../tasks/task.ts'
import type { BucketWriter } from '../write/bucket-writer.ts'
import { DELETE } from '../write/buffer.ts'
import { bucketKeyFields } from '../write/route.ts'
import type { TableWriter } from '../write/writer.ts'
import type { TableCore } from './core.ts'

/** A row of a batch whose fields start with `offset` columns that are not the table's. */
export interface PointRow extends FoundRow {
  readonly offset: number
}

/** The partition of a table that has no partition keys. */
const NO_PARTITION = serializeRow([], [])

/** Fixed buckets of a partition that hold files, and how many it was written with. */
interface PartitionBuckets {
  readonly buckets: readonly number[]
  readonly total: number
}

/** Answers `get`: which bucket, then memory, then files, newest first. */
export class PointReads {
  readonly #core: TableCore
  readonly #partitionIndexes: readonly number[]
  readonly #keyIndexes: readonly number[]
  readonly #bucketKeyIndexes: readonly number[]
  readonly #bucketings = new Map<number, Bucketing>()
  readonly #levels = new WeakMap<object, Levels>()
  readonly #cacheKeys = new WeakMap<DataFile, string>()
  readonly #partitions = new WeakMap<TableView, Map<string, PartitionBuckets>>()

  /** `keyFields` are the columns of the batches that `find` is given. */
  constructor(core: TableCore, keyFields: readonly Field[]) {
    this.#core = core
    const indexOf = (field: Field) => keyFields.findIndex((candidate) => candidate.id === field.id)
    this.#partitionIndexes = partitionFields(core.schema).map(indexOf)
    this.#keyIndexes = trimmedPrimaryKey(core.schema).map(indexOf)
    this.#bucketKeyIndexes = bucketKeyFields(core.schema, core.options).map(indexOf)
  }

  /** The row of each key, in the order of the batch; undefined = there is none. */
  find(keys: Batch, writer: TableWriter | undefined, view: TableView | undefined): readonly (PointRow | undefined)[] {
    const { partitionTypes, layout } = this.#core
    // A partition column outside the primary key: the key does not say where its row is.
    const anyPartition = this.#partitionIndexes.includes(-1)
    const columns = anyPartition ? [] : this.#partitionIndexes.map((index) => keys.columns[index]!)
    const bucketsBy = new Map<number, Int32Array>()
    const rows: (PointRow | undefined)[] = []
    for (let row = 0; row < keys.rows; row++) {
      const key = keyAt(keys, this.#keyIndexes, row)
      const serialized = serializeRow(layout.keyTypes, key)
      if (anyPartition) {
        rows.push(this.#findInPartitions(key, serialized, view))
        continue
      }
      const partition = columns.length === 0 ? NO_PARTITION : serializeRowAt(partitionTypes, columns, row)
      const { total } = this.#bucketsOf(partition, view)
      if (total === 1) {
        rows.push(this.#findIn(partition, 0, key, serialized, writer, view))
      } else if (total > 0) {
        let buckets = bucketsBy.get(total)
        if (buckets === undefined) {
          buckets = this.#buckets(keys, total)
          bucketsBy.set(total, buckets)
        }
        rows.push(this.#findIn(partition, buckets[row]!, key, serialized, writer, view))
      } else {
        rows.push(this.#findAnywhere(partition, key, serialized, view))
      }
    }
    return rows
  }

  #findIn(
    partition: Uint8Array,
    bucket: number,
    key: readonly Scalar[],
    serialized: Uint8Array,
    writer: TableWriter | undefined,
    view: TableView | undefined,
  ): PointRow | undefined {
    const state = writer?.find(partition, bucket)
    if (state !== undefined) {
      const buffered = inMemory(state, serialized)
      if (buffered !== undefined) return buffered.deleted ? undefined : buffered.row
    }
    const levels = state?.levels ?? this.#levelsOf(partition, bucket, view)
    if (levels === undefined) return undefined
    const found = lookUp(levels.runs, key, serialized, this.#lookup(partition, bucket))
    return found && { ...found, offset: this.#core.layout.firstValue }
  }

  /** Dynamic buckets: only an index of all keys knows the bucket, so each bucket of the partition is asked. */
  #findAnywhere(
    partition: Uint8Array,
    key: readonly Scalar[],
    serialized: Uint8Array,
    view: TableView | undefined,
  ): PointRow | undefined {
    for (const bucket of this.#bucketsOf(partition, view).buckets) {
      const found = this.#findIn(partition, bucket, key, serialized, undefined, view)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Its writers keep a key in one partition, so the first row found is the only one. */
  #findInPartitions(key: readonly Scalar[], serialized: Uint8Array, view: TableView | undefined): PointRow | undefined {
    for (const { partition } of view?.partitions.values() ?? []) {
      const found = this.#findAnywhere(partition, key, serialized, view)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Buckets are chosen by the number the partition was written with, whatever the option says now. */
  #bucketsOf(partition: Uint8Array, view: TableView | undefined): PartitionBuckets {
    if (view === undefined) return { buckets: [], total: this.#core.options.bucket }
    const known = this.#partitions.get(view) ?? new Map<string, PartitionBuckets>()
    this.#partitions.set(view, known)
    const id = partitionId(partition)
    let found = known.get(id)
    if (found === undefined) {
      const all = view.partitions.get(id)?.buckets
      const buckets = [...(all?.keys() ?? [])].filter((bucket) => bucket >= 0)
      const total = buckets.length === 0 ? this.#core.options.bucket : all!.get(buckets[0]!)!.totalBuckets
      found = { buckets, total }
      known.set(id, found)
    }
    return found
  }

  #buckets(keys: Batch, total: number): Int32Array {
    let bucketOfKeys = this.#bucketings.get(total)
    if (bucketOfKeys === undefined) {
      const types = bucketKeyFields(this.#core.schema, this.#core.options).map((field) => field.type)
      bucketOfKeys = bucketing(this.#core.options['bucket-function.type'], types, total)
      this.#bucketings.set(total, bucketOfKeys)
    }
    return bucketOfKeys(
      this.#bucketKeyIndexes.map((index) => keys.columns[index]!),
      keys.rows,
    )
  }

  #levelsOf(partition: Uint8Array, bucket: number, view: TableView | undefined): Levels | undefined {
    const files = view && bucketOf(view, partition, bucket)
    if (files === undefined) return undefined
    const known = this.#levels.get(files)
    if (known !== undefined) return known
    const levels = buildLevels(files.files, this.#core.options['num-levels'], this.#core.compareKeys)
    this.#levels.set(files, levels)
    return levels
  }

  #lookup(partition: Uint8Array, bucket: number): Lookup {
    const { store, services, layout, compareKeys, dataPaths } = this.#core
    return {
      layout,
      compareKeys,
      cache: services.blocks,
      cacheKey: (file) => {
        let key = this.#cacheKeys.get(file)
        if (key === undefined) {
          key = `${store.paths.table} ${file.name} ${this.#core.schema.id}`
          this.#cacheKeys.set(file, key)
        }
        return key
      },
      open: (file, prune, batchRows) => {
        const path = dataPaths.dataFile(partition, bucket, file)
        const fileSchema = this.#core.schemaOf(file.schemaId)
        if (fileSchema === undefined) {
          throw new TableError('CORRUPT', `${path} was written with schema ${file.schemaId}, which the table lacks.`, {
            path,
          })
        }
        return new DataFileReader(store.fs, store.codecs, {
          file,
          path,
          fileSchema,
          layout,
          prune,
          batchRows,
          footers: services.footers,
        })
      },
    }
  }
}

/** The newest uncommitted row of a key that no file holds yet. */
function inMemory(bucket: BucketWriter, key: Uint8Array): { deleted: boolean; row: PointRow } | undefined {
  const buffers = [...bucket.flushing.map((flushing) => flushing.buffer), ...(bucket.buffer ? [bucket.buffer] : [])]
  for (let index = buffers.length - 1; index >= 0; index--) {
    const row = buffers[index]!.find(key)
    if (row < 0) continue
    const rows: BufferedRows = buffers[index]!.view()
    return { deleted: rows.kinds[row] === DELETE, row: { batch: rows.values, row, offset: 0 } }
  }
  return undefined
}

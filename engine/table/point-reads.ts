import type { Batch, Column, Scalar } from '../../formats/column/column.ts'
import { compareKeys, keysOf } from '../../formats/column/key-order.ts'
import { scalarColumn } from '../../formats/column/values.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { deserializeRow, serializeRow } from '../../formats/row/binary-row.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { keyAt } from '../api/keys.ts'
import { TableError } from '../errors.ts'
import { type Bucketing, bucketing } from '../plan/bucket.ts'
import { partitionFields, trimmedPrimaryKey } from '../plan/kv-layout.ts'
import type { Levels } from '../plan/levels.ts'
import { type LookupRun, lookUp, lookupRuns } from '../read/lookup.ts'
import { type FileRow, LookupFile, type LookupTable, type OpenFile } from '../read/lookup-file.ts'
import { DataFileReader } from '../store/data-reader.ts'
import type { TableView } from '../store/view.ts'
import type { BucketWriter } from '../write/bucket-writer.ts'
import { DELETE } from '../write/buffer.ts'
import { bucketKeyFields } from '../write/route.ts'
import type { TableWriter } from '../write/writer.ts'
import type { TableCore } from './core.ts'
import { type BucketPlace, Places } from './places.ts'

/** A row that no file holds yet, in a batch of the columns of the table. */
interface MemoryRow {
  readonly batch: Batch
  readonly row: number
}

/** A row that was found: in memory, or in a file, where its columns may still have to be decoded. */
export type PointRow = MemoryRow | FileRow

/** What to look in. Without a writer only committed rows are seen. */
export interface PointSource {
  readonly writer: TableWriter | undefined
  readonly view: TableView | undefined
}

type Find = (file: LookupFile, key: readonly Scalar[]) => FileRow | undefined

const findOne: Find = (file, key) => file.find(key)

/** Answers `get`: which bucket, then memory, then files, newest first. */
export class PointReads {
  readonly #core: TableCore
  readonly #places: Places
  readonly #keyIndexes: readonly number[]
  readonly #partitionIndexes: readonly number[]
  readonly #bucketKey: readonly { readonly field: Field; readonly index: number }[]
  readonly #bucketings = new Map<number, Bucketing>()
  readonly #runs = new WeakMap<Levels, readonly LookupRun[]>()
  readonly #files = new WeakMap<DataFile, LookupFile>()
  readonly #table: LookupTable

  /** `keyFields` are the columns of the keys that are looked up. */
  constructor(core: TableCore, keyFields: readonly Field[]) {
    this.#core = core
    this.#places = new Places(core)
    const indexOf = (field: Field) => keyFields.findIndex((candidate) => candidate.id === field.id)
    this.#keyIndexes = trimmedPrimaryKey(core.schema).map(indexOf)
    this.#partitionIndexes = partitionFields(core.schema).map(indexOf)
    this.#bucketKey = bucketKeyFields(core.schema, core.options).map((field) => ({ field, index: indexOf(field) }))
    const { store, services, layout, schema } = core
    this.#table = {
      layout,
      narrow: core.narrowLayout,
      cache: services.blocks,
      nameOf: (file) => `${store.paths.table} ${file.name} ${schema.id}`,
    }
  }

  /** The row of a key, of which all columns of the primary key are given; undefined = there is none. `wanted` as `columns`. */
  find(key: readonly Scalar[], wanted: readonly number[], source: PointSource): PointRow | undefined {
    return this.#find(key, (total) => this.#bucketOf(key, total), wanted, source, findOne)
  }

  /** `find` for each key of a batch, in its order. Keys are looked up in ascending order, so that no page is decoded twice. */
  findMany(keys: Batch, wanted: readonly number[], source: PointSource): readonly (PointRow | undefined)[] {
    const rows: (PointRow | undefined)[] = new Array(keys.rows).fill(undefined)
    const columns = this.#keyIndexes.map((index) => keys.columns[index]!)
    const all = keys.columns.map((_, index) => index)
    const finders = new Map<LookupFile, (key: readonly Scalar[]) => FileRow | undefined>()
    const findNext: Find = (file, key) => {
      let finder = finders.get(file)
      if (finder === undefined) {
        finder = file.finder()
        finders.set(file, finder)
      }
      return finder(key)
    }
    const bucketsBy = new Map<number, Int32Array>()
    const bucketsOf = (total: number): Int32Array => {
      let buckets = bucketsBy.get(total)
      if (buckets === undefined) {
        const bucketColumns = this.#bucketKey.map(({ index }) => keys.columns[index]!)
        buckets = this.#bucketing(total)(bucketColumns, keys.rows)
        bucketsBy.set(total, buckets)
      }
      return buckets
    }
    for (const row of inKeyOrder(columns, this.#core.layout.keyTypes, keys.rows)) {
      const key = keyAt(keys, all, row)
      rows[row] = this.#find(key, (total) => bucketsOf(total)[row]!, wanted, source, findNext)
    }
    return rows
  }

  /** Columns of a row by their positions in the table: those of a file are decoded now, if they are not yet. */
  columns(found: PointRow, indexes: readonly number[]): readonly Column[] {
    if ('batch' in found) return indexes.map((index) => found.batch.columns[index]!)
    return found.file.columns(found.block, this.#inFile(indexes))
  }

  #inFile(indexes: readonly number[]): readonly number[] {
    return indexes.map((index) => index + this.#core.layout.firstValue)
  }

  #find(
    given: readonly Scalar[],
    bucketOf: (total: number) => number,
    wanted: readonly number[],
    { writer, view }: PointSource,
    find: Find,
  ): PointRow | undefined {
    const key = given.length === this.#keyIndexes.length ? given : this.#keyIndexes.map((index) => given[index]!)
    // A partition column outside the primary key: the key does not say where its row is.
    if (this.#partitionIndexes.includes(-1)) {
      for (const place of this.#places.ofView(view)) {
        const found = this.#findIn(place, key, wanted, undefined, find)
        if (found !== undefined) return found
      }
      return undefined
    }
    const values = this.#partitionIndexes.map((index) => given[index]!)
    const partition = this.#places.ofPartition(values, view)
    if (partition.total > 0) {
      const place = partition.bucket(partition.total === 1 ? 0 : bucketOf(partition.total))
      return this.#findIn(place, key, wanted, writer, find)
    }
    // Dynamic buckets: only an index of all keys knows the bucket, so each bucket of the partition is asked.
    for (const place of partition.buckets) {
      const found = this.#findIn(place, key, wanted, undefined, find)
      if (found !== undefined) return found
    }
    return undefined
  }

  #findIn(
    place: BucketPlace,
    key: readonly Scalar[],
    wanted: readonly number[],
    writer: TableWriter | undefined,
    find: Find,
  ): PointRow | undefined {
    const { layout } = this.#core
    const state = writer?.find(place.id)
    if (state?.holdsRows === true) {
      const buffered = inMemory(state, serializeRow(layout.keyTypes, key))
      if (buffered !== undefined) return buffered.deleted ? undefined : buffered.row
    }
    const levels = state?.levels ?? place.levels
    return levels && lookUp(this.#runsOf(levels, place), key, layout, this.#inFile(wanted), find)
  }

  #runsOf(levels: Levels, place: BucketPlace): readonly LookupRun[] {
    let runs = this.#runs.get(levels)
    if (runs === undefined) {
      const open = this.#opener(place)
      runs = lookupRuns(levels.runs, (file) => this.#fileOf(file, open))
      this.#runs.set(levels, runs)
    }
    return runs
  }

  #fileOf(file: DataFile, open: OpenFile): LookupFile {
    let found = this.#files.get(file)
    if (found === undefined) {
      const { keyTypes } = this.#core.layout
      const minKey = deserializeRow(keyTypes, file.minKey) as readonly Scalar[]
      const maxKey = deserializeRow(keyTypes, file.maxKey) as readonly Scalar[]
      found = new LookupFile(file, { minKey, maxKey }, this.#table, open)
      this.#files.set(file, found)
    }
    return found
  }

  #opener({ partition, bucket }: BucketPlace): OpenFile {
    const { store, services, dataPaths } = this.#core
    return (file, read) => {
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
        footers: services.footers,
        ...read,
      })
    }
  }

  #bucketOf(key: readonly Scalar[], total: number): number {
    const columns = this.#bucketKey.map(({ field, index }) => scalarColumn(field.type, key[index]!))
    return this.#bucketing(total)(columns, 1)[0]!
  }

  #bucketing(total: number): Bucketing {
    let bucketOfKeys = this.#bucketings.get(total)
    if (bucketOfKeys === undefined) {
      const types = this.#bucketKey.map(({ field }) => field.type)
      bucketOfKeys = bucketing(this.#core.options['bucket-function.type'], types, total)
      this.#bucketings.set(total, bucketOfKeys)
    }
    return bucketOfKeys
  }
}

/** Positions of the keys, smallest key first. */
function inKeyOrder(columns: readonly Column[], types: KeyTypes, rows: number): Uint32Array {
  const order = Uint32Array.from({ length: rows }, (_, row) => row)
  const keys = keysOf(columns, types, rows)
  let sorted = true
  for (let row = 1; row < rows && sorted; row++) sorted = compareKeys(keys, row - 1, keys, row) <= 0
  return sorted ? order : order.sort((a, b) => compareKeys(keys, a, keys, b))
}

type KeyTypes = Parameters<typeof keysOf>[1]

/** The newest uncommitted row of a key that no file holds yet. */
function inMemory(bucket: BucketWriter, key: Uint8Array): { deleted: boolean; row: MemoryRow } | undefined {
  const buffers = [...bucket.flushing.map((flushing) => flushing.buffer), ...(bucket.buffer ? [bucket.buffer] : [])]
  for (let index = buffers.length - 1; index >= 0; index--) {
    const row = buffers[index]!.find(key)
    if (row < 0) continue
    const rows = buffers[index]!.view()
    return { deleted: rows.kinds[row] === DELETE, row: { batch: rows.values, row } }
  }
  return undefined
}

import type { Batch, Column, Scalar } from '../../formats/column/column.ts'
import { compareKeys, keysOf } from '../../formats/column/key-order.ts'
import { scalarColumn } from '../../formats/column/values.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { serializeRow } from '../../formats/row/binary-row.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { createMergeEngine } from '../merge/engines/create.ts'
import type { MergeEngine } from '../merge/reduce.ts'
import { isPlain } from '../options/merge-spec.ts'
import { type Bucketing, bucketing } from '../plan/bucket.ts'
import { narrowLayout, partitionFields, trimmedPrimaryKey } from '../plan/kv-layout.ts'
import { filesOf, type Levels } from '../plan/levels.ts'
import { type LookupRun, lookUp, lookupRuns } from '../read/lookup.ts'
import { lookUpMany } from '../read/lookup-many.ts'
import { lookUpMerged, type MergedRow } from '../read/lookup-merged.ts'
import { DataFileReader } from '../store/data-reader.ts'
import { type FileRow, LookupFile, type LookupFolder, type LookupTable } from '../store/lookup-file.ts'
import { indexFolder } from '../store/paths.ts'
import { readVector } from '../store/vectors.ts'
import type { TableView } from '../store/view.ts'
import type { BucketWriter } from '../write/bucket-writer.ts'
import { bucketKeyFields } from '../write/route.ts'
import type { TableWriter } from '../write/writer.ts'
import type { TableCore } from './core.ts'
import { inMemory, keyAt, recordsInMemory } from './memory-rows.ts'
import { type BucketPlace, Places } from './places.ts'

/** A row that was found: in memory, or in a file, where its columns may still have to be decoded. */
export type PointRow = MergedRow | FileRow

/** What to look in. Without a writer only committed rows are seen. */
export interface PointSource {
  readonly writer: TableWriter | undefined
  readonly view: TableView | undefined
}

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

  /** Set where more than the newest record of a key counts. */
  readonly #engine: MergeEngine | undefined

  /** `keyFields` are the columns of the keys that are looked up. */
  constructor(core: TableCore, keyFields: readonly Field[]) {
    this.#core = core
    this.#places = new Places(core)
    const indexOf = (field: Field) => keyFields.findIndex((candidate) => candidate.id === field.id)
    this.#keyIndexes = trimmedPrimaryKey(core.schema).map(indexOf)
    this.#partitionIndexes = partitionFields(core.schema).map(indexOf)
    this.#bucketKey = bucketKeyFields(core.schema, core.options).map((field) => ({ field, index: indexOf(field) }))
    const { store, services, layout, schema, spec } = core
    this.#engine = isPlain(spec) ? undefined : createMergeEngine(layout, spec)
    this.#table = {
      layout,
      narrow: (indexes) => narrowLayout(schema, layout, indexes),
      cache: services.blocks,
      nameOf: (file) => `${store.paths.table} ${file.name} ${schema.id}`,
    }
  }

  /** The row of a key, of which all columns of the primary key are given; undefined = there is none. `wanted` as `columns`. */
  find(given: readonly Scalar[], wanted: readonly number[], source: PointSource): PointRow | undefined {
    const key = given.length === this.#keyIndexes.length ? given : this.#keyIndexes.map((index) => given[index]!)
    for (const place of this.#placesOf(given, source.view)) {
      const found = this.#findIn(place, key, wanted, source)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** `find` for each key of a batch, in its order. Keys are looked up in ascending order, so that no page is decoded twice. */
  findMany(keys: Batch, wanted: readonly number[], { writer, view }: PointSource): readonly (PointRow | undefined)[] {
    const found: (PointRow | undefined)[] = new Array(keys.rows).fill(undefined)
    const { layout } = this.#core
    const columns = this.#keyIndexes.map((index) => keys.columns[index]!)
    for (const [place, rows] of this.#byPlace(keys, inKeyOrder(columns, layout.keyTypes, keys.rows), view)) {
      const state = writer?.find(place.id)
      if (this.#engine !== undefined) {
        this.#merge(this.#engine, place, state, columns, rows, found)
        continue
      }
      const pending = state?.holdsRows === true ? this.#notInMemory(state, columns, rows, found) : rows
      const levels = state?.readable ?? place.levels
      if (levels === undefined) continue
      const inFiles: (FileRow | undefined)[] = []
      lookUpMany(this.#runsOf(levels, place), columns, pending, layout, this.#inFile(wanted), inFiles)
      for (const row of pending) found[row] ??= inFiles[row]
    }
    return found
  }

  /** Those of the rows that memory knows nothing of; the others are in `found`, unless they are deleted. */
  #notInMemory(
    state: BucketWriter,
    columns: readonly Column[],
    rows: readonly number[],
    found: (PointRow | undefined)[],
  ): readonly number[] {
    return rows.filter((row) => {
      const buffered = inMemory(state, serializeRow(this.#core.layout.keyTypes, keyAt(columns, row)))
      if (buffered !== undefined && !buffered.deleted) found[row] = buffered.row
      return buffered === undefined
    })
  }

  /** The rows of a batch of keys by the buckets where they may be. */
  #byPlace(keys: Batch, order: number[], view: TableView | undefined): Map<BucketPlace, number[]> {
    const groups = new Map<BucketPlace, number[]>()
    const partitioned = this.#partitionIndexes.length > 0
    const whole = partitioned ? undefined : this.#places.ofPartition([], view)
    if (whole?.total === 1) return groups.set(whole.bucket(0), order)
    const add = (place: BucketPlace, row: number): void => {
      const rows = groups.get(place)
      if (rows === undefined) groups.set(place, [row])
      else rows.push(row)
    }
    const bucketsBy = new Map<number, Int32Array>()
    const bucketsOf = (total: number): Int32Array => {
      let buckets = bucketsBy.get(total)
      if (buckets === undefined) {
        const columns = this.#bucketKey.map(({ index }) => keys.columns[index]!)
        buckets = this.#bucketing(total)(columns, keys.rows)
        bucketsBy.set(total, buckets)
      }
      return buckets
    }
    for (const row of order) {
      const given = keyAt(keys.columns, row)
      for (const place of this.#placesOf(given, view, (total) => bucketsOf(total)[row]!)) add(place, row)
    }
    return groups
  }

  /** Columns of a row by their positions in the table: those of a file are decoded now, if they are not yet. */
  columns(found: PointRow, indexes: readonly number[]): readonly Column[] {
    if ('batch' in found) return indexes.map((index) => found.batch.columns[index]!)
    return found.file.columns(found.block, this.#inFile(indexes))
  }

  #inFile(indexes: readonly number[]): readonly number[] {
    return indexes.map((index) => index + this.#core.layout.firstValue)
  }

  /** Where a key may be: one bucket where the key tells it. */
  #placesOf(
    given: readonly Scalar[],
    view: TableView | undefined,
    bucketOf = (total: number): number => this.#bucketOf(given, total),
  ): Iterable<BucketPlace> {
    // A partition column outside the primary key: the key does not say where its row is.
    if (this.#partitionIndexes.includes(-1)) return this.#places.ofView(view)
    const values = this.#partitionIndexes.map((index) => given[index]!)
    const partition = this.#places.ofPartition(values, view)
    if (partition.total === 1) return partition.only
    // Dynamic buckets: only an index of all keys knows the bucket, so each bucket of the partition is asked.
    return partition.total > 0 ? [partition.bucket(bucketOf(partition.total))] : partition.buckets
  }

  #findIn(
    place: BucketPlace,
    key: readonly Scalar[],
    wanted: readonly number[],
    { writer }: PointSource,
  ): PointRow | undefined {
    const { layout } = this.#core
    const state = writer?.find(place.id)
    if (this.#engine !== undefined) {
      const columns = layout.keyTypes.map((type, index) => scalarColumn(type, key[index]!))
      const found: (PointRow | undefined)[] = []
      this.#merge(this.#engine, place, state, columns, [0], found)
      return found[0]
    }
    if (state?.holdsRows === true) {
      const buffered = inMemory(state, serializeRow(layout.keyTypes, key))
      if (buffered !== undefined) return buffered.deleted ? undefined : buffered.row
    }
    const levels = state?.readable ?? place.levels
    return levels && lookUp(this.#runsOf(levels, place), key, layout, this.#inFile(wanted))
  }

  #merge(
    engine: MergeEngine,
    place: BucketPlace,
    state: BucketWriter | undefined,
    keys: readonly Column[],
    rows: readonly number[],
    found: (PointRow | undefined)[],
  ): void {
    const { layout } = this.#core
    const levels = state?.readable ?? place.levels
    const upperRowsAreWhole = levels !== undefined && this.#core.upperRowsAreWhole(filesOf(levels))
    const runs = levels === undefined ? [] : this.#runsOf(levels, place)
    const memory = state?.holdsRows === true ? recordsInMemory(state, keys, rows, layout, engine) : []
    lookUpMerged({ runs, memory, layout, engine, upperRowsAreWhole }, keys, rows, found)
  }

  #runsOf(levels: Levels, place: BucketPlace): readonly LookupRun[] {
    let runs = this.#runs.get(levels)
    if (runs === undefined) {
      const folder = this.#folderOf(place)
      runs = lookupRuns(levels.runs, (file) => this.#fileOf(file, folder))
      this.#runs.set(levels, runs)
    }
    return runs
  }

  #fileOf(file: DataFile, folder: LookupFolder): LookupFile {
    let found = this.#files.get(file)
    if (found === undefined) {
      found = new LookupFile(file, this.#table, folder)
      this.#files.set(file, found)
    }
    return found
  }

  #folderOf({ partition, bucket }: BucketPlace): LookupFolder {
    const { store, services, dataPaths, schema } = this.#core
    const open: LookupFolder['open'] = (file, read) => {
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
    const indexes = indexFolder(store.paths.indexes, dataPaths.bucketFolder(partition, bucket), schema)
    return { open, deletedOf: (file) => readVector(store.fs, indexes, file) }
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
function inKeyOrder(columns: readonly Column[], types: KeyTypes, rows: number): number[] {
  const order: number[] = []
  for (let row = 0; row < rows; row++) order.push(row)
  const keys = keysOf(columns, types, rows)
  let sorted = true
  for (let row = 1; row < rows && sorted; row++) sorted = compareKeys(keys, row - 1, keys, row) <= 0
  return sorted ? order : order.sort((a, b) => compareKeys(keys, a, keys, b))
}

type KeyTypes = Parameters<typeof keysOf>[1]

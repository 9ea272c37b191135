import { bucketId } from '../../engine/plan/entry-id.ts'
import { kvLayout } from '../../engine/plan/kv-layout.ts'
import type { FileSystem } from '../../engine/ports/file-system.ts'
import { DataFileReader } from '../../engine/store/data-reader.ts'
import { indexFolder } from '../../engine/store/paths.ts'
import { dataPathsOf, openTableStore, type TableStore } from '../../engine/store/table-store.ts'
import { readVector } from '../../engine/store/vectors.ts'
import { type BucketView, bucketsOf, loadView, type TableView } from '../../engine/store/view.ts'
import type { Table } from '../../engine/table/table.ts'
import type { Warehouse } from '../../engine/warehouse.ts'
import { scalarAt } from '../../formats/column/compare.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import type { DataFile, TableSchema } from '../../formats/meta/types.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { filesOfSnapshot } from '../support/table-files.ts'
import { openAlone } from '../support/warehouses.ts'
import { COLUMNS, type Content, contentOf, type SimRow } from './tables.ts'

/** A record of a data file. */
export interface FileRecord {
  readonly k: number
  readonly sequence: bigint
  readonly deletes: boolean
  readonly values: readonly (number | null)[]
}

export const FOLDER = '/w'
export const TABLE = 'db.t'
export const TABLE_FOLDER = `${FOLDER}/db.db/t`

/**
 * Reads a table behind the back of the processes: beside the scheduler, with caches of its own. It merges records by the one rule that the
 * newest wins, knowing nothing of levels, windows and heads, so that what the engine reads can be compared with something.
 */
export class Observer {
  readonly store: TableStore
  readonly #warehouse: Warehouse
  readonly #records = new Map<string, readonly FileRecord[]>()
  #known: { readonly schema: TableSchema; readonly folder: (bucket: BucketView) => string } | undefined
  #table: Promise<Table> | undefined

  constructor(fs: FileSystem) {
    const random = seededRandom(0)
    this.store = openTableStore({ fs, random }, loadCodecs(), TABLE_FOLDER)
    this.#warehouse = openAlone(FOLDER, { fs, random, clock: stoppedClock, readOnly: true, tempDirectory: '/tmp' })
  }

  async view(id: number): Promise<TableView> {
    return loadView(this.store, await this.store.snapshots.read(id))
  }

  get schema(): Promise<TableSchema> {
    return this.#schema().then(({ schema }) => schema)
  }

  /** Every file that a snapshot names, its own too. */
  async named(view: TableView): Promise<ReadonlySet<string>> {
    return new Set([...(await filesOfSnapshot(this.store, view.snapshot)), this.store.snapshots.path(view.snapshot.id)])
  }

  /** What a scan of a snapshot gives. */
  async scanned(id: number): Promise<Content> {
    this.#table ??= this.#warehouse.table(TABLE)
    return contentOf((await (await this.#table).scan({ snapshot: id }).toArray()) as Iterable<SimRow>)
  }

  /** What the changes between two snapshots make of a content. */
  async changed(from: number, to: number, before: Content): Promise<Content> {
    const content = new Map(before)
    this.#table ??= this.#warehouse.table(TABLE)
    for await (const { kinds, rows } of (await this.#table).changes({ from, to })) {
      for (const [at, row] of (rows as unknown as readonly SimRow[]).entries()) {
        for (const column of COLUMNS.keys()) content.delete(2 * row.k + column)
        if (kinds[at] === '+I' || kinds[at] === '+U')
          for (const [cell, value] of contentOf([row])) content.set(cell, value)
      }
    }
    return content
  }

  /** What the files of a snapshot hold, or those of them that `reads` lets through. */
  async merged(view: TableView, reads: (file: DataFile) => boolean = () => true): Promise<Content> {
    const { schema } = await this.#schema()
    const partial = schema.options['merge-engine'] === 'partial-update'
    const records: FileRecord[] = []
    for (const bucket of bucketsOf(view)) {
      for (const file of bucket.files.filter(reads)) records.push(...(await this.#left(bucket, file)))
    }
    records.sort((a, b) => (a.sequence < b.sequence ? -1 : a.sequence > b.sequence ? 1 : 0))
    const content = new Map<number, number>()
    for (const { k, deletes, values } of records) {
      for (const [column, value] of values.entries()) {
        if (value !== null && !deletes) content.set(2 * k + column, value)
        else if (!partial) content.delete(2 * k + column)
      }
    }
    return content
  }

  /** All records of a file, in its order. */
  async records(bucket: BucketView, file: DataFile): Promise<readonly FileRecord[]> {
    const { schema, folder } = await this.#schema()
    const path = `${folder(bucket)}/${file.name}`
    const known = this.#records.get(path)
    if (known !== undefined) return known
    const layout = kvLayout(schema)
    const column = (name: string) => layout.firstValue + layout.values.findIndex((field) => field.name === name)
    const reader = new DataFileReader(this.store.fs, this.store.codecs, {
      file,
      path,
      fileSchema: schema,
      layout,
      batchRows: 1024,
    })
    const records: FileRecord[] = []
    for (const { columns, rows } of reader.batches()) {
      const value = (index: number, row: number) => scalarAt(columns[index]!, row) as number | null
      for (let row = 0; row < rows; row++) {
        records.push({
          k: value(column('k'), row)!,
          sequence: scalarAt(columns[layout.sequence]!, row) as bigint,
          deletes: value(layout.kind, row) === 3 || value(layout.kind, row) === 1,
          values: COLUMNS.map((name) => value(column(name), row)),
        })
      }
    }
    reader.close()
    this.#records.set(path, records)
    return records
  }

  /** Those of its records that no deletion vector marks. */
  async #left(bucket: BucketView, file: DataFile): Promise<readonly FileRecord[]> {
    const records = await this.records(bucket, file)
    const { schema, folder } = await this.#schema()
    const indexes = indexFolder(this.store.paths.indexes, folder(bucket), schema)
    const deleted = readVector(this.store.fs, indexes, file)
    return deleted === undefined ? records : records.filter((_, row) => !deleted.includes(row))
  }

  /** The schema, which no process changes, and where it puts buckets. */
  async #schema() {
    if (this.#known !== undefined) return this.#known
    const schema = await this.store.schemas.latest()
    const paths = dataPathsOf(this.store.paths, schema)
    this.#known = { schema, folder: ({ partition, bucket }) => paths.bucketFolder(partition, bucket) }
    return this.#known
  }

  async close(): Promise<void> {
    await this.#warehouse.close()
  }
}

/** The files of each bucket. */
export function filesByBucket(view: TableView): ReadonlyMap<string, BucketView> {
  return new Map([...bucketsOf(view)].map((bucket) => [bucketId(bucket), bucket]))
}

const stoppedClock = { now: () => 0, offsetMinutes: () => 0, sleep: () => new Promise<void>(() => undefined) }

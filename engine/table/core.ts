import type { DataFile, Snapshot, TableSchema } from '../../formats/meta/types.ts'
import { rowCompare } from '../../formats/row/key-compare.ts'
import { describeType } from '../../formats/types/parse.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { unsupportedType } from '../api/unsupported-type.ts'
import { TableError } from '../errors.ts'
import { checkReadable, checkWritable } from '../options/check.ts'
import { isPlain, type MergeSpec, mergeSpec } from '../options/merge-spec.ts'
import { type ResolvedOptions, resolve } from '../options/resolve.ts'
import type { MadeFile } from '../plan/increment.ts'
import { type KvLayout, kvLayout, partitionFields } from '../plan/kv-layout.ts'
import { partitionPaths } from '../plan/partition.ts'
import { type Rewriter, rewriterOf } from '../plan/rewriter.ts'
import { type SchemaChange, type SchemaUse, schemaChange, schemaConflict } from '../plan/schema-change.ts'
import { type Switched, switchedTooEarly, upperRowsAreWhole } from '../plan/switched.ts'
import type { KeyCompare } from '../plan/types.ts'
import type { Clock } from '../ports/clock.ts'
import type { PointCache } from '../store/blocks.ts'
import type { FooterCache } from '../store/data-reader.ts'
import { type DataPaths, indexFolder } from '../store/paths.ts'
import { Pins } from '../store/pins.ts'
import type { PageShelves } from '../store/shelf.ts'
import { dataPathsOf, type TableStore } from '../store/table-store.ts'
import { Unsynced } from '../store/unsynced.ts'
import { advanceView, type BucketView, bucketOf, bucketsOf, loadView, type TableView } from '../store/view.ts'
import type { TaskContext } from '../tasks/context.ts'
import type { TaskExecutor } from '../tasks/submit.ts'
import type { TaskTable } from '../tasks/task.ts'
import { TableEmitter } from './events.ts'
import { FilePins } from './file-pins.ts'
import { TaskFiles } from './task-files.ts'

/** What the warehouse lends to its tables. */
export interface TableServices {
  readonly clock: Clock
  readonly executor: TaskExecutor
  readonly blocks: PointCache
  /** Footers of data files, in the same memory as `blocks`. */
  readonly footers: FooterCache
  /** Pages of ranges that were read on this thread, in the same memory. */
  readonly pages: PageShelves
  /** False: every task goes to the executor, however small. */
  readonly smallTasks?: boolean | undefined
  readonly durable: boolean
  readonly tempDirectory: string
}

/**
 * State of one table in this process: its files, the snapshot it is looking at, and who reads what. Handles of one path share
 * one core. It changes in synchronous steps on the main thread; reading files is the only thing it waits for.
 */
export class TableCore {
  /** `db.table`, for messages. */
  readonly name: string
  readonly store: TableStore
  readonly services: TableServices
  readonly schema: TableSchema
  readonly options: ResolvedOptions
  /** How rows of one key become one. */
  readonly spec: MergeSpec
  readonly layout: KvLayout
  readonly partitionTypes: readonly DataType[]
  readonly compareKeys: KeyCompare
  readonly dataPaths: DataPaths
  readonly pins = new Pins()
  /** Marks of consumers that readers of this process go by. */
  readonly consumers = new Set<string>()
  /** Data files of small flushes on their way to the disk. */
  readonly unsynced: Unsynced
  readonly filePins = new FilePins()
  readonly tasks = new TaskFiles()
  readonly events = new TableEmitter()
  readonly rewriter: Rewriter
  readonly #partitionFolder: (partition: Uint8Array) => string
  readonly #schemas = new Map<number, TableSchema>()
  readonly #schemasRead = new WeakSet<BucketView>()
  readonly #removals = new Set<Promise<void>>()
  readonly #optionsOf = (id: number) => (this.#schemas.get(id) ?? this.schema).options
  #view: TableView | undefined
  /** The end of the last look for snapshots. */
  #refreshed: Promise<void> = Promise.resolve()
  /** What another engine changed in the schema since the table was opened, as far as it is known. */
  #schemaChange: SchemaChange | undefined
  #newestSchema: number

  private constructor(name: string, store: TableStore, services: TableServices, schema: TableSchema) {
    this.name = name
    this.store = store
    this.unsynced = new Unsynced(store)
    this.services = services
    this.schema = schema
    this.#newestSchema = schema.id
    this.options = resolve(schema.options)
    this.spec = mergeSpec(schema)
    this.layout = kvLayout(schema)
    this.rewriter = rewriterOf(this.options)
    this.partitionTypes = partitionFields(schema).map((field) => field.type)
    this.compareKeys = rowCompare(this.layout.keyTypes)
    this.dataPaths = dataPathsOf(store.paths, schema)
    this.#partitionFolder = partitionPaths(partitionFields(schema), {
      defaultName: this.options['partition.default-name'],
      legacyName: this.options['partition.legacy-name'],
    })
    this.#schemas.set(schema.id, schema)
  }

  /**
   * Reads the latest snapshot; `schema` is the latest there is. `UNSUPPORTED` when an option would change what reads must give, or a column
   * has a type that this version does not have.
   */
  static async open(name: string, store: TableStore, services: TableServices, schema: TableSchema): Promise<TableCore> {
    if (schema.primaryKeys.length === 0) {
      throw new TableError('UNSUPPORTED', `${name} has no primary key. Append-only tables are not supported.`, {
        table: name,
      })
    }
    const refusal = checkReadable(schema)
    if (refusal !== undefined) throw refusal
    checkTypes(name, schema)
    const core = new TableCore(name, store, services, schema)
    await core.refresh()
    return core
  }

  /** The snapshot that reads go by; undefined while the table has none. */
  get view(): TableView | undefined {
    return this.#view
  }

  /** For tasks that are too small for a thread. */
  get taskContext(): TaskContext {
    const { fs, codecs } = this.store
    return { fs, codecs, clock: this.services.clock, footers: this.services.footers, shelf: this.services.pages }
  }

  get taskTable(): TaskTable {
    return {
      path: this.store.paths.table,
      schema: this.schema,
      olderSchemas: [...this.#schemas.values()].filter(({ id }) => id !== this.schema.id),
      durable: this.services.durable,
      tempDirectory: this.services.tempDirectory,
    }
  }

  /** `UNSUPPORTED` when an option asks a writer for more than this version does. */
  checkWritable(): void {
    const refusal = checkWritable(this.schema)
    if (refusal !== undefined) throw refusal
  }

  /** `CONFLICT` when a newer schema, seen so far, changed what this use of the table goes by. */
  checkSchema(use: SchemaUse): void {
    const conflict = this.#schemaChange && schemaConflict(this.name, this.#schemaChange, use)
    if (conflict !== undefined) throw conflict
  }

  /** False when a newer schema changed something that a write goes by. */
  get current(): boolean {
    return this.#schemaChange === undefined
  }

  /** The newest schema there is, looked for now; `CONFLICT` as `checkSchema`. */
  async newestSchema(use: SchemaUse): Promise<TableSchema> {
    const newest = await this.store.schemas.latest()
    this.#learn(newest)
    this.checkSchema(use)
    return newest
  }

  /** Files of a bucket in the current view. */
  live(partition: Uint8Array, bucket: number): readonly DataFile[] {
    return this.#view === undefined ? [] : (bucketOf(this.#view, partition, bucket)?.files ?? [])
  }

  /** Number of buckets that the partition was written with; undefined when it holds nothing. */
  totalBuckets(partition: Uint8Array): number | undefined {
    if (this.#view === undefined) return undefined
    for (const bucket of bucketsOf(this.#view)) {
      if (Buffer.compare(bucket.partition, partition) === 0) return bucket.totalBuckets
    }
    return undefined
  }

  /** Folder of a partition relative to the table, for people; '' without partition keys. */
  partitionName(partition: Uint8Array): string {
    return this.#partitionFolder(partition)
  }

  /**
   * Looks for snapshots of other writers. One look at a time, each from its call on: a slow one that began earlier would step
   * back behind a later one.
   */
  refresh(): Promise<void> {
    const look = this.#refreshed.then(async () => {
      this.#view = await this.viewTo(await this.store.snapshots.latest())
    })
    this.#refreshed = look.catch(() => undefined)
    return look
  }

  /** The view of a newer snapshot, all schemas it needs at hand; `show` makes it the one to look at. */
  async viewTo(snapshot: Snapshot | undefined): Promise<TableView | undefined> {
    const before = this.#view
    if (snapshot === undefined) {
      if (before === undefined) return undefined
      throw new TableError(
        'NOT_FOUND',
        `The snapshots of ${this.name} are gone: snapshot ${before.snapshot.id} was there before. Restore the folder, or close the table.`,
        { table: this.name, path: this.store.paths.snapshots, value: before.snapshot.id },
      )
    }
    const view =
      before === undefined ? await loadView(this.store, snapshot) : await advanceView(this.store, before, snapshot)
    await this.readSchemas(view)
    return view
  }

  /** Looks at a view that `viewTo` gave, in one synchronous step. */
  show(view: TableView | undefined): void {
    this.#view = view
  }

  /** The view after an own commit. */
  async setView(view: TableView | undefined): Promise<void> {
    if (view !== undefined) await this.readSchemas(view)
    this.#view = view
  }

  /** A view of another snapshot: for time travel. */
  async viewOf(id: number): Promise<TableView> {
    if (this.#view?.snapshot.id === id) return this.#view
    const view = await loadView(this.store, await this.store.snapshots.read(id))
    await this.readSchemas(view)
    return view
  }

  /** Loads the schemas that files of a view were written with, so that tasks and lookups have them at hand. */
  async readSchemas(view: TableView): Promise<void> {
    await this.#readSchema(view.snapshot.schemaId)
    // Views share the buckets that did not change.
    for (const bucket of bucketsOf(view)) {
      if (this.#schemasRead.has(bucket)) continue
      await this.readSchemasOf(bucket.files)
      this.#schemasRead.add(bucket)
    }
  }

  /** Loads the schemas of some files, as `readSchemas` does. */
  async readSchemasOf(files: readonly DataFile[]): Promise<void> {
    for (const { schemaId } of files) if (!this.#schemas.has(schemaId)) await this.#readSchema(schemaId)
  }

  /** The schema with an id, read when it is not at hand. */
  async schemaAt(id: number): Promise<TableSchema> {
    await this.#readSchema(id)
    return this.#schemas.get(id)!
  }

  async #readSchema(id: number): Promise<void> {
    if (this.#schemas.has(id)) return
    const schema = await this.store.schemas.read(id)
    this.#schemas.set(id, schema)
    this.#learn(schema)
  }

  #learn(schema: TableSchema): void {
    if (schema.id <= this.#newestSchema) return
    this.#newestSchema = schema.id
    this.#schemaChange = schemaChange(this.schema, schema)
  }

  schemaOf(id: number): TableSchema | undefined {
    return this.#schemas.get(id)
  }

  /** See `upperRowsAreWhole` of the plan; `files` are those of a bucket. */
  upperRowsAreWhole(files: readonly DataFile[]): boolean {
    return upperRowsAreWhole(files, this.schema.options, this.#optionsOf)
  }

  /** What keeps a bucket with these files from being written, for its options were switched too early. */
  switched(files: readonly DataFile[]): Switched | undefined {
    const top = files.reduce((highest, { level }) => Math.max(highest, level), this.options['num-levels'] - 1)
    return switchedTooEarly(files, top, this.schema.options, this.#optionsOf, isPlain(this.spec))
  }

  /** Deletes files of a bucket that no snapshot names, once no scan reads them. What cannot be deleted is left to the orphans. */
  removeUnnamed(folder: string, files: readonly MadeFile[]): void {
    for (const file of files) {
      const path = this.pathOf(folder, file)
      this.unsynced.forget(file.name)
      this.filePins.whenFree(path, () => {
        const removal = this.store.fs.unlink(path).then(
          () => undefined,
          () => undefined,
        )
        this.#removals.add(removal)
        void removal.then(() => this.#removals.delete(removal))
      })
    }
  }

  /** Where a file lies that a change of a bucket made; `folder` is that of the bucket. */
  pathOf(folder: string, file: MadeFile): string {
    return `${'ranges' in file ? this.#indexFolder(folder) : folder}/${file.name}`
  }

  #indexFolder(folder: string): string {
    return indexFolder(this.store.paths.indexes, folder, this.schema)
  }

  /** Resolves when the removals that were begun are done. */
  async removed(): Promise<void> {
    while (this.#removals.size > 0) await Promise.all(this.#removals)
  }

  /** Runs a task that writes into the folder of a bucket; removes what it leaves when it fails. */
  runTask<T>(folder: string, fileUuid: string, run: () => Promise<T>): Promise<T> {
    return this.tasks.during(fileUuid, run, () => this.#sweep(folder, fileUuid))
  }

  /** Removes what a task left that ended by force: names of its files hold its uuid. */
  async #sweep(folder: string, fileUuid: string): Promise<void> {
    const { fs } = this.store
    for (const place of new Set([folder, this.#indexFolder(folder)])) {
      for (const { name } of await fs.list(place).catch(() => [])) {
        if (name.includes(fileUuid)) await fs.unlink(`${place}/${name}`).catch(() => undefined)
      }
    }
  }
}

function checkTypes(table: string, schema: TableSchema): void {
  for (const { name, type } of schema.fields) {
    const refused = unsupportedType(type)
    if (refused === undefined) continue
    throw new TableError(
      'UNSUPPORTED',
      `Column ${JSON.stringify(name)} of ${table} has a type that this version does not read, ${describeType(refused)}. ` +
        'Use Apache Paimon for this table, or drop the column there.',
      { table, column: name, value: describeType(refused) },
    )
  }
}

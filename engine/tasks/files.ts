import { dataFileName } from '../../formats/meta/names.ts'
import type { DataFile, TableSchema } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import { createMergeEngine } from '../merge/engines/create.ts'
import type { MergeEngine } from '../merge/reduce.ts'
import { mergeSpec } from '../options/merge-spec.ts'
import { type ResolvedOptions, resolve } from '../options/resolve.ts'
import { type KvLayout, kvLayout } from '../plan/kv-layout.ts'
import { upperRowsAreWhole } from '../plan/switched.ts'
import type { SortedRun } from '../plan/types.ts'
import { changelogFileOptions, dataFileOptions } from '../store/data-file-options.ts'
import { type DataFileRead, DataFileReader, type FooterCache } from '../store/data-reader.ts'
import { DataWriter } from '../store/data-writer.ts'
import { indexFolder, inside } from '../store/paths.ts'
import { RollingWriter } from '../store/rolling-writer.ts'
import type { PageShelves } from '../store/shelf.ts'
import { readVector } from '../store/vectors.ts'
import type { OutputFiles, TaskContext } from './context.ts'
import type { TaskTable } from './task.ts'

/** What to leave out of a data file; see `DataFileRead`. */
export type OpenOptions = Pick<DataFileRead, 'prune' | 'unread' | 'reuse'> & {
  /** Deleted rows come too. */
  readonly withDeleted?: boolean
}

/** The files of one bucket as a task sees them: reads them as one layout, writes new ones under the task's uuid. */
export class BucketFiles {
  readonly layout: KvLayout
  readonly context: TaskContext
  readonly table: TaskTable
  readonly #folder: string
  readonly #shelf: PageShelves | undefined
  readonly #fileUuid: string
  readonly #schemas: ReadonlyMap<number, TableSchema>
  readonly #footers: FooterCache
  #options: ResolvedOptions | undefined
  #engine: MergeEngine | undefined
  #counter = 0
  bytesRead = 0
  pagesDecoded = 0

  constructor(
    context: TaskContext,
    table: TaskTable,
    folder: string,
    fileUuid: string,
    layout: KvLayout = kvLayout(table.schema),
    shelf?: PageShelves,
  ) {
    this.context = context
    this.table = table
    this.layout = layout
    this.#folder = folder
    this.#shelf = shelf
    this.#fileUuid = fileUuid
    this.#footers = context.footers ?? new Map()
    this.#schemas = new Map([...table.olderSchemas, table.schema].map((schema) => [schema.id, schema]))
  }

  /** Where the index files of the bucket lie. */
  get indexFolder(): string {
    return indexFolder(`${this.table.path}/index`, this.#folder, this.table.schema)
  }

  /** Readers do without: working options out takes longer than many a read. */
  get options(): ResolvedOptions {
    this.#options ??= resolve(this.table.schema.options)
    return this.#options
  }

  /** How rows of one key become one. */
  get engine(): MergeEngine {
    this.#engine ??= createMergeEngine(this.layout, mergeSpec(this.table.schema))
    return this.#engine
  }

  /** See `upperRowsAreWhole` of the plan; the runs hold all rows of their keys. */
  upperRowsAreWhole(runs: readonly SortedRun[]): boolean {
    const current = this.table.schema.options
    const optionsOf = (id: number) => this.#schemas.get(id)?.options ?? current
    return upperRowsAreWhole(
      runs.flatMap(({ files }) => files),
      current,
      optionsOf,
    )
  }

  /** Opens a data file, to be given back to `close`; what it yields has the layout of these files. */
  open(file: DataFile, batchRows: number, { withDeleted = false, ...options }: OpenOptions = {}): DataFileReader {
    const path = `${this.#folder}/${inside(file.name, file.externalPath)}`
    const fileSchema = this.#schemas.get(file.schemaId)
    if (fileSchema === undefined) {
      throw new TableError('CORRUPT', `${path} was written with schema ${file.schemaId}, which the table lacks.`, {
        path,
        schemaId: file.schemaId,
      })
    }
    const { fs, codecs } = this.context
    const footers = this.#footers
    return new DataFileReader(fs, codecs, {
      file,
      path,
      fileSchema,
      layout: this.layout,
      batchRows,
      footers,
      shelf: this.#shelf?.of(path),
      deleted: withDeleted ? undefined : readVector(fs, this.indexFolder, file),
      ...options,
    })
  }

  /** Closes a reader and adds what it has read to the figures of the task. */
  close(reader: DataFileReader): void {
    reader.close()
    this.bytesRead += reader.bytesRead
    this.pagesDecoded += reader.pagesDecoded
  }

  get #output(): OutputFiles {
    return this.context.output ?? this.context.fs
  }

  /** Removes files that a task wrote and nobody has heard of. */
  async remove(files: readonly DataFile[]): Promise<void> {
    for (const file of files) await this.#output.unlink(`${this.#folder}/${file.name}`).catch(() => undefined)
  }

  /** A writer of new files at a level. */
  roll(level: number, source: 'append' | 'compact'): RollingWriter {
    return this.#roll(level, source, this.options['data-file.prefix'], dataFileOptions)
  }

  /** A writer of new changelog files: records in key order, several a key. `level`: that of the data files beside. */
  rollChangelog(level: number): RollingWriter {
    return this.#roll(level, 'append', this.options['changelog-file.prefix'], changelogFileOptions)
  }

  #roll(level: number, source: 'append' | 'compact', prefix: string, optionsOf: typeof dataFileOptions): RollingWriter {
    const { codecs, clock } = this.context
    const fs = this.#output
    const { schema, durable } = this.table
    const options = optionsOf(schema, this.options, level)
    return new RollingWriter(fs, this.#folder, this.options['target-file-size'], () => {
      const now = clock.now()
      return new DataWriter({
        fs,
        codecs,
        folder: this.#folder,
        name: dataFileName(prefix, this.#fileUuid, this.#counter++, 'parquet'),
        schema,
        layout: this.layout,
        level,
        source,
        options,
        durable,
        creationMillis: now + clock.offsetMinutes(now) * 60_000,
      })
    })
  }
}

/** Throws `ABORTED` once the flag is set. */
export function checkCancelled(cancel: Int32Array): void {
  if (Atomics.load(cancel, 0) !== 0) throw new TableError('ABORTED', 'The task was cancelled. Nothing was changed.')
}

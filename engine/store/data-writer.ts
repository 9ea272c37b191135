import type { Batch, FixedColumn } from '../../formats/column/column.ts'
import { spanOf } from '../../formats/column/span.ts'
import type { Codecs } from '../../formats/compress/codec.ts'
import type { DataFile, SimpleStats, TableSchema } from '../../formats/meta/types.ts'
import type { ColumnStatistics, ParquetWriterOptions } from '../../formats/parquet/file-write.ts'
import { createParquetWriter } from '../../formats/parquet/file-write.ts'
import { serializeRowAt } from '../../formats/row/binary-row.ts'
import { buildStats, type StatsMode, truncateBounds } from '../../formats/row/simple-stats.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { withNullable } from '../../formats/types/row-type.ts'
import { assert } from '../assert.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import type { FileSystem, OpenSink } from '../ports/file-system.ts'
import { withPathSync } from './errors.ts'

/** How the data files of one level are written. */
export interface DataFileOptions {
  readonly parquet: ParquetWriterOptions
  /** Leave out the key columns: readers take them from the table's own columns. */
  readonly thin: boolean
  /** Statistics of each column of the table, in schema order. */
  readonly statsModes: readonly StatsMode[]
  /** Leave columns without statistics out of the manifest entry. */
  readonly denseStats: boolean
}

/** Where data files are created. */
type SinkFiles = Pick<FileSystem, 'createSink'>

export interface DataWriterTarget {
  readonly fs: SinkFiles
  readonly codecs: Codecs
  readonly folder: string
  readonly name: string
  readonly schema: TableSchema
  readonly layout: KvLayout
  readonly level: number
  readonly source: 'append' | 'compact'
  readonly options: DataFileOptions
  readonly durable: boolean
  /** Local wall clock read as if it were UTC, in ms. */
  readonly creationMillis: number
}

/** Writes one data file from KV batches in ascending key order, each key once, and describes it for the manifest. */
export class DataWriter {
  readonly name: string
  readonly #target: DataWriterTarget
  readonly #sink: OpenSink
  readonly #parquet: ReturnType<typeof createParquetWriter>
  readonly #written: readonly Field[]
  #rows = 0
  #deletes = 0
  #minKey: Uint8Array | undefined
  #maxKey: Uint8Array | undefined
  #minSequence = 0x7fffffffffffffffn
  #maxSequence = -1n

  constructor(target: DataWriterTarget) {
    const { layout, options } = target
    this.#target = target
    this.name = target.name
    this.#written = options.thin ? layout.fields.slice(layout.sequence) : layout.fields
    this.#sink = createNamedSink(target.fs, `${target.folder}/${target.name}`)
    try {
      this.#parquet = createParquetWriter(
        this.#sink,
        this.#written,
        target.codecs,
        options.parquet,
        options.thin ? undefined : keyCopies(layout),
      )
    } catch (error) {
      this.#sink.close()
      throw error
    }
  }

  get rows(): number {
    return this.#rows
  }

  /** Size of the file if it ended now: what is written, and an estimate of what is held. */
  get estimatedBytes(): number {
    return this.#parquet.estimatedBytes
  }

  write(batch: Batch): void {
    if (batch.rows === 0) return
    const { layout, options } = this.#target
    const keys = layout.keyIndexes.map((index) => batch.columns[index]!)
    this.#minKey ??= serializeRowAt(layout.keyTypes, keys, 0)
    this.#maxKey = serializeRowAt(layout.keyTypes, keys, batch.rows - 1)
    this.#countKinds((batch.columns[layout.kind] as FixedColumn).values as Int8Array, batch.rows)
    this.#spanSequences((batch.columns[layout.sequence] as FixedColumn).values as BigInt64Array, batch.rows)
    this.#rows += batch.rows
    const columns = options.thin ? batch.columns.slice(layout.sequence) : batch.columns
    this.#parquet.write({ fields: this.#written, rows: batch.rows, columns })
  }

  /** Ends and, when durable, syncs the file. At least one row must have been written. */
  finish(): DataFile {
    const { layout, options, schema, level, source, creationMillis, durable } = this.#target
    assert(this.#minKey !== undefined && this.#maxKey !== undefined, 'I5: a data file holds at least one row')
    const written = this.#parquet.finish()
    if (durable) this.#sink.sync()
    this.#sink.close()
    const firstValue = layout.firstValue - (options.thin ? layout.sequence : 0)
    const valueStats = written.columns.slice(firstValue)
    const keyStats = options.thin
      ? layout.keys.map((key) => valueStats[layout.values.findIndex((field) => field.id === key.id)]!)
      : written.columns.slice(0, layout.keys.length)
    const kept = keptStatistics(layout.values, valueStats, options)
    return {
      name: this.name,
      bytes: written.bytes,
      rows: this.#rows,
      minKey: this.#minKey,
      maxKey: this.#maxKey,
      keyStats: statsOf(layout.keys, keyStats, () => ({ kind: 'truncate', length: 128 })),
      valueStats: statsOf(kept.fields, kept.statistics, (index) => kept.modes[index]!),
      minSequence: this.#minSequence,
      maxSequence: this.#maxSequence,
      schemaId: schema.id,
      level,
      extraFiles: [],
      creationMillis,
      deleteRows: this.#deletes,
      embeddedIndex: null,
      source,
      valueStatsColumns: kept.fields.length === layout.values.length ? null : kept.fields.map((field) => field.name),
      externalPath: null,
      firstRowId: null,
      writeColumns: null,
    }
  }

  /** Gives the file up; the caller removes it. */
  abandon(): void {
    this.#sink.close()
  }

  #countKinds(kinds: Int8Array, rows: number): void {
    let deletes = 0
    for (let row = 0; row < rows; row++) deletes += kinds[row]! & 1
    this.#deletes += deletes
  }

  #spanSequences(values: BigInt64Array, rows: number): void {
    const { min, max } = spanOf(values, rows)
    if (min < this.#minSequence) this.#minSequence = min
    if (max > this.#maxSequence) this.#maxSequence = max
  }
}

/** The table's own key columns hold what the key columns in front do. */
function keyCopies({ keys, values, firstValue }: KvLayout): ReadonlyMap<number, number> {
  return new Map(keys.map(({ id }, key) => [firstValue + values.findIndex((field) => field.id === id), key]))
}

/** A new file whose errors are `TableError`s that name it: a full disk, a folder that may not be written. */
function createNamedSink(fs: SinkFiles, path: string): OpenSink {
  const sink = withPathSync(path, () => fs.createSink(path))
  return {
    get bytesWritten() {
      return sink.bytesWritten
    },
    write: (bytes) => withPathSync(path, () => sink.write(bytes)),
    sync: () => withPathSync(path, () => sink.sync()),
    close: () => withPathSync(path, () => sink.close()),
  }
}

/** Columns whose statistics go into the manifest: with dense statistics those that have any. */
function keptStatistics(fields: readonly Field[], statistics: readonly ColumnStatistics[], options: DataFileOptions) {
  const indexes = fields
    .map((_, index) => index)
    .filter((index) => !options.denseStats || hasStatistics(fields[index]!, options.statsModes[index]!))
  return {
    fields: indexes.map((index) => fields[index]!),
    statistics: indexes.map((index) => statistics[index]!),
    modes: indexes.map((index) => options.statsModes[index]!),
  }
}

function hasStatistics(field: Field, mode: StatsMode): boolean {
  if (mode.kind === 'none') return false
  switch (field.type.kind) {
    case 'array':
    case 'map':
    case 'multiset':
    case 'row':
    case 'variant':
      return false
    default:
      return true
  }
}

function statsOf(
  fields: readonly Field[],
  statistics: readonly ColumnStatistics[],
  mode: (index: number) => StatsMode,
): SimpleStats {
  const types = fields.map((field) => withNullable(field.type, true))
  const bounds = statistics.map((column, index) => truncateBounds(types[index]!, column, mode(index)))
  return buildStats(types, bounds)
}

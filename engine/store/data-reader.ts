import { castColumn } from '../../formats/column/cast.ts'
import type { Batch, Column } from '../../formats/column/column.ts'
import { nullColumn } from '../../formats/column/constant.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { Codecs } from '../../formats/compress/codec.ts'
import { dataFileFormat } from '../../formats/meta/names.ts'
import type { DataFile, TableSchema } from '../../formats/meta/types.ts'
import {
  openParquet,
  type ParquetFile,
  type PositionedBatch,
  type RowRange,
  readBatches,
} from '../../formats/parquet/file-read.ts'
import { selectRanges } from '../../formats/parquet/page-index.ts'
import type { DataType, Field } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { adaptPredicate } from '../plan/evolve.ts'
import { KEY_PREFIX, type KvLayout } from '../plan/kv-layout.ts'
import type { FileSystem, OpenSource } from '../ports/file-system.ts'
import { toTableError, withPathSync } from './errors.ts'

/** What is read of one data file. */
export interface DataFileRead {
  readonly file: DataFile
  readonly path: string
  /** Schema the file was written with. */
  readonly fileSchema: TableSchema
  /** Schema and columns to deliver. */
  readonly layout: KvLayout
  /** Leaves out pages that hold no match; rows that do not match can come all the same. Names are those of the layout. */
  readonly prune?: Predicate | undefined
  readonly batchRows: number
  /** Rows to leave out at the start of the file. */
  readonly skipRows?: number | undefined
  /** Positions in the layout that nobody will look at: they are not read, and come as nulls over zeros. */
  readonly unread?: ReadonlySet<number> | undefined
}

/** An open data file: rows as KV batches of a layout, whatever schema the file was written with. */
export class DataFileReader {
  readonly #read: DataFileRead
  readonly #source: OpenSource
  readonly #parquet: ParquetFile

  constructor(fs: FileSystem, codecs: Codecs, read: DataFileRead) {
    const format = dataFileFormat(read.file.name)
    if (format !== 'parquet') {
      throw new TableError(
        'UNSUPPORTED',
        `${read.path} is a data file of format ${format}: this version reads Parquet only. Rewrite it with another engine.`,
        { path: read.path, value: format },
      )
    }
    this.#read = read
    this.#source = withPathSync(read.path, () => fs.openSource(read.path))
    try {
      this.#parquet = withPathSync(read.path, () => openParquet(this.#source, codecs))
    } catch (error) {
      this.#source.close()
      throw error
    }
  }

  get bytesRead(): number {
    return this.#parquet.bytesRead
  }

  get pagesDecoded(): number {
    return this.#parquet.pagesDecoded
  }

  /** Rows in file order, pages decoded as they are asked for. Ends or `return()`s with the file closed. */
  *batches(): Generator<Batch> {
    for (const { batch } of this.positioned()) yield batch
  }

  /** Like `batches`, with the position in the file of each batch's first row. */
  *positioned(): Generator<PositionedBatch> {
    try {
      yield* guardEach(this.#read.path, this.#rows())
    } finally {
      this.close()
    }
  }

  close(): void {
    this.#source.close()
  }

  *#rows(): Generator<PositionedBatch> {
    const { layout, fileSchema, prune, batchRows, skipRows = 0, unread } = this.#read
    const columns = sourcesOf(layout, fileSchema, this.#parquet).map((column, index) =>
      unread?.has(index) ? { ...column, name: undefined } : column,
    )
    const names = [...new Set(columns.flatMap((column) => (column.name === undefined ? [] : [column.name])))]
    const types = names.map((name) => columns.find((column) => column.name === name)!.stored!)
    const predicate = prune === undefined ? undefined : adaptPredicate(prune, layout.values, fileSchema)
    const kept = predicate === undefined ? undefined : selectRanges(this.#parquet, predicate)
    const ranges = fromRow(skipRows, kept, this.#parquet.rows)
    const position = new Map(names.map((name, index) => [name, index]))
    for (const { firstRow, batch } of readBatches(this.#parquet, {
      columns: names,
      types,
      batchRows,
      ...(ranges && { ranges }),
    })) {
      const cast = new Map<string, Column>()
      const delivered = columns.map((column) => {
        if (column.name === undefined) return nullColumn(column.field.type, batch.rows)
        const read = batch.columns[position.get(column.name)!]!
        if (column.same) return read
        const done = cast.get(column.name) ?? castColumn(column.stored!, column.field.type, read)
        cast.set(column.name, done)
        return done
      })
      yield { firstRow, batch: { fields: layout.fields, rows: batch.rows, columns: delivered } }
    }
  }
}

/** The parts of the ranges (of the file, when there are none) that lie at or behind a row. */
function fromRow(row: number, ranges: readonly RowRange[] | undefined, rows: number): readonly RowRange[] | undefined {
  if (row === 0) return ranges
  return (ranges ?? [{ start: 0, end: rows }])
    .filter(({ end }) => end > row)
    .map(({ start, end }) => ({ start: Math.max(start, row), end }))
}

/** Where a column of the layout comes from: a column of the file, or nowhere (null). */
interface ColumnSource {
  readonly field: Field
  readonly name: string | undefined
  readonly stored: DataType | undefined
  /** The stored type and the type asked for are laid out alike and mean the same. */
  readonly same: boolean
}

/**
 * Columns are found by field id in the schema of the file, then by the name they have there. Key columns and the table's own
 * columns of the same name hold the same values: one of them is read and serves both.
 */
function sourcesOf(layout: KvLayout, fileSchema: TableSchema, parquet: ParquetFile): readonly ColumnSource[] {
  const present = new Set(parquet.fields.map((field) => field.name))
  const byId = new Map(fileSchema.fields.map((field) => [field.id, field]))
  const tableSource = (field: Field): ColumnSource => {
    const written = byId.get(field.id)
    if (written === undefined) return { field, name: undefined, stored: undefined, same: false }
    const isKey = layout.keys.some((key) => key.id === field.id)
    const keyName = KEY_PREFIX + written.name
    const name = isKey && present.has(keyName) ? keyName : written.name
    if (!present.has(name)) return missing(name)
    return { field, name, stored: written.type, same: sameType(written.type, field.type) }
  }
  const missing = (name: string): never => {
    throw new TableError(
      'CORRUPT',
      `Column ${name} is missing in the file, though its schema ${fileSchema.id} has it.`,
      {
        column: name,
      },
    )
  }
  return layout.fields.map((field, index) => {
    if (index < layout.keys.length) return { ...tableSource(layout.keys[index]!), field }
    if (index >= layout.firstValue) return tableSource(field)
    if (!present.has(field.name)) return missing(field.name)
    return { field, name: field.name, stored: field.type, same: true }
  })
}

/** Equal but for nullability. */
function sameType(a: DataType, b: DataType): boolean {
  return JSON.stringify({ ...a, nullable: true }) === JSON.stringify({ ...b, nullable: true })
}

function* guardEach<T>(path: string, batches: Generator<T>): Generator<T> {
  try {
    yield* batches
  } catch (error) {
    throw toTableError(error, path)
  }
}

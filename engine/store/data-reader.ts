import { castColumn } from '../../formats/column/cast.ts'
import type { Batch, Column, Scalar } from '../../formats/column/column.ts'
import { scalarAt } from '../../formats/column/compare.ts'
import { nullColumn } from '../../formats/column/constant.ts'
import { takeBatch } from '../../formats/column/gather.ts'
import { firstAfter, firstAtLeast } from '../../formats/column/key-bounds.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import { concatColumns } from '../../formats/column/slice.ts'
import type { Codecs } from '../../formats/compress/codec.ts'
import { dataFileFormat } from '../../formats/meta/names.ts'
import type { DataFile, TableSchema } from '../../formats/meta/types.ts'
import {
  openParquet,
  type ParquetFile,
  type ParquetFooter,
  type PositionedBatch,
  type RowRange,
  readBatches,
  readOffsetIndex,
} from '../../formats/parquet/file-read.ts'
import { selectRanges } from '../../formats/parquet/page-index.ts'
import type { PageShelf } from '../../formats/parquet/page-shelf.ts'
import type { DataType, Field } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { adaptPredicate } from '../plan/evolve.ts'
import { KEY_PREFIX, type KvLayout } from '../plan/kv-layout.ts'
import type { FileSystem, OpenSource } from '../ports/file-system.ts'
import { toTableError, withPathSync } from './errors.ts'
import { checkBytes, checkIdentity } from './file-identity.ts'
import { rowsLeft } from './vectors.ts'

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
  /** Rows that are left out, ascending; rows keep their places all the same. */
  readonly deleted?: Uint32Array | undefined
  /** Positions in the layout that nobody will look at: they are not read, and come as nulls over zeros. */
  readonly unread?: ReadonlySet<number> | undefined
  /** Footers by path, of files that were open before. */
  readonly footers?: FooterCache | undefined
  /** A batch may be overwritten when the next but one is asked for. */
  readonly reuse?: boolean | undefined
  /** Pages that the last reader of the file has left. */
  readonly shelf?: PageShelf | undefined
}

/** Rows of a file that lie side by side, without those that are deleted. */
export interface FileBatch extends PositionedBatch {
  /** The row of the file behind them. */
  readonly endRow: number
}

/** Keeps what files say of themselves, so that opening one again reads nothing. */
export interface FooterCache {
  get(path: string): ParquetFooter | undefined
  set(path: string, footer: ParquetFooter, bytes: number): unknown
}

/** Stretches of keys up to this many rows are decoded to find a place among them; longer ones are halved first. */
const SEARCHED_ROWS = 16_384

/** An open data file: rows as KV batches of a layout, whatever schema the file was written with. Whoever opens it closes it. */
export class DataFileReader {
  readonly #read: DataFileRead
  readonly #source: OpenSource
  readonly #parquet: ParquetFile
  readonly #sources: readonly ColumnSource[]
  /** The keys that were decoded last, to find a place among them. */
  #searched: { readonly range: RowRange; readonly keys: readonly Column[] } | undefined

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
      checkBytes(read.path, read.file, this.#source.bytes)
      const known = read.footers?.get(read.path)
      this.#parquet = withPathSync(read.path, () => openParquet(this.#source, codecs, known))
      const { footer } = this.#parquet
      if (known === undefined)
        withPathSync(read.path, () => checkIdentity(read.path, read.file, read.fileSchema, footer))
      read.footers?.set(read.path, footer, footer.memoryBytes)
      this.#sources = withPathSync(read.path, () => sourcesOf(read.layout, read.fileSchema, this.#parquet))
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

  /** Rows in file order, pages decoded as they are asked for: those of a range, or all. */
  *batches(rows?: RowRange): Generator<Batch> {
    for (const { batch } of this.positioned(rows)) yield batch
  }

  /** Like `batches`, with the places in the file of the rows that a batch stands for. */
  positioned(rows?: RowRange): Generator<FileBatch> {
    return guardEach(this.#read.path, this.#undeleted(rows))
  }

  /** Rows whose key is below a prefix of a key, or starts with it if `including`. Decodes a page or two of keys at most. */
  rowsBefore(prefix: readonly Scalar[], including: boolean): number {
    return withPathSync(this.#read.path, () => this.#search(prefix, including ? firstAfter : firstAtLeast))
  }

  /** The key of a row. */
  keyAt(row: number): readonly Scalar[] {
    return withPathSync(this.#read.path, () => {
      const keys = this.#keys({ start: row, end: row + 1 })
      return keys.map((column) => scalarAt(column, 0)!)
    })
  }

  /** About how many rows can match a predicate, by the statistics of pages. Reads indexes, no pages. */
  rowsMatching(predicate: Predicate): number {
    return withPathSync(this.#read.path, () => {
      const ranges = this.#select(predicate)
      return ranges === undefined ? this.#parquet.rows : ranges.reduce((sum, { start, end }) => sum + end - start, 0)
    })
  }

  /** The first row of the page in which a row lies, in the first column: reading from there decodes no page in part. */
  pageStart(row: number): number {
    return withPathSync(this.#read.path, () => {
      let start = 0
      for (const [group, { numRows }] of this.#parquet.metadata.rowGroups.entries()) {
        if (row < start + numRows) {
          const index = readOffsetIndex(this.#parquet, group, this.#parquet.tree.leaves[0]!)
          const page = index?.pageLocations.findLast(({ firstRowIndex }) => firstRowIndex <= row - start)
          return start + (page?.firstRowIndex ?? 0)
        }
        start += numRows
      }
      return row
    })
  }

  #search(prefix: readonly Scalar[], find: typeof firstAfter): number {
    let { start, end } = this.#whereEqual(prefix)
    while (end - start > SEARCHED_ROWS) {
      const middle = (start + end) >>> 1
      if (find(this.#keys({ start: middle, end: middle + 1 }), 1, prefix) === 1) start = middle + 1
      else end = middle
    }
    if (start === end) return start
    const known = this.#searched
    if (known?.range.start !== start || known.range.end !== end) {
      this.#searched = { range: { start, end }, keys: this.#keys({ start, end }) }
    }
    return start + find(this.#searched!.keys, end - start, prefix)
  }

  /** Rows among which those lie that have the first key column in common with the prefix: an empty range where they would. */
  #whereEqual(prefix: readonly Scalar[]): RowRange {
    const column = this.#read.layout.keys[0]!.name
    const equal = this.#select({ op: 'eq', column, value: prefix[0]! })
    if (equal === undefined) return { start: 0, end: this.#parquet.rows }
    if (equal.length > 0) return { start: equal[0]!.start, end: equal.at(-1)!.end }
    const below = this.#select({ op: 'lt', column, value: prefix[0]! })?.at(-1)?.end ?? 0
    return { start: below, end: below }
  }

  #keys(range: RowRange): readonly Column[] {
    const { layout } = this.#read
    const unread = new Set(layout.fields.keys())
    for (const index of layout.keyIndexes) unread.delete(index)
    const batches = [...this.#rows({ batchRows: range.end - range.start, unread, prune: undefined }, range, true)]
    return layout.keyIndexes.map((index) => concatColumns(batches.map(({ batch }) => batch.columns[index]!)))
  }

  /** Rows that may match, by the statistics of row groups and pages; undefined = nothing is known. */
  #select(predicate: Predicate): readonly RowRange[] | undefined {
    const { layout, fileSchema } = this.#read
    const adapted = adaptPredicate(predicate, [...layout.values, ...layout.keys], fileSchema)
    return adapted && selectRanges(this.#parquet, adapted)
  }

  close(): void {
    this.#source.close()
  }

  *#undeleted(rows: RowRange | undefined): Generator<FileBatch> {
    const { deleted } = this.#read
    for (const { firstRow, batch } of this.#rows(this.#read, rows)) {
      const left = deleted && rowsLeft(deleted, firstRow, batch.rows)
      yield { firstRow, endRow: firstRow + batch.rows, batch: left === undefined ? batch : takeBatch(batch, left) }
    }
  }

  *#rows(
    { batchRows, prune, unread, reuse }: Pick<DataFileRead, 'batchRows' | 'prune' | 'unread' | 'reuse'>,
    rows: RowRange | undefined,
    again = false,
  ): Generator<PositionedBatch> {
    const { layout } = this.#read
    const columns = this.#sources.map((column, index) => (unread?.has(index) ? { ...column, name: undefined } : column))
    const names = [...new Set(columns.flatMap((column) => (column.name === undefined ? [] : [column.name])))]
    const types = names.map((name) => columns.find((column) => column.name === name)!.stored!)
    const kept = prune === undefined ? undefined : this.#select(prune)
    const ranges = within(rows, kept)
    const position = new Map(names.map((name, index) => [name, index]))
    for (const { firstRow, batch } of readBatches(this.#parquet, {
      columns: names,
      types,
      batchRows,
      reuse,
      shelf: this.#read.shelf,
      again,
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

/** The parts of the ranges that lie in `rows`; undefined = the whole file. */
function within(rows: RowRange | undefined, ranges: readonly RowRange[] | undefined): readonly RowRange[] | undefined {
  if (rows === undefined || ranges === undefined)
    return rows === undefined ? ranges : rows.start < rows.end ? [rows] : []
  return ranges
    .map(({ start, end }) => ({ start: Math.max(start, rows.start), end: Math.min(end, rows.end) }))
    .filter(({ start, end }) => start < end)
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

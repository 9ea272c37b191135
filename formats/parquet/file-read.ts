import { corrupt, unsupported } from '../bytes/format-error.ts'
import type { ByteSource } from '../bytes/source.ts'
import type { Batch, Column } from '../column/column.ts'
import type { Codecs } from '../compress/codec.ts'
import type { DataType, Field } from '../types/row-type.ts'
import { assembleColumn, planColumn, type ReadPlan } from './assemble.ts'
import { ChunkReader, type NestedRows } from './column-read.ts'
import { convertLeaf } from './convert.ts'
import {
  type ColumnIndex,
  decodeColumnIndex,
  decodeFileMetaData,
  decodeOffsetIndex,
  type FileMetaData,
  footerLength,
  type OffsetIndex,
  type RowGroup,
  TAIL_BYTES,
} from './footer.ts'
import type { ReadCounters } from './page.ts'
import type { PageShelf } from './page-shelf.ts'
import { buildSchemaTree, fieldsOfTree, type LeafNode, type SchemaTree } from './schema-tree.ts'

/** Bytes read at the end of a file at first: most footers fit. */
const TAIL_GUESS = 16 * 1024

/** Rows `[start, end)` of the whole file. */
export interface RowRange {
  readonly start: number
  readonly end: number
}

/** A batch and the position of its first row in the file, to which deletion vectors refer. */
export interface PositionedBatch {
  readonly firstRow: number
  readonly batch: Batch
}

/** What a file says of itself, which may be kept after the file is closed: opening it again then reads nothing. */
export interface ParquetFooter {
  readonly metadata: FileMetaData
  readonly rows: number
  /** Columns with inferred types; id -1 where the file has none. */
  readonly fields: readonly Field[]
  readonly tree: SchemaTree
  /** Indexes read so far, by row group and leaf. */
  readonly offsetIndexes: Map<string, OffsetIndex>
  readonly columnIndexes: Map<string, ColumnIndex>
  /** About what it takes in memory, once all indexes are read. */
  readonly memoryBytes: number
}

/** An open file: its metadata is read, its pages are not. Belongs to whoever opened the source; nothing is to be closed here. */
export interface ParquetFile extends ParquetFooter {
  readonly source: ByteSource
  readonly codecs: Codecs
  readonly footer: ParquetFooter
  /** Read from the source so far: footer, indexes, pages. */
  readonly bytesRead: number
  /** Data and dictionary pages decompressed so far. */
  readonly pagesDecoded: number
  readonly counters: ReadCounters
}

/** Parsed metadata is objects, which take several times the bytes of the file. */
const MEMORY_PER_BYTE = 8

/** Opens a file whose footer is known, or reads and checks it: one read for most files, two for wide ones. */
export function openParquet(source: ByteSource, codecs: Codecs, known?: ParquetFooter): ParquetFile {
  const counters: ReadCounters = { bytesRead: 0, pagesDecoded: 0 }
  const footer = known ?? readFooter(source, counters)
  return {
    ...footer,
    source,
    codecs,
    footer,
    counters,
    get bytesRead() {
      return counters.bytesRead
    },
    get pagesDecoded() {
      return counters.pagesDecoded
    },
  }
}

function readFooter(source: ByteSource, counters: ReadCounters): ParquetFooter {
  const read = (offset: number, length: number): Uint8Array => {
    counters.bytesRead += length
    return source.read(offset, length)
  }
  const guess = Math.min(source.bytes, TAIL_GUESS)
  const tail = read(source.bytes - guess, guess)
  const length = footerLength(tail, source.bytes)
  const inTail = tail.length - TAIL_BYTES - length
  const footer = inTail >= 0 ? tail.subarray(inTail, inTail + length) : read(source.bytes - TAIL_BYTES - length, length)
  const metadata = decodeFileMetaData(footer)
  const tree = buildSchemaTree(metadata.schema)
  checkRowGroups(metadata, tree)
  return {
    metadata,
    rows: metadata.numRows,
    fields: fieldsOfTree(tree),
    tree,
    offsetIndexes: new Map(),
    columnIndexes: new Map(),
    memoryBytes: MEMORY_PER_BYTE * (footer.length + indexBytes(metadata)),
  }
}

function indexBytes({ rowGroups }: FileMetaData): number {
  let bytes = 0
  for (const { columns } of rowGroups) {
    for (const { offsetIndexLength = 0, columnIndexLength = 0 } of columns)
      bytes += offsetIndexLength + columnIndexLength
  }
  return bytes
}

function checkRowGroups(metadata: FileMetaData, tree: SchemaTree): void {
  let rows = 0
  for (const [i, group] of metadata.rowGroups.entries()) {
    if (group.numRows < 0) throw corrupt(`row group ${i} has ${group.numRows} rows`)
    if (group.columns.length !== tree.leaves.length) {
      throw corrupt(`row group ${i} has ${group.columns.length} columns, the schema has ${tree.leaves.length}`)
    }
    rows += group.numRows
  }
  if (rows !== metadata.numRows) throw corrupt(`row groups hold ${rows} rows, the file claims ${metadata.numRows}`)
}

/** The offset index of a leaf in a row group, if there is one; read once. */
export function readOffsetIndex(file: ParquetFile, group: number, leaf: LeafNode): OffsetIndex | undefined {
  const key = `${group}/${leaf.index}`
  const known = file.offsetIndexes.get(key)
  if (known !== undefined) return known
  const { offsetIndexOffset, offsetIndexLength } = file.metadata.rowGroups[group]!.columns[leaf.index]!
  if (offsetIndexOffset === undefined || offsetIndexLength === undefined) return undefined
  const index = decodeOffsetIndex(readRange(file, offsetIndexOffset, offsetIndexLength))
  file.offsetIndexes.set(key, index)
  return index
}

/** The column index of a leaf in a row group, if there is one; read once. */
export function readColumnIndex(file: ParquetFile, group: number, leaf: LeafNode): ColumnIndex | undefined {
  const key = `${group}/${leaf.index}`
  const known = file.columnIndexes.get(key)
  if (known !== undefined) return known
  const { columnIndexOffset, columnIndexLength } = file.metadata.rowGroups[group]!.columns[leaf.index]!
  if (columnIndexOffset === undefined || columnIndexLength === undefined) return undefined
  const index = decodeColumnIndex(readRange(file, columnIndexOffset, columnIndexLength))
  file.columnIndexes.set(key, index)
  return index
}

/** Bytes of the file that the footer points to; CORRUPT when it points past the end. */
function readRange(file: ParquetFile, offset: number, length: number): Uint8Array {
  if (offset < 0 || length < 0 || offset + length > file.source.bytes) {
    throw corrupt(`footer points to bytes ${offset} to ${offset + length} of a file of ${file.source.bytes}`)
  }
  file.counters.bytesRead += length
  return file.source.read(offset, length)
}

/** What to read. `types` stands beside `columns`; without it columns come in their inferred types. */
export interface ReadOptions {
  readonly columns: readonly string[]
  readonly types?: readonly DataType[]
  readonly batchRows: number
  /** Ascending and disjoint; absent = all rows. */
  readonly ranges?: readonly RowRange[]
  /** A batch may be overwritten when the next but one is asked for. Nested columns never are. */
  readonly reuse?: boolean | undefined
  /** Where pages are looked for, and left by a reader that is given up before its end. */
  readonly shelf?: PageShelf | undefined
  /** Pages of the last rows are left there in any case. */
  readonly again?: boolean | undefined
}

/**
 * Rows in file order, in batches of at most `batchRows` that cross neither row groups nor gaps between ranges. Pages are read
 * and decoded as they are needed: memory is bounded by a page and a block of 512 KiB a column, and by the batch. Columns not
 * asked for cost no read. A name that the file lacks is UNSUPPORTED.
 */
export function* readBatches(file: ParquetFile, options: ReadOptions): Generator<PositionedBatch> {
  const { ranges = [{ start: 0, end: file.rows }] } = options
  const columns = planColumns(file, options)
  let groupStart = 0
  let next = 0
  for (const [index, group] of file.metadata.rowGroups.entries()) {
    const groupEnd = groupStart + group.numRows
    const local: RowRange[] = []
    while (next < ranges.length && ranges[next]!.end <= groupStart) next++
    for (let i = next; i < ranges.length && ranges[i]!.start < groupEnd; i++) {
      const start = Math.max(ranges[i]!.start, groupStart) - groupStart
      const end = Math.min(ranges[i]!.end, groupEnd) - groupStart
      if (start < end) local.push({ start, end })
    }
    if (local.length > 0) {
      for (const { firstRow, batch } of readGroup(file, index, group, columns, local, options)) {
        yield { firstRow: groupStart + firstRow, batch }
      }
    }
    groupStart = groupEnd
  }
}

interface PlannedColumn {
  readonly field: Field
  readonly plan: ReadPlan
}

function planColumns(file: ParquetFile, { columns, types }: ReadOptions): readonly PlannedColumn[] {
  const byName = new Map(file.tree.columns.map((node) => [node.name, node]))
  return columns.map((name, i) => {
    const node = byName.get(name)
    if (node === undefined) throw unsupported(`Parquet file has no column ${JSON.stringify(name)}`)
    const type = types?.[i] ?? node.type
    return { field: { id: node.fieldId, name, type }, plan: planColumn(node, type) }
  })
}

function* readGroup(
  file: ParquetFile,
  index: number,
  group: RowGroup,
  columns: readonly PlannedColumn[],
  ranges: readonly RowRange[],
  { batchRows, shelf, reuse = false, again = false }: ReadOptions,
): Generator<PositionedBatch> {
  const partial = ranges[0]!.start > 0 || ranges[0]!.end < group.numRows
  const { source, codecs, counters } = file
  const context = { source, codecs, counters, shelf, reuse }
  const open = columns.map(({ plan }) =>
    plan.leaves.map((leaf) => {
      const offsets = partial ? readOffsetIndex(file, index, leaf) : undefined
      return new ChunkReader(context, leaf, group.columns[leaf.index]!, group.numRows, offsets)
    }),
  )
  const fields = columns.map(({ field }) => field)
  let left = true
  try {
    for (const { start, end } of ranges) {
      for (const readers of open) for (const reader of readers) reader.seek(start, end)
      for (let row = start; row < end; row += batchRows) {
        const rows = Math.min(batchRows, end - row)
        const batch = { fields, rows, columns: columns.map(({ plan }, i) => readColumn(plan, open[i]!, rows)) }
        yield { firstRow: row, batch }
      }
    }
    left = again
  } finally {
    if (left) for (const readers of open) for (const reader of readers) reader.shelve()
  }
}

function readColumn(plan: ReadPlan, readers: readonly ChunkReader[], rows: number): Column {
  if (plan.node.kind === 'leaf') {
    const { values, valid } = readers[0]!.takeFlat(rows)
    return convertLeaf(plan.node, plan.type, values, valid)
  }
  const read = new Map<LeafNode, NestedRows>()
  for (const reader of readers) read.set(reader.leaf, reader.takeNested(rows))
  return assembleColumn(plan, rows, read)
}

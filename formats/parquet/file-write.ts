import { corrupt } from '../bytes/format-error.ts'
import type { ByteSink } from '../bytes/source.ts'
import { type Batch, type Column, type Scalar, storageOf } from '../column/column.ts'
import { sameValues } from '../column/same-values.ts'
import type { CodecName, Codecs } from '../compress/codec.ts'
import type { Field } from '../types/row-type.ts'
import { chunkColumnIndex, chunkMetaData, codecNumber, type PlacedChunk } from './chunk-metadata.ts'
import { type Chunk, ColumnWriter } from './column-write.ts'
import {
  type ColumnChunk,
  encodeColumnIndex,
  encodeFileMetaData,
  encodeOffsetIndex,
  MAGIC,
  type RowGroup,
  TAIL_BYTES,
} from './footer.ts'
import { schemaOfFields } from './schema.ts'
import { buildSchemaTree, type SchemaNode } from './schema-tree.ts'
import { shred } from './shred.ts'
import { type Bounds, boundScalar, mergeBounds, NO_VALUES } from './write-statistics.ts'

export interface ParquetWriterOptions {
  /** Of columns that shrink by it; the others are stored as they are. */
  readonly compression: CodecName
  readonly level: number
  /** Try a dictionary for each column; kept only where it makes the chunk smaller. */
  readonly dictionary: boolean
  /** A page ends at this many bytes before compression, or at `pageRows` rows. */
  readonly pageBytes: number
  readonly pageRows: number
  /** A row group ends at this many bytes before compression. */
  readonly rowGroupBytes: number
  /** A dictionary takes no more pages once it is larger. */
  readonly dictionaryPageBytes: number
  /** Name and version of the writer, as `lakelet version 0.1.0`. */
  readonly createdBy: string
}

/** Paimon's own settings, but for `createdBy`. */
export const defaultParquetOptions: Omit<ParquetWriterOptions, 'createdBy'> = {
  compression: 'zstd',
  level: 1,
  dictionary: true,
  pageBytes: 1024 * 1024,
  pageRows: 20_000,
  rowGroupBytes: 128 * 1024 * 1024,
  dictionaryPageBytes: 1024 * 1024,
}

/** A top-level column over the whole file. Bounds are exact, or null where none are kept: nested, INT96, NaN, no values. */
export interface ColumnStatistics {
  readonly min: Scalar | null
  readonly max: Scalar | null
  /** Null for nested columns. */
  readonly nullCount: number | null
}

export interface ParquetWriter {
  /** Appends rows; the arrays of the batch may be used again afterwards. Throws a `RangeError` for a null in a NOT NULL column. */
  write(batch: Batch): void
  readonly rows: number
  /** Bytes written so far plus an estimate for what is buffered. */
  readonly estimatedBytes: number
  /** Writes what is buffered and the footer; the writer cannot be used afterwards. */
  finish(): { readonly bytes: number; readonly rows: number; readonly columns: readonly ColumnStatistics[] }
}

/** Rows between two looks at the size of the row group. */
const SLICE_ROWS = 8192

/**
 * Writes a Parquet file as Paimon's Java writer does: footer version 1, data pages V1 with CRC, statistics, column and offset
 * indexes, field ids, no key-value metadata. Nothing is written before the first row group ends; memory is the compressed row group
 * and an open page a column.
 *
 * `copyOf` names, for columns that always hold what an earlier one does, that earlier column: their pages are made once and lie in
 * the file twice. A batch in which the two differ is refused.
 */
export function createParquetWriter(
  sink: ByteSink,
  fields: readonly Field[],
  codecs: Codecs,
  options: ParquetWriterOptions,
  copyOf: ReadonlyMap<number, number> = new Map(),
): ParquetWriter {
  return new FileWriter(sink, fields, codecs, options, copyOf)
}

/** A column of the table and the writers of its leaves, in order. */
interface TopColumn {
  readonly node: SchemaNode
  readonly writers: readonly ColumnWriter[]
  /** The column whose pages it shares. */
  readonly source: number | undefined
}

class FileWriter implements ParquetWriter {
  rows = 0
  private offset = 0
  private groupRows = 0
  /** Of the row groups written, before compression. */
  private writtenUncompressed = 0
  private readonly sink: ByteSink
  private readonly fields: readonly Field[]
  private readonly options: ParquetWriterOptions
  private readonly schema: ReturnType<typeof schemaOfFields>
  private readonly columns: readonly TopColumn[]
  /** One a leaf; that of a shared column knows where its leaf stands in the schema, and nothing is appended to it. */
  private readonly writers: readonly ColumnWriter[]
  /** Of each leaf the writer that makes its pages. */
  private readonly makers: readonly ColumnWriter[]
  private readonly groups: { readonly rows: number; readonly chunks: readonly PlacedChunk[] }[] = []
  private readonly bounds: Bounds[]
  private readonly nullCounts: number[]
  private finished = false

  constructor(
    sink: ByteSink,
    fields: readonly Field[],
    codecs: Codecs,
    options: ParquetWriterOptions,
    copyOf: ReadonlyMap<number, number>,
  ) {
    this.sink = sink
    this.fields = fields
    this.options = options
    this.schema = schemaOfFields(fields)
    const tree = buildSchemaTree(this.schema)
    // Refuses what no table may hold before anything is written.
    codecNumber(options.compression)
    const codec = codecs.get(options.compression)
    this.writers = tree.leaves.map((leaf) => new ColumnWriter(leaf, codec, options))
    let next = 0
    this.columns = tree.columns.map((node, i) => {
      const count = leavesOf(node)
      next += count
      const source = copyOf.get(i)
      const shared = source !== undefined && samePages(node, tree.columns[source]!)
      return { node, writers: this.writers.slice(next - count, next), source: shared ? source : undefined }
    })
    this.makers = this.columns.flatMap(({ writers, source }) =>
      source === undefined ? writers : this.columns[source]!.writers,
    )
    this.bounds = fields.map(() => NO_VALUES)
    this.nullCounts = fields.map(() => 0)
  }

  get estimatedBytes(): number {
    let held = 0
    let heldUncompressed = 0
    let open = 0
    for (const writer of this.makers) {
      held += writer.heldBytes
      heldUncompressed += writer.heldUncompressedBytes
      open += writer.openBytes
    }
    // The open pages will shrink about as much as the finished ones did.
    const before = this.writtenUncompressed + heldUncompressed
    const ratio = before === 0 ? 1 : (this.offset + held) / before
    return this.offset + held + Math.round(open * Math.min(1, ratio))
  }

  write(batch: Batch): void {
    if (this.finished) throw new Error('the Parquet writer is finished')
    if (batch.columns.length !== this.columns.length) {
      throw new TypeError(`a batch of ${this.columns.length} columns was expected, got ${batch.columns.length}`)
    }
    for (let start = 0; start < batch.rows; start += SLICE_ROWS) {
      const end = Math.min(batch.rows, start + SLICE_ROWS)
      for (let i = 0; i < this.columns.length; i++) {
        const { source } = this.columns[i]!
        if (source === undefined) appendColumn(this.columns[i]!, batch.columns[i]!, start, end)
        else this.checkCopy(batch, i, source, start, end)
      }
      this.rows += end - start
      this.groupRows += end - start
      if (this.groupBytes() >= this.options.rowGroupBytes) this.endRowGroup()
    }
  }

  finish(): { readonly bytes: number; readonly rows: number; readonly columns: readonly ColumnStatistics[] } {
    if (this.finished) throw new Error('the Parquet writer is finished')
    this.finished = true
    this.endRowGroup()
    if (this.offset === 0) this.put(MAGIC)
    const rowGroups = this.putIndexes()
    const footer = encodeFileMetaData({
      version: 1,
      schema: this.schema,
      numRows: this.rows,
      rowGroups,
      createdBy: this.options.createdBy,
      columnOrders: this.writers.map(() => ({ typeOrder: true as const })),
    })
    this.put(footer)
    const tail = new Uint8Array(TAIL_BYTES)
    new DataView(tail.buffer).setUint32(0, footer.length, true)
    tail.set(MAGIC, 4)
    this.put(tail)
    return { bytes: this.offset, rows: this.rows, columns: this.fields.map((field, i) => this.statisticsOf(field, i)) }
  }

  private put(bytes: Uint8Array): void {
    this.sink.write(bytes)
    this.offset += bytes.length
  }

  private checkCopy({ columns }: Batch, copy: number, source: number, start: number, end: number): void {
    if (sameValues(columns[copy]!, columns[source]!, start, end)) return
    const [name, other] = [this.fields[copy]!.name, this.fields[source]!.name]
    throw corrupt(`column ${name} does not hold what ${other} does, in rows ${start} to ${end} of a batch`)
  }

  private groupBytes(): number {
    let bytes = 0
    for (const writer of this.makers) bytes += writer.heldUncompressedBytes + writer.openBytes
    return bytes
  }

  private endRowGroup(): void {
    if (this.groupRows === 0) return
    if (this.offset === 0) this.put(MAGIC)
    const made = new Map<ColumnWriter, Chunk>()
    const chunks = this.writers.map((writer, i) => {
      const maker = this.makers[i]!
      if (maker === writer) {
        this.writtenUncompressed += this.makers.filter((other) => other === maker).length * maker.heldUncompressedBytes
        made.set(maker, maker.finish())
      }
      return this.putChunk(writer, made.get(maker)!)
    })
    for (const [i, column] of this.columns.entries()) {
      if (column.node.kind !== 'leaf') continue
      const { chunk } = chunks[column.node.index]!
      this.bounds[i] = mergeBounds(column.writers[0]!.order, this.bounds[i]!, chunk.bounds)
      this.nullCounts[i]! += chunk.nullCount
    }
    this.groups.push({ rows: this.groupRows, chunks })
    this.groupRows = 0
  }

  private putChunk(writer: ColumnWriter, chunk: Chunk): PlacedChunk {
    const offset = this.offset
    const pageOffsets: number[] = []
    if (chunk.dictionary !== undefined) {
      this.put(chunk.dictionary.header)
      this.put(chunk.dictionary.body)
    }
    for (const page of chunk.pages) {
      pageOffsets.push(this.offset)
      this.put(page.header)
      this.put(page.body)
    }
    return { writer, offset, pageOffsets, chunk: withoutBodies(chunk) }
  }

  /** Column indexes of all chunks, then offset indexes of all chunks; then the row groups can be described. */
  private putIndexes(): readonly RowGroup[] {
    const place = (bytes: Uint8Array | undefined): { readonly offset: number; readonly length: number } | undefined => {
      if (bytes === undefined) return undefined
      this.put(bytes)
      return { offset: this.offset - bytes.length, length: bytes.length }
    }
    const chunks = this.groups.flatMap((group) => group.chunks)
    const columnIndexes = chunks.map((placed) => {
      const index = chunkColumnIndex(placed)
      return place(index && encodeColumnIndex(index))
    })
    const offsetIndexes = chunks.map(({ chunk, pageOffsets }) => {
      let firstRowIndex = 0
      const pageLocations = chunk.pages.map((page, i) => {
        const location = { offset: pageOffsets[i]!, compressedPageSize: page.bytes, firstRowIndex }
        firstRowIndex += page.rows
        return location
      })
      return place(encodeOffsetIndex({ pageLocations }))!
    })
    const described = chunks.map((placed, i): ColumnChunk => {
      const columnIndex = columnIndexes[i]
      return {
        fileOffset: 0,
        metaData: chunkMetaData(placed),
        offsetIndexOffset: offsetIndexes[i]!.offset,
        offsetIndexLength: offsetIndexes[i]!.length,
        ...(columnIndex && { columnIndexOffset: columnIndex.offset, columnIndexLength: columnIndex.length }),
      }
    })
    return this.groups.map((group, i) =>
      rowGroup(group, described.slice(i * this.writers.length, (i + 1) * this.writers.length), i),
    )
  }

  private statisticsOf(field: Field, i: number): ColumnStatistics {
    const { node, writers } = this.columns[i]!
    if (node.kind !== 'leaf') return { min: null, max: null, nullCount: null }
    const bounds = this.bounds[i]!
    const nullCount = this.nullCounts[i]!
    if (bounds.kind !== 'known') return { min: null, max: null, nullCount }
    const { order } = writers[0]!
    return {
      min: boundScalar(order, bounds.min, field.type),
      max: boundScalar(order, bounds.max, field.type),
      nullCount,
    }
  }
}

function leavesOf(node: SchemaNode): number {
  switch (node.kind) {
    case 'leaf':
      return 1
    case 'list':
      return leavesOf(node.element)
    case 'map':
      return leavesOf(node.key) + leavesOf(node.value)
    case 'row':
      return node.children.reduce((sum, child) => sum + leavesOf(child), 0)
  }
}

/** Do equal values of both columns make equal pages? Only top-level leaves are ever shared. */
function samePages(a: SchemaNode, b: SchemaNode): boolean {
  if (a.kind !== 'leaf' || b.kind !== 'leaf') return false
  const [left, right] = [a.element, b.element]
  return (
    a.definition === b.definition &&
    left.type === right.type &&
    left.typeLength === right.typeLength &&
    storageOf(a.type) === storageOf(b.type)
  )
}

function appendColumn({ node, writers }: TopColumn, column: Column, start: number, end: number): void {
  if (node.kind === 'leaf') {
    writers[0]!.append(column, start, end)
    return
  }
  for (const [i, slots] of shred(node, column, start, end).entries()) writers[i]!.appendSlots(slots)
}

const NOTHING = new Uint8Array(0)

/** Bodies are on their way to the disk: only what the footer needs is kept. */
function withoutBodies(chunk: Chunk): Chunk {
  const strip = <T extends { readonly header: Uint8Array; readonly body: Uint8Array }>(page: T): T => ({
    ...page,
    header: NOTHING,
    body: NOTHING,
  })
  return { ...chunk, dictionary: chunk.dictionary && strip(chunk.dictionary), pages: chunk.pages.map(strip) }
}

function rowGroup(
  group: { readonly rows: number; readonly chunks: readonly PlacedChunk[] },
  columns: readonly ColumnChunk[],
  ordinal: number,
): RowGroup {
  let totalByteSize = 0
  let totalCompressedSize = 0
  for (const { metaData } of columns) {
    totalByteSize += metaData!.totalUncompressedSize
    totalCompressedSize += metaData!.totalCompressedSize
  }
  return {
    columns,
    totalByteSize,
    numRows: group.rows,
    fileOffset: group.chunks[0]!.offset,
    totalCompressedSize,
    // The field has 16 bits.
    ...(ordinal <= 32767 ? { ordinal } : {}),
  }
}

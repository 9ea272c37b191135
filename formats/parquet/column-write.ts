import type { Column } from '../column/column.ts'
import { storageOf } from '../column/column.ts'
import type { Codec, CodecName } from '../compress/codec.ts'
import { BooleanValues } from './boolean-encode.ts'
import { BytesValues } from './bytes-encode.ts'
import { Encoding, PageType, PhysicalType } from './footer.ts'
import { PagePacker } from './page-packer.ts'
import { grown, type PageValues } from './page-values.ts'
import { type PageKind, type SealedPage, sealPage } from './page-write.ts'
import { WordValues } from './plain-encode.ts'
import { bitsFor, encodeHybrid, hybridBound } from './rle-encode.ts'
import type { LeafNode } from './schema-tree.ts'
import type { LeafSlots } from './shred.ts'
import { type EncodingOptions, ValueEncoder } from './value-encode.ts'
import { WideValues } from './wide-encode.ts'
import { type BoundOrder, type Bounds, mergeBounds, NO_VALUES, orderOf } from './write-statistics.ts'

export interface ChunkOptions extends EncodingOptions {
  readonly level: number
  /** A page ends at this many rows, or at this many bytes before compression and encoding. */
  readonly pageRows: number
  readonly pageBytes: number
}

/** A data page and what the page index says of it. */
export interface DataPage extends SealedPage {
  readonly kind: PageKind
  readonly rows: number
  readonly encoding: number
  readonly bounds: Bounds
  readonly nullCount: number
}

/** The pages of one leaf in one row group. */
export interface Chunk {
  readonly codec: CodecName
  readonly dictionary: SealedPage | undefined
  readonly pages: readonly DataPage[]
  /** Slots: values and nulls; for nested columns also one for each empty list. */
  readonly slots: number
  readonly bounds: Bounds
  readonly nullCount: number
}

/**
 * Collects one leaf. A page is encoded and compressed as soon as it is full and then waits, compressed, for the row group to end:
 * memory is one open page and the compressed chunk. Pages start at rows.
 */
export class ColumnWriter {
  readonly leaf: LeafNode
  readonly order: BoundOrder
  /** Bytes of the finished pages of the chunk, as in the file and before compression. */
  heldBytes = 0
  heldUncompressedBytes = 0
  private readonly packer: PagePacker
  private readonly options: ChunkOptions
  private readonly values: PageValues
  private readonly encoder: ValueEncoder
  private pages: DataPage[] = []
  private rows = 0
  private slots = 0
  private chunkSlots = 0
  private definitions: Uint8Array = new Uint8Array(0)
  private repetitions: Uint8Array = new Uint8Array(0)
  private body: Uint8Array = new Uint8Array(0)

  constructor(leaf: LeafNode, codec: Codec, options: ChunkOptions) {
    this.leaf = leaf
    this.order = orderOf(leaf.element)
    this.packer = new PagePacker(codec, options.level)
    this.options = options
    this.values = valuesOf(leaf, this.order)
    this.encoder = new ValueEncoder(
      leaf.element.type!,
      this.values,
      options,
      (bytes) => this.packer.compress(bytes).length,
    )
  }

  /** Bytes of the open page before encoding and compression. */
  get openBytes(): number {
    return this.values.plainBytes
  }

  /** Rows `[start, end)` of a top-level leaf. */
  append(column: Column, start: number, end: number): void {
    let from = start
    while (from < end) {
      const rows = this.room(column, from, end)
      if (rows === 0) {
        this.endPage()
        continue
      }
      this.appendRows(column, from, from + rows)
      from += rows
      if (this.rows === this.options.pageRows) this.endPage()
    }
  }

  /** All slots of some rows of a nested leaf. */
  appendSlots(slots: LeafSlots): void {
    let from = 0
    while (from < slots.count) {
      let to = from
      let rows = 0
      let bytes = this.values.plainBytes
      while (to < slots.count && this.rows + rows < this.options.pageRows) {
        let next = to + 1
        while (next < slots.count && slots.repetitions[next]! > 0) next++
        bytes += sizeOf(slots, to, next, this.values.width)
        if (bytes > this.options.pageBytes && this.rows + rows > 0) break
        to = next
        rows++
      }
      if (rows > 0) this.appendRange(slots, from, to, rows)
      if (to < slots.count || this.rows === this.options.pageRows) this.endPage()
      from = to
    }
  }

  /** Ends the chunk and starts the next. */
  finish(): Chunk {
    this.endPage()
    const { pages } = this
    let dictionary: SealedPage | undefined
    if (this.encoder.dictionary !== undefined) {
      const header = { numValues: this.encoder.dictionary.size, encoding: Encoding.PLAIN_DICTIONARY }
      const plain = this.encoder.dictionary.plain()
      const kind = { type: PageType.DICTIONARY_PAGE, dictionaryPage: header }
      dictionary = sealPage(kind, plain.length, this.packer.compress(plain))
    }
    let bounds = NO_VALUES
    let nullCount = 0
    for (const page of pages) {
      bounds = mergeBounds(this.order, bounds, page.bounds)
      nullCount += page.nullCount
    }
    const chunk = { codec: this.packer.codec, dictionary, pages, slots: this.chunkSlots, bounds, nullCount }
    this.encoder.reset()
    this.packer.reset()
    this.pages = []
    this.chunkSlots = 0
    this.heldBytes = 0
    this.heldUncompressedBytes = 0
    return chunk
  }

  /** How many of the rows fit in the open page: at least one when it is empty. */
  private room(column: Column, start: number, end: number): number {
    const rows = Math.min(end - start, this.options.pageRows - this.rows)
    const bytes = this.options.pageBytes - this.values.plainBytes
    let fit = rows
    if (this.values.width > 0) fit = Math.floor(bytes / this.values.width)
    else if (column.kind === 'bytes') fit = rowsWithin(column.offsets, start, start + rows, bytes)
    return Math.max(Math.min(rows, fit), this.rows === 0 ? 1 : 0)
  }

  private appendRows(column: Column, start: number, end: number): void {
    const rows = end - start
    const valid = column.valid
    let present = rows
    if (valid !== undefined) {
      present = 0
      for (let i = start; i < end; i++) present += valid[i]!
    }
    if (this.leaf.definition > 0) {
      this.definitions = grown(this.definitions, this.slots, this.slots + rows)
      if (valid === undefined) this.definitions.fill(1, this.slots, this.slots + rows)
      else this.definitions.set(valid.subarray(start, end), this.slots)
    } else if (present < rows) {
      throw new RangeError(`column ${this.leaf.path.join('.')} is NOT NULL, but a value is null`)
    }
    this.values.append(column, start, end, present)
    this.slots += rows
    this.rows += rows
  }

  private appendRange(slots: LeafSlots, from: number, to: number, rows: number): void {
    this.definitions = grown(this.definitions, this.slots, this.slots + to - from)
    this.definitions.set(slots.definitions.subarray(from, to), this.slots)
    this.repetitions = grown(this.repetitions, this.slots, this.slots + to - from)
    this.repetitions.set(slots.repetitions.subarray(from, to), this.slots)
    this.values.appendAt(slots.column, slots.rows, from, to)
    this.slots += to - from
    this.rows += rows
  }

  private endPage(): void {
    if (this.rows === 0) return
    const { leaf, slots, values } = this
    let at = 0
    if (leaf.repetition > 0) at = this.putLevels(this.repetitions, leaf.repetition, at)
    if (leaf.definition > 0) at = this.putLevels(this.definitions, leaf.definition, at)
    const { body, length, encoding } = this.encoder.encode(this.body, at)
    this.body = body
    const header = {
      numValues: slots,
      encoding,
      // Where a column has no levels, Java's writer names their encoding BIT_PACKED.
      definitionLevelEncoding: leaf.definition > 0 ? Encoding.RLE : Encoding.BIT_PACKED,
      repetitionLevelEncoding: leaf.repetition > 0 ? Encoding.RLE : Encoding.BIT_PACKED,
    }
    if (this.encoder.dictionary !== undefined) this.packer.compressAll()
    const before = this.packer.codec
    const bytes = body.subarray(0, length)
    const packed = this.packer.pack(bytes)
    if (this.packer.codec !== before) this.packAgain()
    const kind = { type: PageType.DATA_PAGE, dataPage: header }
    const nullCount = slots - values.count
    this.hold({
      ...sealPage(kind, length, packed),
      kind,
      rows: this.rows,
      encoding,
      bounds: values.bounds(),
      nullCount,
    })
    this.chunkSlots += slots
    this.rows = 0
    this.slots = 0
    values.clear()
  }

  private hold(page: DataPage): void {
    this.pages.push(page)
    this.heldBytes += page.bytes
    this.heldUncompressedBytes += page.uncompressedBytes
  }

  /** The pages held so far were stored as they are, and the chunk will be compressed after all. */
  private packAgain(): void {
    const { pages } = this
    this.pages = []
    this.heldBytes = 0
    this.heldUncompressedBytes = 0
    for (const page of pages)
      this.hold({ ...page, ...sealPage(page.kind, page.body.length, this.packer.compress(page.body)) })
  }

  /** Levels behind their length, a little-endian int32. */
  private putLevels(levels: Uint8Array, largest: number, at: number): number {
    const bitWidth = bitsFor(largest)
    this.body = grown(this.body, at, at + 4 + hybridBound(this.slots, bitWidth))
    const end = encodeHybrid(levels, this.slots, bitWidth, this.body, at + 4)
    new DataView(this.body.buffer).setInt32(at, end - at - 4, true)
    return end
  }
}

/** The last row up to which text and lengths take at most `bytes`, less `start`. */
function rowsWithin(offsets: Int32Array, start: number, end: number, bytes: number): number {
  const base = offsets[start]!
  if (offsets[end]! - base + 4 * (end - start) <= bytes) return end - start
  let low = start
  let high = end
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (offsets[middle]! - base + 4 * (middle - start) <= bytes) low = middle
    else high = middle - 1
  }
  return low - start
}

/** PLAIN bytes of the values in slots `[from, to)`. */
function sizeOf(slots: LeafSlots, from: number, to: number, width: number): number {
  const { rows, column } = slots
  let bytes = 0
  for (let i = from; i < to; i++) {
    const row = rows[i]!
    if (row < 0) continue
    bytes += column.kind === 'bytes' ? column.offsets[row + 1]! - column.offsets[row]! + 4 : width
  }
  return bytes
}

function valuesOf(leaf: LeafNode, order: BoundOrder): PageValues {
  const storage = storageOf(leaf.type)
  switch (leaf.element.type) {
    case PhysicalType.BOOLEAN:
      return new BooleanValues()
    case PhysicalType.INT32: {
      const source = storage === 'int64' ? 'narrowed' : storage === 'int32' ? 'same' : 'widened'
      return new WordValues(4, source, order)
    }
    case PhysicalType.FLOAT:
      return new WordValues(4, 'same', order)
    case PhysicalType.INT64:
    case PhysicalType.DOUBLE:
      return new WordValues(8, 'same', order)
    case PhysicalType.INT96:
      return new WideValues('int96', 12)
    case PhysicalType.FIXED_LEN_BYTE_ARRAY:
      return new WideValues('decimal', leaf.element.typeLength!)
    default:
      return new BytesValues()
  }
}

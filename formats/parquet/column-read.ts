import { corrupt, unsupported } from '../bytes/format-error.ts'
import type { CodecName } from '../compress/codec.ts'
import { type ChunkContext, ChunkPages, type FoundPage } from './chunk-pages.ts'
import { createBuffer, decodeDictionary } from './decoders.ts'
import { type ColumnChunk, Encoding, type OffsetIndex, type PageHeader, PageType } from './footer.ts'
import { codecName, openDataPage, type PageContent } from './page.ts'
import type { LeafNode } from './schema-tree.ts'
import type { ValueBuffer } from './value-buffer.ts'

/** Entries of levels looked at a time in nested columns. */
const LEVEL_BLOCK = 4096

/** Entries of one nested column in one batch; keeps what a damaged count can allocate within reason. */
const MAX_ENTRIES = 1 << 27

/** Values of a flat column: `valid` is absent without nulls, otherwise values under a null are zero. */
export interface FlatRows {
  readonly values: ValueBuffer
  readonly valid: Uint8Array | undefined
}

/** Levels and packed values of some rows of a nested column. */
export interface NestedRows {
  readonly entries: number
  readonly definition: Uint8Array
  /** Empty when nothing repeats: each entry is a row. */
  readonly repetition: Uint8Array
  /** Only the values that are present, those at the largest definition level. */
  readonly values: ValueBuffer
}

interface OpenPage {
  readonly header: PageHeader
  /** Place of the header. */
  readonly offset: number
  readonly bodyOffset: number
  /** Levels, null or not, and how many of them are still to come. */
  left: number
  content: PageContent | undefined
  /** What it inflates to, where a shelf had it. */
  readonly bytes: Uint8Array | undefined
}

/**
 * Reads one column chunk from the front: rows are taken or skipped in order. Pages are read when their first row is taken;
 * pages skipped as a whole are not decompressed, and with an offset index not even read.
 */
export class ChunkReader {
  readonly leaf: LeafNode
  private readonly codec: CodecName
  private readonly pages: ChunkPages
  private readonly rows: number
  private readonly start: number
  private readonly end: number
  private readonly index: OffsetIndex | undefined
  private nextPage: number
  /** End of the pages that will be read for sure. */
  private readLimit: number
  private valuesLeft: number
  private page: OpenPage | undefined
  private dictionary: ValueBuffer | undefined
  private dictionaryTried = false
  private readonly reuse: boolean
  /** The one that the next rows go to comes first. */
  private buffers: [ValueBuffer | undefined, ValueBuffer | undefined] = [undefined, undefined]
  /** Rows taken or skipped. */
  private row = 0
  private meanBytes = 16
  private readonly definitionBlock: Uint8Array
  private readonly repetitionBlock: Uint8Array
  private blockAt = 0
  private blockEnd = 0

  constructor(context: ChunkContext, leaf: LeafNode, chunk: ColumnChunk, rows: number, index: OffsetIndex | undefined) {
    const meta = chunk.metaData
    const name = leaf.path.join('.')
    if (chunk.crypto !== undefined) throw unsupported(`column ${name} is encrypted`)
    if (chunk.filePath !== undefined) throw unsupported(`column ${name} lies in another file`)
    if (meta === undefined) throw corrupt(`column ${name} has no metadata`)
    if (meta.type !== leaf.element.type) {
      throw corrupt(`column ${name} has physical type ${meta.type}, its schema says ${leaf.element.type}`)
    }
    this.leaf = leaf
    this.reuse = context.reuse === true
    this.codec = codecName(meta.codec)
    this.rows = rows
    const { dictionaryPageOffset: dictionary = 0, dataPageOffset } = meta
    this.start = dictionary > 0 && dictionary < dataPageOffset ? dictionary : dataPageOffset
    this.end = this.start + meta.totalCompressedSize
    if (this.start < 0 || meta.totalCompressedSize < 0 || this.end > context.source.bytes) {
      throw corrupt(`column ${name} lies at bytes ${this.start} to ${this.end} of a file of ${context.source.bytes}`)
    }
    if (meta.numValues < 0 || (leaf.repetition === 0 && meta.numValues !== rows)) {
      throw corrupt(`column ${name} has ${meta.numValues} values in a row group of ${rows} rows`)
    }
    this.pages = new ChunkPages(context, this.codec, this.end)
    this.valuesLeft = meta.numValues
    this.index = index && this.checkIndex(index)
    this.nextPage = this.start
    this.readLimit = this.end
    const nested = leaf.repetition > 0
    this.definitionBlock = new Uint8Array(nested ? LEVEL_BLOCK : 0)
    this.repetitionBlock = new Uint8Array(nested ? LEVEL_BLOCK : 0)
  }

  private checkIndex(index: OffsetIndex): OffsetIndex {
    let row = 0
    let offset = this.start
    for (const [i, page] of index.pageLocations.entries()) {
      const wrong = i === 0 ? page.firstRowIndex !== 0 : page.firstRowIndex < row
      if (wrong || page.firstRowIndex > this.rows || page.offset < offset || page.compressedPageSize <= 0) {
        throw corrupt(`offset index of column ${this.leaf.path.join('.')} is wrong at page ${i}`)
      }
      row = page.firstRowIndex
      offset = page.offset + page.compressedPageSize
    }
    if (offset > this.end)
      throw corrupt(`offset index of column ${this.leaf.path.join('.')} passes the end of its chunk`)
    return index
  }

  /**
   * Moves on to `row`, counted in the row group. `until` is the row where reading will stop next: with an offset index,
   * nothing behind its page is read ahead.
   */
  seek(row: number, until: number): void {
    if (this.index !== undefined) this.jump(row, until)
    this.skip(row - this.row)
  }

  private jump(row: number, until: number): void {
    const pages = this.index!.pageLocations
    let target = pages.length - 1
    while (target > 0 && pages[target]!.firstRowIndex > row) target--
    let last = target
    while (last + 1 < pages.length && pages[last + 1]!.firstRowIndex < until) last++
    const page = pages[target]
    if (page === undefined) return
    this.readLimit = pages[last]!.offset + pages[last]!.compressedPageSize
    // The page at hand may already be the one.
    if (page.firstRowIndex <= this.row && this.row > 0) return
    this.loadDictionary()
    this.nextPage = page.offset
    this.row = page.firstRowIndex
    this.page = undefined
    this.blockAt = this.blockEnd
    // Counts of skipped pages are unknown: the pages that follow end the chunk by their place.
    this.valuesLeft = Number.POSITIVE_INFINITY
  }

  /** A dictionary in front of the first data page, for readers that jump over the way to it. */
  private loadDictionary(): void {
    const first = this.index?.pageLocations[0]
    if (this.dictionaryTried || first === undefined) return
    this.dictionaryTried = true
    if (first.offset <= this.start) return
    const page = this.pages.header(this.start, first.offset)
    if (page.header.type === PageType.DICTIONARY_PAGE) this.readDictionary(this.start, page, first.offset)
  }

  private readDictionary(offset: number, page: FoundPage, limit: number): void {
    const { header } = page
    if (this.dictionary !== undefined) throw corrupt(`column ${this.leaf.path.join('.')} has two dictionaries`)
    const { encoding, numValues } = header.dictionaryPage!
    if (encoding !== Encoding.PLAIN && encoding !== Encoding.PLAIN_DICTIONARY) {
      throw unsupported(`Parquet encoding ${encoding} of a dictionary`)
    }
    const bytes = this.pages.dictionary(offset, page, limit)
    this.dictionary = decodeDictionary(this.leaf.element, bytes, numValues)
  }

  /** The data page with entries left, moving on as needed; undefined at the end of the chunk. */
  private current(): OpenPage | undefined {
    while (this.page === undefined || this.page.left === 0) {
      this.page = undefined
      if (this.valuesLeft <= 0 || this.nextPage >= this.end) return undefined
      const limit = this.readLimit > this.nextPage ? this.readLimit : this.end
      const offset = this.nextPage
      const page = this.pages.header(offset, limit)
      const { header, bodyOffset, bytes } = page
      this.nextPage = bodyOffset + header.compressedPageSize
      if (header.type === PageType.DICTIONARY_PAGE) this.readDictionary(offset, page, limit)
      const counts = header.type === PageType.DATA_PAGE ? header.dataPage : header.dataPageV2
      if (counts === undefined || header.type === PageType.INDEX_PAGE) continue
      if (counts.numValues > this.valuesLeft) {
        throw corrupt(
          `page at byte ${bodyOffset} claims ${counts.numValues} values, ${this.valuesLeft} are left in its chunk`,
        )
      }
      this.valuesLeft -= counts.numValues
      this.page = { header, offset, bodyOffset, left: counts.numValues, content: undefined, bytes }
    }
    return this.page
  }

  private content(page: OpenPage): PageContent {
    if (page.content === undefined) {
      const { header, offset, bodyOffset } = page
      const limit = this.readLimit > bodyOffset ? this.readLimit : this.end
      // Of a page from the shelf nothing is stored any more.
      const body = page.bytes ?? this.pages.body(header, bodyOffset, limit)
      page.content = openDataPage(this.leaf, header, body, this.codec, this.dictionary, (stored, codec, size) => {
        const bytes = page.bytes ?? this.pages.inflate(stored, codec, size)
        if (header.type === PageType.DATA_PAGE)
          this.pages.keep(offset, { header, bodyOffset, bytes }, page.bytes !== undefined)
        return bytes
      })
    }
    return page.content
  }

  private endsEarly(missing: number): Error {
    return corrupt(
      `column ${this.leaf.path.join('.')} ends at row ${this.row} of ${this.rows}: ${missing} more were expected`,
    )
  }

  /** Steps over rows; whole pages are not even decompressed where rows can be counted from headers. */
  private skip(count: number): void {
    if (count <= 0) return
    if (this.leaf.repetition > 0) {
      this.skipNested(count)
      return
    }
    for (let rest = count; rest > 0; ) {
      const page = this.current()
      if (page === undefined) throw this.endsEarly(rest)
      const take = Math.min(rest, page.left)
      if (take < page.left || page.content !== undefined) this.discard(this.content(page), take)
      spend(page, take)
      rest -= take
      this.row += take
    }
  }

  private discard(content: PageContent, count: number): void {
    if (content.definition === undefined) {
      content.values.skip(count)
      return
    }
    const scratch = new Uint8Array(Math.min(count, LEVEL_BLOCK))
    for (let rest = count; rest > 0; rest -= LEVEL_BLOCK) {
      content.values.skip(content.definition.read(scratch, 0, Math.min(rest, LEVEL_BLOCK), this.leaf.definition))
    }
  }

  private skipNested(count: number): void {
    let rest = count
    // Pages of version 2 start at a row and say how many they hold.
    while (rest > 0 && this.blockAt === this.blockEnd) {
      const page = this.current()
      const rows = page?.header.type === PageType.DATA_PAGE_V2 ? page.header.dataPageV2!.numRows : -1
      if (page === undefined || page.content !== undefined || rows < 0 || rows > rest) break
      page.left = 0
      rest -= rows
      this.row += rows
    }
    for (; rest > 0; rest -= LEVEL_BLOCK) this.takeNested(Math.min(rest, LEVEL_BLOCK))
  }

  /** Where the values of the next rows go: with `reuse` one of two buffers, in turns. */
  private buffer(count: number): ValueBuffer {
    const [next] = this.buffers
    if (next === undefined) {
      const made = createBuffer(this.leaf.element, count, Math.ceil(count * this.meanBytes) + 64)
      if (this.reuse) this.buffers = [this.buffers[1], made]
      return made
    }
    next.clear()
    this.buffers.reverse()
    return next
  }

  /** The next `count` rows of a column that is not inside anything optional or repeated. */
  takeFlat(count: number): FlatRows {
    this.pages.goOn(this.page?.content !== undefined)
    const values = this.buffer(count)
    const optional = this.leaf.definition > 0
    const valid = optional ? new Uint8Array(count) : undefined
    let nulls = 0
    for (let done = 0; done < count; ) {
      const page = this.current()
      if (page === undefined) throw this.endsEarly(count - done)
      const content = this.content(page)
      const take = Math.min(count - done, page.left)
      if (valid !== undefined && content.definition !== undefined) {
        const present = content.definition.read(valid, done, take, 1)
        content.values.read(values, present)
        if (present < take) values.spread(present, take, valid, done, 1)
        nulls += take - present
      } else {
        valid?.fill(1, done, done + take)
        content.values.read(values, take)
      }
      spend(page, take)
      done += take
      this.row += take
    }
    if (values.kind === 'bytes' && count > 0) this.meanBytes = (values.size / count) * 1.1 + 1
    return { values, valid: nulls > 0 ? valid : undefined }
  }

  /** Leaves the pages of the last rows on the shelf, for a reader that goes on among them. Nothing may be read afterwards. */
  shelve(): void {
    this.pages.shelve()
  }

  /** The next `count` rows as levels and packed values. */
  takeNested(count: number): NestedRows {
    this.pages.goOn(this.page?.content !== undefined)
    const values = createBuffer(this.leaf.element, count, Math.ceil(count * this.meanBytes) + 64)
    return this.leaf.repetition === 0 ? this.takeLevels(count, values) : this.takeRepeated(count, values)
  }

  private takeLevels(count: number, values: ValueBuffer): NestedRows {
    const definition = new Uint8Array(count)
    for (let done = 0; done < count; ) {
      const page = this.current()
      if (page === undefined) throw this.endsEarly(count - done)
      const content = this.content(page)
      const take = Math.min(count - done, page.left)
      const present = content.definition?.read(definition, done, take, this.leaf.definition) ?? take
      content.values.read(values, present)
      spend(page, take)
      done += take
      this.row += take
    }
    return { entries: count, definition, repetition: new Uint8Array(0), values }
  }

  /** A row ends where the next one starts, which may be on the next page: levels are looked at in blocks, ahead of values. */
  private takeRepeated(count: number, values: ValueBuffer): NestedRows {
    let definition = new Uint8Array(Math.max(count, 16))
    let repetition = new Uint8Array(Math.max(count, 16))
    let entries = 0
    let started = 0
    while (this.blockAt < this.blockEnd || this.fillBlock()) {
      let i = this.blockAt
      let present = 0
      for (; i < this.blockEnd; i++) {
        if (this.repetitionBlock[i] === 0) {
          if (started === count) break
          started++
        }
        if (this.definitionBlock[i] === this.leaf.definition) present++
      }
      const taken = i - this.blockAt
      if (taken > 0 && started === 0) throw corrupt(`column ${this.leaf.path.join('.')} starts inside a row`)
      if (entries + taken > MAX_ENTRIES) {
        throw unsupported(
          `${count} rows of column ${this.leaf.path.join('.')} hold more than ${MAX_ENTRIES} entries: ask for fewer rows at once`,
        )
      }
      if (entries + taken > definition.length) {
        definition = grown(definition, entries, entries + taken)
        repetition = grown(repetition, entries, entries + taken)
      }
      definition.set(this.definitionBlock.subarray(this.blockAt, i), entries)
      repetition.set(this.repetitionBlock.subarray(this.blockAt, i), entries)
      entries += taken
      this.page?.content?.values.read(values, present)
      this.blockAt = i
      if (i < this.blockEnd) break
    }
    if (started < count) throw this.endsEarly(count - started)
    this.row += count
    return { entries, definition, repetition, values }
  }

  /** Reads levels of the current page, whose values before them have all been taken. */
  private fillBlock(): boolean {
    const page = this.current()
    if (page === undefined) return false
    const { definition, repetition } = this.content(page)
    const take = Math.min(LEVEL_BLOCK, page.left)
    if (repetition === undefined || definition === undefined) {
      throw corrupt(`page at byte ${page.bodyOffset} of column ${this.leaf.path.join('.')} has no levels`)
    }
    repetition.read(this.repetitionBlock, 0, take, 0)
    definition.read(this.definitionBlock, 0, take, this.leaf.definition)
    page.left -= take
    this.blockAt = 0
    this.blockEnd = take
    return true
  }
}

/** Takes levels, and the values of them, off a page: one that is used up keeps no bytes while the next is not asked for. */
function spend(page: OpenPage, count: number): void {
  page.left -= count
  if (page.left === 0) page.content = undefined
}

function grown(old: Uint8Array, used: number, needed: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.max(needed, old.length * 2))
  bytes.set(old.subarray(0, used))
  return bytes
}

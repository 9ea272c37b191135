import type { Column, Scalar } from '../../formats/column/column.ts'
import { buffersOf } from '../../formats/column/copy.ts'
import { take } from '../../formats/column/gather.ts'
import { compareRowToKey } from '../../formats/column/key-bounds.ts'
import { concatColumns, sliceColumn } from '../../formats/column/slice.ts'
import type { ParquetFooter } from '../../formats/parquet/file-read.ts'
import type { ShelvedPage } from '../../formats/parquet/page-shelf.ts'
import type { Cache } from './cache.ts'
import type { FooterCache } from './data-reader.ts'
import type { PageShelves } from './shelf.ts'

/**
 * A stretch of a data file in memory: the keys of its rows, and other columns by their position in the layout once somebody has
 * asked for a row. Blocks are entries of the cache, which drops them one by one.
 */
export interface Block {
  readonly kind: 'block'
  readonly name: string
  readonly firstRow: number
  readonly rows: number
  readonly keys: readonly Column[]
  readonly columns: (Column | undefined)[]
}

/**
 * Which stretches of a file have been decoded, in file order and without overlap: first and last key of each as columns. It stays
 * when blocks go, some hundred bytes for each: then a miss between two of them still costs nothing.
 */
export interface Directory {
  readonly kind: 'directory'
  readonly firstRows: readonly number[]
  readonly rows: readonly number[]
  readonly firstKeys: readonly Column[]
  readonly lastKeys: readonly Column[]
  /** Cache key of each block. */
  readonly names: readonly string[]
}

/** What a data file says of itself; see `footersIn`. */
interface Footer {
  readonly kind: 'footer'
  readonly footer: ParquetFooter
}

/** A page of a data file that a small range was read from, decompressed. */
interface Page {
  readonly kind: 'page'
  readonly page: ShelvedPage
}

/** Deleted rows of a data file. */
interface Vector {
  readonly kind: 'vector'
  readonly deleted: Uint32Array
}

/** What the cache of point reads holds. */
export type PointCache = Cache<Block | Directory | Footer | Page | Vector>

/** The footers of open files among the other entries: one limit holds for all. */
export function footersIn(cache: PointCache): FooterCache {
  return {
    get(path) {
      const entry = cache.get(`${path} footer`)
      return entry?.kind === 'footer' ? entry.footer : undefined
    },
    set(path, footer, bytes) {
      const name = `${path} footer`
      if (cache.get(name) === undefined) cache.set(name, { kind: 'footer', footer }, bytes)
    },
  }
}

/** Pages of small ranges among the other entries: decompressing is most of what such a range costs. */
export function pagesIn(cache: PointCache): PageShelves {
  return {
    of: (path) => ({
      keepsAll: true,
      take(offset) {
        const entry = cache.get(`${path} page ${offset}`)
        return entry?.kind === 'page' ? entry.page : undefined
      },
      put: (offset, page) =>
        cache.set(`${path} page ${offset}`, { kind: 'page', page }, page.bytes.buffer.byteLength + PAGE_BYTES),
    }),
  }
}

/** Keeps a block, or counts the columns that came to it. */
export function keepBlock(cache: PointCache, block: Block): void {
  const present = block.columns.filter((column) => column !== undefined)
  const buffers = buffersOf([{ fields: [], rows: block.rows, columns: [...block.keys, ...present] }])
  cache.set(
    block.name,
    block,
    buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0),
  )
}

/** About what a page takes beside its bytes. */
const PAGE_BYTES = 512

/** About what the directory takes a block. */
const DIRECTORY_BYTES = 256

export const NO_BLOCKS: Directory = {
  kind: 'directory',
  firstRows: [],
  rows: [],
  firstKeys: [],
  lastKeys: [],
  names: [],
}

export function keepDirectory(cache: PointCache, name: string, directory: Directory): void {
  cache.set(name, directory, DIRECTORY_BYTES * (directory.names.length + 1))
}

/** Whether a key lies in stretch `at`, the first that does not end before it. */
export function coversKey({ firstKeys, names }: Directory, at: number, key: readonly Scalar[]): boolean {
  return at < names.length && compareRowToKey(firstKeys, at, key) <= 0
}

/** True when the stretches before and after lie side by side in the file, so that no row can be between them. */
export function fallsBetween({ firstRows, rows }: Directory, next: number): boolean {
  if (next >= firstRows.length) return false
  return next === 0 ? firstRows[0] === 0 : firstRows[next - 1]! + rows[next - 1]! === firstRows[next]
}

/** The directory with more blocks, which follow each other: they take the place of known ones that they overlap. */
export function withBlocks(known: Directory, blocks: readonly Block[]): Directory {
  const from = blocks[0]!.firstRow
  const last = blocks.at(-1)!
  const to = last.firstRow + last.rows
  const before = known.firstRows.findIndex((first, index) => first + known.rows[index]! > from)
  const after = known.firstRows.findIndex((first) => first >= to)
  const head = before < 0 ? known.names.length : before
  const tail = after < 0 ? known.names.length : after
  const replaced = <T>(list: readonly T[], by: (block: Block) => T): T[] => [
    ...list.slice(0, head),
    ...blocks.map(by),
    ...list.slice(tail),
  ]
  const keysAt = (of: readonly Column[], row: (block: Block) => number) =>
    blocks[0]!.keys.map((_, index) =>
      concatColumns([
        ...(head > 0 ? [sliceColumn(of[index]!, 0, head)] : []),
        // Copies: a view would keep the keys of the whole block, which the cache may drop.
        ...blocks.map((block) => take(block.keys[index]!, Uint32Array.of(row(block)))),
        ...(tail < known.names.length ? [sliceColumn(of[index]!, tail, known.names.length)] : []),
      ]),
    )
  return {
    kind: 'directory',
    firstRows: replaced(known.firstRows, (block) => block.firstRow),
    rows: replaced(known.rows, (block) => block.rows),
    firstKeys: keysAt(known.firstKeys, () => 0),
    lastKeys: keysAt(known.lastKeys, (block) => block.rows - 1),
    names: replaced(known.names, (block) => block.name),
  }
}

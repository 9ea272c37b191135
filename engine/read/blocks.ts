import type { Batch, Column, Scalar } from '../../formats/column/column.ts'
import { buffersOf } from '../../formats/column/copy.ts'
import { compareRowToKey, firstAtLeast } from '../../formats/column/key-bounds.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import { concatColumns, sliceColumn } from '../../formats/column/slice.ts'
import type { ParquetFooter } from '../../formats/parquet/file-read.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import type { Cache } from '../store/cache.ts'
import type { DataFileReader, FooterCache } from '../store/data-reader.ts'

/** Decoded rows of a stretch of a data file, all columns: what a point lookup keeps. */
interface Block {
  readonly kind: 'block'
  readonly batch: Batch
  readonly keys: readonly Column[]
}

/**
 * Which stretches of a file have been decoded, in file order and without overlap: first and last key of each as columns. The
 * blocks themselves are entries of their own, so that the cache drops them one by one; a few hundred bytes stay.
 */
interface Directory {
  readonly kind: 'directory'
  readonly firstRows: readonly number[]
  readonly rows: readonly number[]
  readonly firstKeys: readonly Column[]
  readonly lastKeys: readonly Column[]
  /** Cache key of each block. */
  readonly names: readonly string[]
}

/** What the cache of point reads holds. */
export type PointCache = Cache<Block | Directory | Footer>

/** What a data file says of itself; see `footersIn`. */
interface Footer {
  readonly kind: 'footer'
  readonly footer: ParquetFooter
}

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

/** Rows a block has at most. */
const BLOCK_ROWS = 4096

/** About what the directory takes a block. */
const DIRECTORY_BYTES = 256

/** A row of a block. */
export interface FoundRow {
  readonly batch: Batch
  readonly row: number
}

const EMPTY: Directory = { kind: 'directory', firstRows: [], rows: [], firstKeys: [], lastKeys: [], names: [] }

/**
 * Finds a key in one data file: undefined when the file does not hold it. Blocks that were decoded before answer by binary
 * search, about a microsecond; else the pages that may hold the key are read and kept in `cache` under the file's name.
 */
export function findInFile(
  name: string,
  key: readonly Scalar[],
  layout: KvLayout,
  cache: PointCache,
  open: (prune: Predicate, batchRows: number) => DataFileReader,
): FoundRow | undefined {
  const entry = cache.get(name)
  const directory = entry?.kind === 'directory' ? entry : EMPTY
  const count = directory.names.length
  const at = firstAtLeast(directory.lastKeys, count, key)
  if (at < count && compareRowToKey(directory.firstKeys, at, key) <= 0) {
    const block = cache.get(directory.names[at]!)
    if (block?.kind === 'block') return rowOf(block, key)
  } else if (fallsBetween(directory, at)) return undefined
  return readBlocks(name, key, layout, cache, directory, open)
}

/** Decodes the pages that may hold the key, keeps them, and looks there. */
function readBlocks(
  name: string,
  key: readonly Scalar[],
  layout: KvLayout,
  cache: PointCache,
  directory: Directory,
  open: (prune: Predicate, batchRows: number) => DataFileReader,
): FoundRow | undefined {
  const blocks: Block[] = []
  const firstRows: number[] = []
  const reader = open(equalTo(key, layout), BLOCK_ROWS)
  try {
    for (const { firstRow, batch } of reader.positioned()) {
      if (batch.rows === 0) continue
      blocks.push({ kind: 'block', batch, keys: layout.keyIndexes.map((index) => batch.columns[index]!) })
      firstRows.push(firstRow)
    }
  } finally {
    reader.close()
  }
  if (blocks.length === 0) return undefined
  const next = withBlocks(name, directory, firstRows, blocks)
  const hit = blocks.findIndex((block) => rowOf(block, key) !== undefined)
  const keep = (index: number) => {
    const buffers = buffersOf([blocks[index]!.batch])
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0)
    cache.set(blockName(name, firstRows[index]!), blocks[index]!, bytes)
  }
  // The block asked for comes last: a small cache drops its neighbours first.
  for (let index = 0; index < blocks.length; index++) if (index !== hit) keep(index)
  if (hit >= 0) keep(hit)
  cache.set(name, next, DIRECTORY_BYTES * next.names.length)
  return hit < 0 ? undefined : rowOf(blocks[hit]!, key)
}

function blockName(file: string, firstRow: number): string {
  return `${file} ${firstRow}`
}

/** True when the blocks before and after lie side by side in the file, so that no row can be between them. */
function fallsBetween({ firstRows, rows }: Directory, next: number): boolean {
  if (next >= firstRows.length) return false
  return next === 0 ? firstRows[0] === 0 : firstRows[next - 1]! + rows[next - 1]! === firstRows[next]
}

function rowOf({ batch, keys }: Block, key: readonly Scalar[]): FoundRow | undefined {
  const row = firstAtLeast(keys, batch.rows, key)
  return row < batch.rows && compareRowToKey(keys, row, key) === 0 ? { batch, row } : undefined
}

/** New blocks take the place of known ones that they overlap. */
function withBlocks(name: string, known: Directory, firstRows: readonly number[], blocks: readonly Block[]): Directory {
  const from = firstRows[0]!
  const to = firstRows.at(-1)! + blocks.at(-1)!.batch.rows
  const before = known.firstRows.findIndex((first, index) => first + known.rows[index]! > from)
  const after = known.firstRows.findIndex((first) => first >= to)
  const head = before < 0 ? known.names.length : before
  const tail = after < 0 ? known.names.length : after
  const keysAt = (of: readonly Column[], row: (block: Block) => number) =>
    blocks[0]!.keys.map((_, index) =>
      concatColumns([
        ...(head > 0 ? [sliceColumn(of[index]!, 0, head)] : []),
        ...blocks.map((block) => sliceColumn(block.keys[index]!, row(block), row(block) + 1)),
        ...(tail < known.names.length ? [sliceColumn(of[index]!, tail, known.names.length)] : []),
      ]),
    )
  return {
    kind: 'directory',
    firstRows: [...known.firstRows.slice(0, head), ...firstRows, ...known.firstRows.slice(tail)],
    rows: [...known.rows.slice(0, head), ...blocks.map(({ batch }) => batch.rows), ...known.rows.slice(tail)],
    firstKeys: keysAt(known.firstKeys, () => 0),
    lastKeys: keysAt(known.lastKeys, ({ batch }) => batch.rows - 1),
    names: [...known.names.slice(0, head), ...firstRows.map((row) => blockName(name, row)), ...known.names.slice(tail)],
  }
}

/** The key as a condition on the key columns, for pruning pages. */
function equalTo(key: readonly Scalar[], layout: KvLayout): Predicate {
  return {
    op: 'and',
    children: key.map((value, index) => ({ op: 'eq', column: layout.keys[index]!.name, value })),
  }
}

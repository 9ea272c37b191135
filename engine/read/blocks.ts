import type { Batch, Column, Scalar } from '../../formats/column/column.ts'
import { buffersOf } from '../../formats/column/copy.ts'
import { compareRowToKey, firstAtLeast } from '../../formats/column/key-bounds.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import type { Cache } from '../store/cache.ts'
import type { DataFileReader } from '../store/data-reader.ts'

/** Decoded rows of a stretch of a data file, all columns: what a point lookup keeps. */
export interface Block {
  readonly firstRow: number
  readonly batch: Batch
  readonly keys: readonly Column[]
}

/** Blocks of one file that are decoded, ordered by position. They do not overlap. */
export interface FileBlocks {
  readonly blocks: readonly Block[]
  readonly bytes: number
}

/** Rows a block has at most. */
export const BLOCK_ROWS = 4096

/** A row of a block. */
export interface FoundRow {
  readonly batch: Batch
  readonly row: number
}

/**
 * Finds a key in one data file: undefined when the file does not hold it. Blocks that were decoded before answer by binary
 * search, some microseconds; else the pages that may hold the key are read and kept in `cache` under the file's name.
 */
export function findInFile(
  name: string,
  key: readonly Scalar[],
  layout: KvLayout,
  cache: Cache<FileBlocks>,
  open: (prune: Predicate, batchRows: number) => DataFileReader,
): FoundRow | undefined {
  const known = cache.get(name) ?? { blocks: [], bytes: 0 }
  const at = blockFor(known.blocks, key)
  if (at >= 0) return rowOf(known.blocks[at]!, key)
  if (fallsBetween(known.blocks, -at - 1)) return undefined
  const read = [...open(equalTo(key, layout), BLOCK_ROWS).positioned()].map(
    ({ firstRow, batch }): Block => ({
      firstRow,
      batch,
      keys: layout.keyIndexes.map((index) => batch.columns[index]!),
    }),
  )
  const blocks = withBlocks(known.blocks, read)
  cache.set(name, blocks, blocks.bytes)
  const hit = blockFor(blocks.blocks, key)
  return hit < 0 ? undefined : rowOf(blocks.blocks[hit]!, key)
}

/** Index of the block whose keys span the key, or -(i + 1) where i blocks end before it. */
function blockFor(blocks: readonly Block[], key: readonly Scalar[]): number {
  let low = 0
  let high = blocks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const { keys, batch } = blocks[middle]!
    if (compareRowToKey(keys, batch.rows - 1, key) < 0) low = middle + 1
    else high = middle
  }
  const block = blocks[low]
  return block !== undefined && compareRowToKey(block.keys, 0, key) <= 0 ? low : -(low + 1)
}

/** True when the blocks before and after lie side by side in the file, so that no row can be between them. */
function fallsBetween(blocks: readonly Block[], next: number): boolean {
  const before = blocks[next - 1]
  const after = blocks[next]
  if (after === undefined) return false
  return before === undefined ? after.firstRow === 0 : before.firstRow + before.batch.rows === after.firstRow
}

function rowOf({ batch, keys }: Block, key: readonly Scalar[]): FoundRow | undefined {
  const row = firstAtLeast(keys, batch.rows, key)
  return row < batch.rows && compareRowToKey(keys, row, key) === 0 ? { batch, row } : undefined
}

/** New blocks take the place of known ones that they overlap. */
function withBlocks(known: readonly Block[], read: readonly Block[]): FileBlocks {
  const from = read[0]?.firstRow ?? 0
  const to = read.reduce((end, { firstRow, batch }) => Math.max(end, firstRow + batch.rows), from)
  const blocks = [
    ...known.filter(({ firstRow, batch }) => firstRow + batch.rows <= from),
    ...read.filter(({ batch }) => batch.rows > 0),
    ...known.filter(({ firstRow }) => firstRow >= to),
  ]
  return {
    blocks,
    bytes: buffersOf(blocks.map(({ batch }) => batch)).reduce((sum, buffer) => sum + buffer.byteLength, 0),
  }
}

/** The key as a condition on the key columns, for pruning pages. */
function equalTo(key: readonly Scalar[], layout: KvLayout): Predicate {
  return {
    op: 'and',
    children: key.map((value, index) => ({ op: 'eq', column: layout.keys[index]!.name, value })),
  }
}

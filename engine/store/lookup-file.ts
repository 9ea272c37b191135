import type { Batch, Column, Scalar } from '../../formats/column/column.ts'
import { gather } from '../../formats/column/gather.ts'
import { compareRowToKey, firstAtLeast } from '../../formats/column/key-bounds.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { deserializeRow } from '../../formats/row/binary-row.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import {
  type Block,
  coversKey,
  type Directory,
  fallsBetween,
  keepBlock,
  keepDirectory,
  NO_BLOCKS,
  type PointCache,
  withBlocks,
} from './blocks.ts'
import type { DataFileRead, DataFileReader } from './data-reader.ts'
import { withPathSync } from './errors.ts'
import { isDeleted } from './vectors.ts'

/** Rows a block has at most: those of a page, in most files. */
const BLOCK_ROWS = 32_768

/** A row of a block of a file. */
export interface FileRow {
  readonly file: LookupFile
  readonly block: Block
  readonly row: number
}

/** All columns of rows that were found, in their order; those of a block follow each other. */
export function rowsOf(found: readonly FileRow[], { fields }: KvLayout): Batch {
  const all = [...fields.keys()]
  const sources: (readonly Column[])[] = []
  const source = new Uint16Array(found.length)
  let last: FileRow | undefined
  for (const [index, one] of found.entries()) {
    if (last?.block !== one.block) sources.push(one.file.columns(one.block, all))
    last = one
    source[index] = sources.length - 1
  }
  const row = Uint32Array.from(found, (one) => one.row)
  const columns = all.map((index) =>
    gather(
      sources.map((columns) => columns[index]!),
      source,
      row,
      found.length,
    ),
  )
  return { fields, rows: found.length, columns }
}

/** How lookups reach the files of a bucket. */
export interface LookupFolder {
  readonly open: (
    file: DataFile,
    read: Pick<DataFileRead, 'layout' | 'prune' | 'batchRows' | 'unread'>,
  ) => DataFileReader
  /** The deleted rows of a file that has some, ascending. */
  readonly deletedOf: (file: DataFile) => Uint32Array | undefined
}

/** What the files of a table have in common for lookups. */
export interface LookupTable {
  readonly layout: KvLayout
  /** The layout with these columns of the table only, by their positions in `layout`. */
  readonly narrow: (indexes: readonly number[]) => KvLayout
  readonly cache: PointCache
  /** Tells files of different tables and schemas apart in the cache. */
  readonly nameOf: (file: DataFile) => string
}

/**
 * A data file that keys are looked up in. What is decoded lies in the cache: keys of the pages that may hold a key that was asked
 * for, and other columns of those where it was found. So a miss decodes keys at most, and once only. Reads are synchronous; see
 * docs/adr/0001.
 */
export class LookupFile {
  readonly file: DataFile
  readonly minKey: readonly Scalar[]
  readonly maxKey: readonly Scalar[]
  readonly #table: LookupTable
  readonly #folder: LookupFolder
  readonly #name: string

  constructor(file: DataFile, table: LookupTable, folder: LookupFolder) {
    const { keyTypes } = table.layout
    this.file = file
    const keyOf = (row: Uint8Array) => withPathSync(file.name, () => deserializeRow(keyTypes, row) as readonly Scalar[])
    this.minKey = keyOf(file.minKey)
    this.maxKey = keyOf(file.maxKey)
    this.#table = table
    this.#folder = folder
    this.#name = table.nameOf(file)
  }

  /** The row of a key, unless it is deleted. */
  find(key: readonly Scalar[]): FileRow | undefined {
    const block = this.blockFor(key)
    if (block === undefined) return undefined
    const row = firstAtLeast(block.keys, block.rows, key)
    return this.#rowAt(block, row, key)
  }

  /** Whether a row of a block is deleted. */
  isDeleted(block: Block, row: number): boolean {
    const { vector } = this.file
    if (vector === undefined) return false
    const { cache } = this.#table
    const name = `${this.#name} ${vector.indexFile}`
    const entry = cache.get(name)
    let deleted = entry?.kind === 'vector' ? entry.deleted : undefined
    if (deleted === undefined) {
      deleted = this.#folder.deletedOf(this.file) ?? new Uint32Array(0)
      cache.set(name, { kind: 'vector', deleted }, deleted.byteLength)
    }
    return isDeleted(deleted, block.firstRow + row)
  }

  /** The block that holds the key if the file does, from the cache or decoded now; undefined when the file does not hold it. */
  blockFor(key: readonly Scalar[]): Block | undefined {
    const { cache } = this.#table
    const entry = cache.get(this.#name)
    const directory = entry?.kind === 'directory' ? entry : NO_BLOCKS
    const at = firstAtLeast(directory.lastKeys, directory.names.length, key)
    if (coversKey(directory, at, key)) {
      const known = cache.get(directory.names[at]!)
      if (known?.kind === 'block') return known
    } else if (fallsBetween(directory, at)) return undefined
    return this.#decodeKeys(key, directory)
  }

  /** Columns of a block by their positions in the layout; those that are missing are decoded, together. */
  columns(block: Block, indexes: readonly number[]): readonly Column[] {
    const missing = indexes.filter((index) => block.columns[index] === undefined)
    if (missing.length > 0) this.#decode(block, missing)
    return indexes.map((index) => block.columns[index]!)
  }

  #rowAt(block: Block, row: number, key: readonly Scalar[]): FileRow | undefined {
    const there = row < block.rows && compareRowToKey(block.keys, row, key) === 0 && !this.isDeleted(block, row)
    return there ? { file: this, block, row } : undefined
  }

  /** Decodes the keys of the pages that may hold the key, and keeps them. */
  #decodeKeys(key: readonly Scalar[], directory: Directory): Block | undefined {
    const { layout, narrow, cache } = this.#table
    const blocks: Block[] = []
    const reader = this.#folder.open(this.file, {
      layout: narrow([]),
      prune: equalTo(key, layout),
      batchRows: BLOCK_ROWS,
      unread: new Set([layout.sequence, layout.kind]),
    })
    try {
      for (const { firstRow, batch } of reader.positioned()) {
        if (batch.rows > 0) blocks.push(this.#blockOf(firstRow, batch.columns.slice(0, layout.keys.length)))
      }
    } finally {
      reader.close()
    }
    if (blocks.length === 0) return undefined
    const block = blocks.find(
      ({ keys, rows }) => compareRowToKey(keys, 0, key) <= 0 && compareRowToKey(keys, rows - 1, key) >= 0,
    )
    // The block asked for comes last: a small cache drops its neighbours first.
    for (const other of blocks) if (other !== block) keepBlock(cache, other)
    if (block !== undefined) keepBlock(cache, block)
    keepDirectory(cache, this.#name, withBlocks(directory, blocks))
    return block
  }

  #blockOf(firstRow: number, keys: readonly Column[]): Block {
    const { layout } = this.#table
    const columns: (Column | undefined)[] = layout.fields.map(() => undefined)
    keys.forEach((column, index) => {
      columns[index] = column
      // The table's own column of that name holds the same.
      columns[layout.firstValue + layout.values.findIndex(({ id }) => id === layout.keys[index]!.id)] = column
    })
    const rows = keys[0]!.length
    // By both ends: a shorter block that somebody still holds must not be kept in the place of one that took its place.
    return { kind: 'block', name: `${this.#name} ${firstRow}+${rows}`, firstRow, rows, keys, columns }
  }

  #decode(block: Block, missing: readonly number[]): void {
    const { layout, narrow, cache } = this.#table
    const { firstRow: start, rows } = block
    const values = missing.filter((index) => index >= layout.firstValue)
    const unread = new Set([...layout.keyIndexes, layout.sequence, layout.kind])
    for (const index of missing) unread.delete(index)
    const reader = this.#folder.open(this.file, { layout: narrow(values), batchRows: rows, unread })
    try {
      // One batch but for files whose row groups end within the block, which no block does.
      for (const { batch } of reader.positioned({ start, end: start + rows })) {
        for (const index of missing) {
          const place = index < layout.firstValue ? index : layout.firstValue + values.indexOf(index)
          block.columns[index] = batch.columns[place]!
        }
      }
    } finally {
      reader.close()
    }
    keepBlock(cache, block)
  }
}

/** The key as a condition on the key columns, for pruning pages. */
function equalTo(key: readonly Scalar[], layout: KvLayout): Predicate {
  return {
    op: 'and',
    children: key.map((value, index) => ({ op: 'eq', column: layout.keys[index]!.name, value })),
  }
}

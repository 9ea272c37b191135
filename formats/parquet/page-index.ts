import { corrupt } from '../bytes/format-error.ts'
import { columnsOf, mightMatch } from '../column/predicate.ts'
import type { ColumnBounds, Predicate } from '../column/predicate-tree.ts'
import { type ParquetFile, type RowRange, readColumnIndex, readOffsetIndex } from './file-read.ts'
import type { ColumnIndex, PageLocation } from './footer.ts'
import type { LeafNode } from './schema-tree.ts'
import { boundsOfChunk, boundsOfPage } from './statistics.ts'

/**
 * Rows that may hold a match: row groups are dropped by their statistics, then stretches of rows by the column and offset
 * indexes of the columns that the predicate names. Ascending, disjoint, never touching; missing or doubtful statistics keep.
 *
 *   column a   |  page  |   page   | page |
 *   column b   | page |  page  |   page   |      one test for each stretch between the cuts of all columns
 *   stretches  |      | |      |   |      |
 *
 * Literals are in the unit of the file's inferred types. Reads the indexes of the columns named, no pages.
 */
export function selectRanges(file: ParquetFile, predicate: Predicate): readonly RowRange[] {
  const leaves = new Map<string, LeafNode>()
  const names = new Set(columnsOf(predicate))
  for (const node of file.tree.columns) if (node.kind === 'leaf' && names.has(node.name)) leaves.set(node.name, node)

  const ranges: { start: number; end: number }[] = []
  const keep = (start: number, end: number): void => {
    const last = ranges.at(-1)
    if (last?.end === start) last.end = end
    else if (start < end) ranges.push({ start, end })
  }
  let start = 0
  for (const [group, { columns, numRows }] of file.metadata.rowGroups.entries()) {
    const possible = mightMatch(predicate, (name) => {
      const leaf = leaves.get(name)
      const order = leaf && file.metadata.columnOrders?.[leaf.index]
      return leaf && boundsOfChunk(leaf, columns[leaf.index]!.metaData?.statistics, order, numRows)
    })
    if (possible && numRows > 0) {
      const pages = new Map<string, PagedColumn>()
      for (const [name, leaf] of leaves) {
        const paged = pagedColumn(file, group, leaf)
        if (paged !== undefined) pages.set(name, paged)
      }
      if (pages.size === 0) keep(start, start + numRows)
      else
        for (const range of matchingStretches(predicate, pages, numRows)) keep(start + range.start, start + range.end)
    }
    start += numRows
  }
  return ranges
}

/** A column with the bounds of its pages. `at` walks forward with the stretches. */
interface PagedColumn {
  readonly starts: readonly number[]
  boundsOf(page: number): ColumnBounds
}

function pagedColumn(file: ParquetFile, group: number, leaf: LeafNode): PagedColumn | undefined {
  const offsets = readOffsetIndex(file, group, leaf)
  const index = readColumnIndex(file, group, leaf)
  if (offsets === undefined || index === undefined) return undefined
  const rows = file.metadata.rowGroups[group]!.numRows
  const starts = startsOf(offsets.pageLocations, index, leaf, rows)
  if (starts.length === 0) return undefined
  const order = file.metadata.columnOrders?.[leaf.index]
  return {
    starts,
    boundsOf(page) {
      const pageRows = (starts[page + 1] ?? rows) - starts[page]!
      if (index.nullPages[page]) return { min: null, max: null, nullCount: pageRows, rows: pageRows }
      const nullCount = index.nullCounts?.[page] ?? null
      return boundsOfPage(leaf, index.minValues[page]!, index.maxValues[page]!, nullCount, order, pageRows)
    },
  }
}

function startsOf(pages: readonly PageLocation[], index: ColumnIndex, leaf: LeafNode, rows: number): readonly number[] {
  const { nullPages, minValues, maxValues, nullCounts = nullPages } = index
  const counts = [nullPages.length, minValues.length, maxValues.length, nullCounts.length]
  if (counts.some((count) => count !== pages.length)) {
    throw corrupt(`column index of ${leaf.name} has ${counts.join(', ')} entries for ${pages.length} pages`)
  }
  const starts = pages.map((page) => page.firstRowIndex)
  const ascending = starts.every((row, i) => row >= (i === 0 ? 0 : starts[i - 1]!) && row <= rows)
  if (!ascending || (starts[0] ?? 0) !== 0) throw corrupt(`offset index of ${leaf.name} has rows out of order`)
  return starts
}

function* matchingStretches(
  predicate: Predicate,
  columns: ReadonlyMap<string, PagedColumn>,
  rows: number,
): Generator<RowRange> {
  const all = [...columns.values()].flatMap((column) => column.starts)
  const cuts = [...new Set(all), rows].sort((a, b) => a - b)
  const at = new Map(
    [...columns.keys()].map((name) => [name, { page: -1, bounds: undefined as ColumnBounds | undefined }]),
  )
  for (let i = 0; i + 1 < cuts.length; i++) {
    const start = cuts[i]!
    for (const [name, { starts, boundsOf }] of columns) {
      const current = at.get(name)!
      let { page } = current
      while (page + 1 < starts.length && starts[page + 1]! <= start) page++
      if (page !== current.page) at.set(name, { page, bounds: boundsOf(page) })
    }
    if (mightMatch(predicate, (name) => at.get(name)?.bounds)) yield { start, end: cuts[i + 1]! }
  }
}

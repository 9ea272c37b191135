import type { Batch, BytesColumn, Column, FixedColumn, ListColumn, MapColumn } from './column.ts'
import { copyRanges } from './copy-bytes.ts'
import { elementRows, gatherFixed, gatherOffsets, gatherValid, gatherWide, type Source } from './gather-kernels.ts'
import { heapMemory, type Scratch } from './memory.ts'

/**
 * Rows of several columns of one type as one column: row i is row `row[i]` of `columns[source[i]]`, for i below `count`.
 *
 * Fixed widths cost 1 to 3 ns a row (blocks would save nothing there); neighbouring strings are copied as blocks. A column without nulls stays
 * without a mask. The column lies in `memory`. Throws a RangeError when strings or lists would pass 2^31 - 1 bytes or elements: gather fewer rows.
 */
export function gather(
  columns: readonly Column[],
  source: Uint16Array,
  row: Uint32Array,
  count: number,
  memory: Scratch = heapMemory,
): Column {
  return select(columns, columns.length === 1 ? undefined : source, row, count, memory)
}

/** The rows `rows` of one column, in that order; see `gather`. */
export function take(column: Column, rows: Uint32Array): Column {
  return select([column], undefined, rows, rows.length, heapMemory)
}

/** The rows `rows` of a batch, in that order. */
export function takeBatch(batch: Batch, rows: Uint32Array): Batch {
  return { fields: batch.fields, rows: rows.length, columns: batch.columns.map((column) => take(column, rows)) }
}

function select(columns: readonly Column[], source: Source, row: Uint32Array, count: number, memory: Scratch): Column {
  const first = columns[0]!
  const valid = gatherValid(columns, source, row, count, memory)
  switch (first.kind) {
    case 'fixed':
      return {
        kind: 'fixed',
        length: count,
        values: gatherFixed(columns as readonly FixedColumn[], source, row, count, memory),
        valid,
      }
    case 'wide': {
      const values = new BigInt64Array(memory(count * 16), 0, count * 2)
      const inputs = columns.map((column) => (column as typeof first).values)
      gatherWide(inputs, source, row, count, values)
      return { kind: 'wide', length: count, values, valid }
    }
    case 'bytes': {
      const sources = columns as readonly BytesColumn[]
      const offsets = gatherOffsets(sources, source, row, count, memory)
      const data = new Uint8Array(memory(offsets[count]!), 0, offsets[count]!)
      copyRanges(sources, source, row, count, data)
      return { kind: 'bytes', length: count, data, offsets, valid }
    }
    case 'list': {
      const lists = columns as readonly ListColumn[]
      const offsets = gatherOffsets(lists, source, row, count, memory)
      const inner = elementRows(lists, source, row, count, offsets[count]!)
      const child = select(
        lists.map((list) => list.child),
        inner.source,
        inner.row,
        inner.row.length,
        memory,
      )
      return { kind: 'list', length: count, offsets, child, valid }
    }
    case 'map': {
      const maps = columns as readonly MapColumn[]
      const offsets = gatherOffsets(maps, source, row, count, memory)
      const inner = elementRows(maps, source, row, count, offsets[count]!)
      const keys = select(
        maps.map((map) => map.keys),
        inner.source,
        inner.row,
        inner.row.length,
        memory,
      )
      const values = select(
        maps.map((map) => map.values),
        inner.source,
        inner.row,
        inner.row.length,
        memory,
      )
      return { kind: 'map', length: count, offsets, keys, values, valid }
    }
    case 'row': {
      const children = first.children.map((_, index) =>
        select(
          columns.map((column) => (column as typeof first).children[index]!),
          source,
          row,
          count,
          memory,
        ),
      )
      return { kind: 'row', length: count, children, valid }
    }
  }
}

/** The rows of a batch from the last to the first. */
export function reversed(batch: Batch): Batch {
  const rows = new Uint32Array(batch.rows)
  for (let i = 0; i < rows.length; i++) rows[i] = rows.length - 1 - i
  return takeBatch(batch, rows)
}

import type { Batch, Column } from './column.ts'

/** Bytes of the values that the rows of a batch consist of, whatever larger buffers they are views of. */
export function batchBytes(batch: Batch): number {
  return batch.columns.reduce((sum, column) => sum + columnBytes(column, 0, column.length), 0)
}

function columnBytes(column: Column, start: number, end: number): number {
  const rows = end - start
  const mask = column.valid === undefined ? 0 : rows
  switch (column.kind) {
    case 'fixed':
      return mask + rows * column.values.BYTES_PER_ELEMENT
    case 'wide':
      return mask + rows * 16
    case 'bytes':
      return mask + rows * 4 + column.offsets[end]! - column.offsets[start]!
    case 'list':
      return mask + rows * 4 + columnBytes(column.child, column.offsets[start]!, column.offsets[end]!)
    case 'map': {
      const [from, to] = [column.offsets[start]!, column.offsets[end]!]
      return mask + rows * 4 + columnBytes(column.keys, from, to) + columnBytes(column.values, from, to)
    }
    case 'row':
      return mask + column.children.reduce((sum, child) => sum + columnBytes(child, start, end), 0)
  }
}

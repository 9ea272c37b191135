import type {
  Batch,
  BytesColumn,
  Column,
  FixedArray,
  FixedColumn,
  ListColumn,
  MapColumn,
  RowColumn,
  WideColumn,
} from './column.ts'

/** Rows `[start, end)` of a column as a view: nothing is copied. */
export function sliceColumn(column: Column, start: number, end: number): Column {
  if (start === 0 && end === column.length) return column
  const length = end - start
  const valid = column.valid?.subarray(start, end)
  switch (column.kind) {
    case 'fixed':
      return { kind: 'fixed', length, values: column.values.subarray(start, end), valid }
    case 'wide':
      return { kind: 'wide', length, values: column.values.subarray(start * 2, end * 2), valid }
    case 'bytes':
      return { kind: 'bytes', length, data: column.data, offsets: column.offsets.subarray(start, end + 1), valid }
    case 'list':
      return { kind: 'list', length, offsets: column.offsets.subarray(start, end + 1), child: column.child, valid }
    case 'map': {
      const offsets = column.offsets.subarray(start, end + 1)
      return { kind: 'map', length, offsets, keys: column.keys, values: column.values, valid }
    }
    case 'row':
      return { kind: 'row', length, children: column.children.map((child) => sliceColumn(child, start, end)), valid }
  }
}

/** Rows `[start, end)` of a batch as a view. */
export function sliceBatch(batch: Batch, start: number, end: number): Batch {
  if (start === 0 && end === batch.rows) return batch
  const columns = batch.columns.map((column) => sliceColumn(column, start, end))
  return { fields: batch.fields, rows: end - start, columns }
}

/** Columns of one type behind each other, at least one; one column is given back as it is. Throws a RangeError past 2^31 - 1 bytes. */
export function concatColumns(columns: readonly Column[]): Column {
  const first = columns[0]!
  if (columns.length === 1) return first
  const length = columns.reduce((sum, column) => sum + column.length, 0)
  const valid = concatValid(columns, length)
  switch (first.kind) {
    case 'fixed': {
      const values = new (first.values.constructor as new (length: number) => FixedArray)(length)
      let at = 0
      for (const column of columns as readonly FixedColumn[]) {
        ;(values as Uint8Array).set(column.values.subarray(0, column.length) as Uint8Array, at)
        at += column.length
      }
      return { kind: 'fixed', length, values, valid }
    }
    case 'wide': {
      const values = new BigInt64Array(length * 2)
      let at = 0
      for (const column of columns as readonly WideColumn[]) {
        values.set(column.values.subarray(0, column.length * 2), at)
        at += column.length * 2
      }
      return { kind: 'wide', length, values, valid }
    }
    case 'bytes': {
      const parts = columns as readonly BytesColumn[]
      const offsets = concatOffsets(parts, length)
      const data = new Uint8Array(offsets[length]!)
      let at = 0
      for (const part of parts) {
        const used = part.data.subarray(part.offsets[0]!, part.offsets[part.length]!)
        data.set(used, at)
        at += used.length
      }
      return { kind: 'bytes', length, data, offsets, valid }
    }
    case 'list': {
      const parts = columns as readonly ListColumn[]
      const child = concatColumns(parts.map((part) => elementsOf(part, part.child)))
      return { kind: 'list', length, offsets: concatOffsets(parts, length), child, valid }
    }
    case 'map': {
      const parts = columns as readonly MapColumn[]
      const keys = concatColumns(parts.map((part) => elementsOf(part, part.keys)))
      const values = concatColumns(parts.map((part) => elementsOf(part, part.values)))
      return { kind: 'map', length, offsets: concatOffsets(parts, length), keys, values, valid }
    }
    case 'row': {
      const parts = columns as readonly RowColumn[]
      const children = first.children.map((_, index) => concatColumns(parts.map((part) => part.children[index]!)))
      return { kind: 'row', length, children, valid }
    }
  }
}

/** Batches of one row type behind each other, at least one. */
export function concatBatches(batches: readonly Batch[]): Batch {
  const first = batches[0]!
  if (batches.length === 1) return first
  return {
    fields: first.fields,
    rows: batches.reduce((sum, batch) => sum + batch.rows, 0),
    columns: first.columns.map((_, index) => concatColumns(batches.map((batch) => batch.columns[index]!))),
  }
}

function concatValid(columns: readonly Column[], length: number): Uint8Array | undefined {
  if (columns.every((column) => column.valid === undefined)) return undefined
  const valid = new Uint8Array(length)
  let at = 0
  for (const column of columns) {
    if (column.valid === undefined) valid.fill(1, at, at + column.length)
    else valid.set(column.valid.subarray(0, column.length), at)
    at += column.length
  }
  return valid
}

function concatOffsets(
  parts: readonly { readonly offsets: Int32Array; readonly length: number }[],
  length: number,
): Int32Array {
  const offsets = new Int32Array(length + 1)
  let at = 0
  let row = 0
  for (const part of parts) {
    const shift = at - part.offsets[0]!
    for (let i = 0; i < part.length; i++) offsets[row++] = part.offsets[i]! + shift
    at += part.offsets[part.length]! - part.offsets[0]!
    if (at > 0x7fffffff) throw new RangeError('more than 2^31 - 1 bytes or elements in one column')
  }
  offsets[row] = at
  return offsets
}

function elementsOf(part: ListColumn | MapColumn, child: Column): Column {
  return sliceColumn(child, part.offsets[0]!, part.offsets[part.length]!)
}

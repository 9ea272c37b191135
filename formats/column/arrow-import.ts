import type * as Arrow from 'apache-arrow'
import type { DataType } from '../types/row-type.ts'
import { importFlat } from './arrow-import-flat.ts'
import { createColumnBuilder } from './builder.ts'
import type { Column } from './column.ts'
import { nullColumn } from './constant.ts'
import { take } from './gather.ts'
import { concatColumns, sliceColumn } from './slice.ts'
import { ValueError } from './value-error.ts'

/** The chunks of an Arrow vector as one column of the type; see `fromArrow`. */
export function importVector(arrow: typeof Arrow, path: string, type: DataType, vector: Arrow.Vector): Column {
  if (vector.data.length === 0) return nullColumn(type, 0)
  return concatColumns(vector.data.map((data) => importData(arrow, path, type, data, undefined)))
}

/** `parent` is the mask of the row around a field of it: under a null row the fields are null as well. */
function importData(
  arrow: typeof Arrow,
  path: string,
  type: DataType,
  data: Arrow.Data,
  parent: Uint8Array | undefined,
): Column {
  const { length } = data
  if (arrow.DataType.isNull(data.type)) return nullColumn(type, length)
  const valid = both(maskOf(data), parent)
  if (arrow.DataType.isDictionary(data.type)) return importDictionary(arrow, path, type, data, valid)
  switch (type.kind) {
    case 'array': {
      if (!arrow.DataType.isList(data.type)) throw mismatch(path, type, data)
      const child = importData(arrow, `${path}[]`, type.element, data.children[0]!, undefined)
      requirePresent(`${path}[]`, type.element, child)
      return withMask(type, { kind: 'list', length, offsets: offsetsOf(data), child }, valid)
    }
    case 'map': {
      if (!arrow.DataType.isMap(data.type)) throw mismatch(path, type, data)
      const entries = data.children[0]!
      const keys = importData(arrow, `${path}.key`, type.key, entries.children[0]!, undefined)
      requirePresent(`${path}.key`, { ...type.key, nullable: false }, keys)
      const values = importData(arrow, `${path}.value`, type.value, entries.children[1]!, undefined)
      requirePresent(`${path}.value`, type.value, values)
      return withMask(type, { kind: 'map', length, offsets: offsetsOf(data), keys, values }, valid)
    }
    case 'row': {
      if (!arrow.DataType.isStruct(data.type)) throw mismatch(path, type, data)
      const given = data.type.children as readonly Arrow.Field[]
      const extra = given.find(({ name }) => type.fields.every((field) => field.name !== name))
      if (extra !== undefined)
        throw new ValueError(`${path}.${extra.name}`, undefined, 'is given, but there is no such field')
      const children = type.fields.map((field) => {
        const index = given.findIndex(({ name }) => name === field.name)
        const name = `${path}.${field.name}`
        const child =
          index < 0 ? nullColumn(field.type, length) : importData(arrow, name, field.type, data.children[index]!, valid)
        requirePresent(name, field.type, child, valid)
        return child
      })
      return { kind: 'row', length, children, valid }
    }
    default: {
      const column = importFlat(arrow, path, type, data, valid)
      if (column === undefined) throw mismatch(path, type, data)
      return withMask(type, column, valid)
    }
  }
}

function importDictionary(
  arrow: typeof Arrow,
  path: string,
  type: DataType,
  data: Arrow.Data,
  valid: Uint8Array | undefined,
): Column {
  const vector = data.dictionary as Arrow.Vector
  const indices = data.values as ArrayLike<number | bigint>
  const rows = new Uint32Array(data.length)
  const present = new Uint8Array(data.length)
  const used = new Int32Array(vector.length).fill(-1)
  for (let row = 0; row < rows.length; row++) {
    if (valid !== undefined && valid[row] === 0) continue
    const index = Number(indices[row])
    if (!(index >= 0 && index < vector.length)) {
      throw new ValueError(path, index, `is no index of a dictionary of ${vector.length} values`, row)
    }
    if (used[index]! < 0) used[index] = row
    rows[row] = index
    present[row] = 1
  }
  if (vector.length === 0) return nullColumn(type, data.length)
  const dictionary = importUsed(arrow, path, type, vector, used)
  const column = take(dictionary, rows)
  return withMask(type, column, both(column.valid, present))
}

/** The values of a dictionary that rows use; the others may be anything. `used`: the first row of each value, -1 = none. */
function importUsed(arrow: typeof Arrow, path: string, type: DataType, vector: Arrow.Vector, used: Int32Array): Column {
  try {
    return importVector(arrow, path, type, vector)
  } catch (error) {
    if (!(error instanceof ValueError)) throw error
    const parts: Column[] = Array.from(used, () => nullColumn(type, 1))
    const byRow = [...used.keys()].filter((index) => used[index]! >= 0).sort((a, b) => used[a]! - used[b]!)
    for (const index of byRow) {
      try {
        parts[index] = importVector(arrow, path, type, vector.slice(index, index + 1))
      } catch (cause) {
        throw cause instanceof ValueError ? cause.atRow(used[index]!) : cause
      }
    }
    return concatColumns(parts)
  }
}

/**
 * The column with a mask, and with zero or empty values under its nulls, where Arrow may hold anything. Copies only when there
 * is something to clear.
 */
function withMask(type: DataType, column: Column, valid: Uint8Array | undefined): Column {
  const masked = { ...column, valid: valid?.includes(0) === true ? valid : undefined } as Column
  const mask = masked.valid
  if (mask === undefined || masked.kind === 'row') return masked
  if (masked.kind === 'fixed' || masked.kind === 'wide') {
    const values = masked.values.slice()
    const width = masked.kind === 'wide' ? 2 : 1
    for (let row = 0; row < mask.length; row++) {
      if (mask[row] === 0) (values as Uint8Array).fill(zeroOf(values) as number, row * width, row * width + width)
    }
    return { ...masked, values } as Column
  }
  const { offsets } = masked
  let clean = true
  for (let row = 0; row < mask.length; row++) if (mask[row] === 0 && offsets[row + 1] !== offsets[row]) clean = false
  return clean ? masked : rebuilt(type, masked, mask)
}

function zeroOf(values: { readonly [index: number]: number | bigint }): number | bigint {
  return values instanceof BigInt64Array ? 0n : 0
}

/** Moves the present stretches together, so that nulls become empty. */
function rebuilt(type: DataType, column: Column, mask: Uint8Array): Column {
  const builder = createColumnBuilder(type, undefined, column.length)
  for (let row = 0; row < mask.length; ) {
    if (mask[row] === 0) {
      builder.appendNull()
      row++
      continue
    }
    let end = mask.indexOf(0, row)
    if (end < 0) end = mask.length
    builder.appendColumn({ ...sliceColumn(column, row, end), valid: undefined } as Column)
    row = end
  }
  return builder.view()
}

function maskOf(data: Arrow.Data): Uint8Array | undefined {
  if (data.nullCount === 0 || data.nullBitmap === undefined || data.nullBitmap.length === 0) return undefined
  const { nullBitmap, offset, length } = data
  const valid = new Uint8Array(length)
  for (let row = 0; row < length; row++) valid[row] = (nullBitmap[(offset + row) >> 3]! >> ((offset + row) & 7)) & 1
  return valid
}

function both(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a.map((bit, row) => bit & b[row]!)
}

function offsetsOf(data: Arrow.Data): Int32Array {
  return data.valueOffsets as Int32Array
}

/** Refuses nulls where the type has none; under a null of the row around it they are fine. */
function requirePresent(path: string, type: DataType, column: Column, parent?: Uint8Array): void {
  if (type.nullable || column.valid === undefined) return
  for (let row = 0; row < column.length; row++) {
    if (column.valid[row] === 0 && parent?.[row] !== 0)
      throw new ValueError(path, null, 'is not allowed: the type is NOT NULL')
  }
}

function mismatch(path: string, type: DataType, data: Arrow.Data): ValueError {
  return new ValueError(path, String(data.type), `is an Arrow type that does not widen to ${type.kind.toUpperCase()}`)
}

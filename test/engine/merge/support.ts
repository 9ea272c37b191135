import type { Batch, Column, Scalar } from '../../../formats/column/column.ts'
import { compareScalars, scalarAt } from '../../../formats/column/compare.ts'
import { takeBatch } from '../../../formats/column/gather.ts'
import type { DataType, Field } from '../../../formats/types/row-type.ts'
import { randomColumn } from '../../formats/column/support.ts'

/** A KV layout: the keys, sequence, kind, one text value that tells the row apart. */
export function kvFields(keyTypes: readonly DataType[]): readonly Field[] {
  const types: readonly DataType[] = [
    ...keyTypes,
    { kind: 'bigint', nullable: false },
    { kind: 'tinyint', nullable: false },
    { kind: 'varchar', length: 100, nullable: true },
  ]
  return types.map((type, id) => ({ id, name: `c${id}`, type }))
}

/** Random rows in order of arrival with sequence numbers from `sequence`; keys repeat. */
export function arrivals(keyTypes: readonly DataType[], rows: number, sequence: number, random: () => number): Batch {
  const fields = kvFields(keyTypes)
  const columns: Column[] = keyTypes.map((type) => randomColumn(type, rows, random))
  columns.push({
    kind: 'fixed',
    length: rows,
    values: BigInt64Array.from({ length: rows }, (_, i) => BigInt(sequence + i)),
  })
  columns.push({
    kind: 'fixed',
    length: rows,
    values: Int8Array.from({ length: rows }, () => Math.floor(random() * 4)),
  })
  columns.push(randomColumn(fields.at(-1)!.type, rows, random))
  return { fields, rows, columns }
}

export function keyAt(batch: Batch, keys: number, row: number): readonly Scalar[] {
  return batch.columns.slice(0, keys).map((column) => scalarAt(column, row)!)
}

export function compareKey(a: readonly Scalar[], b: readonly Scalar[]): number {
  for (let i = 0; i < a.length; i++) {
    const order = compareScalars(a[i]!, b[i]!)
    if (order !== 0) return order
  }
  return 0
}

/** The last row of each key, in key order: what sorting and deduplicating must give. */
export function modelSort(batch: Batch, keys: number): Batch {
  const rows = Array.from({ length: batch.rows }, (_, row) => row)
  rows.sort((a, b) => compareKey(keyAt(batch, keys, a), keyAt(batch, keys, b)) || a - b)
  const last = rows.filter(
    (row, i) => i === rows.length - 1 || compareKey(keyAt(batch, keys, row), keyAt(batch, keys, rows[i + 1]!)) !== 0,
  )
  return takeBatch(batch, Uint32Array.from(last))
}

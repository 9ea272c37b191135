import type { Batch, Column } from '../../formats/column/column.ts'
import { take, takeBatch } from '../../formats/column/gather.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import type { BufferedRows } from './task.ts'

/** Buffered rows as a KV batch in arrival order; key columns are the table's own columns, shared. */
export function bufferedBatch(layout: KvLayout, rows: BufferedRows): Batch {
  return kvBatch(layout, rows.values, rows.kinds, sequenceFrom(rows.firstSequence, rows.values.rows))
}

/** Some of the buffered rows, by ascending positions. */
export function bufferedRowsAt(
  layout: KvLayout,
  { values, kinds, firstSequence }: BufferedRows,
  at: Uint32Array,
): Batch {
  const sequence = BigInt64Array.from(at, (row) => firstSequence + BigInt(row))
  const taken = take({ kind: 'fixed', length: kinds.length, values: kinds }, at)
  return kvBatch(layout, takeBatch(values, at), (taken as { readonly values: Int8Array }).values, sequence)
}

function kvBatch(layout: KvLayout, values: Batch, kinds: Int8Array, sequence: BigInt64Array): Batch {
  const byId = new Map<number, Column>(values.fields.map((field, index) => [field.id, values.columns[index]!]))
  return {
    fields: layout.fields,
    rows: values.rows,
    columns: [
      ...layout.keys.map((key) => byId.get(key.id)!),
      { kind: 'fixed', length: values.rows, values: sequence },
      { kind: 'fixed', length: values.rows, values: kinds },
      ...layout.values.map((field) => byId.get(field.id)!),
    ],
  }
}

/** Consecutive numbers, written as halves: no bigint a row. */
function sequenceFrom(first: bigint, count: number): BigInt64Array {
  const sequence = new BigInt64Array(count)
  const halves = new Int32Array(sequence.buffer)
  let low = Number(BigInt.asUintN(32, first))
  let high = Number(first >> 32n)
  for (let row = 0; row < count; row++) {
    halves[row * 2] = low
    halves[row * 2 + 1] = high
    low++
    if (low === 0x100000000) {
      low = 0
      high++
    }
  }
  return sequence
}

import { transferableSymbol, valueSymbol } from 'piscina'
import t from 'tap'
import type { ReadResult } from '../../engine/tasks/task.ts'
import type { Batch, FixedColumn } from '../../formats/column/column.ts'
import { sliceBatch } from '../../formats/column/slice.ts'
import { batchOfRows } from '../../formats/column/values.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { answerOf, movedByPiscina } from '../../workers/moved.ts'
import type { WireResult } from '../../workers/wire.ts'

const fields: readonly Field[] = [
  { id: 0, name: 'n', type: { kind: 'int', nullable: false } },
  { id: 1, name: 's', type: { kind: 'varchar', length: 100, nullable: true } },
]

/** Rows of a page: 100 of 10,000. */
function part(): Batch {
  const rows = Array.from({ length: 10_000 }, (_, n) => ({ n, s: n % 3 === 0 ? null : `text ${n}` }))
  return sliceBatch(batchOfRows(fields, rows, { forms: new Map(), keys: new Set() }), 200, 300)
}

function result(batches: readonly Batch[]): ReadResult {
  return { kind: 'read', batches, next: undefined, stats: { bytesRead: 0, pagesDecoded: 0, rowsMerged: 0 } }
}

t.test('a read result travels in buffers of its own size, which are moved and not cloned', async (t) => {
  const page = part()
  const answer = (await movedByPiscina(answerOf(result([page, page])))) as unknown as Record<symbol, unknown>
  const buffers = answer[transferableSymbol as symbol] as ArrayBuffer[]
  t.equal(new Set(buffers).size, buffers.length)
  const bytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0)
  t.ok(bytes < 2 * 100 * 40, `${bytes} bytes for 200 rows`)
  const value = answer[valueSymbol as symbol] as WireResult<ReadResult>
  const arrived = structuredClone(value, { transfer: buffers })
  t.ok(
    buffers.every((buffer) => buffer.byteLength === 0),
    'every buffer has left',
  )
  t.ok(arrived.ok)
  for (const batch of (arrived as { value: ReadResult }).value.batches) {
    t.equal(batch.rows, 100)
    const [n] = batch.columns as readonly FixedColumn[]
    t.strictSame([...(n!.values as Int32Array)], [...((page.columns[0] as FixedColumn).values as Int32Array)])
  }
  t.equal((page.columns[0] as FixedColumn).values.length, 100, 'the page itself stays with the thread')
})

t.test('a column that fills its buffers travels in them, one that others share memory with does not', async (t) => {
  const values = Int32Array.from({ length: 1000 }, (_, n) => n)
  const shared = new Int32Array(new SharedArrayBuffer(4000))
  const whole = (array: Int32Array): Batch => ({
    fields: fields.slice(0, 1),
    rows: 1000,
    columns: [{ kind: 'fixed', length: 1000, values: array }],
  })
  const answer = (await movedByPiscina(answerOf(result([whole(values), whole(shared)])))) as unknown as Record<
    symbol,
    unknown
  >
  const buffers = answer[transferableSymbol as symbol] as ArrayBuffer[]
  t.equal(buffers.length, 2)
  t.ok(buffers.includes(values.buffer), 'no copy')
  t.notOk((buffers as unknown[]).includes(shared.buffer), 'a copy')
})

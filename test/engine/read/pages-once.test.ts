import assert from 'node:assert'
import t from 'tap'
import { t as type } from '../../../engine/index.ts'
import { nodeClock } from '../../../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../../../engine/ports/node-fs.ts'
import { Shelf } from '../../../engine/store/shelf.ts'
import { inlineExecutor, type TaskExecutor } from '../../../engine/tasks/submit.ts'
import type { Codecs } from '../../../formats/compress/codec.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { openAlone } from '../../support/warehouses.ts'

const RUNS = 3
const ROWS = 30_000
const PAGE_ROWS = 3000
/** Counts the pages that are inflated, not those that are stored as they are; reads in stretches of so many rows. */
async function countingExecutor(maxRows: number, shelf: Shelf | undefined) {
  const inner = await loadCodecs()
  const calls = { decompress: 0, stretches: 0 }
  const codecs: Codecs = {
    get(name) {
      const codec = inner.get(name)
      if (name === 'none') return codec
      return {
        ...codec,
        decompress(...of) {
          calls.decompress++
          return codec.decompress(...of)
        },
      }
    },
  }
  const fs = createNodeFileSystem({ sync: false })
  const inline = inlineExecutor(async () => ({ fs, clock: nodeClock, codecs, shelf }))
  const executor: TaskExecutor = {
    ...inline,
    run(task, options) {
      if (task.kind !== 'read') return inline.run(task, options)
      calls.stretches++
      return inline.run({ ...task, maxRows: Math.min(task.maxRows, maxRows) }, options)
    },
  }
  return { executor, calls }
}

async function overlappingRuns(path: string, executor: TaskExecutor) {
  const warehouse = openAlone(path, { executor, smallTasks: false })
  const table = await warehouse.createTable('db.t', {
    fields: { id: type.int(), n: type.int().nullable(), text: type.string() },
    primaryKey: ['id'],
    options: { bucket: 1, 'write-only': true, 'parquet.page.row.count.limit': PAGE_ROWS },
  })
  const expected = new Map<number, string>()
  for (let run = 0; run < RUNS; run++) {
    const ids = Array.from({ length: ROWS }, (_, i) => i * (RUNS + 1) + (i % 3 === 0 ? 0 : run))
    const rows = ids.map((id) => ({ id, n: id % 7 === 0 ? null : (id * 7919) % 10_007, text: `${run} of ${id}` }))
    await table.put(rows)
    for (const { id, text } of rows) expected.set(id, text)
    await table.commit()
  }
  return { warehouse, table, expected }
}

/** Pages that have to be inflated, in one stretch. */
async function pagesOf(path: string): Promise<number> {
  const { executor, calls } = await countingExecutor(RUNS * ROWS, new Shelf())
  const warehouse = openAlone(path, { executor, smallTasks: false })
  const table = await warehouse.table('db.t')
  for await (const _ of table.scan());
  assert(calls.decompress > RUNS * (ROWS / PAGE_ROWS), `${calls.decompress} pages`)
  await warehouse.close()
  return calls.decompress
}

t.test('a merge in many stretches inflates each page once, and gives the same rows', async (t) => {
  const { executor, calls } = await countingExecutor(3000, new Shelf())
  const path = t.testdir()
  const { warehouse, table, expected } = await overlappingRuns(path, executor)
  const sorted = [...expected].sort(([a], [b]) => a - b)
  calls.decompress = 0
  calls.stretches = 0
  const rows: [number, string][] = []
  for await (const { id, text } of table.scan()) rows.push([id, text])
  const whole = await pagesOf(path)
  t.equal(JSON.stringify(rows) === JSON.stringify(sorted), true)
  t.ok(calls.stretches > 3, `${calls.stretches} stretches`)
  t.equal(calls.decompress, whole)
  await warehouse.close()
})

t.test('a shelf that others have filled with pages of other places changes no rows', async (t) => {
  const { executor } = await countingExecutor(3000, new Shelf())
  const { warehouse, table, expected } = await overlappingRuns(t.testdir(), executor)
  const sorted = [...expected.keys()].sort((a, b) => a - b)
  const scans = [
    table.scan({ columns: ['id'] }),
    table.scan({ columns: ['id'], range: { gte: { id: 70_000 } } }),
    table.scan({ columns: ['id'], reverse: true }),
  ].map(async (scan) => {
    const ids: number[] = []
    for await (const { id } of scan) ids.push(id)
    return ids
  })
  const [all, upper, back] = await Promise.all(scans)
  t.same(all, sorted)
  t.same(
    upper,
    sorted.filter((id) => id >= 70_000),
  )
  t.same(back, sorted.toReversed())
  await warehouse.close()
})

t.test('a compaction inflates each page of its inputs once', async (t) => {
  const { executor, calls } = await countingExecutor(3000, undefined)
  const path = t.testdir()
  const { warehouse, table, expected } = await overlappingRuns(path, executor)
  const whole = await pagesOf(path)
  calls.decompress = 0
  await table.compact({ full: true })
  t.equal(calls.decompress, whole)
  let rows = 0
  for await (const _ of table.scan()) rows++
  t.equal(rows, expected.size)
  await warehouse.close()
})

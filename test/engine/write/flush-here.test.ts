import t from 'tap'
import { t as types } from '../../../engine/index.ts'
import { nodeClock } from '../../../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../../../engine/ports/node-fs.ts'
import { inlineExecutor } from '../../../engine/tasks/submit.ts'
import { isSmallFlush } from '../../../engine/write/flush-here.ts'
import type { Batch, Column } from '../../../formats/column/column.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { faultyFileSystem } from '../../support/faulty-fs.ts'
import { collect, openAlone, refused } from '../../support/warehouses.ts'

function rowsOf(rows: number, columns = 1, textBytes = 0): { values: Batch } {
  const int: Column = { kind: 'fixed', length: rows, values: new Int32Array(rows) }
  const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => row * textBytes)
  const text: Column = { kind: 'bytes', length: rows, data: new Uint8Array(rows * textBytes), offsets }
  const all = [...Array.from({ length: columns - 1 }, () => int), textBytes === 0 ? int : text]
  return { values: { fields: [], rows, columns: all } }
}

t.test('few rows of few columns and bytes are written here', async (t) => {
  t.equal(isSmallFlush(rowsOf(1)), true)
  t.equal(isSmallFlush(rowsOf(512)), true)
  t.equal(isSmallFlush(rowsOf(513)), false)
  t.equal(isSmallFlush(rowsOf(1, 64)), true)
  t.equal(isSmallFlush(rowsOf(1, 65)), false)
  t.equal(isSmallFlush(rowsOf(1, 1, 32_000)), true)
  t.equal(isSmallFlush(rowsOf(1, 1, 33_000)), false)
  t.equal(isSmallFlush(rowsOf(512, 20)), false, '40 KiB of numbers')
})

const definition = { fields: { k: types.int(), v: types.int() }, primaryKey: ['k'] } as const

function counting(path: string, decide: (call: number, text: string) => 'pass' | 'fail' = () => 'pass') {
  const fs = faultyFileSystem(createNodeFileSystem({ sync: false }), decide)
  const inline = inlineExecutor(async () => ({ fs, clock: nodeClock, codecs: loadCodecs() }))
  const kinds: string[] = []
  const executor: typeof inline = {
    ...inline,
    run(task, options) {
      kinds.push(task.kind)
      return inline.run(task, options)
    },
  }
  return { fs, kinds, warehouse: openAlone(path, { executor, fs }) }
}

t.test('a small commit asks no thread, a larger one does', async (t) => {
  const { warehouse, kinds } = counting(t.testdir())
  const table = await warehouse.createTable('db.t', { ...definition, options: { 'write-only': true } })
  await table.put({ k: 1, v: 1 })
  await table.commit()
  t.same(kinds, [])
  await table.put(Array.from({ length: 2000 }, (_, k) => ({ k, v: k })))
  await table.commit()
  t.same(kinds, ['flush'])
  t.equal((await collect(table.scan())).length, 2000)
  await warehouse.close()
})

t.test('a data file that cannot be synced fails the commit; its rows stay, and the next commit has them', async (t) => {
  let failing = true
  const path = t.testdir()
  const { warehouse, fs } = counting(path, (_, call) =>
    failing && /^fsync .*data-.*parquet$/.test(call) ? 'fail' : 'pass',
  )
  const table = await warehouse.createTable('db.t', definition)
  await table.put({ k: 1, v: 1 })
  await refused(t, table.commit(), 'IO', { errno: 'EIO' })
  t.equal(
    fs.calls.some((call) => call.startsWith('link') && /snapshot-\d+$/.test(call)),
    false,
  )
  t.same(await collect(table.scan()), [{ k: 1, v: 1 }], 'its own handle sees it')
  failing = false
  const before = fs.calls.length
  const { records } = await table.commit()
  t.equal(records, 1)
  const again = fs.calls.slice(before).findIndex((call) => /^rename .*data-.*parquet$/.test(call))
  const synced = fs.calls.slice(before).findIndex((call) => /^fsync .*data-.*parquet$/.test(call))
  t.ok(again >= 0 && again < synced, 'it is written again first')
  t.same(await collect((await openAlone(path).table('db.t')).scan()), [{ k: 1, v: 1 }])
  await warehouse.close()
})

t.test('rows whose file cannot be created stay for the next commit', async (t) => {
  let failing = true
  const { warehouse } = counting(t.testdir(), (_, call) =>
    failing && /^create .*data-.*parquet$/.test(call) ? 'fail' : 'pass',
  )
  const table = await warehouse.createTable('db.t', definition)
  await table.put({ k: 1, v: 1 })
  await refused(t, table.commit(), 'IO', { errno: 'EIO' })
  failing = false
  t.equal((await table.commit()).records, 1)
  await warehouse.close()
})

t.test('of a commit to many buckets the threads write most', async (t) => {
  const { warehouse, kinds } = counting(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { p: types.int(), k: types.int() },
    primaryKey: ['p', 'k'],
    partitionBy: ['p'],
    options: { 'write-only': true },
  })
  const rows = Array.from({ length: 100 }, (_, p) => ({ p, k: p }))
  for (const k of [0, 1]) {
    await table.put(rows.map(({ p }) => ({ p, k })))
    await table.commit()
    t.equal(kinds.splice(0).length, 36)
  }
  t.equal((await collect(table.scan())).length, 200)
  await warehouse.close()
})

t.test('flushes that failed halfway do not count among those that wait for their sync', async (t) => {
  let failing = true
  const { warehouse, kinds } = counting(t.testdir(), (_, call) =>
    failing && /^create .*changelog-.*parquet$/.test(call) ? 'fail' : 'pass',
  )
  const options = { 'changelog-producer': 'input', 'write-only': true } as const
  const table = await warehouse.createTable('db.t', { ...definition, options })
  await table.put({ k: 1, v: 1 })
  for (let tries = 0; tries < 70; tries++) await refused(t, table.commit(), 'IO', { errno: 'EIO' })
  failing = false
  t.equal((await table.commit()).records, 1)
  t.same(kinds, [])
  await warehouse.close()
})

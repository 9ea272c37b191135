import { readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { t as fields } from '../../dist/engine/index.js'
import { collect } from '../support/warehouses.ts'
import { type Fault, openFaulty, type Place, placeIn } from './threads.ts'

const definition = {
  fields: { k: fields.int(), v: fields.string() },
  primaryKey: ['k'],
  options: { bucket: 3, 'num-sorted-run.compaction-trigger': 100 },
} as const

const rows = (from: number, to: number, v: string) =>
  Array.from({ length: to - from }, (_, index) => ({ k: from + index, v }))

function onDisk(place: Place): string[] {
  return readdirSync(join(place.path, 'db.db/t'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.startsWith('data-'))
    .map((entry) => entry.name)
    .sort()
}

/** What is true after any accident: rows are there, no half file is left, the next work succeeds, nothing unnamed after close. */
async function recovers(t: Test, fault: Fault, message: RegExp): Promise<void> {
  const place = placeIn(t.testdir())
  const warehouse = openFaulty(place, { heapMegabytes: 64 })
  const table = await warehouse.createTable('db.t', definition)
  for (let i = 0; i < 3; i++) {
    await table.put(rows(i * 100, i * 100 + 200, `round ${i}`))
    await table.commit()
  }
  const levels = table.levels()

  place.plant('compact', fault)
  const results = await Promise.allSettled([0, 1, 2].map((bucket) => table.compact({ full: true, bucket })))
  const failed = results.filter((result) => result.status === 'rejected')
  t.equal(failed.length, 1, 'the compaction that the accident hit rejects, those behind it are done')
  t.match(failed[0]!.reason, { code: 'IO', message, details: { task: 'compact' } })
  const hurt = results.findIndex((result) => result.status === 'rejected')
  t.strictSame(
    table.levels().find(({ bucket }) => bucket === hurt),
    levels.find(({ bucket }) => bucket === hurt),
    'its levels are as they were',
  )
  await table.put(rows(1000, 1100, 'after'))
  await table.commit()
  await table.compact({ full: true })
  t.ok(
    table.levels().every(({ runs }) => runs === 1),
    'the next full compaction succeeds',
  )
  t.equal((await collect(table.scan())).length, 500)

  place.plant('flush', fault)
  await table.put(rows(2000, 2100, 'flushed'))
  await t.rejects(table.commit(), { code: 'IO', message, details: { task: 'flush' } })
  t.equal((await collect(table.scan())).length, 600, 'the rows are kept')
  await table.commit()
  await table.compact({ full: true })
  await table.expireSnapshots({ retainMax: 1, retainMin: 1 })
  await table.close()
  t.equal(onDisk(place).length, 3, 'one file a bucket, and no half file of an accident')
  await warehouse.close()

  const again = openFaulty(place)
  const reopened = await again.table('db.t')
  t.equal((await collect(reopened.scan())).length, 600)
  await again.close()
}

t.test('C120 a thread that exits in the middle of a task: the task rejects, everything else goes on', (t) =>
  recovers(t, 'exit', /thread ended/),
)

t.test('C120 a thread that breaks outside of its task', (t) => recovers(t, 'crash', /thread ended/))

t.test('C121 a thread that runs out of memory says so, and the next task has a fresh thread', (t) =>
  recovers(t, 'memory', /ran out of memory/),
)

t.test('an aborted compaction leaves levels and files as they were', async (t) => {
  const place = placeIn(t.testdir())
  const warehouse = openFaulty(place)
  const table = await warehouse.createTable('db.t', { ...definition, options: { ...definition.options, bucket: 1 } })
  for (let i = 0; i < 3; i++) {
    await table.put(rows(i * 100, i * 100 + 200, `round ${i}`))
    await table.commit()
  }
  const [before, levels] = [onDisk(place), table.levels()]
  const abort = new AbortController()
  table.on('compactionStart', () => abort.abort(new Error('changed my mind')))
  await t.rejects(table.compact({ full: true, signal: abort.signal }), { name: 'AbortError', code: 'ABORTED' })
  t.strictSame(onDisk(place), before)
  t.strictSame(table.levels(), levels)
  await t.rejects(table.compact({ full: true, signal: abort.signal }), { code: 'ABORTED' })
  await table.compact({ full: true })
  t.equal(table.levels()[0]!.runs, 1)
  await warehouse.close()
})

t.test('a task that does not look at its flag loses its thread after the grace time', async (t) => {
  const place = placeIn(t.testdir())
  const warehouse = openFaulty(place, { threads: 1 })
  const table = await warehouse.createTable('db.t', { ...definition, options: { ...definition.options, bucket: 1 } })
  for (let i = 0; i < 3; i++) {
    await table.put(rows(i * 100, i * 100 + 200, `round ${i}`))
    await table.commit()
  }
  const before = onDisk(place)
  place.plant('compact', 'deaf')
  const abort = new AbortController()
  table.on('compactionStart', () => abort.abort())
  await t.rejects(table.compact({ full: true, signal: abort.signal }), { code: 'ABORTED' })
  t.strictSame(onDisk(place), before, 'its half file is gone')
  await table.compact({ full: true })
  t.equal((await collect(table.scan())).length, 400)

  place.plant('compact', 'deaf')
  await table.put(rows(0, 10, 'again'))
  await table.commit()
  const running = t.rejects(table.compact({ full: true }), { code: 'ABORTED' })
  await new Promise<void>((resolve) => table.on('compactionStart', () => resolve()))
  await table.close()
  await running
  await warehouse.close()
  t.pass('close does not wait for it for ever')
})

t.test('errors keep their code and details on the way from a thread', async (t) => {
  const place = placeIn(t.testdir())
  const warehouse = openFaulty(place)
  const table = await warehouse.createTable('db.t', { ...definition, options: { ...definition.options, bucket: 1 } })
  await table.put(rows(0, 1000, 'x'))
  await table.commit()
  const name = onDisk(place)[0]!
  const path = join(place.path, 'db.db/t/bucket-0', name)
  truncateSync(path, 100)
  await t.rejects(collect(table.scan()), { name: 'TableError', code: 'CORRUPT', details: { path } })
  await warehouse.close()
})

t.test('threads that cannot start fail the task, and the caller is told', async (t) => {
  const place = placeIn(t.testdir())
  const warehouse = openFaulty(place, { entry: new URL('./absent.mjs', import.meta.url) })
  const table = await warehouse.createTable('db.t', definition)
  await table.put(rows(0, 10, 'x'))
  await t.rejects(table.commit(), { code: 'IO' })
  await t.rejects(table.commit(), { code: 'IO' }, 'again')
  await warehouse.close({ discard: true })
})

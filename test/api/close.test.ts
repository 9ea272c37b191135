import { rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { t as types } from '../../engine/index.ts'
import { collect, open, refused } from '../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const

t.test('of two handles that close at once one must answer for the rows', async (t) => {
  const warehouse = await open(t.testdir())
  const handles = [await warehouse.createTable('db.t', definition), await warehouse.table('db.t', definition)] as const
  await handles[0].put({ k: 1, v: 1 })
  const [first, second] = await Promise.allSettled(handles.map((handle) => handle.close()))
  t.same([first?.status, second?.status].sort(), ['fulfilled', 'rejected'])
  const open1 = handles[first?.status === 'rejected' ? 0 : 1]
  await refused(t, open1.close(), 'INVALID', { table: 'db.t' }, 'commit()')
  await open1.commit()
  await warehouse.close()

  const again = await open(warehouse.path)
  t.same(await collect((await again.table('db.t')).scan()), [{ k: 1, v: 1 }])
  await again.close()
})

t.test('a put while a handle closes is committed or refused, never lost', async (t) => {
  const warehouse = await open(t.testdir())
  const kept = new Set<number>()
  for (let turns = 0; turns < 40; turns++) {
    const table = await warehouse.createTable('db.t', definition, { ifNotExists: true, autoCommit: { rows: 1000 } })
    await table.put({ k: turns, v: 0 })
    kept.add(turns)
    const closed = table.close()
    // Turns of the event loop, and of the microtask queue.
    for (let turn = 0; turn < turns; turn++)
      await (turns % 2 === 0 ? new Promise((done) => setImmediate(done)) : undefined)
    const k = 1000 + turns
    await table.put({ k, v: 1 }).then(
      () => kept.add(k),
      (error) => t.equal(error.code, 'CLOSED'),
    )
    await closed
  }
  const table = await warehouse.table('db.t', definition)
  t.same(new Set((await collect(table.scan())).map((row) => row.k)), kept)
  await warehouse.close()
})

t.test('a handle commits by itself what came while it was committing', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', definition, { autoCommit: { rows: 2 } })
  const seen = new Promise<void>((done) => {
    table.on('commit', ({ snapshot }) => snapshot === 2 && done())
  })
  await table.put([{ k: 1 }, { k: 2 }] as never)
  await table.put([{ k: 3 }, { k: 4 }] as never)
  await seen
  t.same(
    (await table.snapshots()).map((snapshot) => snapshot.totalRecords),
    [2n, 4n],
  )
  await warehouse.close()
})

t.test('a commit by time that failed is tried again after the same time', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable(
    'db.t',
    { ...definition, options: { bucket: 2 } },
    { autoCommit: { millis: 5 } },
  )
  const other = await warehouse.table('db.t')
  let failures = 0
  const failed = new Promise<void>((done) => table.on('failure', () => ++failures === 2 && done()))
  // Commits fail while a file stands where the folder of manifests should be. The clock of a handle keeps no process alive.
  const awake = setInterval(() => undefined, 1000)
  const folder = `${warehouse.path}/db.db/t/manifest`
  writeFileSync(folder, '')
  const committed = new Promise<void>((done) => table.on('commit', () => done()))
  await table.put({ k: 1, v: 1 })
  await failed
  rmSync(folder)
  await committed
  clearInterval(awake)
  t.same(await other.get(1), { k: 1, v: 1 })
  await warehouse.close()
})

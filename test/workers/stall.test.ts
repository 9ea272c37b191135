import t from 'tap'
import { t as fields, openWarehouse } from '../../dist/engine/index.js'
import { openFaulty, placeIn } from './threads.ts'

const definition = (options: Record<string, string | number>) =>
  ({ fields: { k: fields.int(), v: fields.string() }, primaryKey: ['k'], options }) as const

t.test('C123 commits as fast as they go all end, and no bucket gets more runs than allowed', async (t) => {
  const warehouse = await openWarehouse(t.testdir(), { workers: 1, durability: 'none' })
  const table = await warehouse.createTable(
    'db.t',
    definition({ bucket: 8, 'num-sorted-run.compaction-trigger': 3, 'num-sorted-run.stop-trigger': 4 }),
  )
  let most = 0
  for (let commit = 0; commit < 200; commit++) {
    await table.put(Array.from({ length: 32 }, (_, i) => ({ k: (commit * 13 + i) % 400, v: `commit ${commit}` })))
    await table.commit()
    most = Math.max(most, ...table.levels().map(({ runs }) => runs))
  }
  t.equal(table.levels().length, 8)
  t.ok(most <= 5, `${most} runs`)
  await warehouse.close()
})

t.test('a commit can be aborted while it waits for compaction, and keeps its rows', async (t) => {
  const place = placeIn(t.testdir())
  const warehouse = openFaulty(place, { threads: 2, graceMillis: 50 })
  const table = await warehouse.createTable(
    'db.t',
    definition({ bucket: 1, 'num-sorted-run.compaction-trigger': 2, 'num-sorted-run.stop-trigger': 2 }),
  )
  place.plant('compact', 'deaf')
  const stalled = new Promise<void>((resolve) => table.on('stall', () => resolve()))
  let last: Promise<unknown> = Promise.resolve()
  const abort = new AbortController()
  for (let commit = 0; commit < 4; commit++) {
    await table.put({ k: commit, v: 'x' })
    last = table.commit({ signal: abort.signal })
    last.catch(() => undefined)
    if (commit < 2) await last
  }
  await stalled
  abort.abort()
  await t.rejects(last, { code: 'ABORTED' })
  t.same(await table.get(3), { k: 3, v: 'x' })
  await table.close({ discard: true })
  await warehouse.close()
  const again = await openWarehouse(place.path, { workers: 0, durability: 'none' })
  const rows = []
  for await (const row of (await again.table('db.t')).scan()) rows.push(row)
  t.ok(rows.length >= 2 && rows.length < 4, 'what was committed before is there')
  await again.close()
})

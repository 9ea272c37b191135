import t from 'tap'
import { t as fields } from '../../../engine/index.ts'
import { collect, open } from '../../support/warehouses.ts'

// Found by the model test (test/model).
t.test('one signal for many buckets is no leak of listeners', async (t) => {
  const warnings: string[] = []
  const note = (warning: Error) => warnings.push(warning.name)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { k: fields.int(), v: fields.int() },
    primaryKey: ['k'],
    options: { bucket: 24 },
  })
  const rows = Array.from({ length: 200 }, (_, k) => ({ k, v: k }))
  const { signal } = new AbortController()
  for (let round = 0; round < 2; round++) {
    await table.put(rows, { signal })
    await table.commit({ signal })
  }
  await table.compact({ full: true, signal })
  t.same(await collect(table.scan({ signal })), rows)
  await warehouse.close()
  // Warnings come a turn later.
  await new Promise((done) => setImmediate(done))
  t.same(warnings, [])
})

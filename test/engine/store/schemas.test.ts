import t from 'tap'
import { goldenCases, goldenExpect } from '../../support/golden.ts'
import { goldenStore, storeOver } from '../../support/golden-store.ts'

t.test('golden: the schemas are those that Paimon lists, the last one is the latest', async (t) => {
  const expected = goldenExpect<{ readonly schema_id: number | string }>('evolution', 'schemas')
  const { store } = goldenStore('evolution')
  t.same(
    await store.schemas.ids(),
    expected.map((row) => Number(row.schema_id)).sort((a, b) => a - b),
  )
  for (const name of goldenCases) {
    const { store } = goldenStore(name)
    const ids = await store.schemas.ids()
    t.equal((await store.schemas.latest()).id, ids.at(-1), name)
    for (const id of ids) t.equal((await store.schemas.read(id)).id, id)
  }
})

t.test('a schema is published once', async (t) => {
  const { fs, store } = goldenStore('evolution')
  const latest = await store.schemas.latest()
  const next = { ...latest, id: latest.id + 1, options: { ...latest.options, 'write-buffer-size': '1 mb' } }
  const other = storeOver(fs, store.paths.table)
  t.equal(await store.schemas.publish(next), 'published')
  t.equal(await other.schemas.publish({ ...next, options: {} }), 'taken')
  t.same((await other.schemas.latest()).options, next.options)
})

t.test('no table, a missing and a damaged schema', async (t) => {
  const { fs, store } = goldenStore('uc')
  await t.rejects(storeOver(fs, '/nowhere').schemas.latest(), { code: 'NOT_FOUND', details: { path: '/nowhere' } })
  await t.rejects(store.schemas.read(7), { code: 'CORRUPT', details: { path: store.schemas.path(7), missing: true } })
  t.equal(await store.schemas.find(7), undefined)
  const whole = await fs.readFile(store.schemas.path(0))
  for (const damage of [new Uint8Array(0), whole.subarray(0, 50), new Uint8Array(200)]) {
    fs.plant(store.schemas.path(0), damage)
    await t.rejects(store.schemas.latest(), { code: 'CORRUPT', details: { path: store.schemas.path(0) } })
  }
  fs.plant(store.schemas.path(4), whole)
  await t.rejects(store.schemas.read(4), { code: 'CORRUPT', message: /holds schema 0, expected 4/ })
})

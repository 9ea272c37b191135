import t, { type Test } from 'tap'
import { t as types } from '../../engine/index.ts'
import { alter, collect, open, refused, storeOf } from '../support/warehouses.ts'

const int = () => types.int().nullable()
const text = () => types.string().nullable()
type Row = Record<string, unknown>

/** A table written without compactions, and what it shows. */
async function create(t: Test, fields: Row, options: Record<string, string>) {
  const warehouse = await open(t.testdir())
  t.teardown(() => warehouse.close({ discard: true }))
  const definition = {
    fields: { k: types.int(), ...fields },
    primaryKey: ['k'],
    options: { 'write-only': 'true', ...options },
  }
  const table = await warehouse.createTable('db.t', definition as never)
  const write = async (...mutations: readonly Row[]) => {
    await table.write(mutations as never)
    await table.commit()
  }
  return { warehouse, table, write, rows: (): Promise<readonly Row[]> => collect(table.scan() as AsyncIterable<Row>) }
}

for (const options of [
  { 'write-only': 'true' },
  { 'num-sorted-run.compaction-trigger': '2' },
  { 'changelog-producer': 'full-compaction' },
  { 'changelog-producer': 'input' },
] as Record<string, string>[]) {
  t.test(
    `C016: what does not fit its column is an error of its key, for a while: ${JSON.stringify(options)}`,
    async (t) => {
      const sums = { 'merge-engine': 'aggregation', 'fields.default-aggregate-function': 'sum' }
      const { table, write, rows } = await create(
        t,
        { v: int(), b: types.bigint().nullable() },
        { 'write-only': 'false', ...sums, ...options },
      )
      const failures: unknown[] = []
      table.on('failure', ({ error }) => failures.push(error))
      await write({ put: { k: 1, v: 2147483647, b: 9007199254740993n } }, { put: { k: 2, v: 1 } })
      await write({ put: { k: 1, v: 0, b: 1n } })
      t.strictSame((await rows())[0], { k: 1, v: 2147483647, b: 9007199254740994n })
      await table.compact({ full: true })
      await write({ put: { k: 1, v: 1, b: 1n } })
      const overflow = async (what: string, call: Promise<unknown> | (() => unknown)) => {
        await refused(t, call, 'OVERFLOW', { column: 'v', key: 'k = 1' }, "'v'", 'k = 1', 'INT', what)
      }
      const all = async () => {
        await overflow('', rows())
        await overflow('', table.get({ k: 1 }))
        await overflow('', () => table.getSync({ k: 1 }))
        await overflow('', table.getMany([{ k: 2 }, { k: 1 }]))
        t.strictSame(await table.get({ k: 2 }), { k: 2, v: 1, b: null })
        t.strictSame(await collect(table.scan({ range: { gt: { k: 1 } }, limit: 1 })), [{ k: 2, v: 1, b: null }])
        t.strictSame(await collect(table.scan({ columns: ['b'], limit: 1 })), [{ b: 9007199254740995n }])
      }
      await all()
      await overflow('', table.compact({ full: true }))
      await overflow('', table.compact({ full: true }))
      await write({ put: { k: 2, v: 0 } }, { put: { k: 3, v: 3 } })
      await write({ put: { k: 2, v: 0 } })
      await all()
      for (const error of failures) t.match(error, { code: 'OVERFLOW' })
      // Back in its range: in memory, committed, compacted.
      await table.put({ k: 1, v: -4 } as never)
      t.match(await table.get({ k: 1 }), { v: 2147483644 })
      await write({ put: { k: 2, v: 0 } })
      const expected = [
        { k: 1, v: 2147483644, b: 9007199254740995n },
        { k: 2, v: 1, b: null },
        { k: 3, v: 3, b: null },
      ]
      t.strictSame(await rows(), expected)
      await table.compact({ full: true })
      t.strictSame(await rows(), expected)
      t.match(table.levels(), [{ runs: 1 }])
      // Too much for one record: they go to files of their own.
      await write(...[1, 2, 3, 4, 5].map(() => ({ put: { k: 1, v: 2000000000 } })), { put: { k: 3, v: 1 } })
      await overflow('', table.get({ k: 1 }))
      t.match(await table.get({ k: 3 }), { v: 4 })
      await write(...[1, 2, 3, 4, 5].map(() => ({ delete: { k: 1, v: 2000000000 } })))
      t.match(await table.get({ k: 1 }), { v: 2147483644 })
      await table.compact({ full: true })
      t.match(await rows(), [{ v: 2147483644 }, { v: 1 }, { v: 4 }])
    },
  )
}

t.test('C016: a compaction that needs older rows to fit takes them', async (t) => {
  const { table, write, rows } = await create(
    t,
    { v: int() },
    {
      'write-only': 'false',
      'merge-engine': 'aggregation',
      'fields.v.aggregate-function': 'sum',
      'num-sorted-run.compaction-trigger': '2',
      'compaction.max-size-amplification-percent': '100000',
    },
  )
  const failures: unknown[] = []
  table.on('failure', (failure) => failures.push(failure))
  await write(
    { put: { k: 1, v: -2000000000 } },
    ...Array.from({ length: 2000 }, (_, k) => ({ put: { k: k + 2, v: k } })),
  )
  await table.compact({ full: true })
  await write({ put: { k: 1, v: 2000000000 } })
  await write({ put: { k: 1, v: 2000000000 } })
  await table.compact()
  t.strictSame((await rows())[0], { k: 1, v: 2000000000 })
  t.match(table.levels(), [{ runs: 1 }], 'all runs became one')
  t.strictSame(failures, [])
})

for (const options of [
  { 'deletion-vectors.enabled': 'true' },
  { 'changelog-producer': 'lookup' },
  { 'commit.force-compact': 'true', 'num-sorted-run.compaction-trigger': '2' },
] as Record<string, string>[]) {
  t.test(
    `C016: where commits wait for compaction, the commit is refused and keeps its rows: ${JSON.stringify(options)}`,
    async (t) => {
      const sums = { 'write-only': 'false', 'merge-engine': 'aggregation', 'fields.v.aggregate-function': 'sum' }
      const { table, write, rows } = await create(t, { v: int() }, { ...sums, ...options })
      await write({ put: { k: 1, v: 2147483647 } }, { put: { k: 2, v: 2 } })
      await table.put([
        { k: 1, v: 1 },
        { k: 2, v: 1 },
      ] as never)
      await refused(t, table.commit(), 'OVERFLOW', { column: 'v', key: 'k = 1' })
      await refused(t, rows(), 'OVERFLOW', { column: 'v', key: 'k = 1' })
      t.match(await table.get({ k: 2 }), { v: 3 })
      await write({ put: { k: 1, v: -2 } })
      t.strictSame(await rows(), [
        { k: 1, v: 2147483646 },
        { k: 2, v: 3 },
      ])
    },
  )
}

t.test('C018: a delete that a partial update has no use for is refused when it is written', async (t) => {
  const { table, write, rows } = await create(t, { a: int(), b: int() }, { 'merge-engine': 'partial-update' })
  await write({ put: { k: 1, a: 10, b: null } })
  await write({ put: { k: 1, a: null, b: 20 } })
  await t.rejects(table.delete([{ k: 1 }] as never), { code: 'INVALID', message: /ignore-delete/ })
  t.strictSame(await rows(), [{ k: 1, a: 10, b: 20 }])
})

t.test('C019: each sequence group goes by its own field, and a newer row may set nulls', async (t) => {
  const options = { 'merge-engine': 'partial-update', 'fields.ga.sequence-group': 'a', 'fields.gb.sequence-group': 'b' }
  const { table, write, rows } = await create(t, { a: int(), ga: int(), b: int(), gb: int() }, options)
  await write({ put: { k: 1, a: 10, ga: 1 } })
  await write({ put: { k: 1, b: 20, gb: 5 } })
  await write({ put: { k: 1, a: 99, ga: 0, b: 21, gb: 4 } })
  t.strictSame(await rows(), [{ k: 1, a: 10, ga: 1, b: 20, gb: 5 }])
  await write({ put: { k: 1, ga: 3 } })
  t.strictSame(await rows(), [{ k: 1, a: null, ga: 3, b: 20, gb: 5 }])
  await table.compact({ full: true })
  t.strictSame(await rows(), [{ k: 1, a: null, ga: 3, b: 20, gb: 5 }])
})

t.test(
  'C020: a retraction is taken out of what is there, and of what comes, before and after a full compaction',
  async (t) => {
    const options = { 'merge-engine': 'aggregation', 'fields.v.aggregate-function': 'sum' }
    const { table, write, rows } = await create(t, { v: int() }, options)
    await write({ put: { k: 1, v: 10 } })
    await write({ delete: { k: 1, v: 3 } })
    await write({ delete: { k: 2, v: 3 } })
    await write({ put: { k: 2, v: 10 } })
    await write({ put: { k: 3, v: 10 } }, { delete: { k: 3, v: 10 } }, { put: { k: 3, v: 12 } })
    const expected = [
      { k: 1, v: 7 },
      { k: 2, v: 7 },
      { k: 3, v: 12 },
    ]
    t.strictSame(await rows(), expected)
    await table.compact({ full: true })
    t.strictSame(await rows(), expected)
  },
)

t.test('C021: nulls count nothing in aggregates, and compactions count nothing twice', async (t) => {
  const functions = {
    a: 'max',
    b: 'min',
    c: 'last_non_null_value',
    d: 'first_non_null_value',
    e: 'listagg',
    f: 'bool_or',
  }
  const options: Record<string, string> = { 'merge-engine': 'aggregation' }
  for (const [name, value] of Object.entries(functions)) options[`fields.${name}.aggregate-function`] = value
  const fields = { a: int(), b: int(), c: text(), d: text(), e: text(), f: types.boolean().nullable() }
  const { table, write, rows } = await create(t, fields, options)
  await write({ put: { k: 1, a: 1, b: 1, c: 'a', d: null, e: 'x', f: false } })
  await write({ put: { k: 1, a: 5, b: -5, c: null, d: 'f', e: '', f: true } })
  await write({ put: { k: 1, a: null, b: null, c: 'z', d: 'g', e: 'y', f: null } })
  const expected = [{ k: 1, a: 5, b: -5, c: 'z', d: 'f', e: 'x,y', f: true }]
  for (let i = 0; i < 3; i++) {
    t.strictSame(await rows(), expected)
    await table.compact({ full: true })
  }
})

t.test('C022: an ignored delete leaves no record', async (t) => {
  const { table, write, rows } = await create(t, { v: int() }, { 'ignore-delete': 'true' })
  await write({ put: { k: 1, v: 1 } })
  await write({ delete: { k: 1 } })
  t.strictSame(await rows(), [{ k: 1, v: 1 }])
  t.match(table.levels(), [{ runs: 1, levels: [{ rows: 1 }] }])
})

t.test('C023: first rows show once a compaction has moved them out of level 0', async (t) => {
  const { warehouse, table, write, rows } = await create(
    t,
    { v: int() },
    { 'write-only': 'false', 'merge-engine': 'first-row' },
  )
  await write({ put: { k: 1, v: 1 } })
  await write({ put: { k: 1, v: 2 } })
  t.strictSame(await rows(), [{ k: 1, v: 1 }])
  await table.close()
  const store = await storeOf(warehouse.path, 'db', 't')
  await alter(store, ({ options }) => ({ options: { ...options, 'write-only': 'true' } }))
  const silent = await warehouse.table('db.t')
  await silent.put({ k: 2, v: 1 })
  await silent.commit()
  t.strictSame(await collect(silent.scan()), [{ k: 1, v: 1 }], 'level 0 is not read')
  await silent.compact({ full: true })
  t.strictSame(await collect(silent.scan()), [
    { k: 1, v: 1 },
    { k: 2, v: 1 },
  ])
})

t.test('C030: deletion vectors that are switched on for a table with rows show no key twice', async (t) => {
  const options = { 'write-only': 'false', 'changelog-producer': 'lookup', 'compaction.size-ratio': '0' }
  const { warehouse, table, write } = await create(t, { v: int() }, options)
  await write({ put: { k: 1, v: 2 } }, { put: { k: 2, v: 2 } }, { put: { k: 3, v: 3 } })
  for (let v = 3; v <= 7; v++) await write({ put: { k: 1, v } })
  const store = await storeOf(warehouse.path, 'db', 't')
  await alter(store, ({ options }) => ({ options: { ...options, 'deletion-vectors.enabled': 'true' } }))
  await t.rejects(table.refresh(), { code: 'CONFLICT', details: { option: 'deletion-vectors.enabled' } })
  await t.rejects(table.put({ k: 4, v: 4 } as never), {
    code: 'CONFLICT',
    details: { option: 'deletion-vectors.enabled' },
  })
  await table.close()
  const again = await warehouse.table('db.t')
  const expected = [
    { k: 1, v: 7 },
    { k: 2, v: 2 },
    { k: 3, v: 3 },
  ]
  const check = async () => {
    t.strictSame(await collect(again.scan()), expected)
    for (const { k, v } of expected) t.strictSame(await again.get(k), { k, v })
    t.strictSame(
      await collect(again.scan({ where: { v: { lt: 7 } } })),
      expected.slice(1),
      'older rows do not fit instead',
    )
  }
  await check()
  await refused(
    t,
    again.put({ k: 1, v: 8 } as never),
    'INVALID',
    { option: 'deletion-vectors.enabled' },
    'full compaction',
  )
  await again.close()
  const set = (value: string) =>
    alter(store, (schema) => ({ options: { ...schema.options, 'deletion-vectors.enabled': value } }))
  await set('false')
  const compacting = await warehouse.table('db.t')
  await compacting.compact({ full: true })
  await compacting.close()
  await set('true')
  const marking = await warehouse.table('db.t')
  await marking.delete({ k: 1 } as never)
  await marking.commit()
  t.strictSame(await collect(marking.scan()), expected.slice(1))
})

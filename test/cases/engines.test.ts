import t, { type Test } from 'tap'
import { t as types } from '../../engine/index.ts'
import { collect, open } from '../support/warehouses.ts'

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
  return { table, write, rows: (): Promise<readonly Row[]> => collect(table.scan() as AsyncIterable<Row>) }
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

t.test('C040: a row that is older than the delete of its key stays out as long as the delete is there', async (t) => {
  const { write, rows } = await create(t, { v: int() }, { 'sequence.field': 'v' })
  await write({ put: { k: 1, v: 5 } })
  await write({ delete: { k: 1, v: 7 } })
  await write({ put: { k: 1, v: 6 } })
  t.strictSame(await rows(), [])
  await write({ put: { k: 1, v: 7 } })
  t.strictSame(await rows(), [{ k: 1, v: 7 }])
})

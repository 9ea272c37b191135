import { join } from 'node:path'
import t from 'tap'
import { t as types } from '../../engine/index.ts'
import { nodeClock } from '../../engine/ports/node-clock.ts'
import { createTag } from '../../engine/upkeep/tagging.ts'
import { collect, listing, open, refused, storeOf } from '../support/warehouses.ts'

const definition = { fields: { k: types.int() }, primaryKey: ['k'] } as const

/** Names that must not mean anything. */
const odd = [
  '__proto__',
  'constructor',
  'toString',
  'a b',
  '%2e%2e',
  '-',
  '~',
  '$',
  '*',
  'é',
  'שלום',
  '😀',
  '\u202eabc',
]
/** What no file can be called. */
const impossible = ['', ' ', '.', '..', '../x', 'a/b', '/', 'a\\b', 'a\0b', '\n', 'a\x7f', '\ud800']

/** Names of the file system outside `folder`, which must stay as they were. */
const outside = (path: string, folder: string) => listing(path).filter((name) => !name.startsWith(folder))

t.test('databases and tables of odd names are made, listed, read and dropped', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  const names = odd.filter((name) => !/[$.]/.test(name)).map((name) => `${name}.${name}`)
  names.push(`d.${'x'.repeat(255)}`, `${'y'.repeat(252)}.t`, `d.${'é'.repeat(127)}`)
  for (const [k, name] of names.entries()) {
    const table = await warehouse.createTable(name, definition)
    await table.put({ k })
    await table.commit()
    await table.close()
  }
  t.same([...(await warehouse.tables())].sort(), [...names].sort())
  for (const [k, name] of names.entries()) {
    const table = await warehouse.table(name)
    t.same(await collect(table.scan()), [{ k }], name.slice(0, 20))
    await table.close()
    await warehouse.dropTable(name)
  }
  t.same(await warehouse.tables(), [])
  for (const name of [`d.${'x'.repeat(256)}`, `${'y'.repeat(253)}.t`, `d.${'é'.repeat(128)}`])
    await refused(t, warehouse.createTable(name, definition), 'INVALID', {
      value: name.split('.').find((part) => part.length > 1)!,
    })
  await warehouse.close()
})

t.test('consumers and tags: any name that a file can have, the others are refused and leave nothing', async (t) => {
  const path = join(t.testdir({ w: {} }), 'w')
  const warehouse = await open(path)
  const table = await warehouse.createTable('d.t', definition)
  await table.put({ k: 1 })
  await table.commit()
  const store = await storeOf(path, 'd', 't')
  const before = outside(join(path, '..'), join(path, 'd.db', 't'))
  const longest = ['x'.repeat(200), '😀'.repeat(50)]
  for (const name of [...odd, ...longest]) {
    for await (const _ of table.follow({ consumer: name, from: 0, signal: AbortSignal.timeout(5_000) })) break
    const next = await table.follow({ consumer: name, initial: true })[Symbol.asyncIterator]()
    await next.return?.()
    await createTag(store, nodeClock, name)
  }
  t.same((await store.tags.list()).map((tag) => tag.name).sort(), [...odd, ...longest].sort())
  for (const name of [...impossible, 'x'.repeat(201), 'é'.repeat(101), '😀'.repeat(64)]) {
    await refused(t, () => table.follow({ consumer: name }), 'INVALID', {})
    await refused(t, createTag(store, nodeClock, name), 'INVALID', { value: name })
  }
  t.same(outside(join(path, '..'), join(path, 'd.db', 't')), before)
  await warehouse.close()
})

t.test('options and commit users come back as they were; text that has no UTF-8 form is refused', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  const texts = [...odd, '../x', 'a/b', '.', 'nul\0', 'line\nline', '"', '\\', 'x'.repeat(10_000)]
  for (const [k, name] of texts.entries()) {
    const options = Object.fromEntries([
      [`of.others.${name}`, name],
      ['__proto__', name],
    ])
    const table = await warehouse.createTable(`d.t${k}`, { ...definition, options }, { commitUser: name })
    await table.put({ k })
    await table.commit({ identifier: 5n })
    await table.close()
    const again = await warehouse.table(`d.t${k}`, { commitUser: name })
    await again.put({ k: -1 })
    t.equal((await again.commit({ identifier: 5n })).created, false, 'the user is known again')
    const store = await storeOf(path, 'd', `t${k}`)
    t.equal((await store.snapshots.latest())?.commitUser, name)
    const stored = (await store.schemas.latest()).options
    t.equal(Object.getOwnPropertyDescriptor(stored, `of.others.${name}`)?.value, name)
    t.equal(Object.getOwnPropertyDescriptor(stored, '__proto__')?.value, name)
    await again.close()
  }
  const before = listing(path)
  for (const options of [{ 'of.others': '\ud800' }, { 'of.\udfff': 'x' }])
    await refused(t, warehouse.createTable('d.u', { ...definition, options }), 'INVALID', {}, 'Unicode')
  await refused(t, warehouse.createTable('d.u', definition, { commitUser: 'a\ud800' }), 'INVALID', {}, 'Unicode')
  t.same(listing(path), before)
  await warehouse.close()
})

t.test('values of partitions of any text are a folder each, inside the table', async (t) => {
  const path = join(t.testdir({ w: {} }), 'w')
  const warehouse = await open(path)
  const table = await warehouse.createTable('d.t', {
    fields: { p: types.string(), k: types.int() },
    primaryKey: ['p', 'k'],
    partitionBy: ['p'],
  })
  const values = [
    ...odd,
    '.',
    '..',
    '../x',
    '../../../x',
    'a/b',
    '/',
    'a\\b',
    'a\0b',
    '\n',
    '=',
    'p=1',
    'x'.repeat(253),
  ]
  const before = outside(join(path, '..'), join(path, 'd.db', 't'))
  await table.put(values.map((p, k) => ({ p, k })))
  await table.commit()
  await table.compact({ full: true })
  for (const [k, p] of values.entries()) {
    t.same(await table.get({ p, k }), { p, k })
    t.same(await collect(table.scan({ where: { p } })), [{ p, k }])
  }
  t.same(outside(join(path, '..'), join(path, 'd.db', 't')), before)
  await refused(t, table.put({ p: 'x'.repeat(254), k: 1 }), 'INVALID', { column: 'p' })
  await warehouse.close()
})

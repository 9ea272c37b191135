import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type FieldType, type Table, t as types } from '../../engine/index.ts'
import { alter, collect, dataFilesOnDisk, listing, open, refused, storeOf } from '../support/warehouses.ts'

type AnyField = FieldType<unknown, unknown, boolean>
const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const

const hostile = [
  '',
  '.',
  '..',
  't',
  'db.',
  '.t',
  ' .t',
  'db. ',
  'a.b.c',
  '../x.t',
  'db.../x',
  'db.a/b',
  'a/b.t',
  '/etc.passwd',
  'db.\0',
  '\0.t',
  'db.a\\b',
  'db.\n',
  `db.${'x'.repeat(300)}`,
  `${'x'.repeat(300)}.t`,
  `db.${'é'.repeat(200)}`,
  'db.\ud800',
  'db.t$snapshots',
  'db.a\x7f',
]

t.test('names that could not be a folder of their own are refused everywhere, and nothing is made', async (t) => {
  const path = join(t.testdir({ w: {} }), 'w')
  const warehouse = await open(path)
  for (const name of hostile) {
    await refused(t, warehouse.createTable(name, definition), 'INVALID', {})
    await refused(t, warehouse.table(name), 'INVALID', {})
    await refused(t, warehouse.dropTable(name), 'INVALID', {})
  }
  for (const name of [undefined, null, 5, {}, ['db.t']]) {
    await refused(t, warehouse.createTable(name as never, definition), 'INVALID', { value: name })
    await refused(t, warehouse.table(name as never), 'INVALID', { value: name })
    await refused(t, warehouse.dropTable(name as never), 'INVALID', { value: name })
  }
  t.same(listing(join(path, '..')), [`${path}/`])
  t.same(await warehouse.tables(), [])
  await warehouse.close()
})

const columnNames = [
  'a.b',
  'c d',
  'é',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'and',
  '😀',
  '"',
  "'",
  '\\',
  '`',
  '%',
  '#',
  'K',
  'k',
]

t.test('C102 columns of any name are written, projected, filtered and compacted', async (t) => {
  const warehouse = await open(t.testdir())
  const fields = Object.create(null) as Record<string, AnyField>
  for (const name of columnNames) fields[name] = types.int() as AnyField
  const table = (await warehouse.createTable('db.t', {
    fields,
    primaryKey: ['a.b', '__proto__'],
  } as never)) as unknown as Table
  const row = (base: number) => {
    const made = Object.create(null) as Record<string, unknown>
    columnNames.forEach((name, i) => {
      made[name] = base + i
    })
    return made
  }
  const values = (found: Record<string, unknown> | undefined) =>
    found && columnNames.map((name) => Object.getOwnPropertyDescriptor(found, name)?.value)
  await table.put([row(0), row(100)])
  for (const place of ['memory', 'level 0', 'top level']) {
    t.same(
      (await collect(table.scan())).map(values),
      [columnNames.map((_, i) => i), columnNames.map((_, i) => 100 + i)],
      place,
    )
    const key = Object.fromEntries([
      ['a.b', 100],
      ['__proto__', 103],
    ])
    t.same(
      values(await table.get(key)),
      columnNames.map((_, i) => 100 + i),
      place,
    )
    for (const [i, name] of columnNames.entries()) {
      const [only] = await collect(table.scan({ columns: [name] }))
      t.same(Object.getOwnPropertyNames(only), [name], `${place}: ${name} alone`)
      t.equal(Object.getOwnPropertyDescriptor(only, name)?.value, i)
      if (name === 'and') continue
      const where = Object.create(null) as Record<string, unknown>
      where[name] = 100 + i
      t.equal((await collect(table.scan({ where: where as never }))).length, 1, `${place}: a filter on ${name}`)
    }
    if (place === 'memory') await table.commit()
    else if (place === 'level 0') await table.compact({ full: true })
  }
  await warehouse.close()
})

t.test('definitions that make no sense are refused, naming the column or option, and make nothing', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  const { k, v } = definition.fields
  const bad: readonly (readonly [what: string, definition: unknown, details: object, says: string])[] = [
    ['no columns', { fields: {}, primaryKey: ['k'] }, {}, 'columns'],
    ['no key', { fields: { k }, primaryKey: [] }, {}, 'primary key'],
    ['a key that is no column', { fields: { k }, primaryKey: ['x'] }, { column: 'x' }, '"x"'],
    ['a key twice', { fields: { k }, primaryKey: ['k', 'k'] }, { column: 'k' }, '"k"'],
    [
      'a partition outside the key',
      { fields: { k, v: types.int() }, primaryKey: ['k'], partitionBy: ['v'] },
      { column: 'v' },
      '"v"',
    ],
    ['a key of partitions only', { fields: { k }, primaryKey: ['k'], partitionBy: ['k'] }, {}, 'partition'],
    ['a nested key', { fields: { k: types.array(types.int()) }, primaryKey: ['k'] }, { column: 'k' }, '"k"'],
    [
      'a reserved name',
      { fields: { k, _SEQUENCE_NUMBER: v }, primaryKey: ['k'] },
      { column: '_SEQUENCE_NUMBER' },
      '_SEQUENCE_NUMBER',
    ],
    ['a reserved prefix', { fields: { k, _KEY_k: v }, primaryKey: ['k'] }, { column: '_KEY_k' }, '_KEY_k'],
    ['an empty name', { fields: { k, '': v }, primaryKey: ['k'] }, { column: '' }, '""'],
    ['a lone surrogate', { fields: { k, '\ud800': v }, primaryKey: ['k'] }, { column: '\ud800' }, 'ud800'],
    ['no field', { fields: { k, v: 'INT' }, primaryKey: ['k'] }, { column: 'v', value: 'INT' }, '"v"'],
    [
      'an option value that is none',
      { ...definition, options: { 'target-file-size': 'much' } },
      { option: 'target-file-size', value: 'much' },
      'much',
    ],
    [
      'a choice that is none',
      { ...definition, options: { 'merge-engine': 'nope' } },
      { option: 'merge-engine', value: 'nope' },
      'nope',
    ],
    ['a number out of range', { ...definition, options: { bucket: 0 } }, { option: 'bucket' }, 'bucket'],
    [
      'a bucket key that is no column',
      { ...definition, options: { 'bucket-key': 'x' } },
      { option: 'bucket-key' },
      "'x'",
    ],
    [
      'an option that stands elsewhere',
      { ...definition, options: { 'primary-key': 'k' } },
      { option: 'primary-key' },
      'primary-key',
    ],
    ['no definition', undefined, {}, ''],
    ['fields that are none', { fields: null, primaryKey: ['k'] }, {}, 'fields'],
  ]
  for (const [what, wrong, details, says] of bad) {
    await t.test(what, async (t) => {
      await refused(t, warehouse.createTable('db.t', wrong as typeof definition), 'INVALID', details, says)
    })
  }
  await refused(
    t,
    warehouse.createTable('db.t', { ...definition, options: { 'file.format': 'orc' } }),
    'UNSUPPORTED',
    { option: 'file.format', value: 'orc' },
    'file.format',
  )
  t.same(readdirSync(path), [])
  await warehouse.close()
})

t.test('unknown options survive', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  const table = await warehouse.createTable('db.t', { ...definition, options: { 'some.other-engine': 'is here' } })
  await table.put({ k: 1 })
  await table.commit()
  await warehouse.close()
  t.equal((await (await storeOf(path, 'db', 't')).schemas.latest()).options['some.other-engine'], 'is here')
})

t.test(
  'C127 C128 a warehouse with an odd path, opened relatively, through a link, with a chdir in between',
  async (t) => {
    const root = t.testdir({ 'my dir #1 %20 é': {}, elsewhere: {} })
    const odd = join(root, 'my dir #1 %20 é')
    const before = process.cwd()
    t.teardown(() => process.chdir(before))
    symlinkSync(odd, join(root, 'link'))
    process.chdir(root)
    for (const [i, path] of ['./my dir #1 %20 é', odd, 'link'].entries()) {
      process.chdir(root)
      const warehouse = await open(path)
      const table = await warehouse.createTable(`d b é.t x${i}`, { ...definition, options: { 'write-only': 'true' } })
      const folder = join(odd, 'd b é.db', `t x${i}`)
      for (const v of [1, 2, 3, 4, 5]) {
        await table.put({ k: v % 2, v })
        await table.commit()
      }
      await table.compact({ full: true })
      process.chdir(join(root, 'elsewhere'))
      const old = dataFilesOnDisk(folder)
      const { files } = await table.expireSnapshots({ retainMax: 1 })
      const left = dataFilesOnDisk(folder)
      t.equal(left.length, 1)
      t.equal(files.filter((file) => /\/data-[^/]*$/.test(file)).length, old.length - left.length, 'as many as it says')
      t.same(await collect(table.scan()), [
        { k: 0, v: 4 },
        { k: 1, v: 5 },
      ])
      await warehouse.close()
    }
    process.chdir(root)
    const again = await open('link')
    t.same(await again.tables(), ['d b é.t x0', 'd b é.t x1', 'd b é.t x2'])
    await again.close()
    t.same(readdirSync(join(root, 'elsewhere')), [])
  },
)

t.test('C119 many buckets and many partitions', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  const buckets = await warehouse.createTable('db.b', {
    ...definition,
    options: { bucket: 2000, 'write-only': 'true' },
  })
  await buckets.put(Array.from({ length: 3000 }, (_, k) => ({ k, v: k })))
  t.equal((await buckets.commit()).files, 1560, 'as Paimon distributes them')
  t.equal((await collect(buckets.scan())).length, 3000)
  const partitions = await warehouse.createTable('db.p', {
    fields: { p: types.int(), k: types.int() },
    primaryKey: ['p', 'k'],
    partitionBy: ['p'],
  })
  await partitions.put(Array.from({ length: 500 }, (_, p) => ({ p, k: 1 })))
  await partitions.commit()
  t.same(
    (await collect(partitions.scan())).map(({ p }) => p),
    Array.from({ length: 500 }, (_, p) => p),
  )
  if (process.platform === 'linux') t.ok(readdirSync('/proc/self/fd').length < 256)
  await warehouse.close()
})

t.test('C101 a table whose key column was renamed by another engine is read, written and compacted', async (t) => {
  const path = t.testdir()
  const first = await open(path)
  const made = await first.createTable('db.t', { ...definition, options: { 'bucket-key': 'k', bucket: 2 } })
  await made.put([
    { k: 1, v: 1 },
    { k: 2, v: 2 },
  ])
  await made.commit()
  await first.close()
  await alter(await storeOf(path, 'db', 't'), ({ fields, options }) => ({
    fields: fields.map((field) => (field.name === 'k' ? { ...field, name: 'kk' } : field)),
    primaryKeys: ['kk'],
    options: { ...options, 'bucket-key': 'kk' },
  }))
  const warehouse = await open(path)
  const table = await warehouse.table('db.t')
  t.same(await table.get({ kk: 1 }), { kk: 1, v: 1 })
  await table.put({ kk: 1, v: 10 })
  await table.delete({ kk: 2 })
  await table.commit()
  t.same(await collect(table.scan()), [{ kk: 1, v: 10 }])
  await table.compact({ full: true })
  t.same(await collect(table.scan()), [{ kk: 1, v: 10 }])
  t.same(await table.get(1), { kk: 1, v: 10 })
  t.equal(await table.get(2), undefined)
  await warehouse.close()
})

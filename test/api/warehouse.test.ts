import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openWarehouse, type Table, t as types } from '../../engine/index.ts'
import { collect, listing, open, openAlone, refused } from '../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const

t.test('openWarehouse makes the folder, durable by default, and reads nothing else', async (t) => {
  const path = join(t.testdir(), 'a', 'b')
  const warehouse = await openWarehouse(path, { workers: 0 })
  t.equal(warehouse.path, path)
  t.same(readdirSync(path), [])
  t.same(await warehouse.tables(), [])
  await warehouse.close()
  await warehouse.close()
  await refused(t, warehouse.tables(), 'CLOSED', { path })
  await refused(t, warehouse.table('db.t'), 'CLOSED', { path })
  await refused(t, warehouse.createTable('db.t', definition), 'CLOSED', { path })
  await refused(t, warehouse.dropTable('db.t'), 'CLOSED', { path })
})

t.test('the path is resolved once: symbolic links and a later chdir do not matter', async (t) => {
  const folder = t.testdir({ real: {} })
  symlinkSync(join(folder, 'real'), join(folder, 'link'))
  const before = process.cwd()
  t.teardown(() => process.chdir(before))
  process.chdir(folder)
  const warehouse = await open('./link')
  process.chdir(before)
  t.equal(warehouse.path, join(folder, 'real'))
  const table = await warehouse.createTable('db.t', definition)
  await table.put({ k: 1, v: 1 })
  await table.commit()
  await warehouse.close()
  t.same(readdirSync(join(folder, 'real')), ['db.db'])
})

t.test('options that make no sense are refused, naming option and value', async (t) => {
  const path = join(t.testdir(), 'w')
  for (const [option, value] of [
    ['durability', 'maybe'],
    ['workers', -1],
    ['workers', 1.5],
    ['cacheBytes', -1],
    ['cacheBytes', Number.NaN],
  ] as const) {
    await refused(t, open(path, { [option]: value }), 'INVALID', { option, value }, option, String(value))
  }
  const error = await refused(t, open(path, { signal: AbortSignal.abort(new Error('enough')) }), 'ABORTED', { path })
  t.equal(error.name, 'AbortError')
  t.match(error.cause, { message: 'enough' })
  t.same(readdirSync(join(path, '..')), [], 'nothing was made')
})

t.test('a folder that is a file, and with readOnly one that is not there, are named', async (t) => {
  const folder = t.testdir({ file: 'x' })
  await refused(t, open(join(folder, 'file')), 'IO', { path: join(folder, 'file') }, join(folder, 'file'))
  const missing = join(folder, 'missing')
  await refused(t, open(missing, { readOnly: true }), 'NOT_FOUND', { path: missing }, missing)
  t.same(readdirSync(folder), ['file'])
})

t.test('createTable, tables, table and dropTable', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  const first = await warehouse.createTable('b.t', definition)
  t.equal(first.name, 'b.t')
  await warehouse.createTable('a.u', definition)
  await warehouse.createTable('a.t', definition)
  writeFileSync(join(path, 'a.db', 'file'), '')
  mkdirSync(join(path, 'a.db', 'no-table'))
  mkdirSync(join(path, 'no-database'))
  t.same(await warehouse.tables(), ['a.t', 'a.u', 'b.t'])

  await refused(t, warehouse.createTable('b.t', definition), 'EXISTS', { table: 'b.t' }, 'b.t')
  const second = await warehouse.createTable('b.t', definition, { ifNotExists: true })
  await second.put({ k: 1, v: 2 })
  t.same(await first.get(1), { k: 1, v: 2 }, 'both handles are of one table')
  await second.commit()

  await refused(t, warehouse.table('b.none'), 'NOT_FOUND', { table: 'b.none' }, 'b.none')
  await refused(t, warehouse.dropTable('b.none'), 'NOT_FOUND', { table: 'b.none' }, 'b.none')
  await refused(t, warehouse.dropTable('b.t'), 'INVALID', { table: 'b.t' }, 'b.t')
  await first.close()
  await second.close()
  await warehouse.dropTable('b.t')
  t.same(await warehouse.tables(), ['a.t', 'a.u'])
  t.same(readdirSync(join(path, 'b.db')), [], 'no file is left')
  const again = await warehouse.createTable('b.t', definition)
  t.same(await collect(again.scan()), [], 'a table created anew is empty')
  await warehouse.close()
})

t.test('another schema than the one on disk is refused and changes nothing', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  await (await warehouse.createTable('db.t', definition)).close()
  const before = listing(path)
  const { k, v } = definition.fields
  const others = {
    'another type': { fields: { k, v: types.bigint().nullable() }, primaryKey: ['k'] },
    'another nullability': { fields: { k, v: types.int() }, primaryKey: ['k'] },
    'one more column': { fields: { k, v, w: types.int() }, primaryKey: ['k'] },
    'one less column': { fields: { k }, primaryKey: ['k'] },
    'another name': { fields: { k, w: v }, primaryKey: ['k'] },
    'another key': { fields: { k, v: types.int() }, primaryKey: ['v'] },
    'another partition': { fields: { k, v: types.int() }, primaryKey: ['k', 'v'], partitionBy: ['v'] },
  }
  for (const [what, other] of Object.entries(others)) {
    await t.test(what, async (t) => {
      const typed = other as unknown as typeof definition
      await refused(
        t,
        warehouse.createTable('db.t', typed, { ifNotExists: true }),
        'INVALID',
        { table: 'db.t' },
        'db.t',
      )
      await refused(t, warehouse.table('db.t', typed), 'INVALID', { table: 'db.t' }, 'db.t')
    })
  }
  t.same(listing(path), before)
  await warehouse.dropTable('db.t')
  await warehouse.close()
})

t.test('readOnly reads and creates nothing', async (t) => {
  const path = t.testdir()
  const writing = await open(path)
  const table = await writing.createTable('db.t', definition)
  await table.put({ k: 1, v: 1 })
  await table.commit()
  await table.refresh() // after the expiry that follows a commit
  const before = listing(path)
  const reading = await open(path, { readOnly: true })
  const reader = (await reading.table('db.t')) as unknown as typeof table
  t.same(await reader.get(1), { k: 1, v: 1 })
  t.same(await collect(reader.scan()), [{ k: 1, v: 1 }])
  await refused(t, reading.createTable('db.u', definition), 'INVALID', { table: 'db.u' }, 'readOnly')
  await refused(t, reading.dropTable('db.t'), 'INVALID', { table: 'db.t' }, 'readOnly')
  for (const write of [
    () => reader.put({ k: 2, v: 2 }),
    () => reader.delete(1),
    () => reader.write([{ delete: 1 }]),
    () => reader.commit(),
    () => reader.discard(),
    () => reader.compact(),
    () => reader.expireSnapshots(),
  ]) {
    await refused(t, write, 'INVALID', { table: 'db.t' }, 'readOnly')
  }
  t.same(listing(path), before)

  await table.put({ k: 1, v: 2 })
  t.same(await reader.get(1), { k: 1, v: 1 }, 'rows that are not committed do not show')
  await table.commit()
  t.same(await reader.get(1), { k: 1, v: 2 }, 'a new snapshot shows on the next call')
  t.same(await collect(reader.scan()), [{ k: 1, v: 2 }])
  await reading.close()
  await writing.close()
})

t.test('a definition that says otherwise what the rows of a table are is refused', async (t) => {
  const warehouse = await open(t.testdir())
  const fields = { k: types.int(), v: types.int().nullable() }
  const sums = { 'merge-engine': 'aggregation', 'fields.v.aggregate-function': 'sum' }
  const create = (options?: Record<string, string>) =>
    warehouse.createTable('db.t', { fields, primaryKey: ['k'], ...(options && { options }) }, { ifNotExists: true })
  await create(sums)
  await create({ ...sums, 'target-file-size': '1 mb' })
  await refused(
    t,
    create(),
    'INVALID',
    { option: 'merge-engine', expected: 'aggregation', actual: 'deduplicate' },
    'db.t',
  )
  await refused(t, create({ ...sums, 'fields.v.aggregate-function': 'max' }), 'INVALID', {
    expected: 'sum',
    actual: 'max',
  })
  await refused(
    t,
    create({ ...sums, 'ignore-delete': 'true' }),
    'INVALID',
    { option: 'ignore-delete' },
    'false',
    'true',
  )
  await warehouse.table('db.t', { fields, primaryKey: ['k'] })
  await warehouse.close()
})

t.test('C076 two opens of one path share their state, and closing one leaves the other', async (t) => {
  const path = t.testdir()
  const [a, b] = [await open(path), await open(path)]
  const first = await a.createTable('db.t', definition)
  const second = (await b.table('db.t')) as unknown as typeof first
  await first.put({ k: 1, v: 1 })
  t.same(await second.get(1), { k: 1, v: 1 }, 'rows of one are seen by the other')
  await second.put({ k: 2, v: 2 })
  await first.commit()
  await a.close()
  await second.put({ k: 3, v: 3 })
  await second.commit()
  t.same(
    (await collect(second.scan())).map(({ k }) => k),
    [1, 2, 3],
  )
  await b.close()

  const again = await open(path)
  const reopened = await again.table('db.t')
  t.equal((await collect(reopened.scan())).length, 3)
  await reopened.close()
  await again.dropTable('db.t')
  const created = await again.createTable('db.t', definition)
  await created.put({ k: 9, v: 9 })
  await created.commit()
  t.same(await collect(created.scan()), [{ k: 9, v: 9 }])
  await again.close()
})

t.test('closing a warehouse with rows that are not committed is refused and closes nothing', async (t) => {
  const warehouse = await open(t.testdir())
  const clean = await warehouse.createTable('db.clean', definition)
  const dirty = await warehouse.createTable('db.dirty', definition)
  await dirty.put({ k: 1, v: 1 })
  await refused(t, warehouse.close(), 'INVALID', { table: 'db.dirty' }, 'db.dirty')
  t.equal(await clean.get(1), undefined, 'the clean table is still open')
  t.same(await dirty.get(1), { k: 1, v: 1 })
  await warehouse.close({ discard: true })
  await refused(t, dirty.get(1), 'CLOSED', { table: 'db.dirty' })
  await refused(t, clean.get(1), 'CLOSED', { table: 'db.clean' })
})

t.test('await using closes tables and warehouses', async (t) => {
  const path = t.testdir()
  let kept: Table | undefined
  {
    await using warehouse = await open(path)
    await using table = await warehouse.createTable('db.t', definition)
    await table.put({ k: 1, v: 1 })
    await table.commit()
    kept = table as unknown as Table
  }
  await refused(t, kept.get(1), 'CLOSED', { table: 'db.t' })
})

t.test('the logger hears of commits and compactions', async (t) => {
  const heard: string[] = []
  const say = (_: object, message: string) => void heard.push(message)
  const warehouse = await open(t.testdir(), { logger: { debug: say, info: say, warn: say, error: say } })
  const table = await warehouse.createTable('db.t', definition)
  await table.put({ k: 1, v: 1 })
  await table.commit()
  await table.compact({ full: true })
  await warehouse.close()
  t.ok(heard.includes('committed'), heard.join())
  t.ok(heard.includes('compacted'), heard.join())
})

t.test('two processes may create one table: one creates, the other opens it or is told', async (t) => {
  const path = t.testdir()
  const [a, b] = [openAlone(path), openAlone(path)]
  const created = await Promise.allSettled([a.createTable('db.t', definition), b.createTable('db.t', definition)])
  t.same(created.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const lost = created.find((outcome) => outcome.status === 'rejected')
  t.match(lost?.reason, { code: 'EXISTS' })
  const both = await Promise.all([
    a.createTable('db.u', definition, { ifNotExists: true }),
    b.createTable('db.u', definition, { ifNotExists: true }),
  ])
  t.equal(both.length, 2)
  await a.close()
  await b.close()
})

t.test('a misspelled member of a definition, and an event that does not exist, are refused', async (t) => {
  await using warehouse = await open(join(t.testdir(), 'w'))
  const misspelled = { ...definition, option: { bucket: 4 } }
  await refused(t, warehouse.createTable('db.t', misspelled), 'INVALID', { option: 'option' }, 'options')
  await using table = await warehouse.createTable('db.t', definition)
  const listener = () => undefined
  for (const call of [() => table.on('commited' as 'commit', listener), () => table.off('x' as 'commit', listener)]) {
    t.throws(call, { code: 'INVALID', message: /compactionStart, compaction, commit/ })
  }
  t.equal(table.on('commit', listener).off('commit', listener), table)
})

t.test('schema tells columns, keys and options of the handle; toArray what is left of a scan', async (t) => {
  await using warehouse = await open(join(t.testdir(), 'w'))
  const fields = {
    day: types.int(),
    k: types.bigint().comment('who'),
    v: types.array(types.string().nullable()).nullable(),
    w: types.string().nullable().default('none'),
  }
  await using table = await warehouse.createTable('db.t', {
    fields,
    primaryKey: ['day', 'k'],
    partitionBy: ['day'],
    options: { bucket: 2, 'target-file-size': '1 mb' },
    comment: 'visits',
  })
  t.strictSame(table.schema, {
    id: 0,
    columns: [
      { name: 'day', type: 'INT NOT NULL' },
      { name: 'k', type: 'BIGINT NOT NULL', comment: 'who' },
      { name: 'v', type: 'ARRAY<STRING>' },
      { name: 'w', type: 'STRING', default: 'none' },
    ],
    primaryKey: ['day', 'k'],
    partitionBy: ['day'],
    options: { bucket: '2', 'target-file-size': '1 mb' },
    comment: 'visits',
  })
  await table.put([1n, 2n, 3n].map((k) => ({ day: 1, k })))
  const scan = table.scan({ columns: ['k'] })
  t.strictSame((await scan.next()).value, { k: 1n })
  t.strictSame(await scan.toArray(), [{ k: 2n }, { k: 3n }])
  t.strictSame(await scan.toArray(), [], 'a scan that has ended')
  await table.discard()
})

t.test('options of calls are checked, name and value, before anything is done', async (t) => {
  const path = join(t.testdir(), 'w')
  for (const [option, value] of [
    ['logger', {}],
    ['readOnly', 1],
    ['tempDir', 5],
  ] as const) {
    await refused(t, open(path, { [option]: value }), 'INVALID', { option, value }, option)
  }
  await using warehouse = await open(path)
  await using table = await warehouse.createTable('db.t', definition)
  await table.put({ k: 1, v: 1 })
  const any = table as unknown as Record<string, (...args: unknown[]) => unknown>
  for (const [call, args, option] of [
    ['scan', [{ reverse: 1 }], 'reverse'],
    ['scan', [{ ordered: 'no' }], 'ordered'],
    ['scan', [{ limit: '1' }], 'limit'],
    ['scan', [{ onStats: 5 }], 'onStats'],
    ['scan', [{ signal: 5 }], 'signal'],
    ['scanArrow', [{ reverse: 'yes' }], 'reverse'],
    ['get', [1, { columns: 'k' }], 'columns'],
    ['getMany', [[1], { colums: ['k'] }], 'colums'],
    ['put', [{ k: 2, v: 2 }, { signl: 1 }], 'signl'],
    ['commit', [{ properties: { n: 1 } }], 'properties'],
    ['commit', [{ properties: null }], 'properties'],
    ['compact', [{ full: 'x' }], 'full'],
    ['explainCompaction', [{ part: 1 }], 'part'],
    ['expireSnapshots', [{ dryRun: 1 }], 'dryRun'],
    ['close', [{ discrad: true }], 'discrad'],
  ] as const) {
    await refused(t, async () => any[call]!.call(table, ...args), 'INVALID', { option }, option)
  }
  const bare = Object.create(null) as object // no text can be made of it
  for (const [call, args] of [
    ['scan', [{ snapshot: bare }]],
    ['get', [1, { snapshot: bare }]],
    ['compact', [{ bucket: bare }]],
    ['explainCompaction', [{ bucket: 'x' }]],
    ['explainCompaction', [{ bucket: Number.NaN }]],
  ] as const) {
    await refused(t, async () => any[call]!.call(table, ...args), 'INVALID', {}, call === 'compact' ? 'bucket' : '')
  }
  const calls = warehouse as unknown as Record<string, (...args: unknown[]) => unknown>
  const fields = { k: types.int() }
  for (const [call, args] of [
    ['table', ['db.t', null]],
    ['table', ['db.t', 'x']],
    ['table', [bare]],
    ['checkTable', [bare]],
    ['createTable', [bare, definition]],
    ['createTable', ['db.u', { fields, primaryKey: ['k'], options: { bucket: bare } }]],
    ['createTable', ['db.u', { fields, primaryKey: ['k'], options: { bucket: Symbol('b') } }]],
    ['createTable', ['db.u', definition, { autoCommit: { rows: bare } }]],
  ] as const) {
    await refused(t, async () => calls[call]!.call(warehouse, ...args), 'INVALID', {})
  }
  t.throws(() => types.char(bare as unknown as number), { code: 'INVALID' })
  await refused(t, open(bare as unknown as string), 'INVALID', {})
  for (const [call, args] of [
    ['scan', [null]],
    ['get', [1, null]],
    ['getMany', [[1], null]],
    ['commit', [null]],
    ['put', [{ k: 2, v: 2 }, 5]],
  ] as const) {
    await refused(t, async () => any[call]!.call(table, ...args), 'INVALID', {}, call)
  }
  t.ok((await table.commit()).created)
  t.strictSame(await collect(table.scan()), [{ k: 1, v: 1 }], 'nothing of it was written, and the table is whole')
})

t.test('what would make a table that cannot be opened is refused before it is made', async (t) => {
  const path = join(t.testdir(), 'w')
  await using warehouse = await open(path)
  const make = (more: object, options: object = {}) =>
    warehouse.createTable('db.t', { ...definition, ...more } as typeof definition, options)
  await refused(t, make({ comment: 5 }), 'INVALID', { option: 'comment' })
  await refused(t, make({}, { commitUser: 5 }), 'INVALID', { option: 'commitUser' })
  await refused(t, make({}, { autoCommit: true }), 'INVALID', { option: 'autoCommit' })
  await refused(t, make({}, { autoCommit: { rows: 0 } }), 'INVALID', { option: 'rows' })
  const fields = { k: types.int(), v: types.int().nullable().default('5') }
  await refused(t, make({ fields }), 'UNSUPPORTED', { column: 'v', value: '5' }, 'text and bytes')
  t.strictSame(await warehouse.tables(), [])
})

import t from 'tap'
import { openWarehouse, type Table, t as types, type Warehouse } from '../../engine/index.ts'
import { manualClock } from '../support/manual-clock.ts'
import { collect, liveFiles, open, openAlone, refused, storeOf } from '../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const

async function create(path: string, options: Record<string, string | number> = {}) {
  const warehouse = await open(path)
  const table = await warehouse.createTable('db.t', { ...definition, options })
  return { path, warehouse, table, store: await storeOf(path, 'db', 't') }
}

/** Keys and values as pairs, for short comparisons. */
async function pairs(table: { scan(): AsyncIterable<{ k: number; v: number | null }> }) {
  return (await collect(table.scan())).map(({ k, v }) => [k, v])
}

t.test('put takes a row or rows, delete a key or keys, bare or as objects', async (t) => {
  const { table, warehouse } = await create(t.testdir())
  await table.put({ k: 1, v: 1 })
  await table.put([{ k: 2, v: 2 }, { k: 3, v: 3 }, { k: 4 }, { k: 2, v: 22 }])
  await table.put([])
  t.same(await pairs(table), [
    [1, 1],
    [2, 22],
    [3, 3],
    [4, null],
  ])
  await table.delete(1)
  await table.delete([{ k: 3 }, 4, 77])
  await table.delete([])
  t.same(await pairs(table), [[2, 22]])
  await table.commit()
  t.same(await pairs(table), [[2, 22]])
  await warehouse.close()
})

t.test('write applies puts and deletes in the order given, as one unit', async (t) => {
  const { table, warehouse } = await create(t.testdir())
  await table.write([
    {
      put: [
        { k: 1, v: 1 },
        { k: 2, v: 2 },
      ],
    },
    { delete: [1, 2] },
    { put: { k: 2, v: 3 } },
    { delete: 9 },
    { put: { k: 9, v: 9 } },
  ])
  t.same(await pairs(table), [
    [2, 3],
    [9, 9],
  ])
  await table.commit()
  t.same(await pairs(table), [
    [2, 3],
    [9, 9],
  ])
  await table.write([])
  await refused(t, table.write([{ upsert: 1 } as never]), 'INVALID', { value: { upsert: 1 } }, 'put', 'delete')
  await warehouse.close()
})

t.test('one bad row rejects the whole call, and nothing of it is kept', async (t) => {
  const { table, warehouse } = await create(t.testdir())
  const good = { k: 1, v: 1 }
  const bad = { k: 2, v: 'two' } as never
  await refused(
    t,
    table.put([good, bad, { k: 3, v: 3 }]),
    'INVALID',
    { column: 'v', value: 'two', row: 1 },
    '"v"',
    '"two"',
    'row 1',
  )
  await refused(t, table.write([{ put: good }, { delete: 7 }, { put: bad }]), 'INVALID', { column: 'v', value: 'two' })
  await refused(t, table.write([{ put: good }, { delete: ['x' as never] }]), 'INVALID', { column: 'k', value: 'x' })
  await refused(t, table.delete([1, null as never]), 'INVALID', { column: 'k' })
  t.same(await pairs(table), [])
  t.match(await table.commit(), { created: false, id: undefined, snapshots: [] })
  await table.put(good)
  t.same(await pairs(table), [[1, 1]], 'the handle goes on')
  await warehouse.close({ discard: true })
})

t.test('commit tells id, snapshots and counts; with nothing to commit it makes none', async (t) => {
  const { table, warehouse } = await create(t.testdir(), { bucket: 2 })
  t.match(await table.commit(), { id: undefined, created: false, snapshots: [], records: 0, files: 0 })
  await table.put([
    { k: 1, v: 1 },
    { k: 2, v: 2 },
    { k: 3, v: 3 },
    { k: 3, v: 4 },
  ])
  await table.delete(4)
  const commit = await table.commit({ properties: { source: 'test', é: '' } })
  t.match(commit, { id: 1, created: true, records: 4, files: 2 })
  t.equal(commit.snapshots.length, 1)
  t.match(commit.snapshots[0], { id: 1, kind: 'APPEND', deltaRecords: 4n, properties: { source: 'test', é: '' } })
  t.match(await table.commit(), { id: 1, created: false, snapshots: [] })
  t.same(await table.snapshots(), commit.snapshots)
  await warehouse.close()
})

t.test('identifiers count up under one random user a handle', async (t) => {
  const { table, warehouse } = await create(t.testdir())
  const other = (await warehouse.table('db.t')) as unknown as typeof table
  for (const [handle, k] of [
    [table, 1],
    [table, 2],
    [other, 3],
    [other, 4],
  ] as const) {
    await handle.put({ k })
    await handle.commit()
  }
  const snapshots = await table.snapshots()
  t.equal(snapshots[0]?.user, snapshots[1]?.user)
  t.equal(snapshots[2]?.user, snapshots[3]?.user)
  t.not(snapshots[0]?.user, snapshots[2]?.user)
  t.match(snapshots[0]?.user, /^[0-9a-f-]{36}$/)
  t.same(
    snapshots.map(({ identifier }) => identifier),
    [1n, 2n, 1n, 2n],
  )
  await warehouse.close()
})

t.test('commit.user-prefix stands in front of the random user', async (t) => {
  const { table, warehouse } = await create(t.testdir(), { 'commit.user-prefix': 'job' })
  await table.put({ k: 1 })
  t.match((await table.commit()).snapshots[0]?.user, /^job_[0-9a-f-]{36}$/)
  await warehouse.close()
})

t.test('a commit with an identifier that its user has committed gives that snapshot back', async (t) => {
  const path = t.testdir()
  const run = async (identifier: bigint | number, v: number) => {
    const warehouse = await open(path)
    const table = await warehouse.createTable('db.t', definition, { ifNotExists: true, commitUser: 'job-7' })
    await table.put({ k: v, v })
    const result = await table.commit({ identifier })
    const rows = await pairs(table)
    await warehouse.close()
    return { result, rows }
  }
  t.match((await run(5n, 1)).result, { id: 1, created: true, identifier: 5n })
  t.match((await run(6, 2)).result, { id: 2, created: true, identifier: 6n })
  const replayed = await run(5, 3)
  t.match(replayed.result, { id: 1, created: false, identifier: 5n, records: 0, files: 0 })
  t.match(replayed.result.snapshots, [{ id: 1, user: 'job-7', identifier: 5n }])
  t.same(
    replayed.rows,
    [
      [1, 1],
      [2, 2],
    ],
    'the rows of the replay are dropped: they are there',
  )
  t.match((await run(6n, 4)).result, { id: 2, created: false })
  t.match((await run(7n, 5)).result, { id: 3, created: true })
})

t.test('the same identifier of another user is another commit', async (t) => {
  const { table, warehouse } = await create(t.testdir())
  const other = (await warehouse.table('db.t', { commitUser: 'other' })) as unknown as typeof table
  await table.put({ k: 1 })
  await table.commit({ identifier: 5n })
  await other.put({ k: 2 })
  t.match(await other.commit({ identifier: 5n }), { created: true, id: 2 })
  await warehouse.close()
})

t.test('identifiers that count by themselves go on after those of the same user in the table', async (t) => {
  const path = t.testdir()
  const once = async (commit: (table: Table) => Promise<unknown>) => {
    const warehouse = await open(path)
    const table = await warehouse.createTable('db.t', definition, { ifNotExists: true, commitUser: 'job' })
    await table.put({ k: 1, v: 1 })
    const result = await commit(table as unknown as Table)
    await warehouse.close()
    return result
  }
  await once((table) => table.commit({ identifier: 40n }))
  t.match(await once((table) => table.commit()), { identifier: 41n, created: true })
  t.match(
    await once((table) => table.commit({ identifier: 40n })),
    { id: 1, created: false },
    'so a replay stays harmless',
  )
})

t.test('identifiers are whole numbers from 0 on, and never 2^63 - 1, which batch writers of others use', async (t) => {
  const { table, warehouse } = await create(t.testdir())
  await table.put({ k: 1 })
  for (const identifier of [2n ** 63n - 1n, 2n ** 63n, -1n, -1, 1.5, 2 ** 53, Number.NaN, '7', null]) {
    await refused(
      t,
      table.commit({ identifier: identifier as bigint }),
      'INVALID',
      { value: identifier },
      String(identifier),
    )
  }
  t.match(await table.commit({ identifier: 2n ** 63n - 2n }), { created: true, identifier: 2n ** 63n - 2n })
  await table.put({ k: 2 })
  await refused(t, table.commit(), 'INVALID', { value: 2n ** 63n - 1n }, '9223372036854775807')
  t.same(
    await pairs(table),
    [
      [1, null],
      [2, null],
    ],
    'the rows are kept',
  )
  await warehouse.close({ discard: true })
})

t.test('many callers may commit at once and share a snapshot', async (t) => {
  const { table, warehouse } = await create(t.testdir())
  const results = await Promise.all(
    Array.from({ length: 20 }, async (_, k) => {
      await table.put({ k, v: k })
      return table.commit()
    }),
  )
  t.equal((await pairs(table)).length, 20)
  const snapshots = await table.snapshots()
  t.ok(snapshots.length < 20, `${snapshots.length} snapshots`)
  t.equal(
    snapshots.reduce((sum, { deltaRecords }) => sum + deltaRecords, 0n),
    20n,
  )
  for (const { id } of results) t.ok(snapshots.some((snapshot) => snapshot.id === id))
  await warehouse.close()
})

t.test('the rows of one call never split over two snapshots, also when they do not fit the buffer', async (t) => {
  const { table, warehouse } = await create(t.testdir(), {
    bucket: 4,
    'write-buffer-size': '64 kb',
    'write-only': 'true',
  })
  const size = 3000
  const calls = Array.from({ length: 12 }, async (_, call) => {
    await table.put(Array.from({ length: size }, (_, i) => ({ k: call * size + i, v: call })))
    await table.commit()
  })
  await Promise.all(calls)
  for (const { id } of await table.snapshots()) {
    const counts = new Map<number | null, number>()
    for await (const { v } of table.scan({ snapshot: id })) counts.set(v, (counts.get(v) ?? 0) + 1)
    t.same([...new Set(counts.values())], [size], `snapshot ${id}: ${[...counts]}`)
  }
  await warehouse.close()
})

t.test('a commit that was refused keeps its rows for the next one', async (t) => {
  const { table, warehouse, path } = await create(t.testdir())
  await table.put({ k: 1, v: 1 })
  await refused(t, table.commit({ signal: AbortSignal.abort() }), 'ABORTED', {})
  t.same(await pairs(table), [[1, 1]])
  await table.put({ k: 2, v: 2 })
  t.match(await table.commit(), { created: true, id: 1, records: 2 })
  const reader = await open(path, { readOnly: true })
  t.same(await pairs((await reader.table('db.t')) as unknown as typeof table), [
    [1, 1],
    [2, 2],
  ])
  await reader.close()
  await warehouse.close()
})

t.test('discard drops what is not committed, in memory and on disk, and nothing else', async (t) => {
  const { table, warehouse, store } = await create(t.testdir(), { 'write-buffer-size': '16 kb' })
  await table.put({ k: 1, v: 1 })
  await table.commit()
  await table.put(Array.from({ length: 20_000 }, (_, k) => ({ k, v: 7 })))
  await table.discard()
  t.same(await pairs(table), [[1, 1]])
  t.match(await table.commit(), { created: false, id: 1 })
  await table.put({ k: 2, v: 2 })
  await table.commit()
  t.same(await pairs(table), [
    [1, 1],
    [2, 2],
  ])
  await warehouse.close()
  const named = (await liveFiles(store)).map(({ file }) => file.name).sort()
  const onDisk = (await store.fs.list(`${store.paths.table}/bucket-0`)).map(({ name }) => name).sort()
  t.same(onDisk, named, 'no file is left that nobody names')
})

t.test('close with rows that are not committed is refused and leaves the handle open', async (t) => {
  const { table, warehouse } = await create(t.testdir())
  await table.put({ k: 1, v: 1 })
  await refused(t, table.close(), 'INVALID', { table: 'db.t' }, 'commit()', 'discard')
  await table.put({ k: 2, v: 2 })
  t.same(await pairs(table), [
    [1, 1],
    [2, 2],
  ])
  await table.commit()
  await table.close()
  await table.close()
  await warehouse.close()
})

t.test('close({ discard: true }) drops them', async (t) => {
  const { table, warehouse } = await create(t.testdir())
  await table.put({ k: 1, v: 1 })
  await table.close({ discard: true })
  const again = (await warehouse.table('db.t')) as unknown as typeof table
  t.same(await pairs(again), [])
  await warehouse.close()
})

t.test('every call on a closed handle is CLOSED and names the table', async (t) => {
  const { table, warehouse } = await create(t.testdir())
  await table.close()
  const calls = {
    put: () => table.put({ k: 1 }),
    delete: () => table.delete(1),
    write: () => table.write([{ delete: 1 }]),
    putArrow: () => table.putArrow(undefined as never),
    commit: () => table.commit(),
    discard: () => table.discard(),
    get: () => table.get(1),
    getMany: () => table.getMany([1]),
    scan: () => table.scan(),
    scanArrow: () => table.scanArrow(),
    compact: () => table.compact(),
    explainCompaction: () => table.explainCompaction(),
    expireSnapshots: () => table.expireSnapshots(),
    levels: () => table.levels(),
    snapshots: () => table.snapshots(),
    refresh: () => table.refresh(),
  }
  for (const [name, call] of Object.entries(calls)) {
    await t.test(name, async (t) => void (await refused(t, call, 'CLOSED', { table: 'db.t' }, 'db.t')))
  }
  await warehouse.close()
})

t.test('auto-commit by rows', async (t) => {
  const { warehouse } = await create(t.testdir())
  const table = await warehouse.createTable('db.t', definition, { ifNotExists: true, autoCommit: { rows: 3 } })
  const committed = new Promise((done) => table.on('commit', done))
  await table.put([{ k: 1 }, { k: 2 }])
  t.same(await table.snapshots(), [])
  await table.put({ k: 3 })
  await committed
  t.match(await table.snapshots(), [{ id: 1, deltaRecords: 3n }])
  await warehouse.close()
})

t.test('auto-commit by bytes', async (t) => {
  const { warehouse } = await create(t.testdir())
  const table = await warehouse.createTable('db.t', definition, { ifNotExists: true, autoCommit: { bytes: 1000 } })
  const committed = new Promise((done) => table.on('commit', done))
  await table.put({ k: 0 })
  t.same(await table.snapshots(), [])
  await table.put(Array.from({ length: 1000 }, (_, k) => ({ k })))
  await committed
  t.match(await table.snapshots(), [{ id: 1, deltaRecords: 1000n }])
  await warehouse.close()
})

t.test('auto-commit by time counts from the first row', async (t) => {
  const clock = manualClock()
  const warehouse = openAlone(t.testdir(), { clock })
  const table = await warehouse.createTable('db.t', definition, { autoCommit: { millis: 500 } })
  const committed = new Promise((done) => table.on('commit', done))
  await table.put({ k: 1 })
  clock.advance(300)
  await table.put({ k: 2 })
  clock.advance(199)
  await table.refresh()
  t.same(await table.snapshots(), [], 'not before the time')
  clock.advance(1)
  await committed
  t.match(await table.snapshots(), [{ id: 1, deltaRecords: 2n }])
  await warehouse.close()
})

t.test('close of a handle that commits by itself commits', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  const table = await warehouse.createTable('db.t', definition, { autoCommit: { rows: 1000 } })
  await table.put({ k: 1, v: 1 })
  await table.close()
  t.same(await pairs((await warehouse.table('db.t')) as unknown as typeof table), [[1, 1]])
  await warehouse.close()
})

t.test('auto-commit limits that make no sense are refused', async (t) => {
  const { warehouse } = await create(t.testdir())
  for (const [option, value] of [
    ['rows', 0],
    ['bytes', -5],
    ['millis', Number.NaN],
    ['rows', '3'],
    ['ros', 3],
  ] as const) {
    await refused(t, warehouse.table('db.t', { autoCommit: { [option]: value } }), 'INVALID', { option, value }, option)
  }
  await warehouse.close()
})

t.test('delete writes zero values into NOT NULL columns, which no reader shows', async (t) => {
  const path = t.testdir()
  const warehouse: Warehouse = await open(path)
  const table = await warehouse.createTable('db.t', {
    fields: {
      k: types.int(),
      s: types.string(),
      b: types.boolean(),
      d: types.decimal(20, 2),
      ts: types.timestamp(9),
      n: types.int().nullable(),
      l: types.array(types.int()),
    },
    primaryKey: ['k'],
  })
  await table.put({ k: 1, s: 'x', b: true, d: '1.50', ts: 5n, l: [1] })
  await table.commit()
  await table.delete([1, 2])
  t.same(await collect(table.scan()), [])
  t.equal(await table.get(2), undefined)
  await table.commit()
  t.same(await collect(table.scan()), [])
  t.equal(await table.get(1), undefined)
  t.same(await collect(table.scan({ where: { s: '' } })), [], 'nor through a condition that the zero value meets')
  await table.compact({ full: true })
  t.same(await collect(table.scan()), [])
  await warehouse.close()
})

t.test('durability fsync gives the same rows', async (t) => {
  const path = t.testdir()
  const warehouse = await openWarehouse(path, { workers: 0 })
  const table = await warehouse.createTable('db.t', definition)
  await table.put({ k: 1, v: 1 })
  await table.commit()
  t.same(await pairs(table), [[1, 1]])
  await warehouse.close()
})

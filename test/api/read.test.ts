import { join } from 'node:path'
import t from 'tap'
import { type Table, t as types } from '../../engine/index.ts'
import { collect, dataFilesOnDisk, open, openAlone, refused } from '../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const

const rowsOf = (from: number, to: number, v = 0) =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ k: from + i, v: v === 0 ? from + i : v }))

async function create(path: string, options: Record<string, string | number> = {}) {
  const warehouse = await open(path)
  const table = await warehouse.createTable('db.t', { ...definition, options })
  return { warehouse, table, folder: join(path, 'db.db', 't') }
}

t.test('getMany answers in the order asked, with undefined for what is not there', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { bucket: 3 })
  await table.put(rowsOf(1, 50))
  await table.commit()
  await table.put({ k: 51, v: 51 })
  await table.delete(2)
  const keys = [51, 1, 2, 99, { k: 7 }, 1]
  t.strictSame(await table.getMany(keys), [
    { k: 51, v: 51 },
    { k: 1, v: 1 },
    undefined,
    undefined,
    { k: 7, v: 7 },
    { k: 1, v: 1 },
  ])
  t.strictSame(await table.getMany([]), [])
  t.strictSame(await table.getMany([1, 2], { columns: ['v'] }), [{ v: 1 }, undefined])
  t.strictSame(await table.getMany(keys, { snapshot: 1 }), [
    undefined,
    { k: 1, v: 1 },
    { k: 2, v: 2 },
    undefined,
    { k: 7, v: 7 },
    { k: 1, v: 1 },
  ])
  await warehouse.close({ discard: true })
})

t.test('get finds the newest version wherever it lies', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { 'write-only': 'true' })
  const seen: (number | null | undefined)[] = []
  for (const v of [1, 2, 3]) {
    await table.put({ k: 1, v })
    seen.push((await table.get(1))?.v)
    await table.commit()
    seen.push((await table.get(1))?.v)
    if (v === 1) await table.compact({ full: true })
  }
  await table.delete(1)
  seen.push((await table.get(1))?.v)
  await table.commit()
  seen.push((await table.get(1))?.v)
  t.same(seen, [1, 1, 2, 2, 3, 3, undefined, undefined])
  t.same(await table.get(1, { snapshot: 1 }), { k: 1, v: 1 })
  await warehouse.close()
})

t.test('columns choose and order what a row has', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { a: types.int(), b: types.string(), c: types.boolean().nullable() },
    primaryKey: ['a'],
  })
  await table.put({ a: 1, b: 'x', c: true })
  for (const where of ['memory', 'files']) {
    t.same(
      Object.entries((await table.get(1, { columns: ['c', 'a'] })) ?? {}),
      [
        ['c', true],
        ['a', 1],
      ],
      where,
    )
    const [row] = await collect(table.scan({ columns: ['b'] }))
    t.strictSame(row, { b: 'x' }, where)
    t.strictSame(await collect(table.scan({ columns: [] })), [{}], where)
    t.strictSame(
      await collect(table.scan({ columns: ['b'], where: { c: true } })),
      [{ b: 'x' }],
      'a condition on others',
    )
    t.strictSame(await collect(table.scan({ columns: ['b', 'b'] as never })), [{ b: 'x' }])
    await table.commit()
  }
  await refused(t, () => table.scan({ columns: ['nope' as never] }), 'INVALID', { column: 'nope' }, '"nope"')
  await refused(t, table.get(1, { columns: ['nope' as never] }), 'INVALID', { column: 'nope' }, '"nope"')
  await refused(t, () => table.scan({ columns: 'a' as never }), 'INVALID', {}, 'columns')
  await warehouse.close()
})

t.test('a scan goes by primary key over all buckets, or bucket by bucket when order is not asked for', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { bucket: 5 })
  await table.put(rowsOf(1, 500).reverse())
  await table.commit()
  await table.put(rowsOf(200, 210, 7))
  const wanted = rowsOf(1, 500).map(({ k, v }) => ({ k, v: k >= 200 && k <= 210 ? 7 : v }))
  t.strictSame(await collect(table.scan()), wanted)
  const unordered = await collect(table.scan({ ordered: false }))
  t.notSame(unordered, wanted)
  t.strictSame(
    [...unordered].sort((a, b) => a.k - b.k),
    wanted,
  )
  await warehouse.close({ discard: true })
})

t.test('partitions come in the order of their values, keys within', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { p: types.string(), k: types.int(), n: types.int() },
    primaryKey: ['k', 'p'],
    partitionBy: ['p'],
    options: { bucket: 2 },
  })
  const partitions = ['z', '', '\u{1f600}', '\uff5e', 'é', 'Z', 'a b']
  for (const p of partitions) await table.put([3, 1, 2].map((k) => ({ p, k, n: 0 })))
  const wanted = [...partitions]
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .flatMap((p) => [1, 2, 3].map((k) => [p, k]))
  t.same(
    (await collect(table.scan())).map(({ p, k }) => [p, k]),
    wanted,
    'in memory',
  )
  await table.commit()
  t.same(
    (await collect(table.scan())).map(({ p, k }) => [p, k]),
    wanted,
    'on disk',
  )
  t.same(
    (await collect(table.scan({ where: { p: 'é' } }))).map(({ p, k }) => [p, k]),
    [
      ['é', 1],
      ['é', 2],
      ['é', 3],
    ],
  )
  t.same(
    (await collect(table.scan({ range: { gt: { k: 1, p: 'z' }, lt: { k: 3, p: 'z' } } }))).map(({ k }) => k),
    [2],
  )
  t.same(
    (await collect(table.scan({ range: { gt: { k: 1, p: 'z' }, lt: { k: 3 } } }))).map(({ p, k }) => [p, k]),
    [['z', 2]],
  )
  t.same((await collect(table.scan({ range: { gte: { k: 3 } } }))).length, partitions.length, 'in every partition')
  t.same(await collect(table.scan({ range: { gte: { p: 'none', k: 0 } } })), [])
  await refused(
    t,
    () => table.scan({ range: { gte: { p: 'a', k: 1 }, lt: { p: 'b', k: 1 } } }),
    'INVALID',
    { column: 'p' },
    '"p"',
  )
  await warehouse.close()
})

t.test('partition columns of numbers and dates come in the order of their values, not of their folders', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { p: types.int(), d: types.date(), k: types.int() },
    primaryKey: ['p', 'd', 'k'],
    partitionBy: ['p', 'd'],
  })
  const values = [
    [10, 5],
    [9, 5],
    [-1, 5],
    [10, -5],
    [2, 100],
  ] as const
  await table.put(values.map(([p, d]) => ({ p, d, k: 1 })))
  await table.commit()
  t.same(
    (await collect(table.scan())).map(({ p, d }) => [p, d]),
    [
      [-1, 5],
      [2, 100],
      [9, 5],
      [10, -5],
      [10, 5],
    ],
  )
  t.same(
    (await collect(table.scan({ range: { gte: { p: 10, k: 0 } } }))).map(({ d }) => d),
    [-5, 5],
  )
  await warehouse.close()
})

t.test('range takes leading key columns, from both sides', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { a: types.int(), b: types.string(), c: types.int(), v: types.int() },
    primaryKey: ['a', 'b', 'c'],
    options: { bucket: 3 },
  })
  const all: { a: number; b: string; c: number; v: number }[] = []
  for (const a of [1, 2, 3])
    for (const b of ['', 'x', 'xy']) for (const c of [-1, 0, 1]) all.push({ a, b, c, v: all.length })
  await table.put(all.slice(0, 14))
  await table.commit()
  await table.put(all.slice(14))
  const of = async (range: object) => (await collect(table.scan({ range }))).map(({ v }) => v)
  const where = (keep: (row: (typeof all)[number]) => boolean) => all.filter(keep).map(({ v }) => v)
  t.same(
    await of({ gte: { a: 2 } }),
    where(({ a }) => a >= 2),
  )
  t.same(
    await of({ gt: { a: 2 } }),
    where(({ a }) => a > 2),
    'a prefix is passed as a whole',
  )
  t.same(
    await of({ lte: { a: 2 } }),
    where(({ a }) => a <= 2),
    'and taken as a whole',
  )
  t.same(
    await of({ lt: { a: 2 } }),
    where(({ a }) => a < 2),
  )
  t.same(
    await of({ gte: { a: 2, b: 'x' }, lte: { a: 2, b: 'x' } }),
    where(({ a, b }) => a === 2 && b === 'x'),
  )
  t.same(
    await of({ gt: { a: 1, b: 'x', c: 0 }, lt: { a: 3 } }),
    where((r) => (r.a === 1 && (r.b > 'x' || (r.b === 'x' && r.c > 0))) || r.a === 2),
  )
  t.same(
    await of({ gt: { a: 2, b: 'x' }, lte: { a: 3, b: '' } }),
    where(({ a, b }) => (a === 2 && b > 'x') || (a === 3 && b === '')),
  )
  t.same(await of({ gt: { a: 3 }, lt: { a: 1 } }), [])
  t.same(
    await of({}),
    where(() => true),
  )
  await refused(t, () => table.scan({ range: { gte: { b: 'x' } } as never }), 'INVALID', { column: 'a' }, '"a"', '"b"')
  await refused(t, () => table.scan({ range: { gte: { a: 1, c: 1 } } }), 'INVALID', { column: 'b' }, '"b"')
  await refused(t, () => table.scan({ range: { gte: { v: 1 } } as never }), 'INVALID', { column: 'v' }, '"v"')
  await refused(t, () => table.scan({ range: { from: 1 } as never }), 'INVALID', { value: 'from' }, '"from"')
  await refused(t, () => table.scan({ range: { gte: { a: 1 }, gt: { a: 1 } } }), 'INVALID', {}, 'gte')
  await refused(
    t,
    () => table.scan({ range: { gte: { a: 'x' as never } } }),
    'INVALID',
    { column: 'a', value: 'x' },
    '"a"',
  )
  await refused(t, () => table.scan({ range: 5 as never }), 'INVALID', { value: 5 }, 'range')
  await warehouse.close({ discard: true })
})

t.test('a range on a key of one column takes the bare value', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { bucket: 2 })
  await table.put(rowsOf(1, 10))
  await table.commit()
  t.same(
    (await collect(table.scan({ range: { gt: 3, lte: 6 } }))).map(({ k }) => k),
    [4, 5, 6],
  )
  t.same(
    (await collect(table.scan({ range: { gt: { k: 8 } } }))).map(({ k }) => k),
    [9, 10],
  )
  await warehouse.close()
})

t.test('C125 limit counts after merge, deletes and where', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { 'write-only': 'true' })
  await table.put(rowsOf(1, 3))
  await table.commit()
  await table.delete([1, 2])
  await table.commit()
  t.same(await collect(table.scan({ limit: 1 })), [{ k: 3, v: 3 }])
  t.same(await collect(table.scan({ limit: 1, where: { v: 3 } })), [{ k: 3, v: 3 }])
  t.same(await collect(table.scan({ limit: 0 })), [])
  t.same((await collect(table.scan({ limit: 9 }))).length, 1)
  for (const limit of [-1, 1.5, Number.NaN, '1']) {
    await refused(t, () => table.scan({ limit: limit as number }), 'INVALID', { value: limit }, 'limit', String(limit))
  }
  await warehouse.close()
})

t.test('C078 a scan shows what was there when it was called', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { bucket: 2, 'num-sorted-run.compaction-trigger': 2 })
  await table.put(rowsOf(1, 100))
  const early = table.scan()
  await table.commit()
  const scan = table.scan()
  const waiting = table.scan()
  const read: number[] = []
  for (let i = 0; i < 10; i++) read.push((await scan.next()).value.k)
  await table.delete(rowsOf(50, 60).map(({ k }) => k))
  await table.put({ k: 200, v: 200 })
  await table.commit()
  await table.compact({ full: true })
  await table.expireSnapshots({ retainMax: 1 })
  for await (const { k } of scan) read.push(k)
  const wanted = rowsOf(1, 100).map(({ k }) => k)
  t.same(read, wanted)
  t.same(
    (await collect(waiting)).map(({ k }) => k),
    wanted,
    'also one that was not yet begun',
  )
  t.same(
    (await collect(early)).map(({ k }) => k),
    wanted,
    'and one of rows that were not yet committed',
  )
  t.equal((await collect(table.scan())).length, 90)
  await warehouse.close()
})

t.test('a handle reads its own uncommitted writes; snapshot: reads only what is committed', async (t) => {
  const { warehouse, table } = await create(t.testdir())
  await table.put({ k: 1, v: 1 })
  await table.commit()
  await table.put([
    { k: 1, v: 2 },
    { k: 2, v: 2 },
  ])
  t.same(await table.get(1), { k: 1, v: 2 })
  t.same(await collect(table.scan()), [
    { k: 1, v: 2 },
    { k: 2, v: 2 },
  ])
  t.same(await table.get(1, { snapshot: 1 }), { k: 1, v: 1 })
  t.same(await collect(table.scan({ snapshot: 1 })), [{ k: 1, v: 1 }])
  t.equal(await table.get(2, { snapshot: 1 }), undefined)
  await warehouse.close({ discard: true })
})

t.test('snapshots that are not there or expired are named', async (t) => {
  const { warehouse, table } = await create(t.testdir())
  for (const v of [1, 2, 3]) {
    await table.put({ k: 1, v })
    await table.commit()
  }
  await table.expireSnapshots({ retainMax: 1 })
  await refused(t, table.get(1, { snapshot: 1 }), 'EXPIRED', { value: 1, earliest: 3 }, '1', '3')
  await refused(t, collect(table.scan({ snapshot: 2 })), 'EXPIRED', { value: 2 }, '2')
  await refused(t, collect(table.scan({ snapshot: 9 })), 'NOT_FOUND', { value: 9 }, '9')
  for (const snapshot of [0, -1, 1.5, 'x', Number.NaN]) {
    await refused(t, table.get(1, { snapshot: snapshot as number }), 'INVALID', { value: snapshot }, String(snapshot))
    await refused(
      t,
      () => collect(table.scan({ snapshot: snapshot as number })),
      'INVALID',
      { value: snapshot },
      String(snapshot),
    )
  }
  await warehouse.close()
})

t.test('C089 an open scan keeps its files, and break lets them go', async (t) => {
  const { warehouse, table, folder } = await create(t.testdir(), { 'write-only': 'true' })
  for (let i = 0; i < 20; i++) {
    await table.put(rowsOf(i * 500 + 1, i * 500 + 500))
    await table.commit()
  }
  const old = dataFilesOnDisk(folder)
  const scan = table.scan()
  for (let i = 0; i < 10; i++) await scan.next()
  const left = table.scan()
  await table.put(rowsOf(1, 10_000, 7))
  await table.commit()
  await table.compact({ full: true })
  await table.expireSnapshots({ retainMax: 1 })
  const kept = dataFilesOnDisk(folder)
  t.ok(
    old.every((name) => kept.includes(name)),
    'no file of the scans went',
  )
  let count = 10
  let sum = 55
  for await (const { v } of scan) {
    count++
    sum += v ?? 0
  }
  t.same([count, sum], [10_000, (10_000 * 10_001) / 2], 'the old rows, all of them')
  for await (const _ of left) break
  await table.expireSnapshots({ retainMax: 1 })
  t.equal(dataFilesOnDisk(folder).length, 1, 'the files went when the last scan did')
  await warehouse.close()
})

t.test('a scan is released by break, return, an error in the loop, await using, its end and close', async (t) => {
  const { warehouse, table } = await create(t.testdir())
  await table.put(rowsOf(1, 5000))
  await table.commit()
  const ways: Record<string, () => Promise<unknown>> = {
    break: async () => {
      for await (const _ of table.scan()) break
    },
    return: async () => {
      const scan = table.scan()
      await scan.next()
      await scan.return()
      t.same(await scan.next(), { done: true, value: undefined })
    },
    'return before the first item': () => table.scan().return(),
    'an error': async () => {
      await t.rejects(
        async () => {
          for await (const _ of table.scan()) throw new Error('mine')
        },
        { message: 'mine' },
      )
    },
    'await using': async () => {
      await using scan = table.scan()
      await scan.next()
    },
    end: () => collect(table.scan()),
    limit: () => collect(table.scan({ limit: 3 })),
    arrow: async () => {
      for await (const _ of table.scanArrow()) break
    },
  }
  for (const [way, use] of Object.entries(ways)) {
    await use()
    await table.put({ k: 1, v: 1 })
    await table.commit()
    await table.compact()
    await table.expireSnapshots({ retainMax: 1 })
    t.equal((await table.snapshots()).length, 1, way)
  }
  const open = table.scan()
  await open.next()
  await table.close()
  await refused(t, open.next(), 'CLOSED', { table: 'db.t' }, 'db.t')
  await warehouse.close()
})

t.test('an aborted read ends with AbortError', async (t) => {
  const { warehouse, table } = await create(t.testdir())
  await table.put(rowsOf(1, 20_000))
  await table.commit()
  const reason = new Error('enough')
  const aborted = { signal: AbortSignal.abort(reason) }
  for (const call of [
    () => table.get(1, aborted),
    () => table.getMany([1], aborted),
    () => collect(table.scan(aborted)),
    () => collect(table.scanArrow(aborted)),
    () => collect(table.scan({ ...aborted, snapshot: 1 })),
  ]) {
    const error = await refused(t, call, 'ABORTED', {})
    t.equal(error.name, 'AbortError')
    t.equal(error.cause, reason)
  }
  const controller = new AbortController()
  const scan = table.scan({ signal: controller.signal })
  await scan.next()
  controller.abort(reason)
  await refused(t, collect(scan), 'ABORTED', {})
  t.same(await table.get(1), { k: 1, v: 1 }, 'the handle goes on')
  await warehouse.close()
})

t.test('two calls of next at once give two rows in order', async (t) => {
  const { warehouse, table } = await create(t.testdir())
  await table.put(rowsOf(1, 3000))
  const scan = table.scan()
  const items = await Promise.all(Array.from({ length: 3001 }, () => scan.next()))
  t.same(
    items.map(({ value }) => value?.k),
    [...rowsOf(1, 3000).map(({ k }) => k), undefined],
  )
  await warehouse.close({ discard: true })
})

t.test('a table opened without a definition has the forms that lose nothing', async (t) => {
  const { warehouse } = await create(t.testdir())
  const typed = await warehouse.createTable('db.u', {
    fields: { k: types.int(), n: types.bigint({ mode: 'number' }), d: types.date({ mode: 'date' }) },
    primaryKey: ['k'],
  })
  await typed.put({ k: 1, n: 5, d: new Date('2024-01-01') })
  t.strictSame(await typed.get(1), { k: 1, n: 5, d: new Date('2024-01-01') })
  const untyped: Table = await warehouse.table('db.u')
  t.strictSame(await untyped.get(1), { k: 1, n: 5n, d: 19723 })
  await warehouse.close({ discard: true })
})

t.test('a scan from before the first snapshot keeps its files through commit, compaction and expiry', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { 'write-buffer-size': '1 kb' })
  for (let from = 1; from <= 1000; from += 100) await table.put(rowsOf(from, from + 99))
  const scan = table.scan()
  await table.commit()
  await table.compact({ full: true })
  await table.expireSnapshots({ retainMax: 1 })
  t.equal((await collect(scan)).length, 1000)
  t.equal((await table.expireSnapshots({ retainMax: 1 })).heldBack.length, 0)
  await warehouse.close()
})

t.test('getSync gives what get gives, from memory and from files', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { bucket: 3 })
  await table.put(rowsOf(1, 50))
  await table.commit()
  await table.put({ k: 51, v: 51 })
  await table.delete(2)
  for (const key of [51, 1, 2, 99, { k: 7 }]) t.strictSame(table.getSync(key), await table.get(key))
  t.strictSame(table.getSync(7), { k: 7, v: 7 })
  await warehouse.close({ discard: true })
  t.throws(() => table.getSync(1), { code: 'CLOSED' })
})

t.test('a read-only handle answers getSync from the snapshot it saw last', async (t) => {
  const path = t.testdir()
  const { warehouse, table } = await create(path)
  await table.put({ k: 1, v: 1 })
  await table.commit()
  const readers = await open(path, { readOnly: true })
  const reader = await readers.table('db.t')
  await table.put({ k: 1, v: 2 })
  await table.commit()
  t.strictSame(reader.getSync(1), { k: 1, v: 1 })
  await reader.refresh()
  t.strictSame(reader.getSync(1), { k: 1, v: 2 })
  await readers.close()
  await warehouse.close()
})

t.test('a reverse scan goes over partitions and buckets from the last row to the first', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { p: types.int(), k: types.int(), v: types.int() },
    primaryKey: ['p', 'k'],
    partitionBy: ['p'],
    options: { bucket: 3 },
  } as never)
  const rows = Array.from({ length: 300 }, (_, i) => ({ p: i % 3, k: i, v: -i }))
  await table.put(rows as never)
  await table.commit()
  await table.put(rows.filter(({ k }) => k % 5 === 0) as never)
  const forward = await collect(table.scan())
  t.equal(forward.length, 300)
  t.strictSame(await collect(table.scan({ reverse: true })), [...forward].reverse())
  t.strictSame(await collect(table.scan({ reverse: true, limit: 130 })), [...forward].reverse().slice(0, 130))
  const unordered = await collect(table.scan({ reverse: true, ordered: false }))
  t.equal(unordered.length, 300)
  await warehouse.close({ discard: true })
})

t.test(
  'a scan over files that were in no snapshot when it began is EXPIRED once another process has expired them',
  async (t) => {
    const path = t.testdir()
    await using ours = openAlone(path)
    const definition = {
      fields: { k: types.int(), v: types.string() },
      primaryKey: ['k'],
      options: { 'write-buffer-size': '8 kb', 'write-only': true },
    } as const
    await using table = await ours.createTable('db.t', definition)
    await table.put(Array.from({ length: 500 }, (_, k) => ({ k, v: `value ${k}` })))
    // The second call waits until the rows of the first are in a file.
    await table.put([{ k: 1000, v: '' }])
    t.ok(
      table.levels().some(({ runs }) => runs > 0),
      'a file that no snapshot holds',
    )
    await using scan = table.scan()
    await table.commit()
    await using theirs = openAlone(path)
    await using other = await theirs.table('db.t')
    await other.compact({ full: true })
    await other.expireSnapshots({ retainMax: 1 })
    await refused(t, scan.next(), 'EXPIRED', { table: 'db.t' }, 'expired while it was read')
  },
)

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import tap from 'tap'
import { t } from '../../engine/index.ts'
import { deserializeRow } from '../../formats/row/binary-row.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { collect, inEveryState, liveFiles, open, storeOf } from '../support/warehouses.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)
const STRING: DataType = { kind: 'varchar', length: 2147483647, nullable: false }

tap.test('C049 the empty text and empty bytes are values, also as a key', async (test) => {
  const folder = test.testdir()
  const warehouse = await open(folder)
  const table = await warehouse.createTable('db.t', {
    fields: { k: t.string(), v: t.string().nullable(), b: t.bytes().nullable() },
    primaryKey: ['k'],
    options: { bucket: 4, 'write-only': true },
  })
  const empty = { k: '', v: '', b: bytes() }
  const nulls = { k: 'n', v: null, b: null }
  await table.put([empty, nulls])
  await inEveryState(table, async (state) => {
    test.strictSame(await collect(table.scan()), [empty, nulls], state)
    test.strictSame(await table.get(''), empty, `get, ${state}`)
    test.strictSame(await collect(table.scan({ where: { v: '' } })), [empty], `v = '', ${state}`)
    test.strictSame(await collect(table.scan({ where: { b: bytes() } })), [empty], `b empty, ${state}`)
    test.strictSame(await collect(table.scan({ where: { v: { isNull: true } } })), [nulls], `v is null, ${state}`)
    test.strictSame(await collect(table.scan({ range: { lte: '' } })), [empty], `range, ${state}`)
  })
  const files = await liveFiles(await storeOf(folder, 'db', 't'))
  const file = files.find((one) => deserializeRow([STRING], one.file.minKey)[0]?.toString() === '')
  test.equal(file?.bucket, 3, "'' is in bucket 3")
  await table.delete('')
  await inEveryState(table, async (state) => {
    test.strictSame(await collect(table.scan()), [nulls], `deleted, ${state}`)
    test.equal(await table.get(''), undefined, `get of the deleted, ${state}`)
  })
  await warehouse.close()
})

tap.test('C050 BYTES keys are ordered by unsigned bytes', async (test) => {
  const warehouse = await open(test.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { k: t.varbinary(10), v: t.int() },
    primaryKey: ['k'],
    options: { 'write-only': true },
  })
  await table.put([
    { k: bytes(0x80), v: 1 },
    { k: bytes(0x7f), v: 2 },
    { k: bytes(), v: 3 },
  ])
  await table.commit()
  await table.put([
    { k: bytes(0x00), v: 4 },
    { k: bytes(0xff), v: 5 },
  ])
  await inEveryState(table, async (state) => {
    const values = async (options: Parameters<typeof table.scan>[0] = {}) =>
      (await collect(table.scan(options))).map(({ v }) => v)
    test.strictSame(await values(), [3, 4, 2, 1, 5], state)
    test.strictSame(await values({ where: { k: { gt: bytes(0x7f) } } }), [1, 5], `k > 7f, ${state}`)
    test.strictSame(await values({ range: { gt: bytes(0x7f) } }), [1, 5], `range, ${state}`)
    test.strictSame((await table.get(bytes(0xff)))?.v, 5, `get, ${state}`)
  })
  await warehouse.close()
})

for (const compression of ['snappy', 'zstd', 'none', 'gzip', 'lz4']) {
  tap.test(`C051 a column of nothing but nulls, ${compression}`, async (test) => {
    const warehouse = await open(test.testdir())
    const table = await warehouse.createTable('db.t', {
      fields: {
        k: t.int(),
        s: t.string().nullable(),
        n: t.bigint().nullable(),
        a: t.array(t.int().nullable()).nullable(),
        b: t.boolean().nullable(),
      },
      primaryKey: ['k'],
      options: { 'write-only': true, 'file.compression': compression },
    })
    const rows = Array.from({ length: 100 }, (_, k) => ({ k, s: null, n: null, a: null, b: null }))
    await table.put(rows)
    await inEveryState(table, async (state) => {
      test.strictSame(await collect(table.scan()), rows, state)
      test.equal((await collect(table.scan({ where: { s: { isNull: true } } }))).length, 100, `is null, ${state}`)
      test.equal((await collect(table.scan({ where: { n: { isNull: false } } }))).length, 0, `is not null, ${state}`)
      test.equal((await collect(table.scan({ where: { a: { isNull: true } } }))).length, 100, `nested, ${state}`)
    })
    await warehouse.close()
  })
}

tap.test('C060 text keys are ordered by their UTF-8 bytes', async (test) => {
  const folder = test.testdir()
  const warehouse = await open(folder)
  const table = await warehouse.createTable('db.t', {
    fields: { k: t.string(), v: t.int() },
    primaryKey: ['k'],
    options: { 'write-only': true },
  })
  await table.put([
    { k: '😀', v: 1 },
    { k: '～', v: 2 },
    { k: 'z', v: 3 },
    { k: '', v: 4 },
    { k: 'a', v: 5 },
    { k: 'é', v: 6 },
    { k: 'A', v: 7 },
  ])
  const store = await storeOf(folder, 'db', 't')
  await inEveryState(table, async (state) => {
    const values = async (options: Parameters<typeof table.scan>[0] = {}) =>
      (await collect(table.scan(options))).map(({ v }) => v)
    test.strictSame(await values(), [4, 7, 5, 3, 6, 2, 1], state)
    test.strictSame(await values({ range: { gte: '～' } }), [2, 1], `from ～ on, ${state}`)
    test.strictSame(await values({ where: { k: { gte: '～' } } }), [2, 1], `where, ${state}`)
    for (const { file } of await liveFiles(store)) {
      test.equal(Buffer.from(deserializeRow([STRING], file.minKey)[0] as Uint8Array).toString(), '', 'smallest key')
      test.equal(Buffer.from(deserializeRow([STRING], file.maxKey)[0] as Uint8Array).toString(), '😀', 'largest key')
    }
  })
  // The same keys again, from the other end: both sources merge into one row a key.
  await table.put(['A', 'é', 'a', '', 'z', '～', '😀'].map((k, v) => ({ k, v })))
  await inEveryState(table, async (state) => {
    test.strictSame(
      (await collect(table.scan())).map(({ v }) => v),
      [3, 0, 2, 4, 1, 5, 6],
      `both sources, ${state}`,
    )
  })
  await warehouse.close()
})

tap.test('C062 no normalisation: two spellings of é are two keys and two partitions', async (test) => {
  const folder = test.testdir()
  const warehouse = await open(folder)
  const [composed, combining] = ['\u00e9', 'e\u0301']
  const table = await warehouse.createTable('db.t', {
    fields: { p: t.string(), k: t.string(), v: t.int() },
    primaryKey: ['p', 'k'],
    partitionBy: ['p'],
  })
  await table.put([
    { p: composed, k: composed, v: 1 },
    { p: combining, k: combining, v: 2 },
    { p: composed, k: combining, v: 3 },
  ])
  await inEveryState(table, async (state) => {
    test.strictSame(
      (await collect(table.scan())).map(({ v }) => v),
      [2, 3, 1],
      state,
    )
    test.equal((await table.get({ p: composed, k: combining }))?.v, 3, state)
    test.equal(await table.get({ p: combining, k: composed }), undefined, state)
  })
  const folders = readdirSync(join(folder, 'db.db', 't')).filter((name) => name.startsWith('p='))
  test.strictSame(new Set(folders), new Set([`p=${composed}`, `p=${combining}`]), 'two folders')
  await warehouse.close()
})

tap.test('C102 names of columns with dots, spaces and other letters', async (test) => {
  const warehouse = await open(test.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { 'a.b': t.int(), 'c d': t.int(), é: t.string(), a: t.row({ b: t.int() }).nullable() },
    primaryKey: ['a.b'],
    options: { 'write-only': true },
  })
  const row = { 'a.b': 1, 'c d': 2, é: 'x', a: { b: 9 } }
  await table.put(row)
  await inEveryState(table, async (state) => {
    test.strictSame(await collect(table.scan()), [row], state)
    for (const name of ['a.b', 'c d', 'é', 'a'] as const) {
      test.strictSame(await collect(table.scan({ columns: [name] })), [{ [name]: row[name] }], `${name}, ${state}`)
    }
    for (const name of ['a.b', 'c d', 'é'] as const) {
      test.strictSame(
        await collect(table.scan({ where: { [name]: row[name] } as object })),
        [row],
        `${name} =, ${state}`,
      )
      const other = name === 'é' ? 'y' : 9
      test.strictSame(await collect(table.scan({ where: { [name]: other } as object })), [], `other ${name}, ${state}`)
    }
    test.strictSame(await table.get(1), row, `get, ${state}`)
  })
  await warehouse.close()
})

tap.test('a nested value without values inside is not null', async (test) => {
  const warehouse = await open(test.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: {
      k: t.int(),
      r: t.row({ x: t.int().nullable() }).nullable(),
      a: t.array(t.int().nullable()).nullable(),
      m: t.map(t.string(), t.int().nullable()).nullable(),
    },
    primaryKey: ['k'],
    options: { 'write-only': true },
  })
  const hollow = [
    { k: 1, r: { x: null }, a: [], m: [] },
    { k: 2, r: { x: null }, a: [null], m: [['', null]] as [string, null][] },
  ]
  const none = { k: 3, r: null, a: null, m: null }
  await table.put(hollow)
  await table.commit()
  await table.put(none)
  await inEveryState(table, async (state) => {
    for (const column of ['r', 'a', 'm'] as const) {
      test.strictSame(
        await collect(table.scan({ where: { [column]: { isNull: false } } })),
        hollow,
        `${column}, ${state}`,
      )
      test.strictSame(
        await collect(table.scan({ where: { [column]: { isNull: true } } })),
        [none],
        `${column}, ${state}`,
      )
      const other: object = { [column]: { eq: 1 } }
      test.throws(
        () => table.scan({ where: other }),
        { code: 'INVALID', details: { column } },
        `${column} has no order`,
      )
    }
  })
  await warehouse.close()
})

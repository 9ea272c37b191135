import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import tap from 'tap'
import { type Table, t } from '../../engine/index.ts'
import { deserializeRow } from '../../formats/row/binary-row.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { collect, inEveryState, liveFiles, open, storeOf } from '../support/warehouses.ts'

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n

tap.test('C042 BIGINT keys beyond 2^53 keep their last digit', async (test) => {
  const folder = test.testdir()
  const warehouse = await open(folder)
  const table = await warehouse.createTable('db.t', {
    fields: { k: t.bigint(), v: t.int() },
    primaryKey: ['k'],
    options: { 'write-only': true },
  })
  const near = [9007199254740992n, 9007199254740993n, 9007199254740994n, 9007199254740995n]
  await table.put(near.map((k) => ({ k, v: Number(k % 1000n) })))
  await table.put([
    { k: MIN, v: -1 },
    { k: MAX, v: 1 },
  ])
  await table.commit()
  await table.delete(9007199254740993n)
  const expected = [
    { k: MIN, v: -1 },
    { k: 9007199254740992n, v: 992 },
    { k: 9007199254740994n, v: 994 },
    { k: 9007199254740995n, v: 995 },
    { k: MAX, v: 1 },
  ]
  await inEveryState(table, async (state) => {
    test.strictSame(await collect(table.scan()), expected, state)
    for (const k of [...near, MIN, MAX]) {
      const row = expected.find((one) => one.k === k)
      test.strictSame(await table.get(k), row, `get ${k}, ${state}`)
      test.strictSame(await collect(table.scan({ where: { k } })), row === undefined ? [] : [row], `k = ${k}, ${state}`)
      test.strictSame(
        await collect(table.scan({ range: { gte: k, lte: k } })),
        row === undefined ? [] : [row],
        `range ${k}, ${state}`,
      )
    }
  })
  const [file] = await liveFiles(await storeOf(folder, 'db', 't'))
  const type: DataType = { kind: 'bigint', nullable: false }
  test.strictSame(deserializeRow([type], file!.file.minKey), [MIN], 'smallest key of the file')
  test.strictSame(deserializeRow([type], file!.file.maxKey), [MAX], 'largest key of the file')
  await warehouse.close()
})

tap.test('C041 64-bit values that a double cannot tell apart are two values', async (test) => {
  const warehouse = await open(test.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { k: t.int(), q: t.bigint(), n: t.bigint({ mode: 'number' }) },
    primaryKey: ['k'],
  })
  await table.put([
    { k: 1, q: 9007199254740993n, n: 1 },
    { k: 2, q: 9007199254740992n, n: Number.MAX_SAFE_INTEGER },
  ])
  await inEveryState(table, async (state) => {
    const keys = async (where: NonNullable<Parameters<typeof table.scan>[0]>['where'] & object) =>
      (await collect(table.scan({ where }))).map(({ k }) => k)
    test.strictSame(await keys({ q: 9007199254740993n }), [1], state)
    test.strictSame(await keys({ q: { lt: 9007199254740993n } }), [2], state)
    test.strictSame(await keys({ q: { in: [9007199254740991n, 9007199254740994n] } }), [], state)
  })
  await test.rejects(table.put({ k: 3, q: 0n, n: Number.MAX_SAFE_INTEGER + 1 }), {
    code: 'INVALID',
    details: { column: 'n' },
  })
  await warehouse.close()
})

tap.test('C045 NaN and -0.0 are values, whatever the statistics say', async (test) => {
  const warehouse = await open(test.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { k: t.int(), v: t.double(), f: t.float() },
    primaryKey: ['k'],
    options: { 'write-only': true },
  })
  const rows = [
    { k: 1, v: 3, f: 3 },
    { k: 2, v: Number.NaN, f: Number.NaN },
    { k: 3, v: -0, f: -0 },
    { k: 4, v: 0, f: 0 },
  ]
  await table.put(rows.slice(0, 3))
  await table.commit()
  await table.put(rows[3]!)
  await inEveryState(table, async (state) => {
    test.strictSame(await collect(table.scan()), rows, `every value, ${state}`)
    test.ok(Object.is((await table.get(3))?.v, -0), `-0 keeps its sign, ${state}`)
    for (const column of ['v', 'f'] as const) {
      const keys = async (tests: object) =>
        (await collect(table.scan({ where: { [column]: tests } as object }))).map(({ k }) => k)
      const at = `${column}, ${state}`
      test.strictSame(await keys({ ne: 3 }), [2, 3, 4], `<> 3: ${at}`)
      test.strictSame(await keys({ gt: 10 }), [2], `> 10: NaN is above all numbers: ${at}`)
      test.strictSame(await keys({ eq: 0 }), [3, 4], `= 0: ${at}`)
      test.strictSame(await keys({ eq: -0 }), [3, 4], `= -0: ${at}`)
      test.strictSame(await keys({ eq: Number.NaN }), [2], `is NaN: ${at}`)
      test.strictSame(await keys({ lt: 0 }), [], `< 0: ${at}`)
      test.strictSame(await keys({ lte: Number.POSITIVE_INFINITY }), [1, 3, 4], `no NaN up to infinity: ${at}`)
    }
  })
  for (const v of [Number.NaN, -0]) {
    const keyed = await warehouse.createTable(
      'db.keyed',
      { fields: { k: t.double() }, primaryKey: ['k'] },
      { ifNotExists: true },
    )
    await test.rejects(keyed.put({ k: v }), { code: 'INVALID', details: { column: 'k' } }, `${v} is no key`)
    await keyed.close()
  }
  await warehouse.close()
})

tap.test('C046 decimals keep sign and digits at every width', async (test) => {
  const warehouse = await open(test.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { k: t.int(), wide: t.decimal(38, 10), small: t.decimal(5, 2), long: t.decimal(18, 0) },
    primaryKey: ['k'],
    options: { 'write-only': true },
  })
  const rows = [
    { k: 1, wide: '-1234567890123456789012345678.0123456789', small: '-0.01', long: '-999999999999999999' },
    { k: 2, wide: '0.0000000001', small: '999.99', long: '999999999999999999' },
    { k: 3, wide: '9999999999999999999999999999.9999999999', small: '0.00', long: '0' },
  ]
  await table.put(rows.slice(0, 2))
  await table.commit()
  await table.put(rows[2]!)
  await inEveryState(table, async (state) => {
    test.strictSame(await collect(table.scan()), rows, state)
    for (const row of rows) {
      for (const column of ['wide', 'small', 'long'] as const) {
        const found = await collect(table.scan({ where: { [column]: row[column] } as object }))
        test.strictSame(found, [row], `${column} = ${row[column]}, ${state}`)
      }
    }
    test.strictSame(await collect(table.scan({ where: { wide: { lt: '0' } } })), [rows[0]], `< 0, ${state}`)
  })
  for (const small of ['1000.00', '-1000.00', '0.001']) {
    await test.rejects(table.put({ ...rows[0]!, small }), { code: 'INVALID', details: { column: 'small' } }, small)
  }
  await warehouse.close()
})

tap.test('C059 keys go into the buckets of other engines, and are found there', async (test) => {
  const folder = test.testdir()
  const warehouse = await open(folder)
  const bucketsOf = async <K>(name: string, table: Table, keys: readonly K[], put: (key: K) => Promise<void>) => {
    const buckets: number[] = []
    const seen = new Set<string>()
    for (const key of keys) {
      await put(key)
      await table.commit()
      for (const { file, bucket } of await liveFiles(await storeOf(folder, 'db', name))) {
        if (seen.has(file.name)) continue
        seen.add(file.name)
        buckets.push(bucket)
      }
    }
    test.equal((await collect(table.scan())).length, keys.length)
    for (const key of keys) test.ok(await table.get(key), `get ${String(key)}`)
    return buckets
  }
  const options = { bucket: 4, 'write-only': true }

  const longs = await warehouse.createTable('db.longs', { fields: { k: t.bigint() }, primaryKey: ['k'], options })
  test.strictSame(
    await bucketsOf(
      'longs',
      longs as unknown as Table,
      [0n, 1n, 2n, 3n, -1n, 100n, 9007199254740991n, 9007199254740993n, MIN, MAX],
      (k) => longs.put({ k }),
    ),
    [3, 2, 0, 1, 0, 1, 0, 2, 3, 3],
    'BIGINT',
  )
  const texts = await warehouse.createTable('db.texts', { fields: { k: t.string() }, primaryKey: ['k'], options })
  test.strictSame(
    await bucketsOf(
      'texts',
      texts as unknown as Table,
      ['', 'a', 'abcdefg', 'abcdefgh', 'é', '～', '😀', '日本'],
      (k) => texts.put({ k }),
    ),
    [3, 2, 3, 2, 1, 3, 2, 3],
    'STRING',
  )
  const ints = await warehouse.createTable('db.ints', {
    fields: { k: t.int() },
    primaryKey: ['k'],
    options: { ...options, bucket: 1000 },
  })
  test.strictSame(
    await bucketsOf('ints', ints as unknown as Table, [0, 1, 2, -1, -2147483648, 2147483647], (k) => ints.put({ k })),
    [99, 398, 384, 267, 219, 321],
    'INT',
  )
  await test.rejects(
    warehouse.createTable('db.bad', {
      fields: { k: t.int() },
      primaryKey: ['k'],
      options: { 'bucket-key': 'x' },
    }),
    { code: 'INVALID', details: { option: 'bucket-key' } },
    'a bucket key that names no column',
  )
  await warehouse.close()
})

tap.test('C053 keys and values longer than 16 bits or a page', async (test) => {
  const folder = test.testdir()
  let warehouse = await open(folder)
  const definition = { fields: { k: t.string(), v: t.bytes().nullable() }, primaryKey: ['k'] } as const
  let table = await warehouse.createTable('db.t', definition)
  const random = seededRandom(53)
  const words = new Uint32Array(1 << 20)
  for (let i = 0; i < words.length; i++) words[i] = random.fraction() * 2 ** 32
  const v = new Uint8Array(words.buffer)
  const [shorter, longer] = ['x'.repeat(70000), 'x'.repeat(70001)]
  await table.put([
    { k: longer, v },
    { k: shorter, v: null },
  ])
  const check = async (state: string) => {
    test.strictSame(await table.get(shorter), { k: shorter, v: null }, `the shorter key, ${state}`)
    const found = await table.get(longer)
    test.ok(found?.v && Buffer.compare(found.v, v) === 0, `a value of 4 MiB, ${state}`)
    test.strictSame(
      (await collect(table.scan({ columns: ['k'] }))).map(({ k }) => k.length),
      [70000, 70001],
      `in order, ${state}`,
    )
  }
  await inEveryState(table, check)
  await warehouse.close()
  warehouse = await open(folder)
  table = await warehouse.table('db.t', definition)
  await check('opened again')
  await warehouse.close()
})

tap.test('C055 another reader finds the same rows and true statistics in our files', async (test) => {
  const folder = test.testdir()
  const warehouse = await open(folder)
  const table = await warehouse.createTable('db.t', {
    fields: {
      i: t.int(),
      l: t.bigint(),
      s: t.string().nullable(),
      d: t.double(),
      at: t.timestamp(3),
      dec: t.decimal(12, 2),
      b: t.boolean(),
    },
    primaryKey: ['i'],
  })
  const rows = Array.from({ length: 10_000 }, (_, i) => ({
    i,
    l: 9007199254740993n + BigInt(i),
    s: i % 7 === 0 ? null : `s${i % 100}`,
    d: i / 3,
    at: BigInt(i) * 86_400_000n - 100_000_000_000n,
    dec: `${(i % 2 === 0 ? '' : '-') + i}.25`,
    b: i % 3 === 0,
  }))
  for (let start = 0; start < rows.length; start += 2500) {
    await table.put(rows.slice(start, start + 2500))
    await table.commit()
  }
  await table.compact({ full: true })
  const live = new Set((await liveFiles(await storeOf(folder, 'db', 't'))).map(({ file }) => file.name))
  const bucket = join(folder, 'db.db', 't', 'bucket-0')
  const found: Record<string, unknown>[] = []
  for (const name of readdirSync(bucket).filter((file) => live.has(file))) {
    const bytes = new Uint8Array(readFileSync(join(bucket, name)))
    const metadata = parquetMetadata(bytes.buffer)
    const inFile = await parquetReadObjects({
      file: bytes.buffer,
      compressors,
      columns: ['i', 'l', 's', 'd', 'at', 'dec', 'b', '_VALUE_KIND'],
    })
    found.push(...inFile)
    for (const group of metadata.row_groups) {
      for (const { meta_data: chunk } of group.columns) {
        const column = chunk!.path_in_schema[0]!
        if (column !== 's' && column !== 'i') continue
        const values = inFile.map((row) => row[column])
        const present = values.filter((value) => value !== null) as (string | number)[]
        test.equal(Number(chunk!.statistics?.null_count), values.length - present.length, `${column}: nulls`)
        const sorted = [...present].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
        test.equal(chunk!.statistics?.min_value, sorted[0], `${column}: smallest`)
        test.equal(chunk!.statistics?.max_value, sorted.at(-1), `${column}: largest`)
      }
    }
  }
  found.sort((a, b) => Number(a.i) - Number(b.i))
  test.equal(found.length, rows.length)
  const wrong = found.filter((row, i) => {
    const { l, s, d, at, dec, b } = rows[i]!
    return !(
      row.i === i &&
      row.l === l &&
      row.s === s &&
      row.d === d &&
      (row.at as Date).getTime() === Number(at) &&
      row.dec === Number(dec) &&
      row.b === b &&
      row._VALUE_KIND === 0
    )
  })
  test.strictSame(wrong, [], 'every value of every row')
  await warehouse.close()
})

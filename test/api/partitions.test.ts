import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import tap from 'tap'
import { t } from '../../engine/index.ts'
import { collect, inEveryState, open, refused } from '../support/warehouses.ts'

function partitionFolders(folder: string): Set<string> {
  return new Set(readdirSync(join(folder, 'db.db', 't')).filter((name) => name.includes('=')))
}

tap.test('C063 special characters in partition values', async (test) => {
  const folder = test.testdir()
  let warehouse = await open(folder)
  const definition = {
    fields: { p: t.string(), k: t.int(), v: t.string().nullable() },
    primaryKey: ['p', 'k'],
    partitionBy: ['p'],
  } as const
  let table = await warehouse.createTable('db.t', definition)
  const folders: Readonly<Record<string, string>> = {
    'a b': 'a b',
    'a/b': 'a%2Fb',
    'x=y': 'x%3Dy',
    '50%': '50%25',
    é: 'é',
    日本: '日本',
    '😀': '😀',
    '..': '..',
    'c:d': 'c%3Ad',
    't\tb': 't%09b',
    'q?': 'q%3F',
    '{z}': '%7Bz%7D',
    '~': '~',
    '+': '+',
    '&': '&',
  }
  const rows = Object.keys(folders).map((p, k) => ({ p, k, v: `v${k}` }))
  await table.put(rows)
  await table.commit()
  test.strictSame(partitionFolders(folder), new Set(Object.values(folders).map((name) => `p=${name}`)))
  await table.put(rows.map((row) => ({ ...row, v: null })))
  await table.delete({ p: '..', k: 7 })
  const expected = rows.filter(({ p }) => p !== '..').map((row) => ({ ...row, v: null }))
  const check = async (state: string) => {
    const found = await collect(table.scan())
    test.strictSame(
      new Set(found.map((row) => JSON.stringify(row))),
      new Set(expected.map((row) => JSON.stringify(row))),
      state,
    )
    for (const row of expected) {
      test.strictSame(await table.get({ p: row.p, k: row.k }), row, `get ${row.p}, ${state}`)
      test.strictSame(await collect(table.scan({ where: { p: row.p } })), [row], `p = ${row.p}, ${state}`)
      const range = { gte: { p: row.p, k: row.k }, lte: { p: row.p, k: row.k } }
      test.strictSame(await collect(table.scan({ range })), [row], `range ${row.p}, ${state}`)
    }
  }
  await inEveryState(table, check)
  await table.compact({ partition: 'p=a%2Fb', full: true })
  await table.expireSnapshots({ retainMax: 1, retainMin: 1, olderThan: 8e15 })
  await check('expired')
  await warehouse.close()
  warehouse = await open(folder)
  table = await warehouse.table('db.t', definition)
  await check('opened again')
  await warehouse.close()
  test.strictSame(readdirSync(folder), ['db.db'], '".." did not lead out of the table')
})

tap.test('C064 empty and blank partition values share a folder and stay two partitions', async (test) => {
  const folder = test.testdir()
  const warehouse = await open(folder)
  const table = await warehouse.createTable('db.t', {
    fields: { p: t.string(), k: t.int(), v: t.int() },
    primaryKey: ['p', 'k'],
    partitionBy: ['p'],
  })
  const rows = [
    { p: '', k: 7, v: 1 },
    { p: '  ', k: 7, v: 2 },
    { p: 'x', k: 7, v: 3 },
  ]
  await table.put(rows)
  await inEveryState(table, async (state) => {
    test.strictSame(await collect(table.scan()), rows, state)
    for (const row of rows) {
      test.strictSame(await table.get({ p: row.p, k: 7 }), row, `get '${row.p}', ${state}`)
      test.strictSame(await collect(table.scan({ where: { p: row.p } })), [row], `p = '${row.p}', ${state}`)
    }
  })
  test.strictSame(partitionFolders(folder), new Set(['p=__DEFAULT_PARTITION__', 'p=x']))
  await table.delete({ p: '', k: 7 })
  await inEveryState(table, async (state) => {
    test.strictSame(await collect(table.scan()), rows.slice(1), `the other one stays, ${state}`)
  })
  await test.rejects(table.put({ p: null as never, k: 8, v: 0 }), { code: 'INVALID', details: { column: 'p' } })
  test.strictSame(await collect(table.scan()), rows.slice(1), 'nothing of a refused row is kept')
  await test.rejects(
    warehouse.createTable('db.nullable', {
      fields: { p: t.string().nullable(), k: t.int() },
      primaryKey: ['k'],
      partitionBy: ['p'] as never,
    }),
    { code: 'INVALID', details: { column: 'p' } },
    'a partition column outside the key',
  )
  await warehouse.close()
})

for (const legacy of [true, false]) {
  tap.test(`C065 DATE and TIMESTAMP partitions, partition.legacy-name ${legacy}`, async (test) => {
    const folder = test.testdir()
    let warehouse = await open(folder)
    const definition = {
      fields: { d: t.date(), ts: t.timestamp(3), k: t.int(), v: t.int() },
      primaryKey: ['d', 'ts', 'k'],
      partitionBy: ['d', 'ts'],
      options: { 'partition.legacy-name': legacy },
    } as const
    let table = await warehouse.createTable('db.t', definition)
    const rows = [
      { d: -1, ts: -1n, k: 1, v: 1 },
      { d: 19723, ts: BigInt(Date.UTC(2024, 0, 1, 12, 30)), k: 1, v: 2 },
    ]
    await table.put(rows)
    const check = async (state: string) => {
      test.strictSame(await collect(table.scan()), rows, state)
      for (const row of rows) {
        const { d, ts, k } = row
        test.strictSame(await table.get({ d, ts, k }), row, `get, ${state}`)
        test.strictSame(await collect(table.scan({ where: { d } })), [row], `d = ${d}, ${state}`)
        test.strictSame(await collect(table.scan({ where: { ts } })), [row], `ts = ${ts}, ${state}`)
        test.strictSame(
          await collect(table.scan({ where: { ts: { lt: ts } } })),
          rows.filter((other) => other.ts < ts),
        )
      }
    }
    await inEveryState(table, check)
    const names = readdirSync(join(folder, 'db.db', 't'))
      .filter((name) => name.startsWith('d='))
      .flatMap((name) => readdirSync(join(folder, 'db.db', 't', name)).map((inner) => `${name}/${inner}`))
    test.strictSame(
      new Set(names),
      new Set(
        legacy
          ? ['d=19723/ts=2024-01-01T12%3A30', 'd=-1/ts=1969-12-31T23%3A59%3A59.999']
          : ['d=2024-01-01/ts=2024-01-01 12%3A30%3A00.000', 'd=1969-12-31/ts=1969-12-31 23%3A59%3A59.999'],
      ),
    )
    await warehouse.close()
    warehouse = await open(folder)
    table = await warehouse.table('db.t', definition)
    await check('opened again')
    await warehouse.close()
  })
}

tap.test(
  'a partition value that makes too long a folder name is refused when it is written, and nothing with it',
  async (test) => {
    await using warehouse = await open(test.testdir())
    const definition = { fields: { p: t.string(), k: t.int() }, primaryKey: ['p', 'k'], partitionBy: ['p'] } as const
    await using table = await warehouse.createTable('db.t', definition)
    const rows = [
      { p: 'ok', k: 1 },
      { p: 'y'.repeat(254), k: 1 },
    ]
    await refused(test, table.put(rows), 'INVALID', { column: 'p' }, '256 bytes')
    await table.put([{ p: 'y'.repeat(253), k: 1 }])
    await table.commit()
    test.strictSame(await table.scan({ columns: ['k'] }).toArray(), [{ k: 1 }])
  },
)

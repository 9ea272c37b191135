import tap from 'tap'
import { t } from '../../engine/index.ts'
import { alter, collect, inEveryState, open, storeOf } from '../support/warehouses.ts'

const DAY = 86_400_000
const days = (iso: string) => new Date(`${iso}T00:00:00Z`).getTime() / DAY

tap.test('C047 timestamps before 1970 and far away keep their last digit', async (test) => {
  const warehouse = await open(test.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { k: t.int(), ms: t.timestamp(3), us: t.timestamp(6), ns: t.timestamp(9), ltz: t.timestampLtz(6) },
    primaryKey: ['k'],
    options: { 'write-only': true },
  })
  const year1 = BigInt(new Date('0001-01-01T00:00:00Z').getTime())
  const year9999 = BigInt(new Date('9999-12-31T23:59:59.999Z').getTime())
  const rows = [
    { k: 1, ms: -1n, us: -1n, ns: -1n, ltz: -1n },
    { k: 2, ms: year1, us: year1 * 1000n, ns: -9_000_000_000_000_000_001n, ltz: year1 * 1000n },
    { k: 3, ms: year9999, us: year9999 * 1000n + 999n, ns: 9_000_000_000_000_000_001n, ltz: year9999 * 1000n },
    { k: 4, ms: 0n, us: 0n, ns: 0n, ltz: 0n },
  ]
  await table.put(rows.slice(0, 2))
  await table.commit()
  await table.put(rows.slice(2))
  await inEveryState(table, async (state) => {
    test.strictSame(await collect(table.scan()), rows, state)
    for (const row of rows) {
      for (const column of ['ms', 'us', 'ns', 'ltz'] as const) {
        const found = await collect(table.scan({ where: { [column]: row[column] } as object }))
        test.strictSame(found, [row], `${column} = ${row[column]}, ${state}`)
        const below = await collect(table.scan({ where: { [column]: { lt: row[column] } } as object }))
        test.strictSame(
          below,
          rows.filter((other) => other[column] < row[column]),
          `${column} < ${row[column]}, ${state}`,
        )
      }
    }
  })
  await warehouse.close()
})

tap.test('C047 a Date before 1970 is written to the millisecond, and read where no digit is lost', async (test) => {
  const warehouse = await open(test.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { k: t.int(), us: t.timestamp(6, { mode: 'date' }), raw: t.timestamp(6) },
    primaryKey: ['k'],
  })
  const date = new Date('1969-12-31T23:59:59.999Z')
  await table.put({ k: 1, us: date, raw: date })
  await inEveryState(table, async (state) => {
    test.strictSame(await collect(table.scan()), [{ k: 1, us: date, raw: -1000n }], state)
  })
  await warehouse.close()
})

tap.test('C047 TIMESTAMP columns that became DATE and TIME round down before 1970', async (test) => {
  const folder = test.testdir()
  let warehouse = await open(folder)
  const table = await warehouse.createTable('db.t', {
    fields: { k: t.int(), d: t.timestamp(3), c: t.timestamp(3) },
    primaryKey: ['k'],
  })
  await table.put([
    { k: 1, d: -1n, c: -1n },
    { k: 2, d: BigInt(DAY), c: BigInt(DAY) + 5n },
  ])
  await table.commit()
  await warehouse.close()
  await alter(await storeOf(folder, 'db', 't'), ({ fields }) => ({
    fields: fields.map((field) =>
      field.name === 'd'
        ? { ...field, type: { kind: 'date', nullable: false } }
        : field.name === 'c'
          ? { ...field, type: { kind: 'time', precision: 3, nullable: false } }
          : field,
    ),
  }))
  warehouse = await open(folder)
  test.strictSame(await collect((await warehouse.table('db.t')).scan()), [
    { k: 1, d: -1, c: DAY - 1 },
    { k: 2, d: 1, c: 5 },
  ])
  await warehouse.close()
})

tap.test('C048 dates before 1970, in the gap of 1582 and before Christ', async (test) => {
  const warehouse = await open(test.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { d: t.date(), v: t.date({ mode: 'date' }).nullable() },
    primaryKey: ['d'],
    options: { 'write-only': true },
  })
  const dates = [
    ['-000043-03-15', -735160],
    ['0001-01-01', -719162],
    ['1582-10-10', -141432],
    ['1969-12-31', -1],
    ['1970-01-01', 0],
    ['9999-12-31', 2932896],
  ] as const
  const rows = dates.map(([iso, d]) => {
    test.equal(days(iso), d, iso)
    return { d, v: new Date(d * DAY) }
  })
  await table.put(rows.slice(0, 3))
  await table.commit()
  await table.put(rows.slice(3))
  await inEveryState(table, async (state) => {
    test.strictSame(await collect(table.scan()), rows, state)
    for (const row of rows) {
      test.strictSame(await table.get(row.d), row, `get ${row.d}, ${state}`)
      test.strictSame(await collect(table.scan({ where: { v: row.v } })), [row], `v = ${row.d}, ${state}`)
    }
    test.strictSame(
      (await collect(table.scan({ range: { gt: -719162, lte: -1 } }))).map(({ d }) => d),
      [-141432, -1],
      `range, ${state}`,
    )
  })
  await warehouse.close()
})

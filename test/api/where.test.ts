import t from 'tap'
import { type Table, t as types } from '../../engine/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { collect, open, refused } from '../support/warehouses.ts'

const fields = {
  k: types.int(),
  n: types.int().nullable(),
  b: types.bigint().nullable(),
  s: types.string().nullable(),
  d: types.double().nullable(),
  m: types.decimal(10, 2).nullable(),
  f: types.boolean().nullable(),
  x: types.varbinary(4).nullable(),
  ts: types.timestamp(3, { mode: 'date' }).nullable(),
} as const
type Row = Record<string, unknown>

/** SQL's three truths: undefined is unknown. */
type Truth = boolean | undefined

const not = (truth: Truth): Truth => (truth === undefined ? undefined : !truth)
const and = (truths: readonly Truth[]): Truth =>
  truths.includes(false) ? false : truths.includes(undefined) ? undefined : true
const or = (truths: readonly Truth[]): Truth =>
  truths.includes(true) ? true : truths.includes(undefined) ? undefined : false

/** Order of two values of one column, as SQL has it; NaN is above all numbers, as in Java. */
function compare(a: unknown, b: unknown): number {
  if (typeof a === 'string' && typeof b === 'string') {
    if (/^-?\d+\.\d\d$/.test(a) && /^-?\d+\.\d\d$/.test(b)) return Number(a) - Number(b)
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  const [x, y] = [a instanceof Date ? a.getTime() : a, b instanceof Date ? b.getTime() : b] as [number, number]
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y))
  return x < y ? -1 : x > y ? 1 : 0
}

const tests: Record<string, (order: number) => boolean> = {
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
}

/** A condition worked out row by row, without any of the engine's code. */
function truth(where: Row, row: Row): Truth {
  return and(
    Object.entries(where).map(([name, value]): Truth => {
      if (name === 'and') return and((value as Row[]).map((part) => truth(part, row)))
      if (name === 'or') return or((value as Row[]).map((part) => truth(part, row)))
      if (name === 'not') return not(truth(value as Row, row))
      const stored = row[name]
      const plain = typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype
      return and(
        Object.entries(plain ? (value as Row) : { eq: value }).map(([test, operand]): Truth => {
          if (test === 'isNull') return (stored === null) === operand
          if (stored === null) return undefined
          if (test === 'in') return (operand as unknown[]).some((one) => compare(stored, one) === 0)
          return tests[test]!(compare(stored, operand))
        }),
      )
    }),
  )
}

/** Few values a column, so that conditions meet rows. */
const pool: Record<string, readonly unknown[]> = {
  k: [0, 1, 50, 100, 199, 300],
  n: [0, 1, 2, -1, 2147483647],
  b: [0n, 9007199254740993n, 9007199254740992n, -(2n ** 63n)],
  s: ['', 'a', 'ab', 'é', '\uff5e', '\u{1f600}'],
  d: [0, 1.5, -1.5, Number.NaN, Number.POSITIVE_INFINITY],
  m: ['0.00', '1.50', '-1.50', '99999999.99', '10.00', '9.00'],
  f: [true, false],
  x: [Uint8Array.of(), Uint8Array.of(0x7f), Uint8Array.of(0x80), Uint8Array.of(0x7f, 0)],
  ts: [new Date(0), new Date(-1), new Date(1_700_000_000_000)],
}
const names = Object.keys(pool)

t.test('where gives the rows that a filter by hand gives, wherever they lie', async (t) => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.comment(`SEED=${seed}`)
  const random = seededRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.fraction() * items.length)]!
  const value = (name: string) => (random.fraction() < 0.25 ? null : pick(pool[name]!))

  const warehouse = await open(t.testdir())
  const table = (await warehouse.createTable('db.t', {
    fields,
    primaryKey: ['k'],
    options: { bucket: 2, 'write-only': 'true', 'target-file-size': '4 kb' },
  })) as unknown as Table
  const model = new Map<number, Row>()
  const change = async () => {
    for (let i = 0; i < 60; i++) {
      const k = Math.floor(random.fraction() * 200)
      if (random.fraction() < 0.2) {
        model.delete(k)
        await table.delete(k)
      } else {
        const row: Row = { k }
        for (const name of names.slice(1)) row[name] = value(name)
        model.set(k, row)
        await table.put(row)
      }
    }
  }
  const leaf = (): Row => {
    const name = pick(names)
    const operand = () => pick(pool[name]!)
    const kind = random.fraction()
    if (kind < 0.15) return { [name]: { isNull: random.fraction() < 0.5 } }
    if (kind < 0.3) return { [name]: { in: Array.from({ length: Math.floor(random.fraction() * 4) }, operand) } }
    if (kind < 0.45) return { [name]: operand() }
    if (kind < 0.6) return { [name]: { gte: operand(), lt: operand() } }
    return { [name]: { [pick(Object.keys(tests))]: operand() } }
  }
  const tree = (depth: number): Row => {
    const kind = depth === 0 ? 1 : random.fraction()
    const children = () => Array.from({ length: Math.floor(random.fraction() * 3) + 1 }, () => tree(depth - 1))
    if (kind < 0.25) return { and: children() }
    if (kind < 0.5) return { or: children() }
    if (kind < 0.7) return { not: tree(depth - 1) }
    return leaf()
  }
  let matched = 0
  const check = async (where: Row, place: string) => {
    const rows = [...model.values()].sort((a, b) => (a.k as number) - (b.k as number))
    const wanted = rows.filter((row) => truth(where, row) === true).map(({ k }) => k)
    const found = (await collect(table.scan({ where: where as never, columns: ['k'] }))).map(({ k }) => k)
    matched += wanted.length
    if (JSON.stringify(found) !== JSON.stringify(wanted)) t.same(found, wanted, `${place} SEED=${seed} ${show(where)}`)
  }
  const show = (where: Row) => JSON.stringify(where, (_, v: unknown) => (typeof v === 'bigint' ? `${v}n` : v))

  for (const place of ['memory', 'level 0', 'two runs', 'top level', 'top level and memory']) {
    if (place !== 'top level') await change()
    if (place === 'level 0' || place === 'two runs') await table.commit()
    if (place === 'top level') {
      await table.commit()
      await table.compact({ full: true })
    }
    for (let i = 0; i < 50; i++) await check(tree(i % 4), place)
  }
  t.ok(matched > 1000, `${matched} rows met a condition`)
  await warehouse.close({ discard: true })
})

t.test('a comparison with a null value is not true, nor is its negation', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', { fields, primaryKey: ['k'] })
  await table.put([
    { k: 1, n: 1 },
    { k: 2, n: null },
    { k: 3, n: 3 },
  ])
  const keys = async (where: NonNullable<NonNullable<Parameters<typeof table.scan>[0]>['where']>) =>
    (await collect(table.scan({ where }))).map(({ k }) => k)
  for (const where of ['memory', 'files']) {
    t.same(await keys({ n: { gt: 1 } }), [3], where)
    t.same(await keys({ not: { n: { gt: 1 } } }), [1], where)
    t.same(await keys({ n: { ne: 1 } }), [3], where)
    t.same(await keys({ not: { n: { in: [1] } } }), [3], where)
    t.same(await keys({ n: { in: [] } }), [], where)
    t.same(await keys({ n: { isNull: true } }), [2], where)
    t.same(await keys({ n: { isNull: false } }), [1, 3], where)
    t.same(await keys({ not: { n: { isNull: true } } }), [1, 3], where)
    t.same(await keys({ or: [{ n: { gt: 1 } }, { n: { isNull: true } }] }), [2, 3], where)
    t.same(await keys({ n: 1, k: { gte: 1 } }), [1], where)
    t.same(await keys({}), [1, 2, 3], where)
    t.same(await keys({ and: [] }), [1, 2, 3], where)
    t.same(await keys({ or: [] }), [], where)
    await table.commit()
  }
  await warehouse.close()
})

t.test('a condition is plain data: it may be stored and read back', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', { fields, primaryKey: ['k'] })
  await table.put([
    { k: 1, n: 1 },
    { k: 2, n: 5 },
  ])
  const where = { or: [{ n: { gt: 3 } }, { not: { k: { lte: 2 } } }] }
  t.same(
    (await collect(table.scan({ where: JSON.parse(JSON.stringify(where)) }))).map(({ k }) => k),
    [2],
  )
  t.same(
    (await collect(table.scan({ where: structuredClone(where) }))).map(({ k }) => k),
    [2],
  )
  await warehouse.close({ discard: true })
})

t.test('conditions that make no sense are refused when the scan is called, naming column and value', async (t) => {
  const warehouse = await open(t.testdir())
  const table = (await warehouse.createTable('db.t', {
    fields: { ...fields, l: types.array(types.int()).nullable() },
    primaryKey: ['k'],
  })) as unknown as Table
  const scan = (where: unknown) => () => table.scan({ where: where as never })
  await refused(t, scan({ nope: 1 }), 'INVALID', { column: 'nope' }, '"nope"')
  await refused(t, scan({ or: [{ and: [{ nope: 1 }] }] }), 'INVALID', { column: 'nope' }, '"nope"')
  await refused(t, scan({ n: 'x' }), 'INVALID', { column: 'n', value: 'x' }, '"n"', '"x"')
  await refused(t, scan({ n: { gt: 1.5 } }), 'INVALID', { column: 'n', value: 1.5 }, '"n"', '1.5')
  await refused(t, scan({ n: { gt: 2147483648 } }), 'INVALID', { column: 'n', value: 2147483648 }, '2147483648')
  await refused(t, scan({ n: null }), 'INVALID', { column: 'n', value: null }, '"n"', 'isNull')
  await refused(t, scan({ n: { eq: null } }), 'INVALID', { column: 'n', value: null }, '"n"', 'isNull')
  await refused(t, scan({ n: { in: [1, null] } }), 'INVALID', { column: 'n', value: null }, 'isNull')
  await refused(t, scan({ n: { in: 1 } }), 'INVALID', { value: 1 }, 'array')
  await refused(t, scan({ n: { isNull: 1 } }), 'INVALID', { column: 'n', value: 1 }, 'isNull')
  await refused(t, scan({ n: { like: '%' } }), 'INVALID', { column: 'n', value: 'like' }, '"like"')
  await refused(t, scan({ l: [1] }), 'INVALID', { column: 'l' }, '"l"')
  await refused(t, scan({ or: { n: 1 } }), 'INVALID', {}, 'or')
  await refused(
    t,
    scan((row: Row) => row),
    'INVALID',
    {},
    'where',
  )
  await refused(t, scan([{ n: 1 }]), 'INVALID', {}, 'where')
  await refused(t, scan({ and: [null] }), 'INVALID', { value: null }, 'where')
  await warehouse.close()
})

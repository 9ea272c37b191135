import { Buffer } from 'node:buffer'
import t from 'tap'
import { type FieldType, type Table, t as types } from '../../engine/index.ts'
import { collect, listing, open, refused } from '../support/warehouses.ts'

type AnyField = FieldType<unknown, unknown, boolean>

/** What is written, and what every read gives: the same when left out. */
type Pair = readonly [write: unknown, read?: unknown]

const bytes = (...values: number[]) => Uint8Array.from(values)
const date = (text: string) => new Date(text)

/** Each type and mode with values at its edges. */
const columns: readonly { readonly name: string; readonly field: AnyField; readonly values: readonly Pair[] }[] = [
  { name: 'boolean', field: types.boolean(), values: [[true], [false]] },
  { name: 'tinyint', field: types.tinyint(), values: [[-128], [127], [0]] },
  { name: 'smallint', field: types.smallint(), values: [[-32768], [32767]] },
  { name: 'int', field: types.int(), values: [[-2147483648], [2147483647]] },
  { name: 'bigint', field: types.bigint(), values: [[-(2n ** 63n)], [2n ** 63n - 1n], [9007199254740993n], [7, 7n]] },
  {
    name: 'bigint as number',
    field: types.bigint({ mode: 'number' }),
    values: [[-9007199254740991], [9007199254740991], [5n, 5]],
  },
  {
    name: 'float',
    field: types.float(),
    values: [[1.5], [Number.NaN], [-0], [Number.POSITIVE_INFINITY], [0.1, Math.fround(0.1)]],
  },
  { name: 'double', field: types.double(), values: [[0.1], [Number.NaN], [-0], [Number.NEGATIVE_INFINITY], [5e-324]] },
  {
    name: 'decimal',
    field: types.decimal(9, 2),
    values: [['1.5', '1.50'], ['-9999999.99'], ['0', '0.00'], ['-0.10'], ['+3', '3.00']],
  },
  {
    name: 'wide decimal',
    field: types.decimal(38, 10),
    values: [['-9999999999999999999999999999.9999999999'], ['0.0000000001']],
  },
  { name: 'date', field: types.date(), values: [[19723], [-1], [date('2024-01-01T00:00:00Z'), 19723]] },
  {
    name: 'date as Date',
    field: types.date({ mode: 'date' }),
    values: [[date('1969-12-31T00:00:00Z')], [19723, date('2024-01-01T00:00:00Z')]],
  },
  { name: 'time', field: types.time(), values: [[0], [86_399_999]] },
  {
    name: 'timestamp(3)',
    field: types.timestamp(3),
    values: [[-1n], [1_700_000_000_123n], [date('2024-01-01T12:30:00.001Z'), 1704112200001n]],
  },
  {
    name: 'timestamp(6)',
    field: types.timestamp(6),
    values: [[-1n], [1_700_000_000_123_456n], [date('2024-01-01T12:30:00.001Z'), 1704112200001000n]],
  },
  {
    name: 'timestamp(9)',
    field: types.timestamp(9),
    values: [[-1n], [1_700_000_000_123_456_789n], [date('2024-01-01T12:30:00.001Z'), 1704112200001000000n]],
  },
  {
    name: 'timestamp as Date',
    field: types.timestamp(6, { mode: 'date' }),
    values: [[date('2024-01-01T12:30:00.001Z')], [date('1969-12-31T23:59:59.999Z')]],
  },
  { name: 'timestampLtz', field: types.timestampLtz(6), values: [[1n], [date('1970-01-01T00:00:00.001Z'), 1000n]] },
  {
    name: 'timestampLtz as Date',
    field: types.timestampLtz(3, { mode: 'date' }),
    values: [[date('2024-02-29T00:00:00Z')]],
  },
  { name: 'char', field: types.char(3), values: [['ab'], ['日本語'], ['😀😀😀'], ['']] },
  { name: 'varchar', field: types.varchar(5), values: [['abcde'], ['']] },
  { name: 'string', field: types.string(), values: [['\0 é 😀'], ['x'.repeat(100_000)], ['']] },
  { name: 'binary', field: types.binary(3), values: [[bytes(1, 2, 3)], [bytes()]] },
  { name: 'bytes', field: types.bytes(), values: [[bytes(0, 255)], [bytes()], [Buffer.from('ab'), bytes(97, 98)]] },
  { name: 'array', field: types.array(types.int().nullable()), values: [[[1, null, 3]], [[]]] },
  {
    name: 'map',
    field: types.map(types.string(), types.bigint().nullable()),
    values: [
      [
        [
          ['a', 1n],
          ['b', null],
        ],
      ],
      [[]],
    ],
  },
  {
    name: 'row',
    field: types.row({ x: types.int(), y: types.row({ z: types.string().nullable() }).nullable() }),
    values: [
      [{ x: 1, y: { z: 'q' } }],
      [{ x: 2, y: null }],
      [{ x: 3 }, { x: 3, y: null }],
      [
        { x: 4, y: {} },
        { x: 4, y: { z: null } },
      ],
    ],
  },
  {
    name: 'array of rows',
    field: types.array(types.row({ when: types.timestamp(3, { mode: 'date' }), n: types.bigint({ mode: 'number' }) })),
    values: [[[{ when: date('2024-01-01T00:00:00Z'), n: 5 }]]],
  },
]

for (const { name, field, values } of columns) {
  t.test(`${name}: values come back as they went in, from memory, from level 0 and from the top level`, async (t) => {
    const warehouse = await open(t.testdir())
    const nullable = field.nullable() as AnyField
    const table = (await warehouse.createTable('db.t', {
      fields: { k: types.int(), v: nullable },
      primaryKey: ['k'],
    })) as Table
    const all: readonly Pair[] = [...values, [null, null], [undefined, null]]
    const wanted = all.map(([write, read], k) => ({ k, v: read === undefined ? write : read }))
    await table.put(all.map(([v], k) => ({ k, v })))
    await table.put({ k: all.length })
    wanted.push({ k: all.length, v: null })
    const check = async (where: string) => {
      t.strictSame(await collect(table.scan()), wanted, `scan, ${where}`)
      t.strictSame(await table.getMany(wanted.map(({ k }) => k)), wanted, `getMany, ${where}`)
      for (const [index, { v }] of (await collect(table.scan())).entries()) {
        if (Object.is(wanted[index]?.v, -0)) t.ok(Object.is(v, -0), `-0.0 is kept, ${where}`)
      }
    }
    await check('memory')
    await table.commit()
    await check('level 0')
    await table.compact({ full: true })
    await check('top level')
    await warehouse.close()
  })
}

t.test('a number or a Date is never given where it would lose digits', async (t) => {
  const warehouse = await open(t.testdir())
  const exact = (await warehouse.createTable('db.t', {
    fields: { k: types.int(), n: types.bigint().nullable(), ts: types.timestamp(6).nullable() },
    primaryKey: ['k'],
  })) as Table
  await exact.put([
    { k: 1, n: 2n ** 53n },
    { k: 2, ts: 1001n },
    { k: 3, n: 5n, ts: 1000n },
  ])
  await exact.commit()
  const rounding = await warehouse.table('db.t', {
    fields: {
      k: types.int(),
      n: types.bigint({ mode: 'number' }).nullable(),
      ts: types.timestamp(6, { mode: 'date' }).nullable(),
    },
    primaryKey: ['k'],
  })
  await refused(t, rounding.get(1), 'INVALID', { column: 'n', value: 2n ** 53n }, '"n"')
  await refused(t, rounding.get(2), 'INVALID', { column: 'ts', value: 1001n }, '"ts"')
  await refused(t, collect(rounding.scan()), 'INVALID', { column: 'n' }, '"n"')
  t.strictSame(await rounding.get(3), { k: 3, n: 5, ts: new Date(1) })
  t.strictSame(await rounding.get(1, { columns: ['k'] }), { k: 1 }, 'columns that are not asked for are not looked at')
  await warehouse.close()
})

/** A column, a value that it refuses, and what the message has to say. */
const refusals: readonly (readonly [name: string, field: AnyField, value: unknown, says: string])[] = [
  ['text into INT', types.int(), 'x', '"x"'],
  ['a bigint into INT', types.int(), 5n, '5n'],
  ['a fraction into INT', types.int(), 1.5, '1.5'],
  ['INT above its range', types.int(), 2147483648, '2147483648'],
  ['INT below its range', types.int(), -2147483649, '-2147483649'],
  ['TINYINT above its range', types.tinyint(), 128, '128'],
  ['SMALLINT below its range', types.smallint(), -32769, '-32769'],
  ['BIGINT above its range', types.bigint(), 2n ** 63n, String(2n ** 63n)],
  ['a number that is not exact into BIGINT', types.bigint(), 2 ** 53, '9007199254740992'],
  ['text into BIGINT', types.bigint(), '7', '"7"'],
  ['a bigint above 2^53 in mode number', types.bigint({ mode: 'number' }), 2 ** 53, '9007199254740992'],
  ['NaN into INT', types.int(), Number.NaN, 'NaN'],
  ['text into DOUBLE', types.double(), '1', '"1"'],
  ['a number beyond FLOAT', types.float(), 1e300, '1e+300'],
  ['1 into BOOLEAN', types.boolean(), 1, '1'],
  ['DECIMAL with too many digits', types.decimal(4, 2), '100.00', '"100.00"'],
  ['DECIMAL with too large a scale', types.decimal(4, 2), '1.234', '"1.234"'],
  ['a number into DECIMAL', types.decimal(4, 2), 1.5, '1.5'],
  ['text that is no number into DECIMAL', types.decimal(4, 2), 'abc', '"abc"'],
  ['a Date with a time into DATE', types.date(), new Date('2024-01-01T12:00:00Z'), '2024-01-01T12:00:00.000Z'],
  ['an invalid Date', types.timestamp(3), new Date(Number.NaN), 'an invalid Date'],
  ['a number into TIMESTAMP', types.timestamp(3), 5, '5'],
  ['TIME beyond the day', types.time(), 86_400_000, '86400000'],
  ['a number into STRING', types.string(), 5, '5'],
  ['a high surrogate alone', types.string(), 'a\ud800', '\\ud800'],
  ['a low surrogate alone', types.string(), '\udc00b', '\\udc00'],
  ['CHAR longer than declared', types.char(3), 'abcd', '"abcd"'],
  ['VARCHAR longer than declared', types.varchar(3), '😀😀😀😀', '😀😀😀😀'],
  ['BINARY longer than declared', types.binary(2), Uint8Array.of(1, 2, 3), '3 bytes'],
  ['text into BYTES', types.bytes(), 'ab', '"ab"'],
  ['an array of numbers into BYTES', types.bytes(), [1, 2], 'an array'],
  ['an object into ARRAY', types.array(types.int()), { length: 1 }, 'an object'],
  ['null in an ARRAY of NOT NULL', types.array(types.int()), [1, null], 'null'],
  ['a wrong element in an ARRAY', types.array(types.int()), ['x'], '"x"'],
  ['an object into MAP', types.map(types.string(), types.int()), { a: 1 }, 'an object'],
  ['a null key in a MAP', types.map(types.string(), types.int()), [[null, 1]], 'null'],
  ['an unknown field in a ROW', types.row({ x: types.int() }), { x: 1, y: 2 }, 'y'],
  ['a missing field in a ROW', types.row({ x: types.int() }), {}, 'undefined'],
  ['an array into ROW', types.row({ x: types.int() }), [1], 'an array'],
  ['a symbol', types.string(), Symbol('s'), 'Symbol(s)'],
]

for (const [name, field, value, says] of refusals) {
  t.test(`${name} is refused, naming column and value, and nothing is written`, async (t) => {
    const path = t.testdir()
    const warehouse = await open(path)
    const table = (await warehouse.createTable('db.t', {
      fields: { k: types.int(), col: field.nullable() as AnyField },
      primaryKey: ['k'],
    })) as Table
    const before = listing(path)
    const error = await refused(t, table.put([{ k: 1 }, { k: 2, col: value }]), 'INVALID', { row: 1 }, '"col', says)
    t.match(error.details.column, /^col/)
    t.same(await collect(table.scan()), [])
    t.match(await table.commit(), { created: false })
    t.same(listing(path), before)
    await warehouse.close()
  })
}

t.test('rows that are no rows, unknown fields and missing columns are refused', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  const table = (await warehouse.createTable('db.t', {
    fields: { a: types.int(), b: types.string(), v: types.int(), n: types.int().nullable() },
    primaryKey: ['a', 'b'],
  })) as Table
  const before = listing(path)
  await refused(t, table.put({ a: 1, b: 'x', v: 1, typo: 1 }), 'INVALID', { column: 'typo', value: 1 }, '"typo"')
  await refused(t, table.put({ a: 1, v: 1 }), 'INVALID', { column: 'b', value: undefined }, '"b"')
  await refused(t, table.put({ a: null, b: 'x', v: 1 }), 'INVALID', { column: 'a', value: null }, '"a"')
  await refused(t, table.put({ a: 1, b: 'x' }), 'INVALID', { column: 'v', value: undefined }, '"v"', 'NOT NULL')
  await refused(t, table.put({ a: 1, b: 'x', v: null }), 'INVALID', { column: 'v', value: null }, '"v"', 'NOT NULL')
  for (const row of [null, undefined, 5, 'row', () => 1, new Map(), new Date(0)]) {
    await refused(t, table.put(row as never), 'INVALID', {}, 'row')
  }
  for (const key of [{ a: 1 }, { a: 1, b: 'x', u: 1 }, { a: 1, b: null }, 1, 'x', null, [1, 'x'], { a: 'x', b: 'x' }]) {
    await refused(t, table.get(key), 'INVALID', {})
    await refused(t, table.delete(key), 'INVALID', {})
  }
  t.same(listing(path), before)
  await warehouse.close()
})

t.test('NaN and -0.0 are refused in keys, wherever a key is given', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  for (const type of ['float', 'double'] as const) {
    const table = (await warehouse.createTable(`db.${type}`, {
      fields: { k: types[type](), v: types[type]() },
      primaryKey: ['k'],
    })) as Table
    const before = listing(path)
    for (const bad of [Number.NaN, -0]) {
      const named = { column: 'k', value: bad }
      await refused(t, table.put({ k: bad, v: 1 }), 'INVALID', named, '"k"', 'key')
      await refused(t, table.delete(bad), 'INVALID', named, '"k"', 'key')
      await refused(t, table.get(bad), 'INVALID', named, '"k"', 'key')
      await refused(t, table.getMany([1, { k: bad }]), 'INVALID', named, '"k"', 'key')
      await refused(t, () => table.scan({ range: { gte: bad } }), 'INVALID', named, '"k"', 'key')
    }
    t.same(listing(path), before)
    await table.put({ k: 1, v: -0 })
    t.ok(Object.is((await table.get(1))?.v, -0))
    await table.close({ discard: true })
  }
  await warehouse.close()
})

t.test('VARIANT and MULTISET are UNSUPPORTED: t has no such fields', (t) => {
  t.notOk('variant' in types)
  t.notOk('multiset' in types)
  t.end()
})

t.test('the caller may change what it gave once the call has settled', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { k: types.int(), b: types.bytes(), l: types.array(types.int()) },
    primaryKey: ['k'],
  })
  const row = { k: 1, b: bytes(1, 2), l: [1, 2] }
  await table.put(row)
  row.b[0] = 9
  row.l[0] = 9
  t.strictSame(await table.get(1), { k: 1, b: bytes(1, 2), l: [1, 2] })
  const read = await table.get(1)
  read!.b[0] = 9
  read!.l[0] = 9
  t.strictSame(await table.get(1), { k: 1, b: bytes(1, 2), l: [1, 2] }, 'and what it was given')
  await table.commit()
  const [scanned] = await collect(table.scan())
  scanned!.b[0] = 9
  const got = await table.get(1)
  got!.b[0] = 9
  t.strictSame(await table.get(1), { k: 1, b: bytes(1, 2), l: [1, 2] }, 'also from files, which are cached')
  await warehouse.close({ discard: true })
})

import * as arrow from 'apache-arrow'
import t from 'tap'
import { type FieldType, type Table, t as types } from '../../engine/index.ts'
import { collect, open, refused } from '../support/warehouses.ts'

type AnyField = FieldType<unknown, unknown, boolean>

const fields: Readonly<Record<string, AnyField>> = {
  k: types.int(),
  boolean: types.boolean().nullable(),
  tinyint: types.tinyint().nullable(),
  smallint: types.smallint().nullable(),
  bigint: types.bigint().nullable(),
  float: types.float().nullable(),
  double: types.double().nullable(),
  decimal: types.decimal(9, 2).nullable(),
  wide: types.decimal(38, 3).nullable(),
  date: types.date().nullable(),
  time: types.time().nullable(),
  ms: types.timestamp(3).nullable(),
  us: types.timestamp(6).nullable(),
  ns: types.timestamp(9).nullable(),
  instant: types.timestampLtz(6).nullable(),
  char: types.char(4).nullable(),
  string: types.string().nullable(),
  binary: types.binary(3).nullable(),
  bytes: types.bytes().nullable(),
  array: types.array(types.int().nullable()).nullable(),
  map: types.map(types.string(), types.bigint().nullable()).nullable(),
  row: types.row({ x: types.int(), y: types.string().nullable() }).nullable(),
}

const full = {
  boolean: true,
  tinyint: -128,
  smallint: 32767,
  bigint: 9007199254740993n,
  float: 1.5,
  double: -0.1,
  decimal: '-9999999.99',
  wide: '12345678901234567890123456789012345.678',
  date: -1,
  time: 86_399_999,
  ms: -1n,
  us: 1_700_000_000_123_456n,
  ns: 1_700_000_000_123_456_789n,
  instant: -5n,
  char: 'é日😀z',
  string: '',
  binary: Uint8Array.of(1, 2, 3),
  bytes: Uint8Array.of(),
  array: [1, null, 3],
  map: [
    ['a', 1n],
    ['b', null],
  ],
  row: { x: 1, y: null },
}

t.test('scanArrow gives every type, and putArrow takes it back', async (t) => {
  const warehouse = await open(t.testdir())
  const definition = { fields, primaryKey: ['k'], options: { bucket: 2 } } as never
  const source = (await warehouse.createTable('db.a', definition)) as unknown as Table
  const target = (await warehouse.createTable('db.b', definition)) as unknown as Table
  const nulls = Object.fromEntries(Object.keys(full).map((name) => [name, null]))
  await source.put([{ k: 1, ...full }, { k: 2 }, { k: 3, ...full, string: 'x' }])
  const wanted = [
    { k: 1, ...full },
    { k: 2, ...nulls },
    { k: 3, ...full, string: 'x' },
  ]
  for (const place of ['memory', 'files']) {
    const batches = await collect(source.scanArrow())
    t.ok(batches.every((batch) => batch instanceof arrow.RecordBatch))
    t.equal(
      batches.reduce((sum, batch) => sum + batch.numRows, 0),
      3,
    )
    t.same(
      batches[0]?.schema.fields.map(({ name }) => name),
      Object.keys(fields),
    )
    for (const batch of batches) await target.putArrow(batch)
    t.strictSame(await collect(target.scan()), wanted, place)
    await target.commit()
    t.strictSame(await collect(target.scan()), wanted, place)
    await source.commit()
  }
  const [part] = await collect(source.scanArrow({ columns: ['string', 'k'], where: { k: 3 } as never, limit: 1 }))
  t.same(
    part?.toArray().map((row) => row.toJSON()),
    [{ string: 'x', k: 3 }],
  )
  await warehouse.close()
})

t.test('putArrow goes by name, fills what is missing with null, and widens', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: {
      k: types.int(),
      n: types.bigint().nullable(),
      d: types.double().nullable(),
      s: types.string().nullable(),
    },
    primaryKey: ['k'],
  })
  const batch = (columns: Record<string, arrow.Vector>) => new arrow.Table(columns).batches[0]!
  await table.putArrow(
    batch({
      d: arrow.makeVector(Float32Array.of(1.5)),
      n: arrow.makeVector(Int32Array.of(7)),
      k: arrow.makeVector(Int16Array.of(1)),
    }),
  )
  t.strictSame(await collect(table.scan()), [{ k: 1, n: 7n, d: 1.5, s: null }])
  await refused(
    t,
    table.putArrow(batch({ k: arrow.makeVector(BigInt64Array.of(1n)) })),
    'INVALID',
    { column: 'k' },
    '"k"',
  )
  await refused(
    t,
    table.putArrow(batch({ k: arrow.makeVector(Int32Array.of(1)), nope: arrow.makeVector(Int32Array.of(1)) })),
    'INVALID',
    { column: 'nope' },
    '"nope"',
  )
  await refused(
    t,
    table.putArrow(batch({ n: arrow.makeVector(BigInt64Array.of(1n)) })),
    'INVALID',
    { column: 'k' },
    '"k"',
  )
  await refused(
    t,
    table.putArrow(batch({ k: arrow.vectorFromArray([1, null], new arrow.Int32()) })),
    'INVALID',
    { column: 'k' },
    '"k"',
  )
  await refused(
    t,
    table.putArrow(batch({ k: arrow.makeVector(Int32Array.of(1)), s: arrow.makeVector(Int32Array.of(1)) })),
    'INVALID',
    { column: 's' },
    '"s"',
  )
  for (const wrong of [undefined, null, {}, [], 'x', new arrow.Table({ k: arrow.makeVector(Int32Array.of(1)) })])
    await refused(t, table.putArrow(wrong as never), 'INVALID', {}, 'RecordBatch')
  t.equal((await collect(table.scan())).length, 1, 'nothing of a refused batch is kept')
  await warehouse.close({ discard: true })
})

t.test('putArrow keeps its place in the order of writes', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', { fields: { k: types.int(), v: types.int() }, primaryKey: ['k'] })
  const batch = (v: number) =>
    new arrow.Table({ k: arrow.makeVector(Int32Array.of(1)), v: arrow.makeVector(Int32Array.of(v)) }).batches[0]!
  const writes = [
    table.put({ k: 1, v: 1 }),
    table.putArrow(batch(2)),
    table.put({ k: 1, v: 3 }),
    table.putArrow(batch(4)),
  ]
  await Promise.all(writes)
  t.same(await table.get(1), { k: 1, v: 4 })
  const last = [table.putArrow(batch(5)), table.delete(1)]
  await Promise.all(last)
  t.equal(await table.get(1), undefined)
  await warehouse.close({ discard: true })
})

t.test('NaN and -0.0 in keys are refused from Arrow too, and kept in values', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { k: types.double(), v: types.double() },
    primaryKey: ['k'],
  })
  const batch = (k: number, v: number) =>
    new arrow.Table({ k: arrow.makeVector(Float64Array.of(k)), v: arrow.makeVector(Float64Array.of(v)) }).batches[0]!
  for (const bad of [Number.NaN, -0])
    await refused(t, table.putArrow(batch(bad, 1)), 'INVALID', { column: 'k', value: bad }, '"k"')
  await table.putArrow(batch(1, Number.NaN))
  await table.putArrow(batch(2, -0))
  t.same(
    (await collect(table.scan())).map(({ v }) => (Object.is(v, -0) ? '-0' : v)),
    [Number.NaN, '-0'],
  )
  await warehouse.close({ discard: true })
})

t.test('text that is not UTF-8 is refused, but for garbage under nulls', async (t) => {
  await using warehouse = await open(t.testdir())
  const definition = { fields: { k: types.string(), v: types.string().nullable() }, primaryKey: ['k'] } as const
  await using table = await warehouse.createTable('db.t', definition)
  const texts = (bytes: number[], offsets: number[], nullBitmap?: Uint8Array) =>
    arrow.makeData({
      type: new arrow.Utf8(),
      length: offsets.length - 1,
      data: Uint8Array.from(bytes),
      valueOffsets: Int32Array.from(offsets),
      ...(nullBitmap === undefined ? {} : { nullBitmap, nullCount: 1 }),
    })
  const batchOf = (k: arrow.Data, v: arrow.Data) => {
    const schema = new arrow.Schema([
      new arrow.Field('k', new arrow.Utf8(), false),
      new arrow.Field('v', new arrow.Utf8(), true),
    ])
    const struct = arrow.makeData({ type: new arrow.Struct(schema.fields), length: k.length, children: [k, v] })
    return new arrow.RecordBatch(schema, struct)
  }
  const fine = texts([0x61, 0x62], [0, 1, 2])
  await refused(
    t,
    table.putArrow(batchOf(texts([0x61, 0xff], [0, 1, 2]), fine)),
    'INVALID',
    { column: 'k', row: 1 },
    'UTF-8',
  )
  const split = texts([0xc3, 0xa4], [0, 1, 2])
  await refused(t, table.putArrow(batchOf(fine, split)), 'INVALID', { column: 'v', row: 0 }, 'UTF-8')
  await table.putArrow(batchOf(fine, texts([0xff, 0x62], [0, 1, 2], Uint8Array.of(0b10))))
  t.strictSame(await table.scan().toArray(), [
    { k: 'a', v: null },
    { k: 'b', v: 'b' },
  ])
  await table.discard()
})

t.test('values of a dictionary that no row uses may be anything; the others are told by their row', async (t) => {
  await using warehouse = await open(t.testdir())
  const definition = { fields: { k: types.int(), v: types.varchar(3).nullable() }, primaryKey: ['k'] } as const
  await using table = await warehouse.createTable('db.t', definition)
  const batchOf = (indices: number[]) => {
    const dictionary = arrow.vectorFromArray(['abcdef', 'x', 'ghijkl'], new arrow.Utf8())
    const type = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32())
    const v = arrow.makeVector({ type, data: Int32Array.from(indices), length: indices.length, dictionary })
    return new arrow.Table({ k: arrow.makeVector(Int32Array.from(indices.keys())), v }).batches[0]!
  }
  await table.putArrow(batchOf([1, 1]))
  t.strictSame(await table.scan().toArray(), [
    { k: 0, v: 'x' },
    { k: 1, v: 'x' },
  ])
  await refused(t, table.putArrow(batchOf([1, 2, 0])), 'INVALID', { column: 'v', row: 1 }, 'longer than 3')
  await table.discard()
})

t.test('a stored value that Arrow cannot hold is a TableError', async (t) => {
  await using warehouse = await open(t.testdir())
  const definition = { fields: { k: types.int(), v: types.timestamp(9, { mode: 'date' }) }, primaryKey: ['k'] } as const
  await using table = await warehouse.createTable('db.t', definition)
  await table.put({ k: 1, v: new Date('9999-01-01') })
  await refused(t, () => collect(table.scanArrow()), 'INVALID', { column: 'v' })
  await table.discard()
})

import t from 'tap'
import { fromArrow, loadArrow, toRecordBatch } from '../../../formats/column/arrow.ts'
import type { Batch, FixedColumn } from '../../../formats/column/column.ts'
import { sliceBatch } from '../../../formats/column/slice.ts'
import { batchOfRows, rowsOf } from '../../../formats/column/values.ts'
import { type DataType, type Field, MAX_LENGTH } from '../../../formats/types/row-type.ts'
import { allTypes, fieldsOf, plain, randomColumn, seeded } from './support.ts'

const arrow = await loadArrow()
const yes = { nullable: true } as const
const string: DataType = { kind: 'varchar', length: MAX_LENGTH, ...yes }
const field = (name: string, type: DataType): Field => ({ id: 0, name, type })

/** Types whose random values fit 64-bit nanoseconds and their declared precision. */
const carried = allTypes.filter(
  (type) => type.kind !== 'timestamp_ltz' && type.kind !== 'decimal' && type.kind !== 'map',
)

function randomBatch(rows: number, seed: number): Batch {
  const random = seeded(seed)
  const fields = fieldsOf(carried)
  return { fields, rows, columns: fields.map((f) => randomColumn(f.type, rows, random)) }
}

t.test('batches survive the way to Arrow and back, slices and IPC streams included', async (t) => {
  for (const rows of [0, 1, 7, 8, 9, 200]) {
    const whole = randomBatch(rows, rows + 1)
    for (const batch of [whole, sliceBatch(whole, Math.min(3, rows), rows)]) {
      const expected = batch.columns.map(plain)
      const record = toRecordBatch(arrow, batch)
      t.equal(record.numRows, batch.rows)
      t.strictSame(fromArrow(arrow, record, batch.fields).columns.map(plain), expected)
      const table = arrow.tableFromIPC(arrow.tableToIPC(new arrow.Table([record]), 'stream'))
      t.strictSame(fromArrow(arrow, table, batch.fields).columns.map(plain), expected)
    }
  }
})

t.test('sliced and chunked Arrow data is read from its own offset', async (t) => {
  const batch = randomBatch(100, 5)
  const record = toRecordBatch(arrow, batch)
  const expected = sliceBatch(batch, 13, 90).columns.map(plain)
  t.strictSame(fromArrow(arrow, record.slice(13, 90), batch.fields).columns.map(plain), expected)
  const table = new arrow.Table([record.slice(13, 50), record.slice(50, 90)])
  t.strictSame(fromArrow(arrow, table, batch.fields).columns.map(plain), expected)
})

t.test('Arrow itself sees the right values', async (t) => {
  const fields = [
    field('b', { kind: 'boolean', ...yes }),
    field('d', { kind: 'decimal', precision: 38, scale: 2, ...yes }),
    field('e', { kind: 'decimal', precision: 10, scale: 2, ...yes }),
    field('t3', { kind: 'timestamp', precision: 3, ...yes }),
    field('t9', { kind: 'timestamp_ltz', precision: 9, ...yes }),
    field('s', string),
    field('m', { kind: 'map', key: { ...string, nullable: false }, value: { kind: 'int', ...yes }, ...yes }),
  ]
  const row = { b: true, d: '-1.50', e: '-0.01', t3: -1n, t9: -1n, s: 'é', m: [['k', null]] }
  const record = toRecordBatch(arrow, batchOfRows(fields, [{}, row]))
  const at = (name: string, index: number): unknown => record.getChild(name)?.get(index)
  for (const { name } of fields) t.equal(at(name, 0), null, name)
  t.equal(at('b', 1), true)
  t.equal(at('s', 1), 'é')
  t.strictSame([...(at('d', 1) as Uint32Array)], [0xffffff6a, 0xffffffff, 0xffffffff, 0xffffffff])
  t.strictSame([...(at('e', 1) as Uint32Array)], [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff])
  const types = fields.map(({ name }) => String(record.getChild(name)?.type))
  t.match(types, [
    /Bool/,
    /Decimal/,
    /Decimal/,
    /Timestamp<MILLISECOND>/,
    /Timestamp<NANOSECOND, UTC>|Timestamp/,
    /Utf8/,
    /Map/,
  ])
  t.strictSame(rowsOf(fromArrow(arrow, record, fields))[1], row)
  const far = batchOfRows([fields[4]!], [{ t9: 2n ** 63n }])
  t.throws(() => toRecordBatch(arrow, far), /2261/)
})

t.test('buffers are shared where the layout is the same', async (t) => {
  const batch = batchOfRows([field('i', { kind: 'bigint', nullable: false })], [{ i: 1n }, { i: 2n }])
  const record = toRecordBatch(arrow, batch)
  const { buffer } = (batch.columns[0] as FixedColumn).values
  t.equal(record.data.children[0]!.values.buffer, buffer)
  t.equal((fromArrow(arrow, record, batch.fields).columns[0] as FixedColumn).values.buffer, buffer)
})

function one(vector: InstanceType<typeof arrow.Vector>, type: DataType, keys?: ReadonlySet<string>): unknown[] {
  const table = new arrow.Table({ c: vector })
  return rowsOf(fromArrow(arrow, table, [field('c', type)], { keys })).map((row) => row.c)
}

t.test('types widen without loss', async (t) => {
  const bigint: DataType = { kind: 'bigint', ...yes }
  t.strictSame(one(arrow.vectorFromArray([1, null, -5], new arrow.Int8()), bigint), [1n, null, -5n])
  t.strictSame(one(arrow.vectorFromArray([4294967295], new arrow.Uint32()), bigint), [4294967295n])
  t.strictSame(one(arrow.vectorFromArray([255], new arrow.Uint8()), { kind: 'smallint', ...yes }), [255])
  t.strictSame(one(arrow.vectorFromArray([1.5, null], new arrow.Float32()), { kind: 'double', ...yes }), [1.5, null])
  const dictionary = arrow.vectorFromArray(
    ['x', null, 'y', 'x'],
    new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()),
  )
  t.strictSame(one(dictionary, string), ['x', null, 'y', 'x'])
  t.strictSame(one(arrow.vectorFromArray(['long', null], new arrow.LargeUtf8()), string), ['long', null])
  const at = new Date('1969-12-31T00:00:00Z')
  t.strictSame(one(arrow.vectorFromArray([at, null], new arrow.DateMillisecond()), { kind: 'date', ...yes }), [
    -1,
    null,
  ])
  t.strictSame(
    one(arrow.vectorFromArray([at], new arrow.DateMillisecond()), { kind: 'timestamp', precision: 6, ...yes }),
    [-86400000000n],
  )
  const seconds = arrow.makeVector(arrow.makeData({ type: new arrow.TimestampSecond(), data: BigInt64Array.of(-1n) }))
  t.strictSame(one(seconds, { kind: 'timestamp', precision: 3, ...yes }), [-1000n])
  t.strictSame(one(seconds, { kind: 'timestamp_ltz', precision: 9, ...yes }), [-1000000000n])
  const micros = arrow.makeVector(arrow.makeData({ type: new arrow.TimeMicrosecond(), data: BigInt64Array.of(5000n) }))
  t.strictSame(one(micros, { kind: 'time', precision: 3, ...yes }), [5])
  const decimal = arrow.makeVector(
    arrow.makeData({
      type: new arrow.Decimal(1, 3, 128),
      data: Uint32Array.of(0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff),
    }),
  )
  t.strictSame(one(decimal, { kind: 'decimal', precision: 20, scale: 3, ...yes }), ['-0.100'])
  t.strictSame(one(decimal, { kind: 'decimal', precision: 5, scale: 3, ...yes }), ['-0.100'])
  const fixed = arrow.makeVector(
    arrow.makeData({ type: new arrow.FixedSizeBinary(2), data: Uint8Array.of(1, 2, 3, 4) }),
  )
  t.strictSame(one(fixed, { kind: 'varbinary', length: 2, ...yes }), [Uint8Array.of(1, 2), Uint8Array.of(3, 4)])
  t.strictSame(one(arrow.makeVector(arrow.makeData({ type: new arrow.Null(), length: 2 })), bigint), [null, null])
})

t.test('what would lose or does not fit is refused with its column', async (t) => {
  const refused = (vector: InstanceType<typeof arrow.Vector>, type: DataType, keys?: ReadonlySet<string>) => {
    t.throws(() => one(vector, type, keys), { name: 'ValueError' }, `${vector.type} into ${type.kind}`)
  }
  const ints = arrow.vectorFromArray([1n], new arrow.Int64())
  refused(ints, { kind: 'int', ...yes })
  refused(arrow.vectorFromArray([1n], new arrow.Uint64()), { kind: 'bigint', ...yes })
  refused(ints, string)
  refused(arrow.vectorFromArray([1.5], new arrow.Float64()), { kind: 'float', ...yes })
  refused(arrow.vectorFromArray(['abcd'], new arrow.Utf8()), { kind: 'char', length: 3, ...yes })
  refused(arrow.vectorFromArray([1, null], new arrow.Int32()), { kind: 'int', nullable: false })
  refused(arrow.vectorFromArray([-0], new arrow.Float64()), { kind: 'double', ...yes }, new Set(['c']))
  refused(arrow.vectorFromArray([new Date(5)], new arrow.DateMillisecond()), { kind: 'date', ...yes })
  const zoned = arrow.makeVector(
    arrow.makeData({ type: new arrow.TimestampMillisecond('UTC'), data: BigInt64Array.of(1n) }),
  )
  refused(zoned, { kind: 'timestamp', precision: 3, ...yes })
  const nanos = arrow.makeVector(arrow.makeData({ type: new arrow.TimestampNanosecond(), data: BigInt64Array.of(1n) }))
  refused(nanos, { kind: 'timestamp', precision: 6, ...yes })
  const fields = [field('a', { kind: 'int', ...yes })]
  const table = new arrow.Table({ zz: arrow.vectorFromArray([1], new arrow.Int32()) })
  t.throws(() => fromArrow(arrow, table, fields), /"zz"/)
  const renamed = new arrow.Table({ a: table.getChildAt(0)! })
  t.throws(() => fromArrow(arrow, renamed, [...fields, field('n', { kind: 'int', nullable: false })]), /"n"/)
})

t.test('whatever lies under an Arrow null becomes zero or empty', async (t) => {
  const nullBitmap = Uint8Array.of(0b101)
  const ints = arrow.makeVector(
    arrow.makeData({ type: new arrow.Int32(), nullBitmap, nullCount: 1, data: Int32Array.of(1, 99, 3) }),
  )
  const batch = fromArrow(arrow, new arrow.Table({ c: ints }), [field('c', { kind: 'int', ...yes })])
  t.strictSame([...(batch.columns[0] as FixedColumn).values], [1, 0, 3])
  const texts = arrow.makeVector(
    arrow.makeData({
      type: new arrow.Utf8(),
      nullBitmap,
      nullCount: 1,
      valueOffsets: Int32Array.of(0, 1, 3, 4),
      data: Buffer.from('abbc'),
    }),
  )
  const [column] = fromArrow(arrow, new arrow.Table({ c: texts }), [field('c', string)]).columns
  t.strictSame(plain(column!), ['61', null, '63'])
  t.strictSame(column?.kind === 'bytes' && [...column.offsets], [0, 1, 1, 2])
})

import t from 'tap'
import { BatchBuilder } from '../../../formats/column/builder.ts'
import { ValueError } from '../../../formats/column/value-error.ts'
import {
  batchOfRows,
  createRowWriter,
  fromScalar,
  rowsOf,
  toScalar,
  type ValueForms,
} from '../../../formats/column/values.ts'
import { type DataType, type Field, MAX_LENGTH } from '../../../formats/types/row-type.ts'
import { plain } from './support.ts'

const no = { nullable: false } as const
const yes = { nullable: true } as const
const ts = (precision: number): DataType => ({ kind: 'timestamp', precision, ...yes })
const field = (name: string, type: DataType): Field => ({ id: 0, name, type })
const string: DataType = { kind: 'varchar', length: MAX_LENGTH, ...yes }

const types: Readonly<Record<string, DataType>> = {
  boolean: { kind: 'boolean', ...yes },
  tinyint: { kind: 'tinyint', ...yes },
  smallint: { kind: 'smallint', ...yes },
  int: { kind: 'int', ...yes },
  bigint: { kind: 'bigint', ...yes },
  float: { kind: 'float', ...yes },
  double: { kind: 'double', ...yes },
  decimal5: { kind: 'decimal', precision: 5, scale: 2, ...yes },
  decimal38: { kind: 'decimal', precision: 38, scale: 0, ...yes },
  decimal20: { kind: 'decimal', precision: 20, scale: 20, ...yes },
  date: { kind: 'date', ...yes },
  time: { kind: 'time', precision: 3, ...yes },
  time0: { kind: 'time', precision: 0, ...yes },
  ts0: ts(0),
  ts3: ts(3),
  ts4: ts(4),
  ts6: ts(6),
  ts9: { kind: 'timestamp_ltz', precision: 9, ...yes },
  char: { kind: 'char', length: 3, ...yes },
  string,
  binary: { kind: 'binary', length: 2, ...yes },
  bytes: { kind: 'varbinary', length: MAX_LENGTH, ...yes },
  array: { kind: 'array', element: { kind: 'int', ...yes }, ...yes },
  map: { kind: 'map', key: string, value: { kind: 'bigint', ...yes }, ...yes },
  row: { kind: 'row', fields: [field('x', { kind: 'int', ...no }), field('y', string)], ...yes },
}

function through(type: DataType, value: unknown, forms?: ValueForms): unknown {
  const batch = batchOfRows([field('c', type)], [{ c: value }], { forms })
  return rowsOf(batch, forms)[0]!.c
}

/** Written in the form that loses nothing, read in another. */
function readAs(type: DataType, value: unknown, forms: ValueForms): unknown {
  return rowsOf(batchOfRows([field('c', type)], [{ c: value }]), forms)[0]!.c
}

/** The error of a call that must be refused. */
function refusal(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  throw new Error('the call was not refused')
}

t.test('values come back as they went in, extremes included', async (t) => {
  const nines = '9'.repeat(38)
  const cases: readonly (readonly [string, readonly unknown[]])[] = [
    ['boolean', [true, false, null]],
    ['tinyint', [-128, 127, 0]],
    ['smallint', [-32768, 32767]],
    ['int', [-2147483648, 2147483647]],
    ['bigint', [-(2n ** 63n), 2n ** 63n - 1n, 9007199254740993n, 0n]],
    ['float', [1.5, Infinity, NaN, -0]],
    ['double', [0.1, Number.MAX_VALUE, -Infinity, NaN, -0, Number.MIN_VALUE]],
    ['decimal5', ['999.99', '-999.99', '0.00', '-0.01', '12.30']],
    ['decimal38', [nines, `-${nines}`, '0', '-1', '18446744073709551616', '-9223372036854775809']],
    ['decimal20', [`0.${'9'.repeat(20)}`, `-0.${'0'.repeat(19)}1`]],
    ['date', [-719162, 0, 2932896, -2147483648]],
    ['time', [0, 86399999]],
    ['ts3', [-1n, -62135596800000n, 253402300799999n]],
    ['ts6', [-1n, 1n, -(2n ** 63n)]],
    ['ts9', [-1n, -1000000n + 999999n, 253402300799999999999n, -62135596800000000000n]],
    ['char', ['', 'abc', '\u{1f600}é日']],
    ['string', ['', 'x'.repeat(5000), '日本\u{10ffff}', '\uffff', '\0']],
    ['binary', [new Uint8Array(0), Uint8Array.of(0, 255)]],
    ['bytes', [new Uint8Array(300).fill(128)]],
    ['array', [[], [1, null, 3], null]],
    [
      'map',
      [
        [],
        [
          ['a', 1n],
          ['', null],
        ],
      ],
    ],
    [
      'row',
      [
        { x: 1, y: 'a' },
        { x: 2, y: null },
      ],
    ],
  ]
  for (const [name, values] of cases) {
    for (const value of values) {
      t.strictSame(through(types[name]!, value), value, `${name} ${String(value)}`)
      if (name === 'double' || name === 'float') t.ok(Object.is(through(types[name]!, value), value))
    }
  }
})

t.test('other accepted forms: dates, safe numbers, short decimals, maps, buffers, absent fields', async (t) => {
  const when = new Date(-1)
  t.equal(through(types.ts3!, when), -1n)
  t.equal(through(types.ts6!, when), -1000n)
  t.equal(through(types.ts9!, when), -1000000n)
  t.equal(through(types.date!, new Date(-86400000)), -1)
  t.equal(through(types.bigint!, -5), -5n)
  t.equal(through(types.decimal5!, '+1.5000'), '1.50')
  t.equal(through(types.decimal5!, '.5'), '0.50')
  t.equal(through(types.decimal5!, '7.'), '7.00')
  t.strictSame(through(types.map!, new Map([['a', 1n]])), [['a', 1n]])
  t.strictSame(through(types.bytes!, Buffer.from('hi')), Uint8Array.of(104, 105))
  t.equal(through(types.int!, undefined), null)
  t.strictSame(through(types.row!, { x: 1 }), { x: 1, y: null })
})

t.test('what does not fit is refused with column, value and reason', async (t) => {
  const cases: readonly (readonly [string, unknown, RegExp])[] = [
    ['boolean', 1, /not a boolean/],
    ['tinyint', 128, /out of range \(-128 to 127\)/],
    ['int', 'seven', /not a number/],
    ['int', 2147483648, /out of range/],
    ['int', 1.5, /whole number/],
    ['int', NaN, /whole number/],
    ['int', 1n, /not a number/],
    ['bigint', 2n ** 63n, /out of range/],
    ['bigint', 2 ** 53, /holds exactly/],
    ['bigint', '1', /not a bigint/],
    ['float', 1e300, /out of range of FLOAT/],
    ['double', '1', /not a number/],
    ['decimal5', '1000.00', /more than 3 digits before the point/],
    ['decimal5', '1.001', /more than 2 digits after the point/],
    ['decimal5', '1e3', /not a decimal number/],
    ['decimal5', '', /not a decimal number/],
    ['decimal5', '-', /not a decimal number/],
    ['decimal5', '.', /not a decimal number/],
    ['decimal5', '1.2.3', /not a decimal number/],
    ['decimal5', ' 1', /not a decimal number/],
    ['decimal5', 1.5, /string of digits/],
    ['decimal38', `1${'0'.repeat(38)}`, /more than 38 digits/],
    ['date', new Date(1), /time of day/],
    ['date', new Date(NaN), /not a point in time/],
    ['date', 0.5, /whole number/],
    ['time', 86400000, /out of range/],
    ['time0', 1, /more than 0 digits/],
    ['ts0', 1n, /more than 0 digits/],
    ['ts4', 10n, /more than 4 digits/],
    ['ts3', 5, /neither a bigint nor a Date/],
    ['ts3', 2n ** 63n, /out of range/],
    ['ts9', 2n ** 63n * 1000000n, /out of range/],
    ['ts6', new Date(NaN), /not a point in time/],
    ['char', 'abcd', /has 4 characters, more than 3/],
    ['string', 'a\ud800', /surrogate/],
    ['string', 5, /not a string/],
    ['binary', new Uint8Array(3), /has 3 bytes, more than 2/],
    ['bytes', [1], /not a Uint8Array/],
    ['array', 'ab', /not an array/],
    ['map', {}, /pairs/],
    ['map', [['a']], /pair/],
    ['row', [], /not an object/],
  ]
  for (const [name, value, reason] of cases) {
    try {
      through(types[name]!, value)
      t.fail(`${name} took ${String(value)}`)
    } catch (error) {
      t.ok(error instanceof ValueError && reason.test(error.reason), `${name}: ${String(error)}`)
      if (error instanceof ValueError) t.strictSame([error.column.slice(0, 1), error.row], ['c', 0])
    }
  }
  const nested: readonly (readonly [string, unknown, string])[] = [
    ['array', [1, 'x'], 'c[]'],
    ['map', [[null, 1n]], 'c.key'],
    ['map', [['a', 1.5]], 'c.value'],
    ['row', { x: null }, 'c.x'],
    ['row', { x: 1, z: 1 }, 'c.z'],
  ]
  for (const [name, value, column] of nested)
    t.match(
      refusal(() => through(types[name]!, value)),
      { column },
    )
  t.throws(() => through({ kind: 'variant', ...yes }, 1), TypeError)
})

t.test('NaN and -0.0 are refused in keys and kept in values', async (t) => {
  const fields = [field('k', { kind: 'double', ...no }), field('v', { kind: 'double', ...no })]
  const keys = new Set(['k'])
  for (const bad of [NaN, -0]) {
    t.match(
      refusal(() => batchOfRows(fields, [{ k: bad, v: 0 }], { keys })),
      { column: 'k', reason: /key/ },
    )
  }
  t.ok(Object.is(rowsOf(batchOfRows(fields, [{ k: 0, v: -0 }], { keys }))[0]!.v, -0))
  const single = [field('k', { kind: 'float', ...no })]
  t.match(
    refusal(() => batchOfRows(single, [{ k: -1e-300 }], { keys })),
    { column: 'k' },
  )
})

t.test('one bad row leaves the builder as it was, whatever the column', async (t) => {
  const fields = Object.entries(types).map(([name, type]) => field(name, type))
  const builder = new BatchBuilder(fields)
  const writer = createRowWriter(builder)
  const good = { int: 1, string: 'a', array: [1, 2], map: [['k', 1n]], row: { x: 1 } }
  writer.append([good, {}])
  const before = builder.view().columns.map(plain)
  const bad = [
    { ...good, row: { x: 'no' } },
    { map: [['k', 'no']] },
    { array: [1, 'no'] },
    { string: 1 },
    { nope: 1 },
    null,
    7,
  ]
  for (const row of bad) {
    t.match(
      refusal(() => writer.append([good, good, row])),
      { name: 'ValueError', row: 2 },
    )
    t.strictSame(builder.view().columns.map(plain), before)
  }
  t.match(
    refusal(() => batchOfRows([field('n', { kind: 'int', ...no })], [{ n: 1 }, {}])),
    {
      column: 'n',
      row: 1,
      reason: /NOT NULL/,
    },
  )
})

t.test('modes: number and date, throwing where digits would be lost, inside nested types too', async (t) => {
  const forms = (mode: 'number' | 'date'): ValueForms => new Map([['c', { mode, children: [{ mode }, { mode }] }]])
  t.equal(through(types.bigint!, 5n, forms('number')), 5)
  t.match(
    refusal(() => readAs(types.bigint!, 2n ** 53n, forms('number'))),
    { column: 'c', reason: /number/ },
  )
  t.match(
    refusal(() => through(types.bigint!, 2n ** 53n, forms('number'))),
    { column: 'c', reason: /does not fit the form 'number'/ },
  )
  t.strictSame(through(types.ts6!, -1000n, forms('date')), new Date(-1))
  t.match(
    refusal(() => readAs(types.ts6!, -1n, forms('date'))),
    { reason: /below the millisecond/ },
  )
  t.match(
    refusal(() => readAs(types.ts3!, 8640000000000001n, forms('date'))),
    { reason: /beyond/ },
  )
  for (const value of [-1n, 8640000000000001000n]) {
    t.match(
      refusal(() => through(types.ts6!, value, forms('date'))),
      { reason: /does not fit the form 'date'/ },
      `${value} could not be read back, so it is not written`,
    )
  }
  t.strictSame(through(types.ts9!, 1000000n, forms('date')), new Date(1))
  t.strictSame(through(types.date!, -1, forms('date')), new Date(-86400000))
  t.strictSame(through(types.map!, [['a', 1n]], forms('number')), [['a', 1]])
})

t.test('columns called like what objects inherit, and numbers, are columns like any other', async (t) => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a.b', 'é', '']
  const fields = names.map((name) => field(name, { kind: 'int', ...yes }))
  t.strictSame(
    Object.values(rowsOf(batchOfRows(fields, [{}]))[0]!),
    names.map(() => null),
  )
  const row = Object.fromEntries(names.map((name, i) => [name, i]))
  const [result] = rowsOf(batchOfRows(fields, [row]))
  t.strictSame(Object.keys(result!), names)
  t.strictSame(
    Object.entries(result!),
    names.map((name, i) => [name, i]),
  )
  t.equal(Object.getPrototypeOf(result!), Object.prototype)
  class Point {
    readonly #x = 4
    get x(): number {
      return this.#x
    }
  }
  t.strictSame(rowsOf(batchOfRows([field('x', types.int!)], [new Point()])), [{ x: 4 }])
})

t.test('scalars of keys and literals', async (t) => {
  t.strictSame(toScalar('c', string, undefined, 'é'), Uint8Array.of(0xc3, 0xa9))
  t.equal(toScalar('c', types.decimal5!, undefined, '1.5'), 150n)
  t.equal(toScalar('c', types.ts9!, undefined, new Date(1)), 1000000n)
  t.equal(toScalar('c', types.boolean!, undefined, true), 1)
  t.equal(toScalar('c', types.int!, undefined, null), null)
  for (const [name, value] of [
    ['decimal38', `-${'9'.repeat(38)}`],
    ['string', 'é'],
    ['int', 7],
    ['boolean', true],
    ['ts6', 5n],
  ] as const) {
    t.equal(fromScalar('c', types[name]!, undefined, toScalar('c', types[name]!, undefined, value)), value)
  }
  t.equal(fromScalar('c', types.int!, undefined, null), null)
})

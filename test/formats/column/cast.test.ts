import t from 'tap'
import { castColumn } from '../../../formats/column/cast.ts'
import { parseType } from '../../../formats/types/parse.ts'
import type { DataType } from '../../../formats/types/row-type.ts'
import { columnOf, type Value, valuesOf } from '../../support/flat-columns.ts'

const cases: readonly (readonly [from: string, to: string, values: readonly Value[], expected: readonly Value[]])[] = [
  ['INT', 'BIGINT', [1, -1, null, 2147483647, -2147483648], [1n, -1n, null, 2147483647n, -2147483648n]],
  ['TINYINT', 'SMALLINT', [-128, 127], [-128, 127]],
  ['TINYINT', 'BIGINT', [-128, 127], [-128n, 127n]],
  ['SMALLINT', 'INT', [-32768, null], [-32768, null]],
  ['INT', 'TINYINT', [128, -129, 255], [-128, 127, -1]],
  ['BIGINT', 'INT', [2147483648n, -1n, 4294967297n], [-2147483648, -1, 1]],
  ['BIGINT', 'SMALLINT', [65535n], [-1]],
  ['BIGINT', 'DOUBLE', [9007199254740993n], [9007199254740992]],
  ['BIGINT', 'FLOAT', [16777217n, 9007199791611905n], [16777216, 9007200328482816]],
  ['INT', 'FLOAT', [16777217], [16777216]],
  ['FLOAT', 'DOUBLE', [1.5, Math.fround(0.1), Number.NaN], [1.5, Math.fround(0.1), Number.NaN]],
  ['DOUBLE', 'FLOAT', [0.1, 1e300], [Math.fround(0.1), Number.POSITIVE_INFINITY]],
  ['DOUBLE', 'INT', [1.9, -1.9, 3e9, -3e9, Number.NaN], [1, -1, 2147483647, -2147483648, 0]],
  ['DOUBLE', 'TINYINT', [300.5], [44]],
  ['DOUBLE', 'BIGINT', [1e300, -1e300, Number.NaN, -7.9], [0x7fffffffffffffffn, -0x8000000000000000n, 0n, -7n]],
  ['BOOLEAN', 'INT', [1, 0, null], [1, 0, null]],
  ['BOOLEAN', 'BIGINT', [1, 0], [1n, 0n]],
  ['DOUBLE', 'BOOLEAN', [0, -0, 0.5, Number.NaN], [0, 0, 1, 1]],
  ['BIGINT', 'BOOLEAN', [0n, 4294967296n], [0, 1]],

  ['INT', 'DECIMAL(5, 2)', [999, 1000, -999, null], [99900n, null, -99900n, null]],
  ['BIGINT', 'DECIMAL(38, 2)', [9223372036854775807n, -1n], [922337203685477580700n, -100n]],
  ['DOUBLE', 'DECIMAL(10, 2)', [1.005, -2.345, 1e9, Number.NaN, 1e-300], [101n, -235n, null, null, 0n]],
  ['DOUBLE', 'DECIMAL(38, 0)', [1e22], [10000000000000000000000n]],
  ['FLOAT', 'DECIMAL(20, 10)', [Math.fround(0.1)], [1000000015n]],
  ['DECIMAL(10, 2)', 'DECIMAL(12, 2)', [150n, null], [150n, null]],
  ['DECIMAL(10, 2)', 'DECIMAL(10, 1)', [155n, -155n, 154n], [16n, -16n, 15n]],
  ['DECIMAL(10, 2)', 'DECIMAL(30, 5)', [-150n, null], [-150000n, null]],
  ['DECIMAL(30, 5)', 'DECIMAL(4, 2)', [9999499n, 9999500n, -9999499n], [9999n, null, -9999n]],
  ['DECIMAL(30, 5)', 'DECIMAL(38, 5)', [-(10n ** 29n)], [-(10n ** 29n)]],
  ['DECIMAL(10, 2)', 'INT', [199n, -199n], [1, -1]],
  ['DECIMAL(10, 2)', 'DOUBLE', [110n, -1n], [1.1, -0.01]],
  ['DECIMAL(30, 5)', 'BIGINT', [-12345678900000n], [-123456789n]],
  ['DECIMAL(10, 2)', 'BOOLEAN', [0n, 1n], [0, 1]],

  ['STRING', 'VARCHAR(3)', ['abcd', 'é😀xy', '', null], ['abc', 'é😀x', '', null]],
  ['STRING', 'CHAR(3)', ['a', 'é😀xy', ''], ['a  ', 'é😀x', '   ']],
  ['VARCHAR(3)', 'STRING', ['abc'], ['abc']],
  ['CHAR(3)', 'VARCHAR(5)', ['abc'], ['abc']],
  ['BYTES', 'BINARY(3)', ['a', 'abcd'], ['a\0\0', 'abc']],
  ['BYTES', 'VARBINARY(2)', ['abc', 'a'], ['ab', 'a']],
  ['BYTES', 'STRING', ['é'], ['é']],
  ['STRING', 'BYTES', ['é'], ['é']],

  ['INT', 'STRING', [-7, null], ['-7', null]],
  ['BIGINT', 'VARCHAR(4)', [9223372036854775807n], ['9223']],
  ['BOOLEAN', 'STRING', [1, 0], ['true', 'false']],
  ['DECIMAL(6, 2)', 'STRING', [150n, -5n], ['1.50', '-0.05']],
  ['DECIMAL(38, 0)', 'STRING', [10n ** 37n], [`1${'0'.repeat(37)}`]],
  [
    'DOUBLE',
    'STRING',
    [1, 1e7, 1.5e10, 0.001, 9.9e-4, -0, 123456.789, Number.NaN, Number.NEGATIVE_INFINITY],
    ['1.0', '1.0E7', '1.5E10', '0.001', '9.9E-4', '-0.0', '123456.789', 'NaN', '-Infinity'],
  ],
  ['FLOAT', 'STRING', [Math.fround(0.1), Math.fround(3.4028235e38), 16777216], ['0.1', '3.4028235E38', '1.6777216E7']],
  [
    'DATE',
    'STRING',
    [0, -1, 19782, -719528, 2932897],
    ['1970-01-01', '1969-12-31', '2024-02-29', '0000-01-01', '+10000-01-01'],
  ],
  ['TIME(3)', 'STRING', [45296789, 0], ['12:34:56.789', '00:00:00.000']],
  ['TIME(0)', 'STRING', [45296000], ['12:34:56']],
  ['TIMESTAMP(3)', 'STRING', [1704164645678n, -1n], ['2024-01-02 03:04:05.678', '1969-12-31 23:59:59.999']],
  ['TIMESTAMP(6)', 'STRING', [1704164645678901n], ['2024-01-02 03:04:05.678901']],
  ['TIMESTAMP(0)', 'STRING', [1704164645000n], ['2024-01-02 03:04:05']],
  ['TIMESTAMP(9)', 'STRING', [1704164645678901234n], ['2024-01-02 03:04:05.678901234']],

  ['TIMESTAMP(3)', 'TIMESTAMP(6)', [1704164645678n, -1n, null], [1704164645678000n, -1000n, null]],
  ['TIMESTAMP(6)', 'TIMESTAMP(9)', [-1n], [-1000n]],
  ['TIMESTAMP(6)', 'TIMESTAMP(3)', [1704164645678999n, -1n], [1704164645678n, -1n]],
  ['TIMESTAMP(9)', 'TIMESTAMP(4)', [1704164645678967891n], [1704164645678900n]],
  ['TIMESTAMP(3)', 'TIMESTAMP(0)', [1704164645678n, -1n], [1704164645000n, 0n]],
  ['TIMESTAMP(6) WITH LOCAL TIME ZONE', 'TIMESTAMP(3) WITH LOCAL TIME ZONE', [1999n], [1n]],
  ['DATE', 'TIMESTAMP(3)', [1, -1], [86400000n, -86400000n]],
  ['DATE', 'TIMESTAMP(9)', [1], [86400000000000n]],
  ['TIMESTAMP(6)', 'DATE', [86400000000n, -1n], [1, -1]],
  ['TIMESTAMP(3)', 'TIME(3)', [86400001n, -1n], [1, 86399999]],
]

for (const [from, to, values, expected] of cases) {
  t.test(`${from} reads as ${to}`, (t) => {
    const source = parseType(from)
    const before = columnOf(source, values)
    t.strictSame(valuesOf(castColumn(source, parseType(to), before)), expected)
    t.strictSame(valuesOf(before), values, 'the input is left alone')
    t.end()
  })
}

t.test('columns whose layout does not change are shared, not copied', (t) => {
  for (const [from, to, value] of [
    ['VARCHAR(3)', 'STRING', 'abc'],
    ['DECIMAL(10, 2)', 'DECIMAL(18, 2)', 1n],
    ['TIMESTAMP(4)', 'TIMESTAMP(6)', 1n],
    ['INT', 'INT NOT NULL', 1],
  ] as const) {
    const column = columnOf(parseType(from), [value])
    t.equal(castColumn(parseType(from), parseType(to), column), column, `${from} → ${to}`)
  }
  t.end()
})

t.test('values under a null are zero after a cast', (t) => {
  const cast = castColumn(parseType('INT'), parseType('DECIMAL(3, 0)'), columnOf(parseType('INT'), [1000, 7]))
  t.strictSame(cast.valid, Uint8Array.of(0, 1))
  t.strictSame(cast.kind === 'fixed' && cast.values, BigInt64Array.of(0n, 7n))
  t.end()
})

t.test('fields of a row are found by id and new ones are null', (t) => {
  const from = parseType({
    type: 'ROW',
    fields: [
      { id: 1, name: 'a', type: 'INT' },
      { id: 2, name: 'b', type: 'STRING' },
    ],
  })
  const to = parseType({
    type: 'ROW',
    fields: [
      { id: 3, name: 'a', type: 'INT' },
      { id: 1, name: 'renamed', type: 'BIGINT' },
    ],
  })
  const children = [columnOf(parseType('INT'), [5, 6]), columnOf(parseType('STRING'), ['x', 'y'])]
  const list = { kind: 'array', nullable: true } as const
  const offsets = Int32Array.of(0, 2)
  const cast = castColumn(
    { ...list, element: from },
    { ...list, element: to },
    {
      kind: 'list',
      length: 1,
      offsets,
      child: { kind: 'row', length: 2, children },
    },
  )
  t.ok(cast.kind === 'list' && cast.child.kind === 'row')
  if (cast.kind !== 'list' || cast.child.kind !== 'row') return t.end()
  t.strictSame(cast.child.children.map(valuesOf), [
    [null, null],
    [5n, 6n],
  ])
  t.end()
})

t.test('keys and values of maps are cast alike', (t) => {
  const map = (value: string): DataType => parseType({ type: 'MAP', key: 'INT', value })
  const keys = columnOf(parseType('INT'), [1])
  const values = columnOf(parseType('FLOAT'), [0.5])
  const cast = castColumn(map('FLOAT'), map('DOUBLE'), {
    kind: 'map',
    length: 1,
    offsets: Int32Array.of(0, 1),
    keys,
    values,
  })
  t.ok(cast.kind === 'map' && cast.values.kind === 'fixed' && cast.values.values instanceof Float64Array)
  t.end()
})

t.test('other pairs are refused with both types named', (t) => {
  for (const [from, to] of [
    ['STRING', 'INT'],
    ['INT', 'DATE'],
    ['BYTES', 'INT'],
    ['TIMESTAMP(3) WITH LOCAL TIME ZONE', 'STRING'],
    ['TIMESTAMP(3) WITH LOCAL TIME ZONE', 'TIMESTAMP(3)'],
    ['DATE', 'TIMESTAMP(3) WITH LOCAL TIME ZONE'],
    ['INT', 'BYTES'],
  ] as const) {
    const column = columnOf(parseType(from), [])
    t.throws(() => castColumn(parseType(from), parseType(to), column), {
      code: 'UNSUPPORTED',
      message: `a column written as ${from} cannot be read as ${to}`,
    })
  }
  t.end()
})

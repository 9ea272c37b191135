import tap from 'tap'
import type { Scalar } from '../../../formats/column/column.ts'
import { serializeRow } from '../../../formats/row/binary-row.ts'
import { rowCompare } from '../../../formats/row/key-compare.ts'
import { parseType } from '../../../formats/types/parse.ts'

/** Values of each type in key order, each above the one before. */
const ascending: Readonly<Record<string, readonly (Scalar | string | null)[]>> = {
  BOOLEAN: [null, 0, 1],
  TINYINT: [null, -128, -1, 0, 127],
  SMALLINT: [null, -32768, -256, -1, 0, 1, 256, 32767],
  INT: [null, -2147483648, -65536, -1, 0, 1, 65536, 2147483647],
  BIGINT: [null, -9223372036854775808n, -4294967296n, -1n, 0n, 1n, 2147483648n, 4294967296n, 9223372036854775807n],
  FLOAT: [null, Number.NEGATIVE_INFINITY, -1.5, 0, 1e-30, 1.5, Number.POSITIVE_INFINITY],
  DOUBLE: [null, Number.NEGATIVE_INFINITY, -1e300, -1e-300, 0, 5e-324, 1, Number.POSITIVE_INFINITY],
  DATE: [null, -1, 0, 1],
  'TIME(3)': [null, 0, 86_399_999],
  'DECIMAL(10, 2)': [null, -100n, -1n, 0n, 1n, 100n],
  'DECIMAL(38, 0)': [
    null,
    -(10n ** 37n),
    -129n,
    -128n,
    -127n,
    -1n,
    0n,
    1n,
    127n,
    128n,
    255n,
    256n,
    2n ** 64n,
    10n ** 37n,
  ],
  'TIMESTAMP(3)': [null, -1000n, -1n, 0n, 1n],
  'TIMESTAMP(6)': [null, -1_000_000n, -1_001n, -1_000n, -999n, -1n, 0n, 1n, 999n, 1_000n],
  'TIMESTAMP(9) WITH LOCAL TIME ZONE': [null, -1_000_001n, -1n, 0n, 1n, 999_999n, 1_000_000n],
  STRING: [null, '', 'A', 'a', 'aaaaaaaa', 'aaaaaaaab', 'ab', 'b', 'zzzzzzz', 'é', '～', '😀', '😀aaaaaaaaa'],
  BYTES: [null, '', '\0', '\0\0', '\0\u0001', '\u007f'],
}

const scalar = (value: Scalar | string | null): Scalar | null =>
  typeof value === 'string' ? Buffer.from(value) : value

for (const [text, values] of Object.entries(ascending)) {
  tap.test(`${text} in key order`, (t) => {
    const types = [parseType(text)]
    const compare = rowCompare(types)
    const rows = values.map((value) => serializeRow(types, [scalar(value)]))
    rows.forEach((a, i) => {
      rows.forEach((b, j) => {
        const order = Math.sign(compare(a, b))
        if (order !== Math.sign(i - j)) t.equal(order, Math.sign(i - j), `${values[i]} against ${values[j]}`)
      })
    })
    t.pass('all pairs')
    t.end()
  })
}

tap.test('binary values compare by unsigned bytes', (t) => {
  const types = [parseType('VARBINARY(10)')]
  const keys = ['80', '7f', '', '00', 'ff'].map((hex) => serializeRow(types, [Buffer.from(hex, 'hex')]))
  keys.sort(rowCompare(types))
  t.strictSame(
    keys.map((key) => Buffer.from(key).toString('hex', 12, 13)),
    ['00', '00', '7f', '80', 'ff'],
  )
  t.equal(keys[0]![19], 0x80, 'the empty value is first')
  t.end()
})

tap.test('the first field that differs decides; nulls are below all values', (t) => {
  const types = [parseType('STRING'), parseType('BIGINT'), parseType('TIMESTAMP(6)')]
  const rows = [
    [null, 5n, 1n],
    ['a', null, 9n],
    ['a', 1n, null],
    ['a', 1n, 1n],
    ['a', 2n, 0n],
    ['a text beyond the slot', 0n, 0n],
    ['b', null, null],
  ].map((values) => serializeRow(types, values.map(scalar)))
  const shuffled = [3, 6, 0, 5, 1, 4, 2].map((i) => rows[i]!)
  t.strictSame(shuffled.sort(rowCompare(types)), rows)
  t.end()
})

tap.test('NaN ties with every number and zero with minus zero', (t) => {
  for (const text of ['FLOAT', 'DOUBLE']) {
    const types = [parseType(text)]
    const row = (value: number): Uint8Array => serializeRow(types, [value])
    const compare = rowCompare(types)
    t.equal(compare(row(Number.NaN), row(1)), 0)
    t.equal(compare(row(1), row(Number.NaN)), 0)
    t.equal(compare(row(-0), row(0)), 0)
  }
  t.end()
})

tap.test('rows of more than 56 fields have their slots further on', (t) => {
  const types = Array.from({ length: 60 }, () => parseType('INT'))
  const row = (last: number): Uint8Array =>
    serializeRow(
      types,
      types.map((_, i) => (i === 59 ? last : i)),
    )
  t.ok(rowCompare(types)(row(1), row(2)) < 0)
  t.equal(rowCompare([])(serializeRow([], []), serializeRow([], [])), 0)
  t.end()
})

tap.test('nested keys have no order', (t) => {
  t.throws(() => rowCompare([parseType({ type: 'ARRAY', element: 'INT' })]), { code: 'UNSUPPORTED' })
  t.end()
})

import t from 'tap'
import { escapePathName, partitionPaths } from '../../../engine/plan/partition.ts'
import type { Scalar } from '../../../formats/column/column.ts'
import { serializeRow } from '../../../formats/row/binary-row.ts'
import { parseType } from '../../../formats/types/parse.ts'

const NAMING = { defaultName: '__DEFAULT_PARTITION__', legacyName: true }

function pathOf(columns: readonly (readonly [string, string, Scalar | null])[], legacyName = true): string {
  const fields = columns.map(([name, type], id) => ({ id, name, type: parseType(type) }))
  const row = serializeRow(
    fields.map((field) => field.type),
    columns.map(([, , value]) => value),
  )
  return partitionPaths(fields, { ...NAMING, legacyName })(row)
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value)
const nanos = (iso: string, rest: bigint, perMilli: bigint): bigint => BigInt(Date.parse(iso)) * perMilli + rest

t.test('special characters of a text value are escaped once (C063)', (t) => {
  const cases = [
    ['a b', 'a b'],
    ['a/b', 'a%2Fb'],
    ['x=y', 'x%3Dy'],
    ['50%', '50%25'],
    ['é', 'é'],
    ['日本', '日本'],
    ['😀', '😀'],
    ['..', '..'],
    ['c:d', 'c%3Ad'],
    ['t\tb', 't%09b'],
    ['q?', 'q%3F'],
    ['{z}', '%7Bz%7D'],
    ['~', '~'],
    ['+', '+'],
    ['&', '&'],
    ['a/b:c=d%e f?', 'a%2Fb%3Ac%3Dd%25e f%3F'],
    ['é{x}[y]^#\'"*\\', 'é%7Bx%7D%5By%5D%5E%23%27%22%2A%5C'],
    ['\u007f', '%7F'],
  ] as const
  for (const [value, folder] of cases) t.equal(pathOf([['p', 'STRING', text(value)]]), `p=${folder}`)
  t.end()
})

t.test('null, empty and blank values share the default folder, whatever the naming (C064)', (t) => {
  for (const legacyName of [true, false]) {
    for (const value of [null, text(''), text('  '), text('\t\u001f\u3000')]) {
      t.equal(pathOf([['p', 'STRING', value]], legacyName), 'p=__DEFAULT_PARTITION__')
    }
    t.equal(pathOf([['n', 'DECIMAL(20, 2)', null]], legacyName), 'n=__DEFAULT_PARTITION__')
    t.equal(pathOf([['p', 'STRING', text('\u00a0')]], legacyName), 'p=\u00a0')
  }
  t.end()
})

t.test('normalisation never joins two values (C062)', (t) => {
  t.not(pathOf([['p', 'STRING', text('\u00e9')]]), pathOf([['p', 'STRING', text('e\u0301')]]))
  t.end()
})

t.test('dates and timestamps in both namings (C065)', (t) => {
  const early = BigInt(Date.parse('1969-12-31T23:59:59.999Z'))
  const noon = BigInt(Date.parse('2024-01-01T12:30:00Z'))
  const at = (d: number, ts: bigint, legacyName: boolean): string =>
    pathOf(
      [
        ['d', 'DATE', d],
        ['ts', 'TIMESTAMP(3)', ts],
      ],
      legacyName,
    )
  t.equal(at(19723, noon, true), 'd=19723/ts=2024-01-01T12%3A30')
  t.equal(at(-1, early, true), 'd=-1/ts=1969-12-31T23%3A59%3A59.999')
  t.equal(at(19723, noon, false), 'd=2024-01-01/ts=2024-01-01 12%3A30%3A00.000')
  t.equal(at(-1, early, false), 'd=1969-12-31/ts=1969-12-31 23%3A59%3A59.999')
  t.end()
})

t.test('fractions have three, six or nine digits in the legacy naming', (t) => {
  const six = (micros: bigint): string => pathOf([['t', 'TIMESTAMP(6)', nanos('2024-01-02T03:04:05Z', micros, 1_000n)]])
  t.equal(six(678_901n), 't=2024-01-02T03%3A04%3A05.678901')
  t.equal(six(678_000n), 't=2024-01-02T03%3A04%3A05.678')
  t.equal(six(0n), 't=2024-01-02T03%3A04%3A05')
  const nine = nanos('2024-01-02T03:04:05Z', 1n, 1_000_000n)
  t.equal(pathOf([['t', 'TIMESTAMP(9)', nine]]), 't=2024-01-02T03%3A04%3A05.000000001')
  t.equal(
    pathOf([['t', 'TIMESTAMP(6)', nanos('2024-01-02T03:04:05Z', 678_901n, 1_000n)]], false),
    't=2024-01-02 03%3A04%3A05.678901',
  )
  t.end()
})

t.test('numbers, booleans and decimals', (t) => {
  t.equal(
    pathOf([
      ['b', 'BOOLEAN', 1],
      ['i', 'BIGINT', -9223372036854775808n],
      ['n', 'DECIMAL(6, 2)', 150n],
      ['x', 'DOUBLE', 1.5],
      ['f', 'FLOAT', Math.fround(0.1)],
      ['t', 'TIME(3)', 1000],
    ]),
    'b=true/i=-9223372036854775808/n=1.50/x=1.5/f=0.1/t=1000',
  )
  t.end()
})

t.test('a table without partition keys has no folder', (t) => {
  t.equal(partitionPaths([], NAMING)(new Uint8Array(12)), '')
  t.end()
})

t.test('empty text has no escaped form', (t) => {
  t.throws(() => escapePathName(''), { code: 'INVALID' })
  t.end()
})

t.test('a row of other types is refused', (t) => {
  const paths = partitionPaths([{ id: 0, name: 'p', type: parseType('STRING') }], NAMING)
  t.throws(() => paths(new Uint8Array(12)), { code: 'CORRUPT' })
  t.end()
})

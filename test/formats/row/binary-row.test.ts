import tap from 'tap'
import type { Scalar } from '../../../formats/column/column.ts'
import { decodeRow, deserializeRow, encodeRow, serializeRow } from '../../../formats/row/binary-row.ts'
import { parseType } from '../../../formats/types/parse.ts'
import { answerRows, kernelScalar } from '../../../tools/kernel/rows.ts'
import { pageBlock } from '../../support/format-page.ts'

tap.test('rows of the format page, their hashes and buckets', (t) => {
  const lines = pageBlock('binary-row.md', 'text rows').split('\n')
  t.equal(lines.length, 27)
  for (const line of lines) {
    const [typeText = '', valueText = '', hex = '', hashText] = line.split(' | ')
    const texts = typeText.split(/, (?=[A-Z])/)
    const values: unknown[] = JSON.parse(`[${valueText}]`.replaceAll(/("ms":"[^"]*")}/g, '$1,"nanoOfMilli":0}'))
    const answer = answerRows({ types: texts, values })
    t.equal(answer.bytes, hex.replaceAll(' ', ''), line)
    if (hashText !== undefined) t.equal(`${answer.hash} ${answer.bucket2} ${answer.bucket7}`, hashText, line)
    const types = texts.map((text) => parseType(text))
    const scalars = types.map((type, i) => kernelScalar(type, values[i]))
    const decoded = deserializeRow(types, Buffer.from(answer.bytes, 'hex'))
    t.strictSame(decoded.map(plain), scalars.map(plain), `${line} decoded`)
  }
  t.end()
})

function plain(value: Scalar | null): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}

tap.test('precise timestamps before 1970 and at the ends of their range', (t) => {
  const types = [parseType('TIMESTAMP(6)'), parseType('TIMESTAMP(9)'), parseType('TIMESTAMP(6) WITH LOCAL TIME ZONE')]
  for (const values of [
    [-1n, -1n, -1_001n],
    [-9223372036854775808n, -9223372036854775808n * 1000n, 9223372036854775807n],
    [0n, 999_999n, null],
  ]) {
    t.strictSame(decodeRow(types, encodeRow(types, values)), values)
  }
  t.end()
})

tap.test('decimals of every byte length keep their value', (t) => {
  const types = [parseType('DECIMAL(38, 0)')]
  for (let bits = 0n; bits < 127n; bits++) {
    for (const value of [1n << bits, -(1n << bits), (1n << bits) - 1n, -(1n << bits) - 1n]) {
      const [decoded] = decodeRow(types, encodeRow(types, [value]))
      if (decoded !== value) t.equal(decoded, value)
    }
  }
  t.pass('all lengths')
  t.end()
})

tap.test('the header grows by a word with fields 57 and 121', (t) => {
  for (const [fields, header] of [
    [0, 8],
    [1, 8],
    [56, 8],
    [57, 16],
    [120, 16],
    [121, 24],
  ] as const) {
    const types = Array.from({ length: fields }, () => parseType('INT'))
    const values = types.map((_, i) => (i === fields - 1 ? null : i))
    const row = encodeRow(types, values)
    t.equal(row.length, header + 8 * fields)
    t.strictSame(decodeRow(types, row), values)
  }
  t.equal(Buffer.from(serializeRow([], [])).toString('hex'), '0'.repeat(24))
  t.end()
})

tap.test('nested values are refused, nested nulls are not', (t) => {
  const types = [parseType({ type: 'ARRAY', element: 'INT' })]
  t.strictSame(decodeRow(types, encodeRow(types, [null])), [null])
  t.throws(() => encodeRow(types, [new Uint8Array(8)]), { code: 'UNSUPPORTED', message: /ARRAY<INT>/ })
  const row = new Uint8Array(16)
  t.throws(() => decodeRow(types, row), { code: 'UNSUPPORTED' })
  t.strictSame(decodeRow(types, row, 'nested as null'), [null])
  t.end()
})

tap.test('damage is found: lengths and offsets outside the row', (t) => {
  const text = [parseType('STRING')]
  const row = serializeRow(text, [Buffer.from('hello world')])
  const damage = (bytes: Uint8Array, offset: number, value: number): Uint8Array => {
    const copy = new Uint8Array(bytes)
    copy[offset] = value
    return copy
  }
  const cases: readonly (readonly [string, Uint8Array])[] = [
    ['no field count', row.subarray(0, 3)],
    ['another field count', damage(row, 3, 2)],
    ['a huge field count', damage(row, 0, 0xff)],
    ['cut in the slots', row.subarray(0, 16)],
    ['cut in the variable part', row.subarray(0, 24)],
    ['length beyond the end', damage(row, 13, 0xff)],
    ['offset beyond the end', damage(row, 16, 0x7f)],
    ['inline length above 7', damage(row, 19, 0x88)],
  ]
  for (const [what, bytes] of cases) t.throws(() => deserializeRow(text, bytes), { code: 'CORRUPT' }, what)
  const time = serializeRow([parseType('TIMESTAMP(6)')], [1n])
  t.throws(() => deserializeRow([parseType('TIMESTAMP(6)')], damage(time, 14, 0xff)), { code: 'CORRUPT' })
  const decimal = serializeRow([parseType('DECIMAL(20, 0)')], [1n])
  for (const length of [0, 17]) {
    t.throws(() => deserializeRow([parseType('DECIMAL(20, 0)')], damage(decimal, 12, length)), { code: 'CORRUPT' })
  }
  t.end()
})

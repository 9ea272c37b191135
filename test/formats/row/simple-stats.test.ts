import tap from 'tap'
import type { Scalar } from '../../../formats/column/column.ts'
import { serializeRow } from '../../../formats/row/binary-row.ts'
import { buildStats, readStats, truncateBounds } from '../../../formats/row/simple-stats.ts'
import { truncateText, truncateTextUp } from '../../../formats/row/truncate-text.ts'
import { parseType } from '../../../formats/types/parse.ts'

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8')

tap.test('text is cut to whole code points, down for a minimum and up for a maximum', (t) => {
  const cases: readonly (readonly [value: string, length: number, down: string, up: string | undefined])[] = [
    ['b0123456789abcdefghi', 16, 'b0123456789abcde', 'b0123456789abcdf'],
    [`${'a'.repeat(15)}😀tail`, 16, `${'a'.repeat(15)}😀`, `${'a'.repeat(15)}😁`],
    ['abc', 3, 'abc', 'abc'],
    ['ééé', 3, 'ééé', 'ééé'],
    ['éééé', 2, 'éé', 'éê'],
    ['', 16, '', ''],
    ['a\u{10ffff}x', 2, 'a\u{10ffff}', 'b'],
    ['\u{10ffff}\u{10ffff}x', 2, '\u{10ffff}\u{10ffff}', undefined],
    ['\ud7ffx', 1, '\ud7ff', '\ue000'],
    ['\u007fx', 1, '\u007f', '\u0080'],
    ['\uffffx', 1, '\uffff', '\u{10000}'],
  ]
  for (const [value, length, down, up] of cases) {
    const lower = truncateText(utf8(value), length)
    const upper = truncateTextUp(utf8(value), length)
    t.equal(text(lower), down, value)
    t.equal(text(upper), up, value)
    t.ok(Buffer.compare(lower, utf8(value)) <= 0)
    if (upper !== undefined) t.ok(Buffer.compare(upper, utf8(value)) >= 0)
  }
  t.equal(truncateTextUp(Uint8Array.of(0x61, 0xff, 0x62), 2), undefined, 'bytes that are no UTF-8 have no bound above')
  t.end()
})

tap.test('modes keep what they promise', (t) => {
  const type = parseType('STRING')
  const stats = { min: utf8('abcdef'), max: utf8('xyzabc'), nullCount: 3 }
  t.strictSame(truncateBounds(type, stats, { kind: 'full' }), stats)
  t.strictSame(truncateBounds(type, stats, { kind: 'counts' }), { min: null, max: null, nullCount: 3 })
  t.strictSame(truncateBounds(type, stats, { kind: 'none' }), { min: null, max: null, nullCount: null })
  const cut = truncateBounds(type, stats, { kind: 'truncate', length: 2 })
  t.strictSame([text(cut.min as Uint8Array), text(cut.max as Uint8Array), cut.nullCount], ['ab', 'xz', 3])
  const numbers = { min: 1, max: 5, nullCount: 0 }
  t.strictSame(truncateBounds(parseType('INT'), numbers, { kind: 'truncate', length: 2 }), numbers)
  t.end()
})

tap.test('types and values that order nothing have no bounds, but a null count', (t) => {
  const none = { min: null, max: null, nullCount: 2 }
  const full = { kind: 'full' } as const
  for (const name of ['BYTES', 'BINARY(3)']) {
    t.strictSame(truncateBounds(parseType(name), { min: utf8('a'), max: utf8('b'), nullCount: 2 }, full), none)
  }
  for (const name of ['TIMESTAMP(7)', 'TIMESTAMP(9) WITH LOCAL TIME ZONE']) {
    t.strictSame(truncateBounds(parseType(name), { min: 1n, max: 2n, nullCount: 2 }, full), none)
  }
  t.strictSame(truncateBounds(parseType('DOUBLE'), { min: 1, max: Number.NaN, nullCount: 2 }, full), none)
  const top = { min: utf8('a'), max: utf8('\u{10ffff}x'), nullCount: 2 }
  t.strictSame(truncateBounds(parseType('STRING'), top, { kind: 'truncate', length: 1 }), none)
  t.end()
})

tap.test('what is built is read back', (t) => {
  const types = ['INT', 'STRING', 'DECIMAL(20, 2)', 'TIMESTAMP(6)', 'BYTES'].map((name) => parseType(name))
  const columns = [
    { min: -5, max: 9, nullCount: 0 },
    { min: utf8('a'), max: utf8('a text beyond the slot'), nullCount: 1 },
    { min: -(10n ** 18n), max: 10n ** 18n, nullCount: null },
    { min: null, max: null, nullCount: 7 },
    { min: null, max: null, nullCount: 2 },
  ]
  const plain = (value: Scalar | null) => (value instanceof Uint8Array ? text(value) : value)
  const read = readStats(types, buildStats(types, columns), 7)
  t.strictSame(
    read.map(({ min, max, nullCount, rows }) => ({ min: plain(min), max: plain(max), nullCount, rows })),
    columns.map(({ min, max, nullCount }) => ({ min: plain(min), max: plain(max), nullCount, rows: 7 })),
  )
  t.end()
})

tap.test('statistics without fields know nothing, whatever the columns', (t) => {
  const empty = { min: new Uint8Array(12), max: new Uint8Array(12), nullCounts: null }
  const types = [parseType('INT'), parseType('STRING')]
  const unknown = { min: null, max: null, nullCount: null, rows: 3 }
  t.strictSame(readStats(types, empty, 3), [unknown, unknown])
  t.strictSame(readStats(types, { ...empty, nullCounts: [] }, 3), [unknown, unknown])
  t.strictSame(readStats([], { ...empty, nullCounts: [] }, 3), [])
  t.end()
})

tap.test('a NaN bound is unknown: Paimon writes it as the maximum, with the least number as minimum', (t) => {
  const types = [parseType('DOUBLE')]
  const row = (value: number): Uint8Array => serializeRow(types, [value])
  const read = (min: number, max: number) => {
    const [bounds] = readStats(types, { min: row(min), max: row(max), nullCounts: [0] }, 2)
    return [bounds?.min, bounds?.max]
  }
  t.strictSame(read(-1, Number.NaN), [-1, null])
  t.strictSame(read(Number.NaN, Number.NaN), [null, null])
  t.end()
})

tap.test('statistics of other columns are refused', (t) => {
  const stats = buildStats([parseType('INT')], [{ min: 1, max: 2, nullCount: 0 }])
  t.throws(() => readStats([parseType('INT'), parseType('INT')], stats, 1), { code: 'CORRUPT', message: /1 columns/ })
  t.throws(() => readStats([parseType('INT')], { ...stats, nullCounts: [0, 0] }, 1), { code: 'CORRUPT' })
  t.end()
})

import t from 'tap'
import { AvroReader, AvroWriter } from '../../../formats/avro/cursor.ts'
import { FormatError } from '../../../formats/bytes/format-error.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const reader = (text: string) => new AvroReader(Buffer.from(text, 'hex'), 'test')
const corrupt = (message: RegExp) => ({ name: 'FormatError', code: 'CORRUPT', message })

const longs: readonly (readonly [bigint, string])[] = [
  [0n, '00'],
  [-1n, '01'],
  [1n, '02'],
  [63n, '7e'],
  [-64n, '7f'],
  [64n, '8001'],
  [2n ** 31n - 1n, 'feffffff0f'],
  [-(2n ** 31n), 'ffffffff0f'],
  [2n ** 31n, '8080808010'],
  [-4503599627370497n, '8180808080808010'],
  [4503599627370497n, '8280808080808010'],
  [9007199254740991n, 'feffffffffffff1f'],
  [9007199254740993n, '8280808080808020'],
  [-(2n ** 63n), 'ffffffffffffffffff01'],
  [2n ** 63n - 1n, 'feffffffffffffffff01'],
]

t.test('C043 64-bit numbers have the exact bytes in both directions', (t) => {
  for (const [value, bytes] of longs) {
    const out = new AvroWriter()
    out.long(value)
    t.equal(hex(out.written()), bytes, `${value} written`)
    const input = reader(bytes)
    t.equal(input.long(), value, `${value} read`)
    t.equal(input.remaining, 0)
  }
  t.end()
})

t.test('a JS number has the same bytes as the bigint, and is never rounded', (t) => {
  const edges = [2 ** 28, 2 ** 34, 2 ** 35, 2 ** 48, 2 ** 49, 2 ** 51, 2 ** 52].flatMap((n) => [n - 1, n, n + 1])
  for (const magnitude of [...edges, Number.MAX_SAFE_INTEGER, 1795998159700]) {
    for (const value of [magnitude, -magnitude]) {
      const asNumber = new AvroWriter()
      asNumber.number(value)
      const asLong = new AvroWriter()
      asLong.long(BigInt(value))
      t.equal(hex(asNumber.written()), hex(asLong.written()), `${value} written`)
      t.equal(new AvroReader(asNumber.written(), 'test').number(), value, `${value} read`)
    }
  }
  t.throws(() => reader('8280808080808020').number(), corrupt(/9007199254740993 does not fit/))
  t.throws(() => new AvroWriter().number(2 ** 53), RangeError)
  t.throws(() => new AvroWriter().number(1.5), RangeError)
  t.throws(() => new AvroWriter().number(Number.NaN), RangeError)
  t.throws(() => new AvroWriter().long(2n ** 63n), RangeError)
  t.end()
})

t.test('an int has 32 bits', (t) => {
  t.equal(reader('feffffff0f').int(), 2147483647)
  t.equal(reader('ffffffff0f').int(), -2147483648)
  t.throws(() => reader('8080808010').int(), corrupt(/byte 0: expected an int of 32 bits, found 2147483648/))
  t.end()
})

t.test('numbers that end too early or too late are refused', (t) => {
  for (const bytes of ['', '80', 'ffffff', '80808080', '808080808080', 'ffffffffffffffffff']) {
    t.throws(() => reader(bytes).long(), corrupt(/the data ends inside a number/), bytes)
    t.throws(() => reader(bytes).number(), corrupt(/the data ends inside a number/), bytes)
  }
  t.throws(() => reader('ffffffffffffffffff02').long(), corrupt(/longer than 64 bits/))
  t.throws(() => reader('ffffffffffffffffffff01').long(), corrupt(/longer than 64 bits/))
  t.end()
})

t.test('text is UTF-8, strictly', (t) => {
  for (const text of [
    '',
    'data-1.parquet',
    'é',
    '日本',
    '😀',
    '\ufeffx',
    'a\0b',
    'x'.repeat(5000),
    `${'x'.repeat(63)}é`,
  ]) {
    const out = new AvroWriter(1)
    out.string(text)
    t.equal(new AvroReader(out.written(), 'test').string(), text)
  }
  t.throws(() => reader('04c328').string(), corrupt(/byte 1: a string is not UTF-8/))
  t.end()
})

t.test('a length beyond the data is refused before anything is allocated', (t) => {
  t.throws(() => reader('feffffff0f61').bytes(), corrupt(/byte 0: a byte array of 2147483647 bytes, but 1 are left/))
  t.throws(() => reader('0161').string(), corrupt(/a string of -1 bytes/))
  t.throws(() => reader('fe01').blockCount(), corrupt(/127 items, but only 0 bytes are left/))
  t.throws(() => reader('01feffff07').blockCount(), corrupt(/a block of/))
  t.throws(() => reader('02').boolean(), FormatError)
  t.end()
})

t.test('a block count may be negative, with the length of the block behind', (t) => {
  const input = reader('0304aabb')
  t.equal(input.blockCount(), 2)
  t.equal(input.remaining, 2)
  t.end()
})

import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import {
  binary,
  bool,
  decodeThrift,
  encodeThrift,
  i8,
  i16,
  i32,
  i64,
  list,
  optional,
  required,
  struct,
  ThriftReader,
  text,
} from '../../../formats/parquet/thrift.ts'

interface Sample {
  readonly flag: boolean
  readonly small?: number
  readonly offset?: number
  readonly name?: string
  readonly far?: Uint8Array
  readonly flags?: readonly boolean[]
  readonly inner?: { readonly x: number }
}

const sample = struct<Sample>('Sample', {
  flag: required(1, bool),
  small: optional(2, i8),
  offset: optional(3, i64),
  name: optional(5, text),
  far: optional(40, binary),
  flags: optional(41, list(bool)),
  inner: optional(42, struct<{ readonly x: number }>('Inner', { x: required(1, i16) })),
})

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

t.test('a struct is laid out as the compact protocol says', async (t) => {
  //           flag = true | small = -1 | name = 'é' (delta 3) | far (delta 35: id as varint) | end
  const value: Sample = { flag: true, small: -1, name: 'é', far: Uint8Array.of(7) }
  t.equal(hex(encodeThrift(sample, value)), '11 13ff 3802c3a9 08500107 00'.replaceAll(' ', ''))
  t.strictSame(decodeThrift(sample, encodeThrift(sample, value)), value)
})

t.test('whatever is written is read back', async () => {
  const keep = <T extends object>(value: T) =>
    Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined))
  const option = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
  const arbitrary = fc.record({
    flag: fc.boolean(),
    small: option(fc.integer({ min: -128, max: 127 })),
    offset: option(fc.maxSafeInteger()),
    name: option(fc.string({ unit: 'grapheme' })),
    far: option(fc.uint8Array({ maxLength: 300 })),
    flags: option(fc.array(fc.boolean(), { maxLength: 40 })),
    inner: option(fc.record({ x: fc.integer({ min: -32768, max: 32767 }) }, { noNullPrototype: true })),
  })
  fc.assert(
    fc.property(arbitrary, (value) => {
      const expected = keep(value)
      return isDeepStrictEqual(decodeThrift(sample, encodeThrift(sample, expected as unknown as Sample)), expected)
    }),
  )
})

t.test('64-bit integers are exact up to 2^53 and refused beyond', async (t) => {
  const one = struct<{ readonly x: number }>('One', { x: required(1, i64) })
  for (const x of [0, -1, 1, 2 ** 31, -(2 ** 31) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
    t.equal(decodeThrift(one, encodeThrift(one, { x })).x, x)
  }
  t.throws(() => encodeThrift(one, { x: 2 ** 53 }), RangeError)
  t.throws(() => decodeThrift(one, bytes('16 feffffffffffffffff01 00')), { code: 'CORRUPT', message: /beyond 2\^53/ })
  t.throws(() => decodeThrift(one, bytes('16 ffffffffffffffffffff01 00')), { code: 'CORRUPT', message: /10 bytes/ })
})

t.test('unknown fields of every type are skipped', async (t) => {
  // id 6: byte, i16, i32, i64, double, binary, list of bool, map, struct with a struct; then the flag, out of order.
  const unknown = '6307 1480 01 1580 01 1680 01 17 0000000000000000 180161 192101 02 1b01 88 0161 0162 1c 1c00 00'
  t.strictSame(decodeThrift(sample, bytes(`${unknown} 02 02 00`)), { flag: false })
  t.strictSame(decodeThrift(sample, bytes(`${unknown} 01 02 00`)), { flag: true })
})

t.test('damage is CORRUPT and names its place', async (t) => {
  const cases: readonly (readonly [what: string, bytes: string, message: RegExp])[] = [
    ['empty', '', /ends at byte 0/],
    ['no end', '11', /ends at byte 1/],
    ['required field missing', '00', /Sample at byte 0 has no flag/],
    ['wrong type', '15 02 00', /Sample\.flag .* type 5/],
    ['text past the end', '11 48 7f 61', /needs 127 bytes/],
    ['not UTF-8', '11 48 01 ff 00', /not UTF-8/],
    ['list longer than the file', '11 09 52 f1 ffffffff07', /needs 2147483647 bytes/],
    ['list of another type', '11 09 52 15 00', /elements of type 5/],
    ['type 13', '11 fd', /type 13/],
    ['i16 out of range', '11 0c 54 14 808080 01 00 00', /i16/],
  ]
  for (const [what, input, message] of cases) {
    t.throws(() => decodeThrift(sample, bytes(input)), { name: 'FormatError', code: 'CORRUPT', message }, what)
  }
})

t.test('deep nesting ends in CORRUPT, not in a stack overflow', async (t) => {
  const structs = new Uint8Array(1000000).fill(0x1c)
  structs[0] = 0x6c
  t.throws(() => decodeThrift(sample, structs), { code: 'CORRUPT', message: /nested deeper/ })
  const lists = new Uint8Array(1000000).fill(0x19)
  t.throws(() => new ThriftReader(lists).skip(9), { code: 'CORRUPT', message: /nested deeper/ })
})

t.test('enumerations are plain numbers', async (t) => {
  const one = struct<{ readonly x: number }>('One', { x: required(1, i32) })
  t.equal(hex(encodeThrift(one, { x: 8 })), '151000')
  t.throws(() => decodeThrift(one, bytes('15 8080808020 00')), { code: 'CORRUPT', message: /i32/ })
})

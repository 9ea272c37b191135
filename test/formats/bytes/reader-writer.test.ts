import tap from 'tap'
import { ByteReader } from '../../../formats/bytes/reader.ts'
import { ByteWriter } from '../../../formats/bytes/writer.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

tap.test('numbers of every width come back, in both byte orders', (t) => {
  const writer = new ByteWriter(1)
  writer.u8(0xfe)
  writer.u16le(0x1234)
  writer.u16be(0x1234)
  writer.i32le(-2)
  writer.i32be(-2)
  writer.i64le(-3n)
  writer.i64be(-3n)
  writer.f32le(1.5)
  writer.f64le(-0.25)
  writer.bytes(Uint8Array.of(9, 8))
  writer.zeros(2)
  t.equal(
    hex(writer.finish()),
    'fe34121234feffffff' +
      'fffffffe' +
      'fdffffffffffffff' +
      'fffffffffffffffd' +
      '0000c03f' +
      '000000000000d0bf' +
      '09080000',
  )
  const reader = new ByteReader(writer.peek())
  t.equal(reader.i8(), -2)
  t.equal(reader.u16le(), 0x1234)
  t.equal(reader.u16be(), 0x1234)
  t.equal(reader.u32le(), 0xfffffffe)
  t.equal(reader.i32be(), -2)
  t.equal(reader.i64le(), -3n)
  t.equal(reader.i64be(), -3n)
  t.equal(reader.f32le(), 1.5)
  t.equal(reader.f64le(), -0.25)
  t.equal(hex(reader.take(2)), '0908')
  reader.skip(1)
  t.equal(reader.remaining, 1)
  reader.seek(5)
  t.equal(reader.i32le(), -2)
  t.equal(reader.u32be(), 0xfffffffe)
  t.end()
})

tap.test('varints come back at every length', (t) => {
  const writer = new ByteWriter()
  const narrow = [0, 1, 127, 128, 16383, 16384, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32 - 1]
  const signed = [0, -1, 1, 63, -64, 64, 2147483647, -2147483648]
  const wide = [0n, 127n, 128n, 2n ** 28n - 1n, 2n ** 28n, 2n ** 35n, 2n ** 63n, 2n ** 64n - 1n]
  const wideSigned = [0n, -1n, 1n, 2n ** 31n, -(2n ** 31n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)]
  for (const value of narrow) writer.uvarint32(value)
  for (const value of signed) writer.varint32(value)
  for (const value of wide) writer.uvarint64(value)
  for (const value of wideSigned) writer.varint64(value)
  const reader = new ByteReader(writer.finish())
  for (const value of narrow) t.equal(reader.uvarint32(), value)
  for (const value of signed) t.equal(reader.varint32(), value)
  for (const value of wide) t.equal(reader.uvarint64(), value)
  for (const value of wideSigned) t.equal(reader.varint64(), value)
  t.equal(reader.remaining, 0)
  t.end()
})

tap.test('varints that are too long are damage, not wrapped numbers', (t) => {
  const read32 = (...bytes: number[]) => new ByteReader(Uint8Array.from(bytes)).uvarint32()
  const read64 = (...bytes: number[]) => new ByteReader(Uint8Array.from(bytes)).uvarint64()
  t.throws(() => read32(0xff, 0xff, 0xff, 0xff, 0x10), { code: 'CORRUPT', message: /at offset 0/ })
  t.throws(() => read32(0x80, 0x80, 0x80, 0x80, 0x80, 0), { code: 'CORRUPT' })
  t.throws(() => read64(...new Array(9).fill(0xff), 2), { code: 'CORRUPT' })
  t.throws(() => read64(...new Array(11).fill(0x80)), { code: 'CORRUPT' })
  t.throws(() => read32(0x80), { code: 'CORRUPT', message: /need 1 bytes at offset 1, but only 0 are left/ })
  t.end()
})

tap.test('nothing is read beyond the range of a reader', (t) => {
  const bytes = new Uint8Array(16)
  const reader = new ByteReader(bytes, 4, 8)
  t.throws(() => reader.i64le(), { code: 'CORRUPT', message: /need 8 bytes at offset 4, but only 4 are left/ })
  t.equal(reader.position, 4, 'a failed read does not move')
  for (const count of [5, -1, Number.NaN, 2 ** 40]) t.throws(() => reader.take(count), { code: 'CORRUPT' })
  for (const position of [9, -1, Number.NaN]) t.throws(() => reader.seek(position), { code: 'CORRUPT' })
  t.throws(() => new ByteReader(bytes, 0, 17), { code: 'CORRUPT' })
  t.throws(() => new ByteReader(bytes, 9, 8), { code: 'CORRUPT' })
  t.end()
})

tap.test('a reader over a slice of a larger buffer starts at the slice', (t) => {
  const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8).subarray(4)
  t.equal(new ByteReader(bytes).u32le(), 0x08070605)
  t.end()
})

tap.test('a writer grows, patches, and starts over', (t) => {
  const writer = new ByteWriter(2)
  writer.i32le(0)
  writer.i32be(0)
  for (let i = 0; i < 1000; i++) writer.u8(i)
  writer.patchI32le(0, 7)
  writer.patchI32be(4, 7)
  t.equal(writer.length, 1008)
  t.equal(hex(writer.finish().subarray(0, 10)), '07000000000000070001')
  const copy = writer.finish()
  writer.clear()
  writer.zeros(3)
  t.equal(hex(writer.peek()), '000000', 'zeros over what was there')
  t.equal(copy[9], 1, 'a finished copy stays')
  t.end()
})

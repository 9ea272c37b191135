import fc from 'fast-check'
import t from 'tap'
import { ByteStreamSplitDecoder } from '../../../formats/parquet/byte-stream-split.ts'
import { DeltaDecoder } from '../../../formats/parquet/delta.ts'
import { DeltaLengthDecoder, DeltaStringsDecoder } from '../../../formats/parquet/delta-strings.ts'
import { BytesDictionaryDecoder, FixedDictionaryDecoder } from '../../../formats/parquet/dictionary.ts'
import { PlainBooleanDecoder, PlainBytesDecoder, PlainFixedDecoder } from '../../../formats/parquet/plain.ts'
import { BitPackedLevels, RleDecoder } from '../../../formats/parquet/rle.ts'
import { BytesBuffer, FixedBuffer } from '../../../formats/parquet/value-buffer.ts'

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const CORRUPT = { name: 'FormatError', code: 'CORRUPT' }

const strings = (buffer: BytesBuffer): string[] =>
  Array.from({ length: buffer.length }, (_, i) =>
    Buffer.from(buffer.data.subarray(buffer.offsets[i]!, buffer.offsets[i + 1]!)).toString(),
  )

/** Bit-packs values, lowest bit first: the reference that the decoder is checked against. */
function pack(values: readonly number[], width: number): Uint8Array {
  const packed = new Uint8Array(Math.ceil((values.length * width) / 8))
  values.forEach((value, i) => {
    for (let k = 0; k < width; k++) {
      const bit = i * width + k
      if (Math.floor(value / 2 ** k) % 2 === 1) packed[bit >> 3] = packed[bit >> 3]! | (1 << (bit & 7))
    }
  })
  return packed
}

t.test('RLE: the worked example of the format, 0 to 7 in three bits', async (t) => {
  const out = new Int32Array(8)
  new RleDecoder(bytes('03 88c6fa'), 0, 4, 3).readInts(out, 8)
  t.strictSame([...out], [0, 1, 2, 3, 4, 5, 6, 7])
})

t.test('RLE: runs and groups of every width, read in pieces of any size', async () => {
  const part = fc.record({ run: fc.boolean(), count: fc.integer({ min: 1, max: 40 }), seed: fc.nat() })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 31 }),
      fc.array(part, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 9 }),
      (width, parts, step) => {
        const encoded: number[] = []
        const values: number[] = []
        for (const { run, count, seed } of parts) {
          const value = (i: number): number => (seed * 7919 + i * 104729) % 2 ** width
          if (run) {
            encoded.push(...varint(count * 2))
            for (let k = 0; k < Math.ceil(width / 8); k++) encoded.push(Math.floor(value(0) / 2 ** (8 * k)) & 255)
            for (let i = 0; i < count; i++) values.push(value(0))
          } else {
            const group = Array.from({ length: Math.ceil(count / 8) * 8 }, (_, i) => value(i))
            encoded.push(...varint((group.length / 8) * 2 + 1), ...pack(group, width))
            values.push(...group)
          }
        }
        const decoder = new RleDecoder(Uint8Array.from(encoded), 0, encoded.length, width)
        const out: number[] = []
        const piece = new Int32Array(step)
        for (let at = 0; at < values.length; at += step) {
          const take = Math.min(step, values.length - at)
          decoder.readInts(piece, take)
          out.push(...piece.subarray(0, take))
        }
        return JSON.stringify(out) === JSON.stringify(values)
      },
    ),
  )
})

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)]
}

t.test('RLE: levels are counted, runs keep their place, no bits need no bytes', async (t) => {
  const levels = new Uint8Array(20)
  const decoder = new RleDecoder(bytes('0601 03 a5 0800'), 0, 6, 1)
  t.equal(decoder.read(levels, 0, 5, 1), 4, 'a run of three ones, then 1 and 0 of the group')
  t.equal(decoder.read(levels, 5, 10, 1), 3)
  t.strictSame([...levels.subarray(0, 15)], [1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0])
  t.throws(() => decoder.read(levels, 0, 1, 1), CORRUPT)
  const none = new Int32Array(3).fill(9)
  new RleDecoder(new Uint8Array(0), 0, 0, 0).readInts(none, 3)
  t.strictSame([...none], [0, 0, 0])
})

t.test('RLE: a huge run costs nothing, a value too wide is CORRUPT', async (t) => {
  const out = new Int32Array(4)
  new RleDecoder(bytes('feffffff0f 05'), 0, 6, 3).readInts(out, 4)
  t.strictSame([...out], [5, 5, 5, 5])
  t.throws(() => new RleDecoder(bytes('08 09'), 0, 2, 3).readInts(out, 4), CORRUPT)
  t.throws(() => new RleDecoder(bytes('ffffffffff01'), 0, 6, 3).readInts(out, 4), CORRUPT)
})

t.test('BIT_PACKED levels are packed from the highest bit', async (t) => {
  const out = new Uint8Array(8)
  t.equal(new BitPackedLevels(bytes('053977'), 0, 3).read(out, 0, 8, 7), 1)
  t.strictSame([...out], [0, 1, 2, 3, 4, 5, 6, 7])
  t.throws(() => new BitPackedLevels(bytes('05'), 0, 3).read(out, 0, 8, 7), CORRUPT)
})

t.test('PLAIN: values in pieces, skips, and what is too short', async (t) => {
  const fixed = new FixedBuffer(4, 1)
  const four = new PlainFixedDecoder(bytes('01000000 02000000 ffffffff'), 0, 4)
  four.skip(1)
  four.read(fixed, 2)
  t.strictSame([...fixed.words.subarray(0, 2)], [2, -1])
  t.throws(() => four.read(fixed, 1), CORRUPT)

  const bits = new FixedBuffer(1, 3)
  const booleans = new PlainBooleanDecoder(bytes('0a'), 0)
  booleans.skip(1)
  booleans.read(bits, 3)
  t.strictSame([...bits.bytes.subarray(0, 3)], [1, 0, 1])
  t.throws(() => booleans.read(bits, 5), CORRUPT)
})

t.test('PLAIN strings of any length come out whole', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 90 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 5 }),
      (values, step) => {
        const page = Buffer.concat(
          values.flatMap((value) => {
            const length = Buffer.alloc(4)
            length.writeUInt32LE(Buffer.byteLength(value))
            return [length, Buffer.from(value)]
          }),
        )
        const decoder = new PlainBytesDecoder(new Uint8Array(page), 0)
        const buffer = new BytesBuffer(0, 0)
        for (let at = 0; at < values.length; at += step) decoder.read(buffer, Math.min(step, values.length - at))
        return JSON.stringify(strings(buffer)) === JSON.stringify(values)
      },
    ),
  )
})

t.test('PLAIN strings with lengths that lie are CORRUPT', async (t) => {
  for (const page of ['', '0100', '05000000 61', 'ffffffff 61', '00000080 61']) {
    t.throws(() => new PlainBytesDecoder(bytes(page), 0).read(new BytesBuffer(1, 1), 1), CORRUPT, page)
  }
})

t.test('dictionary indexes must be inside the dictionary', async (t) => {
  const dictionary = new BytesBuffer(2, 2)
  new PlainBytesDecoder(bytes('01000000 61 02000000 6262'), 0).read(dictionary, 2)
  const out = new BytesBuffer(0, 0)
  new BytesDictionaryDecoder(bytes('01 0401 0400'), 0, dictionary).read(out, 4)
  t.strictSame(strings(out), ['bb', 'bb', 'a', 'a'])
  t.throws(() => new BytesDictionaryDecoder(bytes('02 0402'), 0, dictionary).read(out, 2), CORRUPT)
  t.throws(() => new BytesDictionaryDecoder(bytes('21 0402'), 0, dictionary).read(out, 2), CORRUPT)
  t.throws(() => new BytesDictionaryDecoder(bytes(''), 0, dictionary).read(out, 1), CORRUPT)
  const empty = new FixedBuffer(8, 0)
  t.throws(() => new FixedDictionaryDecoder(bytes('00'), 0, empty).read(new FixedBuffer(8, 1), 1), CORRUPT)
})

t.test('DELTA_BINARY_PACKED: the worked examples of the format', async (t) => {
  // 1 to 5: deltas are all 1. Blocks of 128 in 4 miniblocks, 5 values, first 1, least delta 1, four widths of 0.
  const steady = new FixedBuffer(4, 0)
  new DeltaDecoder(bytes('8001 04 05 02 02 00000000'), 0, 4).read(steady, 5)
  t.strictSame([...steady.words.subarray(0, 5)], [1, 2, 3, 4, 5])
  // 7, 5, 3, 1, 2, 3, 4, 5: deltas -2, -2, -2, 1, 1, 1, 1 are packed as 0, 0, 0, 3, 3, 3, 3 in two bits.
  const page = bytes('8001 04 08 0e 03 02000000 c03f000000000000')
  const mixed = new FixedBuffer(8, 0)
  const decoder = new DeltaDecoder(page, 0, 8)
  decoder.read(mixed, 3)
  decoder.skip(1)
  decoder.read(mixed, 4)
  t.strictSame([...mixed.longs.subarray(0, 7)], [7n, 5n, 3n, 2n, 3n, 4n, 5n])
  t.throws(() => decoder.read(mixed, 1), CORRUPT)
})

t.test('DELTA: headers that lie are CORRUPT before anything is allocated', async (t) => {
  const cases = [
    '',
    '00 04 05 02',
    '8001 00 05 02',
    '8001 03 05 02',
    '8001 04 ffffffff07 02',
    '8004 80 01 05 02 02 41',
    'ffffffffff01',
  ]
  for (const page of cases) {
    t.throws(() => new DeltaDecoder(bytes(page), 0, 4).read(new FixedBuffer(4, 0), 5), CORRUPT, page)
    t.throws(() => new DeltaLengthDecoder(bytes(page), 0), CORRUPT, `${page} as lengths`)
  }
  // Two values; the second shares 9 bytes of a string of 1.
  const prefixes = '8001 04 02 00 12 00000000'
  const suffixes = '8001 04 02 02 00 00000000'
  const lies = new DeltaStringsDecoder(bytes(`${prefixes} ${suffixes} 6162`), 0)
  t.throws(() => lies.read(new BytesBuffer(2, 2), 2), CORRUPT)
})

t.test('BYTE_STREAM_SPLIT: bytes of a value lie a stream apart', async (t) => {
  const out = new FixedBuffer(2, 0)
  const decoder = new ByteStreamSplitDecoder(bytes('aabbcc 112233'), 0, 2)
  decoder.skip(1)
  decoder.read(out, 2)
  t.equal(Buffer.from(out.bytes.subarray(0, 4)).toString('hex'), 'bb22cc33')
  t.throws(() => decoder.read(out, 1), CORRUPT)
  t.throws(() => new ByteStreamSplitDecoder(bytes('aabbcc'), 0, 2), CORRUPT)
})

t.test('spreading over nulls works in place, also when the buffer must grow', async (t) => {
  const valid = Uint8Array.of(0, 1, 0, 0, 1, 1, 0)
  for (const width of [1, 4, 8, 3]) {
    const buffer = new FixedBuffer(width, 3)
    buffer.bytes.fill(7)
    new PlainFixedDecoder(new Uint8Array(3 * width).fill(5), 0, width).read(buffer, 3)
    buffer.spread(3, 7, valid, 0, 1)
    const expected = [...valid].flatMap((v) => Array(width).fill(v * 5))
    t.strictSame([...buffer.bytes.subarray(0, 7 * width)], expected, `width ${width}`)
  }
  const text = new BytesBuffer(0, 0)
  new PlainBytesDecoder(bytes('01000000 61 00000000 02000000 6262'), 0).read(text, 3)
  text.spread(3, 7, valid, 0, 1)
  t.strictSame(strings(text), ['', 'a', '', '', '', 'bb', ''])
})

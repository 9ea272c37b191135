import fc from 'fast-check'
import t from 'tap'
import { BytesValues } from '../../../formats/parquet/bytes-encode.ts'
import { chooseDelta, deltaBytes, encodeDelta } from '../../../formats/parquet/delta-encode.ts'
import { BytesDictionary, WordDictionary } from '../../../formats/parquet/dictionary-encode.ts'
import { bitsFor, encodeHybrid, hybridBound } from '../../../formats/parquet/rle-encode.ts'
import { columnOf } from './write-support.ts'

const text: Parameters<typeof columnOf>[0] = { kind: 'varchar', length: 100, nullable: true }

/** The hybrid as the format describes it, bit by bit. */
function decodeHybrid(bytes: Uint8Array, bitWidth: number, count: number): number[] {
  const values: number[] = []
  let at = 0
  while (at < bytes.length) {
    let header = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      header += (byte & 127) * 2 ** shift
      if (byte < 128) break
    }
    if (header % 2 === 0) {
      let value = 0
      for (let i = 0; i < Math.ceil(bitWidth / 8); i++) value += bytes[at++]! * 256 ** i
      for (let i = 0; i < header / 2; i++) values.push(value)
      continue
    }
    const literals = ((header - 1) / 2) * 8
    for (let i = 0; i < literals; i++) {
      let value = 0
      for (let bit = 0; bit < bitWidth; bit++) {
        const place = i * bitWidth + bit
        value += ((bytes[at + (place >> 3)]! >> (place & 7)) & 1) * 2 ** bit
      }
      values.push(value)
    }
    at += (literals * bitWidth) / 8
  }
  if (values.length < count || values.length > count + 7) throw new Error(`${values.length} values instead of ${count}`)
  return values.slice(0, count)
}

t.test('hybrid: the example of the format', (t) => {
  const target = new Uint8Array(100)
  const end = encodeHybrid(Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7), 8, 3, target, 2)
  t.same(target.subarray(2, end), [3, 0b10001000, 0b11000110, 0b11111010])
  t.same(target.subarray(0, encodeHybrid(new Int32Array(100).fill(4), 100, 3, target, 0)), [0xc8, 0x01, 4])
  t.same(target.subarray(0, encodeHybrid(new Int32Array(9), 9, 0, target, 0)), [18], 'no bits, no value')
  t.equal(encodeHybrid(new Int32Array(0), 0, 5, target, 7), 7)
  t.end()
})

t.test('hybrid: what is encoded comes back', (t) => {
  const run = fc.tuple(fc.nat({ max: 2 ** 24 - 1 }), fc.integer({ min: 1, max: 40 }))
  fc.assert(
    fc.property(fc.array(run, { maxLength: 30 }), fc.integer({ min: 1, max: 24 }), (runs, bitWidth) => {
      const values = Int32Array.from(runs.flatMap(([value, length]) => Array(length).fill(value % 2 ** bitWidth)))
      const target = new Uint8Array(hybridBound(values.length, bitWidth)).fill(0xee)
      const end = encodeHybrid(values, values.length, bitWidth, target, 0)
      t.ok(end <= target.length, 'within the bound')
      t.same(decodeHybrid(target.subarray(0, end), bitWidth, values.length), [...values])
    }),
    { numRuns: 100 },
  )
  t.same([0, 1, 2, 3, 4, 255, 256].map(bitsFor), [0, 1, 2, 2, 3, 8, 9])
  t.end()
})

/** DELTA_BINARY_PACKED as the format describes it, with bigints. */
function decodeDelta(bytes: Uint8Array, bits: 32 | 64): { readonly values: bigint[]; readonly end: number } {
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(bytes[at++]!)
      value |= (byte & 127n) << shift
      if (byte < 128n) return value
    }
  }
  const zigzag = (): bigint => {
    const value = varint()
    return (value >> 1n) ^ -(value & 1n)
  }
  const block = Number(varint())
  const miniBlocks = Number(varint())
  const count = Number(varint())
  const values = [zigzag()]
  while (values.length < count) {
    const least = zigzag()
    const widths = bytes.subarray(at, at + miniBlocks)
    at += miniBlocks
    for (const width of widths) {
      const perMini = block / miniBlocks
      for (let i = 0; i < perMini; i++) {
        let packed = 0n
        for (let bit = 0; bit < width; bit++) {
          const place = i * width + bit
          packed |= BigInt((bytes[at + (place >> 3)]! >> (place & 7)) & 1) << BigInt(bit)
        }
        if (values.length < count) values.push(BigInt.asIntN(bits, values.at(-1)! + least + packed))
      }
      at += (perMini * width) / 8
    }
  }
  return { values: count === 0 ? [] : values, end: at }
}

t.test('delta: what is encoded comes back, extremes and wrap-around included', (t) => {
  const check = (values: readonly bigint[], bits: 32 | 64): void => {
    const array = bits === 64 ? BigInt64Array.from(values) : Int32Array.from(values, Number)
    const words = new Int32Array(array.buffer)
    const { body, length } = encodeDelta(words, values.length, bits === 64 ? 8 : 4, new Uint8Array(0), 0)
    const decoded = decodeDelta(body.subarray(0, length), bits)
    t.same(decoded.values, values)
    t.equal(decoded.end, length, 'nothing behind the last mini-block')
    t.ok(deltaBytes(words, values.length, bits === 64 ? 8 : 4) >= length, 'the estimate is not below')
  }
  const max = 2n ** 63n - 1n
  check([], 64)
  check([-7n], 64)
  check([max, -max - 1n, max, 0n, -1n, -max - 1n], 64)
  check([2147483647n, -2147483648n, 2147483647n, 0n], 32)
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: -max - 1n, max }), { maxLength: 300 }), (values) => check(values, 64)),
    {
      numRuns: 30,
    },
  )
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: -5000n, max: 5000n }), { maxLength: 300 }), (v) => check(v, 64)),
    {
      numRuns: 30,
    },
  )
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: -(2n ** 31n), max: 2n ** 31n - 1n }), { maxLength: 300 }), (v) =>
      check(v, 32),
    ),
    { numRuns: 30 },
  )
  t.end()
})

t.test('delta: the example of the format', (t) => {
  // 7, 5, 3, 1, 2, 3, 4, 5: first 7, deltas -2 -2 -2 1 1 1 1, least -2, packed 0 0 0 3 3 3 3 in two bits.
  const { body, length } = encodeDelta(Int32Array.of(7, 5, 3, 1, 2, 3, 4, 5), 8, 4, new Uint8Array(0), 0)
  t.same(body.subarray(0, length), [128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b11000000, 0b00111111, 0, 0, 0, 0, 0, 0])
  t.end()
})

t.test('delta: chosen for long orderly chunks only', (t) => {
  const sorted = (count: number, gap: number): Int32Array =>
    new Int32Array(BigInt64Array.from({ length: count }, (_, i) => BigInt(i * gap + ((i * i) % gap))).buffer)
  t.equal(chooseDelta(sorted(20000, 1), 20000, 8), 'yes')
  t.equal(chooseDelta(sorted(20000, 1000), 20000, 8), 'yes')
  t.equal(chooseDelta(sorted(2000, 1), 2000, 8), 'no', 'short pages stay as Java writes them')
  const scattered = Int32Array.from({ length: 20000 }, (_, i) => Math.imul(i, Math.imul(i, 0x9e3779b1)))
  t.equal(chooseDelta(scattered, 20000, 4), 'no')
  const half = Int32Array.from({ length: 40000 }, (_, i) => (i % 2 === 0 ? scattered[i >> 1]! & 0x3fffffff : 0))
  t.equal(chooseDelta(half, 20000, 8), 'perhaps', 'numbers of 30 bits in 64')
  t.end()
})

t.test('dictionaries number values as they come, past many rehashes', (t) => {
  const count = 20_000
  const words = Int32Array.from({ length: count }, (_, i) => Math.imul(i % 7001, 0x9e3779b1))
  const ids = new Int32Array(count)
  const four = new WordDictionary(4)
  four.encode(words, 0, 10_000, ids)
  four.encode(words, 10_000, count, ids)
  t.equal(four.size, 7001)
  t.same(new Int32Array(four.plain().slice().buffer), words.subarray(0, 7001))
  t.ok(ids.every((id, i) => id === i % 7001))

  // Words that differ in one half only.
  const pairs = Int32Array.from({ length: 2 * count }, (_, i) => ((i >> 1) % 3 === i % 2 ? i % 5 : 1))
  const eight = new WordDictionary(8)
  eight.encode(pairs, 0, count, ids)
  const entries = new BigInt64Array(eight.plain().slice().buffer)
  t.equal(new Set(entries).size, entries.length, 'no value twice')
  t.ok(new BigInt64Array(pairs.buffer).every((value, i) => entries[ids[i]!] === value))

  const values = new BytesValues()
  const strings = Array.from({ length: count }, (_, i) => `value ${i % 5003}`.slice(i % 5003 === 7 ? 100 : 0))
  values.append(columnOf(text, strings), 0, count, count)
  const bytes = new BytesDictionary()
  bytes.encode(values.bytes, values.ends, 0, 100, ids)
  bytes.encode(values.bytes, values.ends, 100, count, ids)
  t.equal(bytes.size, 5003)
  t.ok(ids.every((id, i) => id === i % 5003))
  const first = new BytesValues()
  first.append(columnOf(text, strings.slice(0, 5003)), 0, 5003, 5003)
  t.same(bytes.plain(), first.plain())
  t.end()
})

t.test('bytes move to their places whatever their lengths and the nulls between', (t) => {
  const value = fc.option(fc.string({ maxLength: 60 }))
  fc.assert(
    fc.property(fc.array(value, { maxLength: 60 }), fc.array(value, { maxLength: 60 }), fc.nat(5), (one, two, skip) => {
      const values = new BytesValues()
      const kept: string[] = []
      for (const strings of [one, two]) {
        const part = strings.slice(skip)
        const present = part.filter((s) => s !== null)
        values.append(columnOf(text, strings), Math.min(skip, strings.length), strings.length, present.length)
        kept.push(...present)
      }
      const expected = kept.flatMap((s) => [Buffer.from(Int32Array.of(Buffer.byteLength(s)).buffer), Buffer.from(s)])
      t.same(values.plain(), new Uint8Array(Buffer.concat(expected)))
      t.equal(values.count, kept.length)
      const order = kept.map((s) => Buffer.from(s)).sort(Buffer.compare)
      const bounds = values.bounds()
      if (bounds.kind === 'known') {
        t.ok(Buffer.compare(bounds.min, order[0]!) === 0 && Buffer.compare(bounds.max, order.at(-1)!) === 0, 'bounds')
      } else t.equal(kept.length, 0)
    }),
    { numRuns: 150 },
  )
  t.end()
})

import t from 'tap'
import { crc32, tableCrc32 } from '../../../formats/bytes/crc32.ts'
import { murmur32, murmur32Slot } from '../../../formats/bytes/murmur.ts'
import { xxhash64 } from '../../../formats/bytes/xxhash64.ts'

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

t.test('CRC-32 gives the published check value, whole and in parts', (t) => {
  const check = text('123456789')
  for (const crc of [crc32, tableCrc32]) {
    t.equal(crc(check), 0xcbf43926)
    t.equal(crc(new Uint8Array(0)), 0)
    t.equal(crc(check.subarray(4), crc(check.subarray(0, 4))), 0xcbf43926)
  }
  const long = Uint8Array.from({ length: 1000 }, (_, i) => (i * 37) ^ (i >> 3))
  for (let start = 0; start < 9; start++) {
    t.equal(tableCrc32(long.subarray(start)), bitwiseCrc32(long.subarray(start)), `from byte ${start}`)
  }
  t.end()
})

function bitwiseCrc32(bytes: Uint8Array): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}

t.test('xxHash64 of seed 0 gives published values', (t) => {
  const cases: readonly (readonly [string, bigint])[] = [
    ['', 0xef46db3751d8e999n],
    ['a', 0xd24ec4f1a98c6e5bn],
    ['abc', 0x44bc2cf5ad770999n],
  ]
  for (const [value, hash] of cases) t.equal(hashOf(text(value)), hash, value)
  t.end()
})

t.test('xxHash64 in halves is xxHash64 in bigints, for every length and offset', (t) => {
  const data = Uint8Array.from({ length: 120 }, (_, i) => (i * 167 + 13) & 0xff)
  for (let length = 0; length <= 110; length++) {
    const start = length % 9
    const answer = hashOf(data, start, start + length)
    const expected = referenceXxhash64(data.subarray(start, start + length))
    if (answer !== expected) t.equal(answer, expected, `length ${length}`)
  }
  t.pass('all lengths')
  t.end()
})

function hashOf(bytes: Uint8Array, start?: number, end?: number): bigint {
  const halves = new Int32Array(2)
  xxhash64(halves, bytes, start, end)
  return BigInt.asUintN(64, (BigInt(halves[1]!) << 32n) | BigInt(halves[0]! >>> 0))
}

/** The algorithm's specification, word for word. */
function referenceXxhash64(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [p1, p2, p3, p4, p5] = [
    0x9e3779b185ebca87n,
    0xc2b2ae3d27d4eb4fn,
    0x165667b19e3779f9n,
    0x85ebca77c2b2ae63n,
    0x27d4eb2f165667c5n,
  ] as const
  const u64 = (value: bigint): bigint => BigInt.asUintN(64, value)
  const rotate = (value: bigint, bits: bigint): bigint => u64((value << bits) | (u64(value) >> (64n - bits)))
  const round = (acc: bigint, input: bigint): bigint => u64(rotate(u64(acc + input * p2), 31n) * p1)
  let at = 0
  let hash: bigint = p5
  if (bytes.length >= 32) {
    const lanes = [u64(p1 + p2), p2, 0n, u64(-p1)]
    for (; at + 32 <= bytes.length; at += 32) {
      for (let lane = 0; lane < 4; lane++) lanes[lane] = round(lanes[lane]!, view.getBigUint64(at + lane * 8, true))
    }
    hash = u64(rotate(lanes[0]!, 1n) + rotate(lanes[1]!, 7n) + rotate(lanes[2]!, 12n) + rotate(lanes[3]!, 18n))
    for (const lane of lanes) hash = u64((hash ^ round(0n, lane)) * p1 + p4)
  }
  hash = u64(hash + BigInt(bytes.length))
  for (; at + 8 <= bytes.length; at += 8) {
    hash = u64(rotate(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * p1 + p4)
  }
  if (at + 4 <= bytes.length) {
    hash = u64(rotate(hash ^ u64(BigInt(view.getUint32(at, true)) * p1), 23n) * p2 + p3)
    at += 4
  }
  for (; at < bytes.length; at++) hash = u64(rotate(hash ^ u64(BigInt(bytes[at]!) * p5), 11n) * p1)
  hash = u64((hash ^ (hash >> 33n)) * p2)
  hash = u64((hash ^ (hash >> 29n)) * p3)
  return hash ^ (hash >> 32n)
}

t.test('Murmur by bytes and by slot agree', (t) => {
  const bytes = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0xff, 0x80, 7, 8])
  const words = new Int32Array(bytes.buffer)
  t.equal(murmur32Slot(words[2]!, words[3]!), murmur32(bytes))
  t.equal(murmur32(Uint8Array.of(9, 9, 9, 9, ...bytes, 9), 4, 20), murmur32(bytes))
  t.end()
})

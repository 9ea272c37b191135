import { readFileSync } from 'node:fs'
import t from 'tap'
import { FormatError } from '../../../formats/bytes/format-error.ts'
import { encodeDeletionVectors, readDeletionVector } from '../../../formats/index/deletion-vector.ts'
import { decodeRoaring } from '../../../formats/index/roaring.ts'
import { encodeRoaring } from '../../../formats/index/roaring-encode.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { expected, fileOf } from '../meta/golden.ts'

const page = readFileSync(new URL('../../../docs/format/deletion-vector.md', import.meta.url), 'utf8')

/** The vector of a file that is in memory. */
function decodeDeletionVector(file: Uint8Array, range: Parameters<typeof readDeletionVector>[1], rows: number) {
  const read = (offset: number, length: number) => file.subarray(offset, offset + length)
  return readDeletionVector({ bytes: file.length, read }, range, rows)
}

const corrupt = (message: RegExp) => ({ name: 'FormatError', code: 'CORRUPT', message })

/** The bytes of the page's example. */
function example(bits: 32 | 64): Uint8Array {
  const [, block] = new RegExp(`\`\`\`hex ${bits}\n([^]*?)\`\`\``).exec(page)!
  const bytes = block!.split('\n').map((line) => line.split(' ')[0])
  return new Uint8Array(Buffer.from(bytes.join(''), 'hex'))
}

const ranges = { 32: { offset: 1, length: 30, cardinality: 5 }, 64: { offset: 1, length: 50, cardinality: null } }

t.test('the examples of the page are rows 0, 7, 14, 21 and 28', (t) => {
  for (const bits of [32, 64] as const) {
    t.strictSame([...decodeDeletionVector(example(bits), ranges[bits], 29)], [0, 7, 14, 21, 28])
  }
  t.end()
})

t.test('vectors of Paimon hold the rows that it says', (t) => {
  let vectors = 0
  for (const table of ['dv', 'dv_bitmap64', 'dv_partitioned']) {
    const entries = expected(table, 'index') as {
      fileName: string
      deletionVectors: { offset: number; length: number; cardinality: number; deleted: number[] }[]
    }[]
    for (const { fileName, deletionVectors } of entries) {
      for (const { deleted, ...range } of deletionVectors) {
        t.strictSame(
          [...decodeDeletionVector(fileOf(table, 'index', fileName), range, 10_000)],
          deleted,
          `${table} ${fileName}`,
        )
        vectors++
      }
    }
  }
  t.ok(vectors >= 3, `${vectors} vectors`)
  t.end()
})

/** A bitmap in the portable format, made from its definition: containers as told, `array`, `bitmap` or `run`. */
function bitmap(...containers: readonly { key: number; values: readonly number[]; runs?: boolean }[]): Uint8Array {
  const out: number[] = []
  const u16 = (value: number) => out.push(value & 0xff, value >>> 8)
  const u32 = (value: number) => out.push(value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24)
  const hasRuns = containers.some(({ runs }) => runs)
  if (hasRuns) {
    u16(12347)
    u16(containers.length - 1)
    for (let i = 0; i < containers.length; i += 8) {
      out.push(containers.slice(i, i + 8).reduce((flags, { runs }, bit) => flags | (runs ? 1 << bit : 0), 0))
    }
  } else {
    u32(12346)
    u32(containers.length)
  }
  for (const { key, values } of containers) {
    u16(key)
    u16(values.length - 1)
  }
  if (!hasRuns || containers.length >= 4) for (const _ of containers) u32(0)
  for (const { values, runs } of containers) {
    if (runs) {
      const starts = values.filter((value, i) => i === 0 || values[i - 1] !== value - 1)
      u16(starts.length)
      for (const start of starts) {
        let last = start
        while (values.includes(last + 1)) last++
        u16(start)
        u16(last - start)
      }
    } else if (values.length <= 4096) {
      for (const value of values) u16(value)
    } else {
      const bits = new Uint8Array(8192)
      for (const value of values) bits[value >>> 3]! |= 1 << (value & 7)
      for (const byte of bits) out.push(byte)
    }
  }
  return Uint8Array.from(out)
}

t.test('arrays, bitmaps and runs, with and without offsets', (t) => {
  const sparse = [0, 5, 65535]
  const dense = Array.from({ length: 5000 }, (_, i) => i * 13)
  const run = [1, 2, 3, 10, 11]
  const all = (...parts: readonly [key: number, values: readonly number[]][]) =>
    parts.flatMap(([key, values]) => values.map((value) => key * 65536 + value))
  const limit = 2 ** 32
  t.strictSame([...decodeRoaring(bitmap({ key: 0, values: sparse }), limit)], sparse)
  t.strictSame([...decodeRoaring(bitmap({ key: 65535, values: dense }), limit)], all([65535, dense]))
  const mixed = [
    { key: 1, values: run, runs: true },
    { key: 2, values: sparse },
    { key: 9, values: dense },
  ]
  t.strictSame([...decodeRoaring(bitmap(...mixed), limit)], all([1, run], [2, sparse], [9, dense]))
  const four = [...mixed, { key: 10, values: run, runs: true }]
  t.strictSame([...decodeRoaring(bitmap(...four), limit)], all([1, run], [2, sparse], [9, dense], [10, run]))
  t.throws(() => decodeRoaring(bitmap({ key: 0, values: sparse }), 65535), corrupt(/65535 is not below 65535/))
  t.throws(() => decodeRoaring(bitmap({ key: 0, values: sparse }), 2), corrupt(/3 values below 2/))
  t.throws(() => decodeRoaring(bitmap({ key: 0, values: [5, 4] }), limit), corrupt(/4 follows 5/))
  t.throws(() => decodeRoaring(Uint8Array.of(...bitmap({ key: 0, values: run }), 0), limit), corrupt(/1 bytes behind/))
  t.end()
})

t.test('a damaged bitmap without a CRC gives values below the limit or a FormatError', (t) => {
  const dense = Array.from({ length: 4500 }, (_, i) => i * 2)
  const bytes = bitmap(
    { key: 0, values: [1, 2, 3, 9], runs: true },
    { key: 1, values: [7, 8] },
    { key: 3, values: dense },
  )
  let refused = 0
  for (let at = 0; at < 200; at++) {
    for (const mask of [0x01, 0x10, 0x80, 0xff]) {
      const copy = bytes.slice()
      copy[at]! ^= mask
      try {
        if (decodeRoaring(copy, 300_000).some((value) => value >= 300_000)) t.fail(`byte ${at} ^ ${mask}`)
      } catch (error) {
        refused++
        if (!(error instanceof FormatError)) t.fail(`byte ${at} ^ ${mask}`, { error })
      }
    }
  }
  t.ok(refused > 100, `${refused} refused`)
  t.end()
})

t.test('what is written is what Paimon writes, bit for bit', (t) => {
  for (const [bits, table] of [
    [32, 'dv'],
    [64, 'dv_bitmap64'],
    [32, 'dv_partitioned'],
  ] as const) {
    const entries = expected(table, 'index') as {
      fileName: string
      deletionVectors: { dataFile: string; offset: number; length: number; cardinality: number; deleted: number[] }[]
    }[]
    for (const { fileName, deletionVectors } of entries) {
      const inOrder = [...deletionVectors].sort((a, b) => a.offset - b.offset)
      const vectors = inOrder.map(({ dataFile, deleted }) => ({ dataFile, positions: Uint32Array.from(deleted) }))
      const { file, ranges } = encodeDeletionVectors(vectors, bits === 64)
      t.strictSame(Buffer.from(file), Buffer.from(fileOf(table, 'index', fileName)), `${table} ${fileName}`)
      t.strictSame(
        ranges.map(({ offset, length, cardinality }) => [offset, length, cardinality]),
        inOrder.map(({ offset, length, cardinality }) => [offset, length, cardinality]),
      )
    }
    const { file } = encodeDeletionVectors(
      [{ dataFile: 'f', positions: Uint32Array.of(0, 7, 14, 21, 28) }],
      bits === 64,
    )
    t.strictSame(Buffer.from(file), Buffer.from(example(bits)), `the example, ${bits} bits`)
  }
  t.end()
})

t.test('bitmaps of all forms come back', (t) => {
  const random = seededRandom(5)
  const lists: number[][] = [
    [],
    [0],
    [2 ** 32 - 1],
    Array.from({ length: 4096 }, (_, i) => i * 2),
    Array.from({ length: 4097 }, (_, i) => i * 2),
    Array.from({ length: 200_000 }, (_, i) => i),
    Array.from({ length: 70_000 }, (_, i) => i * 3 + (i % 2)),
  ]
  for (let round = 0; round < 60; round++) {
    const values = new Set<number>()
    for (let range = 0; range < 5; range++) {
      const start = Math.floor(random.fraction() * 2 ** (8 + (round % 14)))
      const length = Math.floor(random.fraction() ** 3 * 9000)
      const step = 1 + Math.floor(random.fraction() * 4)
      for (let i = 0; i < length; i++) values.add(start + i * step)
    }
    lists.push([...values].sort((a, b) => a - b))
  }
  for (const list of lists) {
    const found = decodeRoaring(encodeRoaring(Uint32Array.from(list)), 2 ** 32)
    if (Buffer.compare(Buffer.from(found.buffer), Buffer.from(Uint32Array.from(list).buffer)) !== 0) {
      t.fail(`${list.length} values from ${list[0]}`)
    }
  }
  const vectors = lists.map((list, index) => ({ dataFile: `f${index}`, positions: Uint32Array.from(list) }))
  for (const wide of [false, true]) {
    const { file, ranges } = encodeDeletionVectors(vectors, wide)
    for (const [index, range] of ranges.entries()) {
      const found = decodeDeletionVector(file, range, 2 ** 32)
      t.equal(found.length, lists[index]!.length)
    }
  }
  t.strictSame([...encodeDeletionVectors([], false).file], [1], 'no vectors: the version byte alone')
  t.end()
})

t.test('damage never gives other rows', (t) => {
  for (const bits of [32, 64] as const) {
    const file = example(bits)
    const attempt = (bytes: Uint8Array, range: { offset: number; length: number; cardinality: number | null }) => {
      try {
        return decodeDeletionVector(bytes, range, 29)
      } catch (error) {
        return error
      }
    }
    for (let at = 0; at < file.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const copy = file.slice()
        copy[at]! ^= 1 << bit
        t.ok(attempt(copy, ranges[bits]) instanceof FormatError, `${bits} bits, bit ${bit} of byte ${at}`)
      }
      t.ok(attempt(file.subarray(0, at), ranges[bits]) instanceof FormatError, `cut at ${at}`)
    }
    for (const change of [{ offset: 0 }, { offset: 2 }, { offset: 1000 }, { length: 1 }, { cardinality: 4 }]) {
      t.ok(attempt(file, { ...ranges[bits], ...change }) instanceof FormatError, JSON.stringify(change))
    }
  }
  t.end()
})

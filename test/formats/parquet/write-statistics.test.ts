import fc from 'fast-check'
import t from 'tap'
import type { Scalar } from '../../../formats/column/column.ts'
import { readColumnIndex, readOffsetIndex } from '../../../formats/parquet/file-read.ts'
import { createParquetWriter } from '../../../formats/parquet/file-write.ts'
import type { ColumnIndex } from '../../../formats/parquet/footer.ts'
import { BoundaryOrder } from '../../../formats/parquet/footer.ts'
import { pageMax, pageMin } from '../../../formats/parquet/write-statistics.ts'
import { type DataType, type Field, MAX_LENGTH } from '../../../formats/types/row-type.ts'
import { codecs, openBytes } from './support.ts'
import { batchOf, options, type Value, writeFile } from './write-support.ts'

const nullable = true
const text: DataType = { kind: 'varchar', length: MAX_LENGTH, nullable }
const bytes: DataType = { kind: 'varbinary', length: MAX_LENGTH, nullable }

function fieldOf(type: DataType): readonly Field[] {
  return [{ id: 0, name: 'c', type }]
}

function write(type: DataType, values: readonly Value[], pageRows = 20000) {
  const { bytes, result } = writeFile(fieldOf(type), [batchOf(fieldOf(type), { c: values })], { pageRows })
  const file = openBytes(bytes)
  const { statistics } = file.metadata.rowGroups[0]!.columns[0]!.metaData!
  return {
    file,
    result: result.columns[0]!,
    statistics: statistics!,
    index: readColumnIndex(file, 0, file.tree.leaves[0]!),
  }
}

const f64 = (value: number): Uint8Array => new Uint8Array(Float64Array.of(value).buffer)
const i32 = (value: number): Uint8Array => new Uint8Array(Int32Array.of(value).buffer)

t.test('bounds of each type', (t) => {
  const cases: readonly (readonly [DataType, readonly Value[], Scalar | null, Scalar | null])[] = [
    [{ kind: 'boolean', nullable }, [true, true, null], 1, 1],
    [{ kind: 'boolean', nullable }, [true, false], 0, 1],
    [{ kind: 'tinyint', nullable }, [5, -128, null], -128, 5],
    [{ kind: 'int', nullable }, [5, -2147483648, 2147483647], -2147483648, 2147483647],
    [{ kind: 'bigint', nullable }, [2n ** 53n + 1n, 2n ** 53n, null], 2n ** 53n, 2n ** 53n + 1n],
    [{ kind: 'bigint', nullable }, [-1n, -(2n ** 63n), 2n ** 63n - 1n, 4294967295n], -(2n ** 63n), 2n ** 63n - 1n],
    [{ kind: 'bigint', nullable }, [4294967296n, 4294967295n, 2147483648n], 2147483648n, 4294967296n],
    [{ kind: 'float', nullable }, [0.5, -0.5, Infinity], -0.5, Infinity],
    [{ kind: 'double', nullable }, [-Infinity, 1e300], -Infinity, 1e300],
    [{ kind: 'date', nullable }, [-3, 3], -3, 3],
    [{ kind: 'timestamp', precision: 6, nullable }, [-3n, 3n], -3n, 3n],
    [{ kind: 'timestamp', precision: 9, nullable }, [-3n, 3n], null, null],
    [{ kind: 'decimal', precision: 5, scale: 2, nullable }, [-3n, 3n, null], -3n, 3n],
    [{ kind: 'decimal', precision: 12, scale: 2, nullable }, [-3n, 3n], -3n, 3n],
    [
      { kind: 'decimal', precision: 30, scale: 2, nullable },
      [-1n, 10n ** 29n, -(10n ** 28n), 0n],
      -(10n ** 28n),
      10n ** 29n,
    ],
    [text, ['\uffff', '\u{1f600}', 'z'], Buffer.from('z'), Buffer.from('\u{1f600}')],
    [text, ['b', 'a', '', null], Buffer.from(''), Buffer.from('b')],
    [bytes, [Uint8Array.of(127), Uint8Array.of(128), Uint8Array.of(127, 0)], Uint8Array.of(127), Uint8Array.of(128)],
    [
      text,
      ['x'.repeat(5000), `${'x'.repeat(5000)}y`],
      Buffer.from('x'.repeat(5000)),
      Buffer.from(`${'x'.repeat(5000)}y`),
    ],
    [text, [null, null], null, null],
  ]
  for (const [type, values, min, max] of cases) {
    const { result } = write(type, values)
    t.same(result, { min, max, nullCount: values.filter((v) => v === null).length }, `${type.kind} ${values.length}`)
  }
  t.end()
})

t.test('old bounds for signed numbers only; null counts always', (t) => {
  const int = write({ kind: 'int', nullable }, [3, null, -2]).statistics
  t.same(int, { min: i32(-2), max: i32(3), minValue: i32(-2), maxValue: i32(3), nullCount: 1 })
  const string = write(text, ['b', null, 'a', null]).statistics
  t.same(string, { minValue: Buffer.from('a'), maxValue: Buffer.from('b'), nullCount: 2 })
  t.same(write({ kind: 'timestamp', precision: 9, nullable }, [1n, null]).statistics, { nullCount: 1 })
  t.same(write(text, [null]).statistics, { nullCount: 1 })
  t.end()
})

t.test('NaN leaves no bounds, zeros cover both signs', (t) => {
  const double: DataType = { kind: 'double', nullable }
  const nan = write(double, [1, Number.NaN, 2])
  t.same(nan.result, { min: null, max: null, nullCount: 0 })
  t.same(nan.statistics, { nullCount: 0 })
  t.equal(nan.index, undefined, 'and no column index')
  for (const zero of [0, -0]) {
    const { statistics, result } = write(double, [zero])
    t.same(statistics.minValue, f64(-0))
    t.same(statistics.maxValue, f64(0))
    t.ok(Object.is(result.min, -0) && Object.is(result.max, 0))
  }
  const mixed = write(double, [Number.NaN, 1, 2, 3], 1)
  t.same(mixed.result, { min: null, max: null, nullCount: 0 }, 'one page with NaN spoils the chunk')
  t.end()
})

t.test('the column index', (t) => {
  const order = (values: readonly Value[]): ColumnIndex => write({ kind: 'int', nullable }, values, 2).index!
  t.match(order([1, 2, 2, 3, null, 9]), { boundaryOrder: BoundaryOrder.ASCENDING, nullCounts: [0, 0, 1] })
  t.match(order([5, 4, 3, 3, 2, 1]), { boundaryOrder: BoundaryOrder.DESCENDING })
  t.match(order([5, 4, 9, 8, 2, 1]), { boundaryOrder: BoundaryOrder.UNORDERED })
  t.match(order([1, 9, 2, 3]), { boundaryOrder: BoundaryOrder.UNORDERED }, 'minimums rise, maximums fall')
  const gap = order([1, 2, null, null, 3, 4])
  t.same(gap.nullPages, [false, true, false])
  t.same(gap.minValues, [i32(1), new Uint8Array(0), i32(3)])
  t.equal(gap.boundaryOrder, BoundaryOrder.ASCENDING, 'pages of nulls do not count')
  const long = write(text, [`${'a'.repeat(70)}1`, `${'a'.repeat(70)}2`])
  t.equal(Buffer.from(long.index!.minValues[0]!).toString(), 'a'.repeat(64))
  t.equal(Buffer.from(long.index!.maxValues[0]!).toString(), `${'a'.repeat(63)}b`)
  t.same(long.statistics.minValue, Buffer.from(`${'a'.repeat(70)}1`), 'bounds of the chunk are exact')
  t.equal(long.statistics.isMinValueExact, undefined)
  const huge = write(text, ['b'.repeat(2000)])
  t.equal(huge.statistics.minValue!.length, 1024)
  t.equal(huge.statistics.isMinValueExact, false)
  t.equal(huge.statistics.isMaxValueExact, false)
  t.equal((huge.result.max as Uint8Array).length, 2000, 'but what finish returns is exact')
  t.end()
})

t.test('bounds that are cut still bound', (t) => {
  const cut = (string: string) => [...Buffer.from(pageMax('bytes', Buffer.from(string), true))]
  const a62 = 'a'.repeat(62)
  t.same(cut(`${a62}\u{1f600}tail`), [...Buffer.from(`${'a'.repeat(61)}b`)], 'never half a character')
  t.same(cut(`${a62}é\ud7ff`), [...Buffer.from(`${a62}ê`)])
  t.same(cut(`${a62.slice(1)}\ud7ff\ud7ff`), [...Buffer.from(`${a62.slice(1)}\ue000`)], 'surrogates are skipped')
  const last = '\u{10ffff}'.repeat(20)
  t.same(cut(last), [...Buffer.from(last)], 'nothing is above: not cut')
  t.same(cut(`a${last}`), [...Buffer.from('b')])
  t.same(pageMax('bytes', new Uint8Array(70).fill(255), false), new Uint8Array(70).fill(255))
  t.same(pageMax('bytes', new Uint8Array(70).fill(7), false), new Uint8Array(64).fill(7).with(63, 8))
  t.same(pageMax('signed-bytes', new Uint8Array(70).fill(7), false).length, 70, 'decimals are never cut')
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 20, maxLength: 90 }), (string) => {
      const whole = Buffer.from(string)
      const min = pageMin('bytes', whole, true)
      const max = pageMax('bytes', whole, true)
      t.ok(Buffer.compare(min, whole) <= 0 && Buffer.compare(max, whole) >= 0)
      new TextDecoder('utf-8', { fatal: true }).decode(min)
      new TextDecoder('utf-8', { fatal: true }).decode(max)
    }),
    { numRuns: 300 },
  )
  t.end()
})

t.test('each page is inside its bounds, and chunks are where their pages are', (t) => {
  const number = fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))
  fc.assert(
    fc.property(
      fc.array(number, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 9 }),
      (values, pageRows) => {
        const { file, index, result, statistics } = write({ kind: 'bigint', nullable }, values, pageRows)
        const locations = readOffsetIndex(file, 0, file.tree.leaves[0]!)!.pageLocations
        t.equal(locations.length, Math.ceil(values.length / pageRows))
        for (const [i, { firstRowIndex }] of locations.entries()) {
          const page = values.slice(firstRowIndex, firstRowIndex + pageRows)
          const present = page.filter((v) => v !== null).sort((a, b) => (a < b ? -1 : 1))
          t.equal(index!.nullPages[i], present.length === 0)
          t.equal(index!.nullCounts![i], page.length - present.length)
          if (present.length === 0) continue
          t.same(index!.minValues[i], new Uint8Array(BigInt64Array.of(present[0]!).buffer))
          t.same(index!.maxValues[i], new Uint8Array(BigInt64Array.of(present.at(-1)!).buffer))
        }
        const all = values.filter((v) => v !== null).sort((a, b) => (a < b ? -1 : 1))
        t.same(result, { min: all[0] ?? null, max: all.at(-1) ?? null, nullCount: values.length - all.length })
        t.equal(statistics.nullCount, result.nullCount)
      },
    ),
    { numRuns: 60 },
  )
  t.end()
})

t.test('the estimated size follows the file', (t) => {
  const fields: readonly Field[] = [
    { id: 0, name: 'k', type: { kind: 'int', nullable: false } },
    { id: 1, name: 's', type: text },
  ]
  let written = 0
  let largest = 0
  const sink = {
    write(bytes: Uint8Array) {
      written += bytes.length
    },
  }
  const writer = createParquetWriter(sink, fields, codecs, { ...options, pageRows: 1000, rowGroupBytes: 400_000 })
  let before = 0
  for (let i = 0; i < 40; i++) {
    const k = Array.from({ length: 700 }, (_, j) => Math.imul(i * 700 + j, Math.imul(j, 0x9e3779b1)))
    writer.write(batchOf(fields, { k, s: k.map((v) => `some text with ${v} in it`) }))
    // Until a page is compressed nothing is known of the ratio, and the estimate is too high.
    if (i > 3) t.ok(writer.estimatedBytes > before * 0.95, 'does not fall back')
    before = writer.estimatedBytes
    largest = Math.max(largest, writer.estimatedBytes - written)
  }
  t.ok(written > 0, 'full row groups are already in the sink')
  t.equal(writer.rows, 28000)
  const { bytes } = writer.finish()
  t.equal(bytes, written)
  t.ok(Math.abs(before - bytes) < bytes * 0.1, `estimated ${before}, written ${bytes}`)
  t.ok(largest < 400_000, 'no more is held than a row group')
  t.end()
})

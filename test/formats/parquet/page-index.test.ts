import t from 'tap'
import type { Predicate } from '../../../formats/column/predicate-tree.ts'
import { readBatches } from '../../../formats/parquet/file-read.ts'
import {
  decodeFileMetaData,
  encodeFileMetaData,
  type FileMetaData,
  footerLength,
} from '../../../formats/parquet/footer.ts'
import { selectRanges } from '../../../formats/parquet/page-index.ts'
import { fixtureBytes, openBytes, rowsOf } from './support.ts'

// 2000 rows in two row groups, pages of 50 rows: k = row, v = row * 31 mod 2000 and null for 100 rows in 400,
// s = 'key 000000' and so on, d = row / 8 with NaN at 700 and -0.0 at 0.
const bytes = fixtureBytes('page_index')
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

const total = (ranges: readonly { start: number; end: number }[]): number =>
  ranges.reduce((n, r) => n + r.end - r.start, 0)

t.test('a key is found through few pages, and the rows of the ranges hold it', async (t) => {
  for (const key of [0n, 49n, 50n, 999n, 1000n, 1999n]) {
    const file = openBytes(bytes)
    const footer = file.bytesRead
    const ranges = selectRanges(file, { op: 'eq', column: 'k', value: key })
    t.equal(ranges.length, 1, `one range for ${key}`)
    t.ok(total(ranges) <= 60, `${total(ranges)} rows for ${key}`)
    const before = file.pagesDecoded
    const rows = rowsOf(file, { columns: ['k', 's'], ranges })
    t.match(
      rows.find((row) => row.k === String(key)),
      { s: `key ${String(key).padStart(6, '0')}` },
    )
    t.ok(file.pagesDecoded - before <= 5, `${file.pagesDecoded - before} pages decoded`)
    t.ok(file.bytesRead - footer < 5000, `${file.bytesRead - footer} bytes of indexes and pages read`)
  }
})

t.test('text, ranges of keys and conjunctions prune; what is outside the file matches nothing', async (t) => {
  const file = openBytes(bytes)
  const ranges = (predicate: Predicate) => selectRanges(file, predicate)
  t.strictSame(ranges({ op: 'lt', column: 'k', value: 0n }), [])
  t.strictSame(ranges({ op: 'ge', column: 's', value: text('key 002000') }), [])
  const low: Predicate = { op: 'ge', column: 'k', value: 980n }
  const high: Predicate = { op: 'lt', column: 's', value: text('key 001020') }
  const both = ranges({ op: 'and', children: [low, high] })
  t.equal(both.length, 1, 'a range goes on across row groups')
  t.ok(both[0]!.start <= 980 && both[0]!.end >= 1020 && total(both) <= 160, JSON.stringify(both))
  const either = ranges({
    op: 'or',
    children: [
      { op: 'eq', column: 'k', value: 5n },
      { op: 'in', column: 'k', values: [1995n] },
    ],
  })
  t.equal(either.length, 2)
  t.equal(total(ranges({ op: 'not', child: low })) <= 1000, true)
})

t.test('pages of nulls only, and pages without nulls, are told apart', async (t) => {
  const file = openBytes(bytes)
  const nulls = selectRanges(file, { op: 'isNull', column: 'v' })
  t.ok(total(nulls) >= 500 && total(nulls) <= 1100, `${total(nulls)}`)
  const v = rowsOf(file, { columns: ['v'] })
  const kept = new Set(nulls.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i)))
  v.forEach((row, i) => {
    if (row.v === null && !kept.has(i)) t.fail(`row ${i} is null and was dropped`)
  })
})

t.test('NaN is above every number and never pruned away; -0.0 is 0.0', async (t) => {
  const holds = (predicate: Predicate, row: number) =>
    selectRanges(openBytes(bytes), predicate).some(({ start, end }) => start <= row && row < end)
  t.ok(holds({ op: 'gt', column: 'd', value: 1e9 }, 700))
  t.ok(holds({ op: 'ne', column: 'd', value: 3 }, 700))
  t.ok(holds({ op: 'eq', column: 'd', value: Number.NaN }, 700))
  t.ok(holds({ op: 'eq', column: 'd', value: 0 }, 0))
  t.ok(holds({ op: 'eq', column: 'd', value: -0 }, 0))
})

/** The file with a changed footer; offsets stay, since the footer is last. */
function withMetadata(change: (metadata: FileMetaData) => FileMetaData): Uint8Array {
  const length = footerLength(bytes, bytes.length)
  const body = bytes.length - length - 8
  const footer = encodeFileMetaData(change(decodeFileMetaData(bytes.subarray(body, body + length))))
  const result = new Uint8Array(body + footer.length + 8)
  result.set(bytes.subarray(0, body))
  result.set(footer, body)
  new DataView(result.buffer).setUint32(body + footer.length, footer.length, true)
  result.set(bytes.subarray(-4), body + footer.length + 4)
  return result
}

t.test('without a page index row groups are pruned, without statistics nothing is', async (t) => {
  const bare = (keepStatistics: boolean) =>
    withMetadata((metadata) => ({
      ...metadata,
      rowGroups: metadata.rowGroups.map((group) => ({
        ...group,
        columns: group.columns.map(({ metaData, fileOffset }) => {
          const { statistics, ...rest } = metaData!
          return { fileOffset, metaData: keepStatistics && statistics ? { ...rest, statistics } : rest }
        }),
      })),
    }))
  const predicate: Predicate = { op: 'eq', column: 'k', value: 1500n }
  t.strictSame(selectRanges(openBytes(bare(true)), predicate), [{ start: 1000, end: 2000 }])
  t.strictSame(selectRanges(openBytes(bare(false)), predicate), [{ start: 0, end: 2000 }])
  const file = openBytes(bare(false))
  t.match(rowsOf(file, { ranges: [{ start: 1503, end: 1504 }] }), [{ k: '1503', s: 'key 001503' }])
  t.ok(file.pagesDecoded <= 10, `pages outside are walked over: ${file.pagesDecoded} decoded`)
})

t.test('bounds of unknown order, crossed bounds and bounds of a wrong length keep', async (t) => {
  const predicate: Predicate = { op: 'eq', column: 's', value: text('zzz') }
  const edit = (statistics: object, orders = true) =>
    withMetadata(({ columnOrders, ...metadata }) => ({
      ...metadata,
      ...(orders && columnOrders ? { columnOrders } : {}),
      rowGroups: metadata.rowGroups.map((group) => ({
        ...group,
        columns: group.columns.map(({ metaData, fileOffset }) => ({
          fileOffset,
          metaData: { ...metaData!, statistics },
        })),
      })),
    }))
  const all = [{ start: 0, end: 2000 }]
  const ranges = (file: Uint8Array, p: Predicate = predicate) => selectRanges(openBytes(file), p)
  t.strictSame(ranges(edit({ minValue: text('a'), maxValue: text('b') })), [], 'trusted')
  t.strictSame(ranges(edit({ minValue: text('a'), maxValue: text('b') }, false)), all, 'no column orders: bytes')
  t.strictSame(ranges(edit({ min: text('a'), max: text('b') })), all, 'deprecated bounds of bytes')
  t.strictSame(ranges(edit({ minValue: text('b'), maxValue: text('a') })), all, 'crossed')
  const key: Predicate = { op: 'eq', column: 'k', value: 5n }
  const long = (value: bigint) => new Uint8Array(BigInt64Array.of(value).buffer)
  t.strictSame(ranges(edit({ min: long(6n), max: long(9n) }), key), [], 'deprecated bounds of signed numbers')
  t.strictSame(ranges(edit({ minValue: long(6n).subarray(1), maxValue: long(9n) }), key), all, 'seven bytes')
  const nan = new Uint8Array(Float64Array.of(Number.NaN).buffer)
  t.strictSame(ranges(edit({ minValue: nan, maxValue: nan }), { op: 'eq', column: 'd', value: 5 }), all, 'NaN')
  t.strictSame(ranges(edit({ nullCount: 1000 }), { op: 'isNotNull', column: 'v' }), [], 'all null')
  t.strictSame(ranges(edit({ nullCount: 5000 }), { op: 'isNotNull', column: 'v' }), all, 'more nulls than rows')
})

t.test('columns that are not asked for are not read', async (t) => {
  const file = openBytes(bytes)
  const footer = file.bytesRead
  for (const _ of readBatches(file, { columns: [], batchRows: 500 }));
  t.equal(file.bytesRead, footer)
  t.throws(() => rowsOf(file, { columns: ['nope'] }), { name: 'FormatError', code: 'UNSUPPORTED', message: /"nope"/ })
})

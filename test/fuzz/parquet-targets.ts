import type { Predicate } from '../../formats/column/predicate-tree.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import { openParquet, readBatches } from '../../formats/parquet/file-read.ts'
import { decodeColumnIndex, decodeFileMetaData, decodeOffsetIndex, footerLength } from '../../formats/parquet/footer.ts'
import { selectRanges } from '../../formats/parquet/page-index.ts'
import { goldenBytes, memorySource, parquetFixtures } from './golden-bytes.ts'
import type { Target } from './targets.ts'

const codecs = loadCodecs()

/** Rows looked at: a file may say in few bytes that one value comes a billion times, and is right. */
const MOST_ROWS = 20_000

export function parquetTargets(): readonly Target[] {
  const files = [
    ...parquetFixtures(),
    ...goldenBytes(/\.parquet$/, 'types', 'types_more', 'types_multiset', 'comp_none', 'comp_lz4', 'comp_gzip'),
  ]
  const indexed = files.filter((bytes) => indexesOf(bytes).length > 0)
  return [
    { name: 'parquet file', seeds: files, decode: readAll },
    { name: 'parquet footer', seeds: files.map(footerOf), decode: (footer) => readAll(withFooter(footer)) },
    { name: 'parquet conditions', seeds: indexed, decode: readSome },
    {
      name: 'parquet page index',
      seeds: indexed.flatMap((bytes) => indexesOf(bytes).slice(0, 8)),
      decode: (bytes) => {
        decodeColumnIndex(bytes)
        decodeOffsetIndex(bytes)
      },
    },
  ]
}

function readAll(bytes: Uint8Array): void {
  const file = openParquet(memorySource(bytes), codecs)
  const columns = file.fields.map((field) => field.name)
  let rows = 0
  for (const { batch } of readBatches(file, { columns, batchRows: 1024 })) {
    rows += batch.rows
    if (rows > MOST_ROWS) break
  }
}

/** Through statistics and page indexes, by a condition on each column in turn. */
function readSome(bytes: Uint8Array): void {
  const file = openParquet(memorySource(bytes), codecs)
  const [first] = file.fields
  const value = first?.type.kind === 'bigint' ? 40n : first?.type.kind === 'varchar' ? new Uint8Array([107]) : 40
  if (first === undefined) return
  const predicate: Predicate = { op: 'le', column: first.name, value }
  let rows = 0
  for (const { batch } of readBatches(file, {
    columns: [file.fields.at(-1)!.name],
    batchRows: 64,
    ranges: selectRanges(file, predicate),
  })) {
    rows += batch.rows
    if (rows > MOST_ROWS) break
  }
}

function footerOf(bytes: Uint8Array): Uint8Array {
  const length = footerLength(bytes, bytes.length)
  return bytes.slice(bytes.length - 8 - length, bytes.length - 8)
}

/** A file of this footer, in front of which lie 1,000 bytes of small numbers. */
function withFooter(footer: Uint8Array): Uint8Array {
  const file = new Uint8Array(4 + 1000 + footer.length + 8)
  for (let i = 0; i < 1000; i++) file[4 + i] = i % 7
  file.set(footer, 1004)
  new DataView(file.buffer).setUint32(1004 + footer.length, footer.length, true)
  file.set([0x50, 0x41, 0x52, 0x31], file.length - 4)
  return file
}

function indexesOf(bytes: Uint8Array): Uint8Array[] {
  const found: Uint8Array[] = []
  for (const { columns } of decodeFileMetaData(footerOf(bytes)).rowGroups) {
    for (const {
      columnIndexOffset: at = 0,
      columnIndexLength = 0,
      offsetIndexOffset = 0,
      offsetIndexLength = 0,
    } of columns) {
      if (columnIndexLength > 0) found.push(bytes.slice(at, at + columnIndexLength))
      if (offsetIndexLength > 0) found.push(bytes.slice(offsetIndexOffset, offsetIndexOffset + offsetIndexLength))
    }
  }
  return found
}

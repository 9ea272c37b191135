import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FormatError } from '../../../formats/bytes/format-error.ts'
import { readBatches } from '../../../formats/parquet/file-read.ts'
import { selectRanges } from '../../../formats/parquet/page-index.ts'
import { goldenTable } from '../../support/golden.ts'
import { fixtureBytes, openBytes, rowsOf } from './support.ts'

function golden(table: string): Uint8Array {
  const folder = join(goldenTable(table), 'bucket-0')
  const name = readdirSync(folder).find((each) => each.endsWith('.parquet'))!
  return new Uint8Array(readFileSync(join(folder, name)))
}

/** Rows read, or the error when it is a `FormatError`; any other error fails the test by being thrown. */
function attempt(bytes: Uint8Array): number | FormatError {
  try {
    const file = openBytes(bytes)
    const columns = file.fields.map((field) => field.name)
    selectRanges(file, { op: 'isNull', column: columns[0]! })
    let rows = 0
    for (const { batch } of readBatches(file, { columns, batchRows: 100 })) rows += batch.rows
    return rows
  } catch (error) {
    if (error instanceof FormatError) return error
    throw error
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error)
}

const victims: readonly (readonly [name: string, bytes: () => Uint8Array, stride: number])[] = [
  ['types_more of Paimon', () => golden('types_more'), 3],
  ['comp_snappy of Paimon', () => golden('comp_snappy'), 5],
  ['all_null_v2_zstd', () => fixtureBytes('all_null_v2_zstd'), 1],
  ['int96', () => fixtureBytes('int96'), 1],
  ['nested_item_names', () => fixtureBytes('nested_item_names'), 5],
  ['duckdb_v2', () => fixtureBytes('duckdb_v2'), 3],
  ['polars', () => fixtureBytes('polars'), 11],
  ['long_lists_v1', () => fixtureBytes('long_lists_v1'), 17],
  ['delta_v2', () => fixtureBytes('delta_v2'), 7],
  ['byte_stream_split', () => fixtureBytes('byte_stream_split'), 7],
  ['dictionary_overflow', () => fixtureBytes('dictionary_overflow'), 7],
]

for (const [name, load, stride] of victims) {
  t.test(`${name}: a flipped byte gives rows or a FormatError, soon`, async (t) => {
    const bytes = load()
    let errors = 0
    let slowest = 0
    for (let at = 0; at < bytes.length; at += stride) {
      for (const mask of [0xff, 0x01, 0x80]) {
        const damaged = bytes.slice()
        damaged[at] = damaged[at]! ^ mask
        const start = performance.now()
        try {
          if (attempt(damaged) instanceof FormatError) errors++
        } catch (error) {
          t.fail(`byte ${at} ^ ${mask}: ${describe(error)}`)
          return
        }
        slowest = Math.max(slowest, performance.now() - start)
      }
    }
    t.ok(errors > 0, `${errors} errors`)
    t.ok(slowest < 3000, `slowest read ${Math.round(slowest)} ms`)
  })

  t.test(`${name}: a file cut short is CORRUPT`, async (t) => {
    const bytes = load()
    const cuts = [0, 1, 4, 7, 8, 11, 12, bytes.length >> 1, bytes.length - 9, bytes.length - 1]
    for (const cut of cuts) {
      const result = attempt(bytes.subarray(0, cut))
      t.match(result, { name: 'FormatError', code: 'CORRUPT' }, `${cut} bytes`)
    }
  })
}

for (const name of ['lz4_raw', 'checksum_v2']) {
  t.test(`${name}: with CRCs, damage in a page is never read as other values`, async (t) => {
    const bytes = fixtureBytes(name)
    const intact = JSON.stringify(rowsOf(openBytes(bytes)))
    const file = openBytes(bytes)
    const { metaData } = file.metadata.rowGroups[0]!.columns[4]!
    const start = metaData!.dictionaryPageOffset ?? metaData!.dataPageOffset
    let noticed = 0
    for (let at = start; at < start + metaData!.totalCompressedSize; at++) {
      const damaged = bytes.slice()
      damaged[at] = damaged[at]! ^ 0x10
      if (attempt(damaged) instanceof FormatError) noticed++
      else if (JSON.stringify(rowsOf(openBytes(damaged))) !== intact) t.fail(`byte ${at} changed the rows unnoticed`)
    }
    t.ok(noticed > metaData!.totalCompressedSize / 2, `${noticed} of ${metaData!.totalCompressedSize} flips noticed`)
  })
}

t.test('a wrong CRC is named', async (t) => {
  const bytes = golden('types_more')
  const file = openBytes(bytes)
  const { metaData } = file.metadata.rowGroups[0]!.columns[0]!
  const damaged = bytes.slice()
  const last = metaData!.dataPageOffset + metaData!.totalCompressedSize - 1
  damaged[last] = damaged[last]! ^ 1
  t.throws(() => rowsOf(openBytes(damaged), { columns: ['_KEY_id'] }), { code: 'CORRUPT', message: /CRC [0-9a-f]{8}/ })
})

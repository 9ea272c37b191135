import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Batch } from '../../formats/column/column.ts'
import { sliceBatch } from '../../formats/column/slice.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import { openParquet, type ParquetFile, readBatches } from '../../formats/parquet/file-read.ts'
import { columns } from './flights-table.ts'

/** Rows of a batch: some 300 kB, and small enough for a smooth progress bar. */
const BATCH_ROWS = 8192

/** The flights of the npm package vega-datasets: zstd Parquet, written by Polars. 13 MB, held in memory while in use. */
export interface DataSet {
  readonly path: string
  readonly bytes: number
  /** Rows that this run takes. */
  readonly rows: number
  readonly file: ParquetFile
}

/** Opens the data set with the library's own Parquet reader. */
export async function openDataSet(maxRows: number): Promise<DataSet> {
  const path = dataSetPath()
  const bytes = readFileSync(path)
  const source = {
    bytes: bytes.length,
    read: (offset: number, length: number) => bytes.subarray(offset, offset + length),
  }
  const file = openParquet(source, loadCodecs())
  return { path, bytes: bytes.length, rows: Math.min(maxRows, file.rows), file }
}

/** The rows of the data set in file order, in the columns and types of the table. */
export function* flightBatches({
  file,
  rows,
}: DataSet): Generator<{ readonly firstRow: number; readonly batch: Batch }> {
  for (const { firstRow, batch } of readBatches(file, { columns, batchRows: BATCH_ROWS })) {
    const left = rows - firstRow
    if (left <= 0) return
    yield { firstRow, batch: left < batch.rows ? sliceBatch(batch, 0, left) : batch }
  }
}

/** The package exports its file of addresses only; the data lies beside that file's folder. */
function dataSetPath(): string {
  return fileURLToPath(new URL('../data/flights-3m.parquet', import.meta.resolve('vega-datasets')))
}

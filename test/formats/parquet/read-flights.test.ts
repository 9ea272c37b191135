import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { FixedColumn } from '../../../formats/column/column.ts'
import { readBatches } from '../../../formats/parquet/file-read.ts'
import { openBytes } from './support.ts'

const path = fileURLToPath(new URL('../../../node_modules/vega-datasets/data/flights-3m.parquet', import.meta.url))

t.test('three million rows of Polars: count, sum and extremes of a column', async (t) => {
  const file = openBytes(new Uint8Array(readFileSync(path)))
  t.equal(file.rows, 3000000)
  const afterFooter = file.bytesRead
  let rows = 0
  let sum = 0n
  let min = 0n
  let max = 0n
  const start = performance.now()
  for (const { firstRow, batch } of readBatches(file, { columns: ['delay'], batchRows: 4096 })) {
    if (firstRow !== rows) t.fail(`batch at ${firstRow}, expected ${rows}`)
    rows += batch.rows
    for (const delay of (batch.columns[0] as FixedColumn).values as BigInt64Array) {
      sum += delay
      if (delay < min) min = delay
      if (delay > max) max = delay
    }
  }
  t.comment(`${Math.round(rows / (performance.now() - start))} thousand rows a second, one column, loop included`)
  t.equal(rows, 3000000)
  t.equal(sum, 20003603n, 'as pyarrow adds it up')
  t.strictSame([min, max], [-1116n, 1688n], 'as pyarrow finds them')
  const chunks = file.metadata.rowGroups.map((group) => group.columns[1]!.metaData!.totalCompressedSize)
  const needed = chunks.reduce((a, b) => a + b, 0)
  t.equal(file.bytesRead - afterFooter, needed, 'only the column asked for is read')
})

// A range of 1 % of the keys as row objects, forwards and in reverse: 100,000 rows, one compacted file, by rows of a page.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWarehouse, t } from '../../../dist/bundle/index.js'

const ROWS = 100_000
const RANGE = ROWS / 100
const dir = mkdtempSync(join(tmpdir(), 'lakelet-range-'))
const warehouse = await openWarehouse(dir, { workers: 0, durability: 'none' })
try {
  for (const pageRows of [20_000, 8192, 4096, 2048]) {
    const table = await warehouse.createTable(`bench.t${pageRows}`, {
      fields: { id: t.bigint({ mode: 'number' }), a: t.int(), name: t.string(), payload: t.string() },
      primaryKey: ['id'],
      options: { bucket: 1, 'parquet.page.row.count.limit': pageRows },
    })
    await table.put(
      Array.from({ length: ROWS }, (_, id) => ({
        id,
        a: (id * 7919) % 9973,
        name: `name ${id}`,
        payload: `row ${id} `.repeat(8),
      })),
    )
    await table.commit()
    await table.compact({ full: true })
    const folder = join(dir, 'bench.db', `t${pageRows}`, 'bucket-0')
    const bytes = Math.max(...readdirSync(folder).map((name) => statSync(join(folder, name)).size))
    for (const reverse of [false, true]) {
      let best = Infinity
      for (let round = 0; round < 30; round++) {
        const lo = (round * 7919) % (ROWS - RANGE)
        const before = process.cpuUsage()
        let rows = 0
        for await (const row of table.scan({ range: { gte: { id: lo }, lt: { id: lo + RANGE } }, reverse }))
          rows += row.id >= lo
        best = Math.min(best, process.cpuUsage(before).user / 1000)
        if (rows !== RANGE) throw new Error(`${rows} rows`)
      }
      process.stdout.write(
        `${pageRows} rows a page, ${bytes} bytes, ${reverse ? 'reverse' : 'forward'} ${best.toFixed(2)} ms\n`,
      )
    }
  }
} finally {
  await warehouse.close()
  rmSync(dir, { recursive: true })
}

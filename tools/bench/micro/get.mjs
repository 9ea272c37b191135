// Warm point reads of 100,000 rows, one compacted file and then 5 runs: get, getSync, misses, getMany of 1,000 sorted keys against a loop.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWarehouse, t } from '../../../dist/bundle/index.js'

const ROWS = 100_000
const GETS = 20_000
const MANY = 1000
const dir = mkdtempSync(join(tmpdir(), 'lakelet-get-'))
const warehouse = await openWarehouse(dir, { workers: 0, durability: 'none' })

/** Even ids only, so that misses lie between them; run `r` overwrites a fifth of the rows. */
async function tableOf(runs) {
  const table = await warehouse.createTable(`bench.runs${runs}`, {
    fields: {
      id: t.bigint({ mode: 'number' }),
      a: t.int(),
      b: t.double(),
      name: t.string(),
      payload: t.string(),
      ts: t.bigint({ mode: 'number' }),
    },
    primaryKey: ['id'],
    options: { bucket: 1, 'write-only': runs > 1 },
  })
  for (let run = 0; run < runs; run++) {
    const rows = []
    for (let i = run; i < ROWS; i += run === 0 ? 1 : 5) {
      rows.push({ id: i * 2, a: i, b: i / 3, name: `name ${i}`, payload: `row ${i} `.repeat(8), ts: i * 1000 })
    }
    await table.put(rows)
    await table.commit()
  }
  if (runs === 1) await table.compact({ full: true })
  for (let i = 0; i < ROWS; i += 500) await table.get(i * 2)
  return table
}

try {
  for (const runs of [1, 5]) {
    const table = await tableOf(runs)
    const idOf = (i) => ((i * 7919) % ROWS) * 2
    const sorted = (i) => Array.from({ length: MANY }, (_, k) => (((i * 7919) % (ROWS - MANY)) + k) * 2)
    const ways = {
      get: async () => {
        for (let i = 0; i < GETS; i++) if ((await table.get(idOf(i))).id !== idOf(i)) throw new Error('wrong row')
      },
      getSync: async () => {
        for (let i = 0; i < GETS; i++) if (table.getSync(idOf(i)).id !== idOf(i)) throw new Error('wrong row')
      },
      miss: async () => {
        for (let i = 0; i < GETS; i++) if ((await table.get(idOf(i) + 1)) !== undefined) throw new Error('found')
      },
      'get, 1,000 keys in a row': async () => {
        for (let i = 0; i < GETS / MANY; i++)
          for (const id of sorted(i)) if ((await table.get(id)).id !== id) throw new Error('wrong row')
      },
      'getMany of them': async () => {
        for (let i = 0; i < GETS / MANY; i++) {
          const keys = sorted(i)
          const rows = await table.getMany(keys)
          for (let k = 0; k < MANY; k++) if (rows[k].id !== keys[k]) throw new Error('wrong row')
        }
      },
    }
    const best = {}
    for (let round = 0; round < 10; round++) {
      for (const [name, read] of Object.entries(ways)) {
        const before = process.cpuUsage()
        await read()
        const micros = process.cpuUsage(before).user / GETS
        best[name] = Math.min(best[name] ?? Infinity, micros)
      }
    }
    process.stdout.write(`${runs} runs\n`)
    for (const [name, micros] of Object.entries(best))
      process.stdout.write(`  ${name.padEnd(26)} ${micros.toFixed(2)} µs\n`)
  }
} finally {
  await warehouse.close()
  rmSync(dir, { recursive: true })
}

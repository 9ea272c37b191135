// A warm point read: `get` of one key against `getMany` of one key, 100,000 rows, one compacted file.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWarehouse, t } from '../../../dist/bundle/index.js'

const ROWS = 100_000
const GETS = 20_000
const dir = mkdtempSync(join(tmpdir(), 'lakelet-get-'))
const warehouse = await openWarehouse(dir, { workers: 0, durability: 'none' })
try {
  const table = await warehouse.createTable('bench.t', {
    fields: { id: t.bigint({ mode: 'number' }), a: t.int(), name: t.string(), payload: t.string() },
    primaryKey: ['id'],
    options: { bucket: 1 },
  })
  await table.put(
    Array.from({ length: ROWS }, (_, id) => ({ id, a: id, name: `name ${id}`, payload: `row ${id} `.repeat(8) })),
  )
  await table.commit()
  await table.compact({ full: true })
  for (let id = 0; id < ROWS; id += 500) await table.get(id)
  const ways = {
    get: (id) => table.get(id),
    getMany: async (id) => (await table.getMany([id]))[0],
  }
  const best = {}
  for (let round = 0; round < 10; round++) {
    for (const [name, read] of Object.entries(ways)) {
      const before = process.cpuUsage()
      for (let i = 0; i < GETS; i++) {
        const id = (i * 7919) % ROWS
        if ((await read(id)).a !== id) throw new Error(`wrong row for ${id}`)
      }
      const micros = process.cpuUsage(before).user / GETS
      best[name] = Math.min(best[name] ?? Infinity, micros)
    }
  }
  for (const [name, micros] of Object.entries(best))
    process.stdout.write(`${name.padEnd(10)} ${micros.toFixed(2)} µs\n`)
} finally {
  await warehouse.close()
  rmSync(dir, { recursive: true })
}

import { randomInt } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import t from 'tap'
import { nodeClock } from '../../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../../engine/ports/node-fs.ts'
import { Warehouse } from '../../engine/warehouse.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import type { createPool } from '../../workers/pool.ts'
import { type Place, runModel } from './run.ts'

// A short part of the model test on a disk and two real threads. Threads run compiled code: `npm run build` first.
const seed = Number(process.env.MODEL_SEED ?? randomInt(2_000_000_000, 3_000_000_000))
const operations = Math.min(2000, Math.max(300, Math.ceil(Number(process.env.MODEL_OPERATIONS ?? 3000) / 100)))

t.setTimeout(900_000)
t.comment(`MODEL_SEED=${seed}, ${operations} operations with two threads: their order is not the same in each run`)

t.test(
  `the table does what a Map does: ${operations} random operations from seed ${seed} on, two threads, on disk`,
  async (t) => {
    const pool: { readonly createPool: typeof createPool } = await import(
      new URL('../../dist/workers/pool.js', import.meta.url).href
    )
    const codecs = loadCodecs()
    const root = t.testdir()
    let count = 0
    const place = async (): Promise<Place> => {
      const path = `${root}/${count++}`
      const fs = createNodeFileSystem({ sync: false })
      await fs.makeDirectory(path)
      return {
        setting: {
          fs,
          path,
          tempDirectory: tmpdir(),
          codecs,
          clock: nodeClock,
          Warehouse,
          executor: () => pool.createPool({ threads: 2, graceMillis: 5000 }),
        },
        close: () => rm(path, { recursive: true }),
      }
    }
    await t.resolves(
      runModel(seed, operations, place, undefined, (shape) => ({
        ...shape,
        handles: 1,
        latency: Math.min(shape.latency, 3),
      })),
    )
  },
)

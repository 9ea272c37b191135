import { randomInt } from 'node:crypto'
import t from 'tap'
import { memoryPlace } from './memory-place.ts'
import { runModel } from './run.ts'

// The other half of model.test.ts, so that two cores share the work.
const seed = Number(process.env.MODEL_SEED ?? randomInt(1_000_000_000, 2_000_000_000))
const operations = Math.ceil(Number(process.env.MODEL_OPERATIONS ?? 3000) / 2)

t.setTimeout(900_000)
t.comment(`MODEL_SEED=${seed} MODEL_OPERATIONS=${operations * 2}`)

t.test(`the table does what a Map does: ${operations} random operations from seed ${seed} on`, async (t) => {
  await t.resolves(runModel(seed, operations, memoryPlace))
})

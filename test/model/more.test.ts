import t from 'tap'
import { randomRun, runOptions } from './random-run.ts'
import { OPERATIONS_A_WORLD } from './run.ts'
import { newTally } from './tally.ts'

// The other half of model.test.ts, so that two cores share the work: it goes on with the seeds behind that half's.
const { seed: first, operations } = runOptions()
const half = Math.ceil(operations / 2)
const seed = first + Math.ceil(half / OPERATIONS_A_WORLD)

t.setTimeout(900_000)
t.comment(`MODEL_SEED=${first} MODEL_OPERATIONS=${operations}`)

t.test(`the table does what a Map does: ${half} random operations from seed ${seed} on`, async (t) => {
  const tally = newTally()
  await t.resolves(randomRun(seed, half, tally))
  t.ok(tally.operations >= half, `${tally.operations} operations`)
})

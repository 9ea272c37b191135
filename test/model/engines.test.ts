import t from 'tap'
import { runEngine } from './engines/run.ts'
import { tables } from './engines/tables.ts'
import { runOptions } from './random-run.ts'

// MODEL_SEED repeats a run exactly; MODEL_OPERATIONS says how long it is, over all kinds of tables.
const { seed, operations } = runOptions()
const STEPS = 60
/** A step here costs what ten of the other model do: all rows are merged anew after each. */
const COST = 10
const rounds = Math.max(2, Math.round(operations / tables.length / STEPS / COST))

t.setTimeout(900_000)
t.comment(`MODEL_SEED=${seed} MODEL_OPERATIONS=${operations}`)

for (const table of tables) {
  t.test(`${table.name}: rows are those of all writes merged at once, whatever was compacted in between`, async (t) => {
    for (let round = 0; round < rounds; round++) await t.resolves(runEngine(table, seed + round, STEPS))
  })
}

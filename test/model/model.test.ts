import t from 'tap'
import { courses } from './coverage.ts'
import { memoryPlace } from './memory-place.ts'
import { randomRun, runOptions } from './random-run.ts'
import { attempt, messageOf, program } from './run.ts'
import { newTally } from './tally.ts'

// MODEL_SEED repeats a run exactly; MODEL_OPERATIONS says how long it is, over this file and more.test.ts.
const { seed, operations } = runOptions()
const half = Math.ceil(operations / 2)

t.setTimeout(900_000)
t.comment(`MODEL_SEED=${seed} MODEL_OPERATIONS=${operations}`)

const tally = newTally()

for (const { name, shape, operations: steps } of courses) {
  t.test(`the table does what a Map does: ${name}`, async (t) => {
    const failure = await attempt(shape, steps, memoryPlace, tally)
    if (failure !== undefined) t.comment(program(shape, steps))
    t.equal(failure === undefined ? 'the same' : messageOf(failure), 'the same')
  })
}

t.test(`the table does what a Map does: ${half} random operations from seed ${seed} on`, async (t) => {
  await t.resolves(randomRun(seed, half, tally))
})

t.test(
  'the run met every level, rewrites, upgrades, spills, stalls, and commits that lost a race and tried again',
  async (t) => {
    t.comment(JSON.stringify({ ...tally, levels: [...tally.levels].sort() }))
    for (const level of [0, 1, 2, 3, 4, 5]) t.ok(tally.levels.has(level), `level ${level}`)
    for (const what of ['rewrites', 'upgrades', 'spills', 'stalls', 'retries', 'conflicts', 'expired'] as const) {
      t.ok(tally[what] > 0, `${what}: ${tally[what]}`)
    }
  },
)

import { parseArgs } from 'node:util'
import { messageOf } from '../model/run.ts'
import { kinds, operations, prepare, tryAll } from './errors.ts'
import { loadEverything, type SimResult, simulate } from './run.ts'

// npm run sim -- [--seeds N] [--first N] [--seed N] [--trace]     runs seeds
// npm run sim -- --errors                                         makes every call of every operation fail
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: process.env.SIM_SEEDS ?? '200' },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    errors: { type: 'boolean', default: false },
  },
})
process.exitCode = (await (values.errors ? tryErrors() : trySeeds())) === 0 ? 0 : 1

async function tryErrors(): Promise<number> {
  let [points, broken] = [0, 0]
  process.on('unhandledRejection', (error) => {
    broken++
    print(`a promise was rejected and nobody cared: ${messageOf(error)}`)
  })
  for (const [kind, options] of Object.entries(kinds)) {
    const disk = await prepare(options)
    for (const operation of operations) {
      const tried = await tryAll(disk, operation, 1, 0)
      print(`${kind}, ${operation.name}: ${tried.points} points, ${JSON.stringify(tried.outcomes)}`)
      for (const message of tried.broken) print(`  ${message}`)
      points += tried.points
      broken += tried.broken.length
    }
  }
  print(`${points} error points, ${broken} broken promises`)
  return broken
}

async function trySeeds(): Promise<number> {
  const first = Number(values.seed ?? values.first)
  const count = values.seed === undefined ? Number(values.seeds) : 1
  const sums: Record<Exclude<keyof SimResult, 'hash'>, number> = {
    snapshots: 0,
    expired: 0,
    tags: 0,
    scans: 0,
    steps: 0,
    calls: 0,
    cuts: 0,
    kills: 0,
  }
  /** Lines of a trace that are shown of a failure. */
  const SHOWN = 60
  let failed = 0
  await loadEverything()
  for (let seed = first; seed < first + count; seed++) {
    const lines: string[] = []
    try {
      const result = await simulate(seed, {
        trace: (line) => {
          if (values.trace) process.stdout.write(`${line}\n`)
          else if (lines.push(line) > 2 * SHOWN) lines.splice(0, SHOWN)
        },
      })
      for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += result[key]
      if (values.seed !== undefined) process.stdout.write(`seed ${seed}: ${JSON.stringify(result)}\n`)
    } catch (error) {
      failed++
      const stack = error instanceof Error ? error.stack : ''
      process.stdout.write(
        `${lines
          .slice(-SHOWN)
          .map((line) => `  ${line}\n`)
          .join(
            '',
          )}seed ${seed} failed: ${messageOf(error)}\n${stack}\nrepeat it with: npm run sim -- --seed ${seed} --trace\n`,
      )
    }
  }
  process.stdout.write(
    `${count} seeds, ${failed} failed: ${Object.entries(sums)
      .map(([name, sum]) => `${sum} ${name}`)
      .join(', ')}\n`,
  )
  return failed
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

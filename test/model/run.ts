import type { Random } from '../../engine/ports/random.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { Generator, type Operation } from './operation.ts'
import { type Shape, shapeOf } from './shape.ts'
import { shrink } from './shrink.ts'
import { newTally, type Tally } from './tally.ts'
import { type Setting, World } from './world.ts'

/** A new place for one run of a world, and how to clear it away. */
export interface Place {
  readonly setting: Setting
  readonly close?: () => Promise<void>
}

/** Operations of one table: enough for several levels and expiries, few enough to shrink. */
export const OPERATIONS_A_WORLD = 1000
const SHRINK_MILLIS = 60_000

/**
 * Runs `operations` random operations over as many tables as that takes, table after table with seeds from `seed` on. Throws at
 * the first difference from the model, after shrinking the operations that lead to it, with a program that repeats it.
 */
export async function runModel(
  seed: number,
  operations: number,
  place: () => Promise<Place>,
  tally: Tally = newTally(),
  change: (shape: Shape) => Shape = (shape) => shape,
): Promise<Tally> {
  for (let left = operations, next = seed; left > 0; left -= OPERATIONS_A_WORLD, next++) {
    const count = Math.min(left, OPERATIONS_A_WORLD)
    const random = seededRandom(next)
    const shape = change(shapeOf(next, random))
    const generator = new Generator(shape, random)
    const list = Array.from({ length: count }, () => generator.next())
    const failure = await attempt(shape, list, place, tally)
    if (failure === undefined) continue
    const shrunk = await shrink(
      list,
      async (shorter) => (await attempt(shape, shorter, place, newTally())) !== undefined,
      SHRINK_MILLIS,
    )
    const last = (await attempt(shape, shrunk, place, newTally())) ?? failure
    throw new Error(
      `the model and the table differ: ${messageOf(last)}\nMODEL_SEED=${next} repeats the run; ${shrunk.length} of ${list.length} operations are enough:\n\n${program(shape, shrunk)}`,
      { cause: last },
    )
  }
  return tally
}

/** Runs operations over a new table; gives what went wrong. */
export async function attempt(
  shape: Shape,
  operations: readonly Operation[],
  place: () => Promise<Place>,
  tally: Tally = newTally(),
): Promise<unknown> {
  const { setting, close } = await place()
  const random: Random = seededRandom(shape.seed + 0x5eed)
  let world: World | undefined
  let unhandled: unknown
  const onUnhandled = (error: unknown) => {
    unhandled ??= new Error('a promise was rejected and nobody cared', { cause: error })
  }
  process.on('unhandledRejection', onUnhandled)
  try {
    world = await World.open(shape, setting, random, tally)
    for (const operation of operations) {
      tally.operations += operation.op === 'together' ? operation.operations.length : 1
      await world.step(operation)
      if (unhandled !== undefined) throw unhandled
    }
    await world.finish()
    return unhandled
  } catch (error) {
    await world?.abandon().catch(() => undefined)
    return error
  } finally {
    process.off('unhandledRejection', onUnhandled)
    await close?.()
  }
}

/** A short program that repeats a failure. */
export function program(shape: Shape, operations: readonly Operation[]): string {
  const lines = operations.map((operation) => `  ${JSON.stringify(operation)},`)
  return [
    `import { replay } from './test/model/replay.ts'`,
    '',
    `await replay(${JSON.stringify(shape)}, [`,
    ...lines,
    '])',
  ].join('\n')
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message} (${messageOf(error.cause)})`
}

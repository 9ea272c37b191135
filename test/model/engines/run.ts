import { createMemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { steppedClock } from '../ports.ts'
import { text } from './functions.ts'
import { drawFrom, type Step, Subject } from './subject.ts'
import type { ModelTable } from './tables.ts'

/**
 * Random writes, commits, compactions and reopened handles on one table; after each of them the table must show the rows that the
 * model merges out of all writes at once. Throws with the steps that lead to a difference.
 */
export async function runEngine(model: ModelTable, seed: number, steps: number): Promise<void> {
  const fs = createMemoryFileSystem({ now: () => 0 })
  await fs.makeDirectory('/w')
  const subject = await Subject.open(model, drawFrom(seededRandom(seed)), { fs, clock: steppedClock(), path: '/w' })
  const done: Step[] = []
  try {
    for (let i = 0; i < steps; i++) {
      const step = subject.next()
      done.push(step)
      await subject.take(step)
      await subject.check(i % 5 === 0)
    }
    const end = [{ op: 'commit' }, { op: 'compact', full: true }, { op: 'expire', keep: 1 }] as const
    for (const step of end) {
      done.push(step)
      await subject.take(step)
      await subject.check(true)
    }
    await subject.checkChanges()
    await subject.checkFiles()
  } catch (error) {
    const history = done.map((step) => text(step)).join('\n')
    throw new Error(`${model.name}, seed ${seed}, options ${text(subject.options)}: ${String(error)}\n${history}`, {
      cause: error,
    })
  } finally {
    await subject.close()
  }
}

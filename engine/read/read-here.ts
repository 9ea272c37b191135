import type { TaskContext } from '../tasks/context.ts'
import type { ReadResult, ReadTask } from '../tasks/task.ts'

/** What reads a stretch is loaded with the first that is asked for: point reads do without. */
let smallReads: Promise<typeof import('../tasks/small-reads.ts')> | undefined

/** The result of a task that is too small for a thread; undefined for one that is not, or that no context is given for. */
export async function readHere(task: ReadTask, context: TaskContext | undefined): Promise<ReadResult | undefined> {
  if (context === undefined) return undefined
  smallReads ??= import('../tasks/small-reads.ts')
  const { readIfSmall } = await smallReads
  return readIfSmall(task, context)
}

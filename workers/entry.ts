import { runTask } from '../engine/tasks/run.ts'
import type { Task, TaskResult } from '../engine/tasks/task.ts'
import { localContext } from './local.ts'
import { movedAnswer } from './moved.ts'
import { toWire, type WireResult } from './wire.ts'

/** Thread side of the pool: one task, run with this thread's ports. Errors travel as data, see `wire.ts`. */
export async function run(task: Task): Promise<WireResult<TaskResult>> {
  try {
    const value = await runTask(task, localContext())
    return value.kind === 'read' ? await movedAnswer(value) : { ok: true, value }
  } catch (error) {
    return { ok: false, error: toWire(error) }
  }
}

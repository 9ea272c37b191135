import type { TaskContext } from '../engine/tasks/context.ts'
import { runTask } from '../engine/tasks/run.ts'
import type { Task, TaskResult } from '../engine/tasks/task.ts'
import { guestsOf, type HostTask } from './hosted.ts'
import { localContext, warmUp } from './local.ts'
import { type Answer, answerOf, movedByPiscina } from './moved.ts'
import { toWire, type WireResult } from './wire.ts'

warmUp()

/** Thread side of the pool: one task, run with this thread's ports. Errors travel as data, see `wire.ts`. */
export async function run(task: Task | HostTask): Promise<WireResult<TaskResult>> {
  if (!('guests' in task)) return movedByPiscina(await answer(task))
  const { guests: door, ...own } = task
  const guests = guestsOf(door, answer)
  try {
    return (await answer(own, { pause: guests.pause })).answer
  } finally {
    guests.end()
  }
}

async function answer(task: Task, more: Partial<TaskContext> = {}): Promise<Answer> {
  try {
    return answerOf(await runTask(task, { ...localContext(), ...more }))
  } catch (error) {
    return { answer: { ok: false, error: toWire(error) }, buffers: [] }
  }
}

import { isTableError, TableError } from '../errors.ts'
import type { Executor } from '../ports/executor.ts'
import { expectListeners, taskAborted } from './abort.ts'
import type { TaskContext } from './context.ts'
import type { FilesResult, ReadResult, ReadTask, SortResult, SortTask, Task, TaskResult } from './task.ts'

export type TaskExecutor = Executor<Task, TaskResult>

/** The kind of result that a kind of task gives. */
export type ResultOf<T extends Task> = T extends ReadTask ? ReadResult : T extends SortTask ? SortResult : FilesResult

/** Runs a task and gives its result its type. */
export async function submit<T extends Task>(
  executor: TaskExecutor,
  task: T,
  signal?: AbortSignal | undefined,
): Promise<ResultOf<T>> {
  expectListeners(signal)
  return (await executor.run(task, { signal })) as ResultOf<T>
}

/** A flag that a task on another thread can see; not zero = stop. */
export function newCancelFlag(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4))
}

/** Loaded with the first task: a program that has threads never needs it here. */
let loading: Promise<typeof import('./run.ts')> | undefined

/** Runs tasks on the caller's thread, letting the event loop in between windows: for tests, and where threads are not wanted. */
export function inlineExecutor(context: () => Promise<TaskContext>): TaskExecutor {
  let closed = false
  return {
    threads: 0,
    async run(task, options) {
      if (closed) throw new TableError('CLOSED', 'The executor is closed. Open the warehouse again.')
      const { signal } = options ?? {}
      const cancel = 'cancel' in task ? task.cancel : undefined
      const stop = () => cancel !== undefined && Atomics.store(cancel, 0, 1)
      if (signal?.aborted) throw taskAborted(signal)
      signal?.addEventListener('abort', stop, { once: true })
      try {
        loading ??= import('./run.ts')
        const { runTask } = await loading
        return await runTask(task as Exclude<Task, ReadTask | SortTask>, await context())
      } catch (error) {
        throw signal?.aborted && isTableError(error, 'ABORTED') ? taskAborted(signal) : error
      } finally {
        signal?.removeEventListener('abort', stop)
      }
    },
    async close() {
      closed = true
    },
  }
}

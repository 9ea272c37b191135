import { TableError } from '../engine/errors.ts'
import type { Executor, RunOptions } from '../engine/ports/executor.ts'
import type { Task, TaskResult } from '../engine/tasks/task.ts'
import { Lanes } from './lanes.ts'
import { Threads } from './threads.ts'
import { fromWire, type WireResult } from './wire.ts'

export interface PoolOptions {
  readonly threads: number
  /** Time a running task has to notice its cancel flag before its thread is ended. */
  readonly graceMillis: number
  /** Heap limit of a thread's own JavaScript objects; columns live outside the heap. Default: Node's own. */
  readonly heapMegabytes?: number | undefined
  /** Module whose `run` does a task. Default: `entry.ts`. */
  readonly entry?: URL | undefined
}

/**
 * Runs tasks on threads, one each. Threads start with the first task and stay warm. A running task keeps the process alive; an
 * idle pool does not, closed or not. Flushes, sorts and reads overtake waiting compactions.
 */
export function createPool(options: PoolOptions): Executor<Task, TaskResult> {
  const lanes = new Lanes(options.threads)
  let threads: Promise<Threads> | undefined
  let closing: Promise<void> | undefined

  async function run(task: Task, { signal }: RunOptions = {}): Promise<TaskResult> {
    if (closing !== undefined) throw closed()
    let release: () => void
    try {
      release = await lanes.acquire(task.kind === 'compact' ? 'background' : 'urgent', signal)
    } catch (error) {
      throw signal?.aborted ? aborted(signal) : error
    }
    try {
      return await onThread(task, signal)
    } finally {
      release()
    }
  }

  async function onThread(task: Task, signal: AbortSignal | undefined): Promise<TaskResult> {
    const started = await start()
    const kill = new AbortController()
    const disarm = onAbort(signal, () => cancel(task, kill, options.graceMillis))
    let answer: WireResult<TaskResult>
    try {
      answer = (await started.run(task, kill)) as WireResult<TaskResult>
    } catch (error) {
      throw signal?.aborted ? aborted(signal) : threadLost(task, error)
    } finally {
      disarm()
    }
    if (answer.ok) return answer.value
    const error = fromWire(answer.error)
    throw signal?.aborted && error.code === 'ABORTED' ? aborted(signal) : error
  }

  /** A start that failed is forgotten: the next task tries again. */
  function start(): Promise<Threads> {
    if (threads !== undefined) return threads
    const starting = Threads.start({
      threads: options.threads,
      heapMegabytes: options.heapMegabytes,
      entry: options.entry ?? new URL('./entry.js', import.meta.url),
    })
    threads = starting
    starting.catch(() => {
      if (threads === starting) threads = undefined
    })
    return starting
  }

  async function close(): Promise<void> {
    lanes.refuse(closed())
    await lanes.idle()
    if (threads !== undefined) await (await threads).close()
  }

  return {
    threads: options.threads,
    run,
    close() {
      closing ??= close()
      return closing
    },
  }
}

/**
 * A running task sees its cancel flag, removes its files and answers. If it has not after the grace time, its thread is ended;
 * what it wrote is then left to the owner of its `fileUuid`. Returns how to call that off.
 */
function cancel(task: Task, kill: AbortController, graceMillis: number): () => void {
  if ('cancel' in task) Atomics.store(task.cancel, 0, 1)
  const timer = setTimeout(() => kill.abort(), graceMillis)
  return () => clearTimeout(timer)
}

/** Calls `start` when the signal fires, or has fired; the function returned undoes what `start` began. */
function onAbort(signal: AbortSignal | undefined, start: () => () => void): () => void {
  let stop: (() => void) | undefined
  const listener = () => {
    stop = start()
  }
  if (signal?.aborted) listener()
  else signal?.addEventListener('abort', listener, { once: true })
  return () => {
    signal?.removeEventListener('abort', listener)
    stop?.()
  }
}

function aborted(signal: AbortSignal): TableError {
  return new TableError('ABORTED', 'The task was aborted. Nothing was changed.', {}, signal.reason)
}

function closed(): TableError {
  return new TableError('CLOSED', 'The worker pool is closed. Open the warehouse again.')
}

function threadLost(task: Task, error: unknown): TableError {
  const outOfMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return new TableError(
    'IO',
    outOfMemory
      ? `A worker thread ran out of memory during a ${task.kind} task. Nothing is lost: give Node more memory (--max-old-space-size), or lower sort-spill-threshold and write-buffer-size, and try again.`
      : `A worker thread ended during a ${task.kind} task. Nothing is lost: try again.`,
    { task: task.kind },
    error,
  )
}

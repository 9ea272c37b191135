import { TableError } from '../engine/errors.ts'
import type { Executor, RunOptions } from '../engine/ports/executor.ts'
import { taskAborted } from '../engine/tasks/abort.ts'
import type { Task, TaskResult } from '../engine/tasks/task.ts'
import { Guests } from './guests.ts'
import type { HostTask } from './hosted.ts'
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
 * Runs tasks on threads, one each. Threads start with the first task, or with `warm`, and stay. A running task keeps the process
 * alive; an idle pool does not, closed or not. Flushes, sorts and reads overtake waiting compactions, and where running
 * compactions hold all threads, these run them between two windows.
 */
export function createPool(options: PoolOptions): Executor<Task, TaskResult> {
  const lanes = new Lanes(options.threads, () => new Guests())
  let threads: Threads | undefined
  let closing: Promise<void> | undefined

  async function run(task: Task, { signal }: RunOptions = {}): Promise<TaskResult> {
    for (;;) {
      if (closing !== undefined) throw closed()
      const place = await lanes.acquire(task.kind === 'compact' ? 'background' : 'urgent', signal).catch((error) => {
        throw signal?.aborted ? taskAborted(signal) : error
      })
      try {
        const answer =
          place.kind === 'guest' ? await asGuest(task, place.host!, signal) : await onThread(task, place.host, signal)
        if (answer === undefined) continue
        if (answer.ok) return answer.value
        const error = fromWire(answer.error)
        throw signal?.aborted && error.code === 'ABORTED' ? taskAborted(signal) : error
      } finally {
        place.release()
      }
    }
  }

  /** Undefined when the host ended before it came to the task. A guest is never ended by force: its host would end with it. */
  async function asGuest(
    task: Task,
    host: Guests,
    signal: AbortSignal | undefined,
  ): Promise<WireResult<TaskResult> | undefined> {
    const disarm = onAbort(signal, () => {
      raise(task)
      return () => undefined
    })
    try {
      return await host.run(task)
    } catch (error) {
      throw threadLost(task, error)
    } finally {
      disarm()
    }
  }

  async function onThread(
    task: Task,
    host: Guests | undefined,
    signal: AbortSignal | undefined,
  ): Promise<WireResult<TaskResult>> {
    const pool = start()
    const kill = new AbortController()
    const disarm = onAbort(signal, () => {
      host?.stop()
      return cancel(task, kill, options.graceMillis, host)
    })
    try {
      const sent: Task | HostTask = host === undefined ? task : { ...task, guests: host.door }
      const answer = (await pool.run(sent, kill, host === undefined ? [] : [host.door.port])) as WireResult<TaskResult>
      host?.answered()
      return answer
    } catch (error) {
      host?.lost(error)
      throw signal?.aborted ? taskAborted(signal) : threadLost(task, error)
    } finally {
      disarm()
    }
  }

  function start(): Threads {
    threads ??= Threads.start({
      threads: options.threads,
      heapMegabytes: options.heapMegabytes,
      entry: options.entry ?? new URL('./entry.js', import.meta.url),
    })
    return threads
  }

  async function close(): Promise<void> {
    lanes.refuse(closed())
    await lanes.idle()
    await threads?.close()
  }

  return {
    threads: options.threads,
    run,
    warm() {
      try {
        if (closing === undefined) start()
      } catch {
        // The first task tries again, and tells.
      }
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}

/**
 * A running task sees its cancel flag, removes its files and answers. If it has not after the grace time, its thread is ended,
 * but not in the middle of a guest's task; what it wrote is then left to the owner of its `fileUuid`. Returns how to call that
 * off.
 */
function cancel(task: Task, kill: AbortController, graceMillis: number, host: Guests | undefined): () => void {
  raise(task)
  let timer = setTimeout(end, graceMillis)
  function end(): void {
    if (host?.busy) timer = setTimeout(end, graceMillis)
    else kill.abort()
  }
  return () => clearTimeout(timer)
}

/** Sets the cancel flag of a task that has one. */
function raise(task: Task): void {
  if ('cancel' in task) Atomics.store(task.cancel, 0, 1)
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

import type { Piscina, PiscinaTask } from 'piscina'
import { TableError } from '../engine/errors.ts'
import type { Executor, RunOptions } from '../engine/ports/executor.ts'
import type { Task, TaskResult } from '../engine/tasks/task.ts'
import { type Ticket, TwoLaneQueue } from './task-queue.ts'
import { fromWire, type WireResult } from './wire.ts'

export interface PoolOptions {
  readonly threads: number
  /** Time a running task has to notice its cancel flag before its thread is ended. */
  readonly graceMillis: number
  /** Heap limit of a thread's own JavaScript objects; columns live outside the heap. */
  readonly heapMegabytes?: number | undefined
}

/**
 * Runs tasks on Piscina threads. Threads start with the first task and stay warm; they do not keep the process alive while
 * idle. Flushes, sorts and reads overtake waiting compactions.
 */
export function createPool(options: PoolOptions): Executor<Task, TaskResult> {
  let pool: ReturnType<typeof startPool> | undefined
  let closed = false

  async function run(task: Task, runOptions: RunOptions = {}): Promise<TaskResult> {
    if (closed) throw new TableError('CLOSED', 'The worker pool is closed. Open the warehouse again.')
    if (runOptions.signal?.aborted) throw aborted(runOptions.signal)
    pool ??= startPool(options)
    const { piscina, ticketSymbol } = await pool
    const ticket: Ticket = { lane: task.kind === 'compact' ? 'background' : 'urgent', waiting: false }
    const kill = new AbortController()
    const disarm = abortBy(runOptions.signal, task, ticket, kill, options.graceMillis)
    try {
      const answer: WireResult<TaskResult> = await piscina.run(
        { ...task, [ticketSymbol]: ticket },
        { signal: kill.signal },
      )
      if (answer.ok) return answer.value
      throw fromWire(answer.error)
    } catch (error) {
      if (error instanceof TableError) throw error
      if (runOptions.signal?.aborted) throw aborted(runOptions.signal)
      throw threadLost(task, error)
    } finally {
      disarm()
    }
  }

  return {
    threads: options.threads,
    run,
    async close() {
      closed = true
      if (pool !== undefined) await (await pool).piscina.destroy()
    },
  }
}

async function startPool(options: PoolOptions): Promise<{ piscina: Piscina; ticketSymbol: symbol }> {
  const module = await import('piscina')
  const { Piscina } = module
  const piscina = new Piscina({
    filename: new URL('./entry.js', import.meta.url).href,
    name: 'run',
    minThreads: options.threads,
    maxThreads: options.threads,
    concurrentTasksPerWorker: 1,
    recordTiming: false,
    taskQueue: new TwoLaneQueue<PiscinaTask>((entry) => entry[module.queueOptionsSymbol] as Ticket),
    ...(options.heapMegabytes !== undefined && { resourceLimits: { maxOldGenerationSizeMb: options.heapMegabytes } }),
  })
  return { piscina, ticketSymbol: module.queueOptionsSymbol }
}

/**
 * An abort takes a waiting task off the queue at once. A running one first sees its cancel flag, removes its files and
 * answers; if it has not after the grace time, its thread is ended, and what it wrote is left to the owner of its `fileUuid`.
 */
function abortBy(
  signal: AbortSignal | undefined,
  task: Task,
  ticket: Ticket,
  kill: AbortController,
  graceMillis: number,
): () => void {
  let timer: NodeJS.Timeout | undefined
  const onAbort = () => {
    const flag = 'cancel' in task ? task.cancel : undefined
    if (flag !== undefined) Atomics.store(flag, 0, 1)
    if (flag === undefined || ticket.waiting) kill.abort(signal?.reason)
    else timer = setTimeout(() => kill.abort(signal?.reason), graceMillis)
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  return () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

function aborted(signal: AbortSignal): TableError {
  return new TableError('ABORTED', 'The task was aborted. Nothing was changed.', {}, signal.reason)
}

function threadLost(task: Task, error: unknown): TableError {
  const outOfMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return new TableError(
    'IO',
    outOfMemory
      ? `A worker thread ran out of memory during a ${task.kind} task. Nothing is lost: give workers more memory, or lower sort-spill-threshold and write-buffer-size, and try again.`
      : `A worker thread ended during a ${task.kind} task. Nothing is lost: try again.`,
    { task: task.kind },
    error,
  )
}

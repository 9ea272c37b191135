/** What an executor may be asked: plain data that can be cloned to a thread, told apart by `kind`. */
export interface AnyTask {
  readonly kind: string
}

export interface RunOptions {
  /** Aborting rejects with `ABORTED`: at once when the task waits for a thread, else after it has stopped and cleaned up. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs tasks, on threads or inline. A task is a function of its descriptor and of files: running it twice is harmless. Errors
 * come back as `TableError` with the code they had on the thread.
 */
export interface Executor<Task extends AnyTask, Result> {
  /** Tasks that can run at once; 0 = inline, on the caller's thread. */
  readonly threads: number
  run(task: Task, options?: RunOptions): Promise<Result>
  /** Begins what the first task would wait for: threads and their codecs. */
  warm?(): void
  /** Waits for running tasks, refuses new ones, ends the threads. */
  close(): Promise<void>
}

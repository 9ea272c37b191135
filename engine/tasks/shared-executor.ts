import type { TaskExecutor } from './submit.ts'

/** An executor with several owners: it is closed when the last one lets go. */
export class SharedExecutor {
  readonly executor: TaskExecutor
  #owners = 0
  #closed: Promise<void> | undefined

  constructor(executor: TaskExecutor) {
    this.executor = executor
  }

  /** One more owner. It lets go by the function returned, which waits for the end of the executor if it was the last. */
  hold(): () => Promise<void> {
    this.#owners++
    let held = true
    return async () => {
      if (held && --this.#owners === 0) this.#closed ??= this.executor.close()
      held = false
      await this.#closed
    }
  }
}

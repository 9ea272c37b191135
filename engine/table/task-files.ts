/**
 * The tasks that write files of a table, by the UUID in the names of these files. What they write is named by nobody until it
 * has landed in a bucket.
 */
export class TaskFiles {
  readonly #running = new Set<string>()
  readonly #ended = new Set<string>()
  #watchers = 0

  /** Runs a task; `failed` cleans up after it when it fails. */
  async during<T>(fileUuid: string, run: () => Promise<T>, failed: () => Promise<void>): Promise<T> {
    this.#running.add(fileUuid)
    try {
      return await run()
    } catch (error) {
      await failed()
      throw error
    } finally {
      this.#running.delete(fileUuid)
      if (this.#watchers > 0) this.#ended.add(fileUuid)
    }
  }

  /**
   * Lets `step` ask for the tasks that have run since it began, also those that ended meanwhile: what they wrote may be
   * between two hands.
   */
  async watch<T>(step: (fileUuids: () => ReadonlySet<string>) => Promise<T>): Promise<T> {
    this.#watchers++
    try {
      return await step(() => new Set([...this.#running, ...this.#ended]))
    } finally {
      if (--this.#watchers === 0) this.#ended.clear()
    }
  }
}

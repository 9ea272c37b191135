import type { AutoCommit } from '../api/calls.ts'
import { TableError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'

/** Watches what is uncommitted and calls `commit`. Its failures go to `failed`; the rows stay for the next try. */
export class AutoCommitter {
  readonly #limits: AutoCommit
  readonly #clock: Clock
  readonly #commit: () => Promise<unknown>
  readonly #failed: (error: unknown) => void
  #timer: AbortController | undefined
  #running: Promise<void> | undefined

  constructor(limits: AutoCommit, clock: Clock, commit: () => Promise<unknown>, failed: (error: unknown) => void) {
    this.#limits = limits
    this.#clock = clock
    this.#commit = commit
    this.#failed = failed
  }

  /** After each write: starts a commit when there is enough, or the clock for one. */
  wrote(rows: number, bytes: number): void {
    if (
      rows >= (this.#limits.rows ?? Number.POSITIVE_INFINITY) ||
      bytes >= (this.#limits.bytes ?? Number.POSITIVE_INFINITY)
    ) {
      this.#start()
    } else if (this.#limits.millis !== undefined && this.#timer === undefined) {
      const timer = new AbortController()
      this.#timer = timer
      this.#clock.sleep(this.#limits.millis, { signal: timer.signal }).then(
        () => this.#start(),
        () => undefined,
      )
    }
  }

  /** Stops the clock and waits for a running commit. */
  async close(): Promise<void> {
    this.#timer?.abort()
    this.#timer = undefined
    await this.#running
  }

  #start(): void {
    this.#timer?.abort()
    this.#timer = undefined
    this.#running ??= this.#commit()
      .then(() => undefined, this.#failed)
      .finally(() => {
        this.#running = undefined
      })
  }
}

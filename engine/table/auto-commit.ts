import type { AutoCommit } from '../api/calls.ts'
import { TableError } from '../errors.ts'
import { shown } from '../options/check-call.ts'
import type { Clock } from '../ports/clock.ts'

const limitNames: ReadonlySet<string> = new Set(['rows', 'bytes', 'millis'])
/** Timers take no more milliseconds. */
const MAX_LIMIT = 2 ** 31 - 1

/** `INVALID` for a limit that is none, or that could not be reached. */
export function checkLimits(limits: AutoCommit): void {
  if (typeof limits !== 'object' || limits === null || Object.values(limits).every((value) => value === undefined)) {
    throw new TableError(
      'INVALID',
      `autoCommit is ${shown(limits)}. Give { rows, bytes, millis }, one of them at least.`,
      {
        option: 'autoCommit',
        value: limits,
      },
    )
  }
  for (const [name, value] of Object.entries(limits) as [string, unknown][]) {
    if (!limitNames.has(name)) {
      throw new TableError('INVALID', `autoCommit has no limit ${JSON.stringify(name)}. Give rows, bytes or millis.`, {
        option: name,
        value,
      })
    }
    if (value === undefined || (typeof value === 'number' && value >= 1 && value <= MAX_LIMIT)) continue
    throw new TableError(
      'INVALID',
      `autoCommit.${name} is ${shown(value)}. Give a number from 1 to ${MAX_LIMIT}, or leave it out.`,
      { option: name, value },
    )
  }
}

/**
 * Watches what is uncommitted and calls `commit`. Its failures go to `failed`; the rows stay for the next try, which comes with
 * the next write or after `millis`. What is due while a commit runs is committed after it.
 */
export class AutoCommitter {
  readonly #limits: AutoCommit
  readonly #clock: Clock
  readonly #commit: () => Promise<unknown>
  readonly #failed: (error: unknown) => void
  #timer: AbortController | undefined
  #running: Promise<void> | undefined
  #again = false

  constructor(limits: AutoCommit, clock: Clock, commit: () => Promise<unknown>, failed: (error: unknown) => void) {
    this.#limits = limits
    this.#clock = clock
    this.#commit = commit
    this.#failed = failed
  }

  /** After each write: starts a commit when there is enough, or the clock for one. */
  wrote(rows: number, bytes: number): void {
    const { rows: most = Number.POSITIVE_INFINITY, bytes: largest = Number.POSITIVE_INFINITY } = this.#limits
    if (rows >= most || bytes >= largest) this.#start()
    else this.#startClock()
  }

  /** Stops the clock and waits for a running commit. */
  async close(): Promise<void> {
    this.#stopClock()
    this.#again = false
    while (this.#running !== undefined) await this.#running
    this.#stopClock()
  }

  #startClock(): void {
    if (this.#limits.millis === undefined || this.#timer !== undefined) return
    const timer = new AbortController()
    this.#timer = timer
    // The process stays alive for it: rows that wait for their commit are not to be lost by coming to an end.
    this.#clock.sleep(this.#limits.millis, { signal: timer.signal, ref: true }).then(
      () => this.#start(),
      () => undefined,
    )
  }

  #stopClock(): void {
    this.#timer?.abort()
    this.#timer = undefined
  }

  #start(): void {
    this.#stopClock()
    if (this.#running !== undefined) {
      this.#again = true
      return
    }
    this.#again = false
    this.#running = this.#commit()
      .then(
        () => undefined,
        (error: unknown) => {
          this.#failed(error)
          this.#startClock()
        },
      )
      .finally(() => {
        this.#running = undefined
        if (this.#again) this.#start()
      })
  }
}

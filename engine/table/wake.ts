import type { Clock } from '../ports/clock.ts'
import { forwardAbort } from '../tasks/abort.ts'
import type { TableEmitter } from './events.ts'

/** Waits for snapshots: for commits of this process by their event, for those of others by looking again after a while. */
export class Wake {
  readonly #clock: Clock
  readonly #events: TableEmitter
  #nap: AbortController | undefined
  #stirred = false

  constructor(clock: Clock, events: TableEmitter) {
    this.#clock = clock
    this.#events = events
    events.on('commit', this.#stir)
  }

  /** Before a look: a commit from here on ends the next wait at once. */
  looking(): void {
    this.#stirred = false
  }

  /** Resolves after a commit, after `millis`, or when the signal fires. Keeps the process alive: somebody waits for what comes. */
  async wait(millis: number, signal: AbortSignal): Promise<void> {
    if (this.#stirred || signal.aborted) return
    const nap = new AbortController()
    this.#nap = nap
    const stopForwarding = forwardAbort(signal, nap)
    await this.#clock.sleep(millis, { signal: nap.signal, ref: true }).catch((error: unknown) => {
      if (!nap.signal.aborted) throw error
    })
    stopForwarding()
    this.#nap = undefined
  }

  close(): void {
    this.#events.off('commit', this.#stir)
  }

  readonly #stir = (): void => {
    this.#stirred = true
    this.#nap?.abort()
  }
}

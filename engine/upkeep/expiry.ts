import type { Snapshot } from '../../formats/meta/types.ts'
import type { Pins } from '../store/pins.ts'
import type { TableStore } from '../store/table-store.ts'
import { type ExpireResult, expireSnapshots, hintedEarliest, nothingEnds } from './expire.ts'
import type { ExpireRequest } from './expire-request.ts'

/** Who hears of expiries: also of those that nobody waits for. */
export interface ExpiryListener {
  /** A run, not a dry one, ended snapshots. */
  readonly expired: (result: ExpireResult) => void
  /** A run that was started by the end of a reader failed. */
  readonly failed: (error: unknown) => void
}

/**
 * Expiries of one table handle: one at a time, and again when the readers that held one back are done.
 *
 *   run ──▶ expire ──held back by pins──▶ wait for a release ──▶ expire again with the same request
 */
export class Expiry {
  readonly #store: TableStore
  readonly #pins: Pins
  readonly #listener: ExpiryListener
  #last: Promise<unknown> = Promise.resolve()
  #stopListening: () => void = () => {}
  #closed = false
  /** A run of this handle has looked for leftovers, and nothing held it back. */
  #tidy = false
  /** The earliest snapshot when it was looked for last. */
  #oldest: Snapshot | undefined

  constructor(store: TableStore, pins: Pins, listener: ExpiryListener) {
    this.#store = store
    this.#pins = pins
    this.#listener = listener
  }

  /** Expires after all runs before. A later request replaces one that waits for readers. */
  run(request: ExpireRequest): Promise<ExpireResult> {
    const running = this.#last.then(async () => {
      const result = await expireSnapshots(this.#store, this.#pins, request)
      if (!request.dryRun) {
        this.#tidy = result.heldBack.length === 0
        if (result.expired.length > 0) this.#listener.expired(result)
        this.#await(request, result)
      }
      return result
    })
    this.#last = running.catch(() => undefined)
    return running
  }

  /**
   * Whether a run would do nothing, as after most commits: what follows a commit must not cost more the more snapshots there are,
   * and mostly looks at no file. Says nothing of leftovers of another process that broke off.
   */
  async isIdle(request: ExpireRequest, latest: number): Promise<boolean> {
    if (!this.#tidy) return false
    if (this.#oldest !== undefined && nothingEnds(this.#oldest, latest, request)) return true
    this.#oldest = await hintedEarliest(this.#store)
    return this.#oldest !== undefined && nothingEnds(this.#oldest, latest, request)
  }

  /** Ends when no expiry runs. What waits for readers is left to the next expiry, in this process or another. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopListening()
    await this.#last
  }

  #await(request: ExpireRequest, { heldBack }: ExpireResult): void {
    this.#stopListening()
    const first = heldBack[0]
    if (first === undefined || this.#closed) return
    const again = () => {
      if (this.#pins.ids().includes(first)) return
      this.#stopListening()
      this.run(request).catch(this.#listener.failed)
    }
    this.#stopListening = this.#pins.onRelease(again)
    // The pin may have gone while the run was on its way.
    again()
  }
}

/** `urgent`: somebody waits for it. `background`: nobody does, and it may take minutes. */
export type Lane = 'urgent' | 'background'

/** How often in a row urgent work may overtake waiting background work: scans without end must not starve compaction. */
const MAX_OVERTAKES = 16

interface Waiter {
  readonly start: () => void
  readonly refuse: (error: unknown) => void
}

/**
 * Slots for work, given out one by one. Urgent work overtakes background work that waits; within a lane the first comes first.
 * It stands in front of Piscina, whose own queue is left empty: tasks that can be aborted pass it by.
 */
export class Lanes {
  readonly #waiting: Readonly<Record<Lane, Waiter[]>> = { urgent: [], background: [] }
  #free: number
  #running = 0
  #overtakes = 0
  #idle: (() => void)[] = []

  constructor(slots: number) {
    this.#free = slots
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.urgent.length + this.#waiting.background.length
  }

  /** Resolves with a function that gives the slot back. Rejects with the signal's reason when that fires first. */
  async acquire(lane: Lane, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#take()
    else await this.#wait(lane, signal)
    let held = true
    return () => {
      if (held) this.#give()
      held = false
    }
  }

  /** Turns away all that wait. */
  refuse(error: unknown): void {
    const waiters = [...this.#waiting.urgent.splice(0), ...this.#waiting.background.splice(0)]
    for (const waiter of waiters) waiter.refuse(error)
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #take(): void {
    this.#free--
    this.#running++
  }

  #give(): void {
    this.#free++
    this.#running--
    const next = this.#next()
    if (next !== undefined) {
      this.#take()
      next.start()
    } else if (this.#running === 0) {
      for (const resolve of this.#idle.splice(0)) resolve()
    }
  }

  #next(): Waiter | undefined {
    const { urgent, background } = this.#waiting
    const overtake = background.length === 0 || this.#overtakes < MAX_OVERTAKES
    if (urgent.length > 0 && overtake) {
      this.#overtakes = background.length === 0 ? 0 : this.#overtakes + 1
      return urgent.shift()
    }
    this.#overtakes = 0
    return background.shift()
  }

  #wait(lane: Lane, signal: AbortSignal | undefined): Promise<void> {
    const queue = this.#waiting[lane]
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.splice(queue.indexOf(waiter), 1)
        reject(signal?.reason)
      }
      const waiter: Waiter = {
        start: () => {
          signal?.removeEventListener('abort', leave)
          resolve()
        },
        refuse: (error) => {
          signal?.removeEventListener('abort', leave)
          reject(error)
        },
      }
      signal?.addEventListener('abort', leave, { once: true })
      queue.push(waiter)
    })
  }
}

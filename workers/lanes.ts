/** `urgent`: somebody waits for it. `background`: nobody does, and it may take minutes. */
export type Lane = 'urgent' | 'background'

/** How often in a row urgent work may overtake waiting background work: scans without end must not starve compaction. */
const MAX_OVERTAKES = 16

/** Background work that lets urgent work in between two of its steps, as long as it is `open`. */
export interface Host {
  readonly open: boolean
  /** Pieces of urgent work it has been given and not finished. */
  readonly guests: number
}

/** A place to run, to be given back once. Background work has its own `host`; the host of a guest is who takes it along. */
export interface Place<H extends Host> {
  readonly kind: 'slot' | 'guest'
  readonly host: H | undefined
  readonly release: () => void
}

interface Waiter<H extends Host> {
  readonly start: (place: Place<H>) => void
  readonly refuse: (error: unknown) => void
}

/**
 * Slots for work, given out one by one. Urgent work overtakes background work that waits, and where background work holds the
 * slots, it becomes its guest instead of waiting for its end; within a lane the first comes first. It stands in front of
 * Piscina, whose own queue is left empty: tasks that can be aborted pass it by.
 */
export class Lanes<H extends Host> {
  readonly #waiting: Readonly<Record<Lane, Waiter<H>[]>> = { urgent: [], background: [] }
  readonly #newHost: () => H
  readonly #hosts = new Set<H>()
  #free: number
  #running = 0
  #overtakes = 0
  #idle: (() => void)[] = []

  constructor(slots: number, newHost: () => H) {
    this.#free = slots
    this.#newHost = newHost
  }

  /** Pieces of work that have a place, guests among them. */
  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.urgent.length + this.#waiting.background.length
  }

  /** Resolves with a place. Rejects with the signal's reason when that fires first. */
  async acquire(lane: Lane, signal?: AbortSignal): Promise<Place<H>> {
    signal?.throwIfAborted()
    if (this.#free > 0) return this.#slot(lane)
    const host = lane === 'urgent' ? this.#openHost() : undefined
    return host === undefined ? this.#wait(lane, signal) : this.#guestOf(host)
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

  #slot(lane: Lane): Place<H> {
    const host = lane === 'background' ? this.#newHost() : undefined
    if (host !== undefined) this.#hosts.add(host)
    this.#free--
    const end = () => {
      if (host !== undefined) this.#hosts.delete(host)
      this.#free++
    }
    return this.#place('slot', host, end)
  }

  #guestOf(host: H): Place<H> {
    return this.#place('guest', host, () => undefined)
  }

  #place(kind: Place<H>['kind'], host: H | undefined, end: () => void): Place<H> {
    this.#running++
    let held = true
    const release = () => {
      if (!held) return
      held = false
      end()
      this.#running--
      this.#startNext()
      if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve()
    }
    return { kind, host, release }
  }

  #startNext(): void {
    if (this.#free > 0) {
      const next = this.#next()
      if (next === undefined) return
      next.waiter.start(this.#slot(next.lane))
    }
    // Who waited for a slot need not wait for the end of background work that has just taken it.
    const host = this.#openHost()
    if (host !== undefined) for (const waiter of this.#waiting.urgent.splice(0)) waiter.start(this.#guestOf(host))
  }

  #openHost(): H | undefined {
    let least: H | undefined
    for (const host of this.#hosts) {
      if (host.open && (least === undefined || host.guests < least.guests)) least = host
    }
    return least
  }

  #next(): { readonly waiter: Waiter<H>; readonly lane: Lane } | undefined {
    const { urgent, background } = this.#waiting
    const overtake = background.length === 0 || this.#overtakes < MAX_OVERTAKES
    if (urgent.length > 0 && overtake) {
      this.#overtakes = background.length === 0 ? 0 : this.#overtakes + 1
      return { waiter: urgent.shift()!, lane: 'urgent' }
    }
    this.#overtakes = 0
    const waiter = background.shift()
    return waiter && { waiter, lane: 'background' }
  }

  #wait(lane: Lane, signal: AbortSignal | undefined): Promise<Place<H>> {
    const queue = this.#waiting[lane]
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.splice(queue.indexOf(waiter), 1)
        reject(signal?.reason)
      }
      const waiter: Waiter<H> = {
        start: (place) => {
          signal?.removeEventListener('abort', leave)
          resolve(place)
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

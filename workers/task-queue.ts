/** A task's place in the queue; travels with it under Piscina's queue options. */
export interface Ticket {
  readonly lane: 'urgent' | 'background'
  /** True while the task waits for a thread. */
  waiting: boolean
}

/**
 * Piscina's queue with two lanes: compactions wait for everything else, so that a flush or a read never stands behind a row
 * of long merges. First in, first out within a lane.
 */
export class TwoLaneQueue<E> {
  readonly #ticket: (entry: E) => Ticket
  readonly #urgent: E[] = []
  readonly #background: E[] = []

  constructor(ticket: (entry: E) => Ticket) {
    this.#ticket = ticket
  }

  get size(): number {
    return this.#urgent.length + this.#background.length
  }

  push(entry: E): void {
    this.#ticket(entry).waiting = true
    this.#lane(entry).push(entry)
  }

  unshift(entry: E): void {
    this.#ticket(entry).waiting = true
    this.#lane(entry).unshift(entry)
  }

  shift(): E | null {
    const entry = this.#urgent.shift() ?? this.#background.shift() ?? null
    if (entry !== null) this.#ticket(entry).waiting = false
    return entry
  }

  remove(entry: E): void {
    const lane = this.#lane(entry)
    const index = lane.indexOf(entry)
    if (index >= 0) lane.splice(index, 1)
    this.#ticket(entry).waiting = false
  }

  #lane(entry: E): E[] {
    return this.#ticket(entry).lane === 'urgent' ? this.#urgent : this.#background
  }
}

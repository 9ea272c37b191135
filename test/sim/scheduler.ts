import type { Clock } from '../../engine/ports/clock.ts'
import type { Random } from '../../engine/ports/random.ts'

/** One process of the simulation, from its start to its end. What it waits for when it dies never comes. */
export interface Life {
  readonly name: string
  alive: boolean
}

interface Waiting {
  readonly life: Life
  readonly label: string
  readonly go: () => void
}

interface Sleeper extends Waiting {
  readonly until: number
}

/** A promise that never settles: the answer to a process that is gone. */
export const never = new Promise<never>(() => undefined)

/** Turns of the event loop in which nothing may happen before a run counts as stuck: a module that is loaded takes some. */
const PATIENCE = 200

/**
 * Lets one thing happen at a time, chosen by the seed: an I/O call, the start or the end of a task, the end of a sleep. What runs
 * between two choices are promise callbacks only, in the order that the language gives them; so a seed is a whole run.
 */
export class Scheduler {
  readonly #random: Random
  readonly #trace: ((line: string) => void) | undefined
  readonly #between: () => Promise<void>
  #waiting: Waiting[] = []
  #sleepers: Sleeper[] = []
  #hash = 0x811c9dc5
  #now = 1_700_000_000_000
  steps = 0

  /** `between` runs alone after each step: the place for checks that must see every state. */
  constructor(random: Random, between: () => Promise<void>, trace?: (line: string) => void) {
    this.#random = random
    this.#between = between
    this.#trace = trace
  }

  /** A number that only the same steps in the same order give. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0')
  }

  /** Resolves when the scheduler chooses it. */
  step(life: Life, label: string): Promise<void> {
    if (!life.alive) return never
    return new Promise((go) => {
      this.#waiting.push({ life, label, go })
    })
  }

  /** The time as a process sees it, `skew` milliseconds beside that of others. */
  clock(life: Life, skew: number): Clock {
    return {
      now: () => this.#now + skew,
      offsetMinutes: () => 90,
      sleep: (millis, { signal } = {}) =>
        new Promise((resolve, reject) => {
          const sleeper = { life, label: `${life.name} wakes`, until: this.#now + Math.ceil(millis), go: resolve }
          this.#sleepers.push(sleeper)
          signal?.addEventListener(
            'abort',
            () => {
              this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
              reject(signal.reason)
            },
            { once: true },
          )
        }),
    }
  }

  /** Notes something that is no choice. */
  note(line: string): void {
    for (let at = 0; at < line.length; at++) this.#hash = Math.imul(this.#hash ^ line.charCodeAt(at), 0x01000193)
    this.#trace?.(line)
  }

  /** Runs until `goal` settles; rejects when it cannot any more, because nothing is left that could happen. */
  async run<T>(goal: Promise<T>): Promise<T> {
    let settled = false
    const end = () => {
      settled = true
    }
    goal.then(end, end)
    for (let idle = 0; ; ) {
      await new Promise<void>((done) => setImmediate(done))
      await this.#between()
      if (settled) return goal
      if (this.#advance()) idle = 0
      else if (++idle > PATIENCE) throw new Error('nothing can happen any more, and the calls have not ended')
    }
  }

  #advance(): boolean {
    this.#waiting = this.#waiting.filter(({ life }) => life.alive)
    this.#sleepers = this.#sleepers.filter(({ life }) => life.alive)
    this.#now++
    const sleeps = this.#waiting.length === 0 || this.#random.fraction() < 0.01
    const next = (sleeps ? this.#takeSleeper() : undefined) ?? this.#takeWaiting()
    if (next === undefined) return false
    this.steps++
    this.note(next.label)
    next.go()
    return true
  }

  #takeWaiting(): Waiting | undefined {
    if (this.#waiting.length === 0) return undefined
    return this.#waiting.splice(Math.floor(this.#random.fraction() * this.#waiting.length), 1)[0]
  }

  #takeSleeper(): Sleeper | undefined {
    const [first] = [...this.#sleepers].sort((a, b) => a.until - b.until)
    if (first === undefined) return undefined
    this.#sleepers = this.#sleepers.filter((other) => other !== first)
    this.#now = Math.max(this.#now, first.until)
    return first
  }
}

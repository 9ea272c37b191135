import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Task, TaskResult } from '../engine/tasks/task.ts'
import type { Host } from './lanes.ts'
import type { WireResult } from './wire.ts'

/** What goes to the thread of the host, and comes back. */
export interface GuestCall {
  readonly id: number
  readonly task: Task
}

export interface GuestAnswer {
  readonly id: number
  readonly answer: WireResult<TaskResult>
}

/** The thread's end: calls come in on the port; the number is one more than the id of the call that runs, 0 = none. */
export interface GuestDoor {
  readonly port: MessagePort
  readonly busy: Int32Array
}

/** The last message of a host: it has taken no call since its last answer. */
export const GUESTS_END = 'end'

interface Waiting {
  readonly resolve: (answer: WireResult<TaskResult> | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Main side of a running compaction that takes urgent tasks along: it runs them on its thread between two of its windows.
 * `door` goes to that thread with the compaction.
 */
export class Guests implements Host {
  readonly door: GuestDoor
  readonly #port: MessagePort
  readonly #waiting = new Map<number, Waiting>()
  #calls = 0
  #state: 'open' | 'stopping' | 'ended' = 'open'

  constructor() {
    const { port1, port2 } = new MessageChannel()
    this.door = { port: port2, busy: new Int32Array(new SharedArrayBuffer(4)) }
    this.#port = port1
    port1.on('message', (message: GuestAnswer | typeof GUESTS_END) => {
      if (message === GUESTS_END) this.#end()
      else this.#take(message.id)?.resolve(message.answer)
    })
    // The compaction itself keeps the process alive.
    port1.unref()
  }

  get open(): boolean {
    return this.#state === 'open'
  }

  /** Whether the thread is at a guest's task now. */
  get busy(): boolean {
    return this.#running !== undefined
  }

  /** The call that the thread is at; undefined = at none. */
  get #running(): number | undefined {
    const id = Atomics.load(this.door.busy, 0) - 1
    return id < 0 ? undefined : id
  }

  get guests(): number {
    return this.#waiting.size
  }

  /** Resolves to undefined when the host ended before it came to the task: run it elsewhere. Rejects when its thread was lost in it. */
  run(task: Task): Promise<WireResult<TaskResult> | undefined> {
    if (this.#state === 'ended') return Promise.resolve(undefined)
    const id = this.#calls++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#port.postMessage({ id, task } satisfies GuestCall)
    })
  }

  /** The host is being cancelled: it takes no more. */
  stop(): void {
    if (this.#state === 'open') this.#state = 'stopping'
  }

  /** The host has answered: tasks it has not come to are free once its last message is here. */
  answered(): void {
    this.stop()
    if (this.#waiting.size === 0) this.#end()
    // The compaction is over, and those that wait for its last message must not be all that is left.
    else this.#port.ref()
  }

  /** The host's thread ended. The task it was at fails with it, the others have not begun. */
  lost(error: unknown): void {
    const running = this.#running
    if (running !== undefined) this.#take(running)?.reject(error)
    this.#end()
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }

  #end(): void {
    this.#state = 'ended'
    const left = [...this.#waiting.values()]
    this.#waiting.clear()
    this.#port.close()
    for (const { resolve } of left) resolve(undefined)
  }
}

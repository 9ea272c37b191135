import { receiveMessageOnPort } from 'node:worker_threads'
import type { Task } from '../engine/tasks/task.ts'
import { GUESTS_END, type GuestAnswer, type GuestCall, type GuestDoor } from './guests.ts'
import type { Answer } from './moved.ts'

/** A compaction with the door by which urgent tasks come in. */
export type HostTask = Task & { readonly guests: GuestDoor }

/** Guests between two steps of their host: it must get on, too. */
const MOST_AT_ONCE = 4

/**
 * Thread side of `Guests`: the pause of a compaction, in which it runs the tasks that have come in. `end` says that no more are
 * taken.
 */
export function guestsOf({ port, busy }: GuestDoor, run: (task: Task) => Promise<Answer>) {
  return {
    async pause(): Promise<void> {
      for (let taken = 0; taken < MOST_AT_ONCE; taken++) {
        const received = receiveMessageOnPort(port)
        if (received === undefined) return
        const { id, task } = received.message as GuestCall
        Atomics.store(busy, 0, id + 1)
        const { answer, buffers } = await run(task)
        Atomics.store(busy, 0, 0)
        port.postMessage({ id, answer } satisfies GuestAnswer, buffers)
      }
    },
    end(): void {
      port.postMessage(GUESTS_END)
      port.close()
    },
  }
}

import { createRequire } from 'node:module'
import type { MessagePort, Worker } from 'node:worker_threads'
import type { Piscina } from 'piscina'

const require = createRequire(import.meta.url)

export interface ThreadOptions {
  readonly threads: number
  /** Heap limit of a thread's own JavaScript objects; columns live outside the heap. */
  readonly heapMegabytes?: number | undefined
  /** Module whose `run` does the work. */
  readonly entry: URL
}

/**
 * Piscina's threads; the caller gives them no more tasks than there are threads. Beyond Piscina: a call whose thread is lost
 * rejects after the thread has really ended, so that what it was writing can be removed, and when no thread can be started the
 * calls reject instead of waiting for ever.
 */
export class Threads {
  readonly #piscina: Piscina
  /** Threads that have not ended. */
  readonly #exits = new Map<Worker, Promise<void>>()
  readonly #kills = new Set<AbortController>()

  private constructor(piscina: Piscina) {
    this.#piscina = piscina
    // A thread that dies between two tasks concerns nobody and is replaced; unheard, the event would end the process.
    piscina.on('error', () => undefined)
    piscina.on('workerCreate', () => this.#watch())
    piscina.on('workerDestroy', () => {
      // Piscina forgets the thread and starts another right after this event.
      queueMicrotask(() => {
        if (piscina.threads.length > 0) return
        for (const kill of this.#kills) kill.abort(new Error('No worker thread could be started.'))
      })
    })
    this.#watch()
  }

  /** In one step: a caller who goes on to fill buffers would keep the event loop from finishing it. */
  static start(options: ThreadOptions): Threads {
    const { Piscina } = require('piscina') as typeof import('piscina')
    return new Threads(
      new Piscina({
        filename: options.entry.href,
        name: 'run',
        minThreads: options.threads,
        maxThreads: options.threads,
        concurrentTasksPerWorker: 1,
        recordTiming: false,
        // Loaders that the program was started with are not for the library's own files: they would cost a second a thread.
        execArgv: [],
        ...(options.heapMegabytes !== undefined && {
          resourceLimits: { maxOldGenerationSizeMb: options.heapMegabytes },
        }),
      }),
    )
  }

  /** Runs a task, to which `ports` move. Aborting `kill` ends its thread. Rejects with what ended the thread, once it has ended. */
  async run(task: unknown, kill: AbortController, ports: MessagePort[] = []): Promise<unknown> {
    this.#kills.add(kill)
    try {
      return await this.#piscina.run(task, { signal: kill.signal, transferList: ports })
    } catch (error) {
      const live = new Set(this.#piscina.threads)
      await Promise.all([...this.#exits].map(([thread, exit]) => (live.has(thread) ? undefined : exit)))
      throw error
    } finally {
      this.#kills.delete(kill)
    }
  }

  /** Ends all threads and waits until they are gone. */
  async close(): Promise<void> {
    await this.#piscina.destroy()
    await Promise.all(this.#exits.values())
  }

  #watch(): void {
    for (const thread of this.#piscina.threads) {
      if (this.#exits.has(thread)) continue
      const exit = new Promise<void>((resolve) => {
        thread.once('exit', () => {
          this.#exits.delete(thread)
          resolve()
        })
      })
      this.#exits.set(thread, exit)
    }
  }
}

import { TableError } from '../errors.ts'

/** What a scan gives: an async iterator that also closes with `await using`. */
export interface Scan<T> extends AsyncIterableIterator<T> {
  return(): Promise<IteratorResult<T>>
  /** What is left of the scan, in memory at once; for results known to be small. */
  toArray(): Promise<T[]>
  [Symbol.asyncIterator](): Scan<T>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Items out of an async stream of lists: most calls of `next` find an item at hand and do not touch the stream. What the scan
 * holds is released at the end of the stream, by `return` (which `break` calls), or on the first error.
 */
export class ScanIterator<T> implements Scan<T> {
  readonly #start: () => AsyncGenerator<readonly T[]>
  readonly #release: () => void
  readonly #signal: AbortSignal | undefined
  readonly #stop: () => void
  #stream: AsyncGenerator<readonly T[]> | undefined
  #items: readonly T[] = []
  #next = 0
  #ended = false
  #failure: { readonly error: unknown } | undefined
  #pulling: Promise<unknown> = Promise.resolve()

  /** `stop` is called when the scan is left, before anything waits for the stream: it ends what the stream waits for. */
  constructor(
    start: () => AsyncGenerator<readonly T[]>,
    release: () => void,
    signal: AbortSignal | undefined,
    stop: () => void = () => undefined,
  ) {
    this.#start = start
    this.#release = release
    this.#signal = signal
    this.#stop = stop
  }

  next(): Promise<IteratorResult<T>> {
    const atHand = this.#next < this.#items.length && this.#signal?.aborted !== true
    if (atHand) return Promise.resolve({ done: false, value: this.#items[this.#next++]! })
    const pulled = this.#pulling.then(() => this.#pull())
    this.#pulling = pulled.catch(() => undefined)
    return pulled
  }

  async return(): Promise<IteratorResult<T>> {
    this.#items = []
    this.#next = 0
    if (!this.#ended) {
      this.#ended = true
      this.#stop()
      await this.#stream?.return(undefined)
      this.#release()
    }
    return { done: true, value: undefined }
  }

  async toArray(): Promise<T[]> {
    const items: T[] = []
    for await (const item of this) items.push(item)
    return items
  }

  /** Ends the scan from outside: a consumer that comes back for more gets the error, not an end that looks complete. */
  async fail(error: unknown): Promise<void> {
    if (this.#ended) return
    this.#failure = { error }
    await this.return()
  }

  [Symbol.asyncIterator](): Scan<T> {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  async #pull(): Promise<IteratorResult<T>> {
    try {
      if (!this.#ended) checkAborted(this.#signal)
      while (this.#next >= this.#items.length) {
        if (this.#failure !== undefined) throw this.#failure.error
        if (this.#ended) return { done: true, value: undefined }
        this.#stream ??= this.#start()
        const { done, value } = await this.#stream.next()
        if (this.#ended) continue
        if (done === true) {
          await this.return()
          return { done: true, value: undefined }
        }
        this.#items = value
        this.#next = 0
      }
    } catch (error) {
      this.#ended = true
      this.#items = []
      this.#next = 0
      await this.#stream?.return(undefined)
      this.#release()
      throw error
    }
    return { done: false, value: this.#items[this.#next++]! }
  }
}

/** `ABORTED` when the caller's signal says so. */
export function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return
  throw new TableError('ABORTED', 'The read was aborted. Call it again without an aborted signal.', {}, signal.reason)
}

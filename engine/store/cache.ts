interface Entry<V> {
  readonly value: V
  readonly bytes: number
  /** Asked for since it was last passed over. */
  used: boolean
}

/**
 * Keeps values of files that never change. When the sum of their sizes passes a limit, the oldest goes that nobody asked for
 * since it was looked at last: nearly the least recently used one, and a hit costs no more than a mark.
 *
 * Invariants: the sum of the sizes kept is at most `capacityBytes`; a value larger than that is never kept. A load that fails
 * leaves nothing behind; two loads of one key at the same time are one.
 */
export class Cache<V> {
  readonly #capacityBytes: number
  /** The next to be looked at first: a Map keeps the order of insertion. */
  readonly #entries = new Map<string, Entry<V>>()
  readonly #loading = new Map<string, Promise<V>>()
  #bytes = 0

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes
  }

  /** Sum of the sizes of the values kept. */
  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.used = true
    return entry.value
  }

  set(key: string, value: V, bytes: number): void {
    this.delete(key)
    if (bytes > this.#capacityBytes) return
    this.#entries.set(key, { value, bytes, used: false })
    this.#bytes += bytes
    // Entries that were used go round once more, behind the new one, which stays.
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#capacityBytes) break
      this.#entries.delete(oldest)
      if (entry.used || oldest === key) {
        entry.used = false
        this.#entries.set(oldest, entry)
      } else this.#bytes -= entry.bytes
    }
  }

  /** The value kept, or the one that `load` gives, which is then kept. */
  async getOrLoad(key: string, load: () => Promise<{ readonly value: V; readonly bytes: number }>): Promise<V> {
    const kept = this.get(key)
    if (kept !== undefined) return kept
    const running = this.#loading.get(key)
    if (running !== undefined) return running
    const loading = load().then(({ value, bytes }) => {
      // A `delete` or `clear` while loading means that the file is going: then the value is not kept.
      if (this.#loading.get(key) === loading) this.set(key, value, bytes)
      return value
    })
    this.#loading.set(key, loading)
    try {
      return await loading
    } finally {
      if (this.#loading.get(key) === loading) this.#loading.delete(key)
    }
  }

  delete(key: string): void {
    this.#loading.delete(key)
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }

  clear(): void {
    this.#entries.clear()
    this.#loading.clear()
    this.#bytes = 0
  }
}

/**
 * Snapshots that readers of this process are reading. Expiry in this process leaves them and all later ones alone; other
 * processes do not see pins and go by retention time.
 */
export class Pins {
  readonly #counts = new Map<number, number>()
  readonly #listeners = new Set<() => void>()

  /** Pins a snapshot until the function returned is called; calling it twice is harmless. */
  pin(id: number): () => void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
    let held = true
    return () => {
      if (!held) return
      held = false
      const count = this.#counts.get(id)! - 1
      if (count > 0) {
        this.#counts.set(id, count)
        return
      }
      this.#counts.delete(id)
      for (const listener of [...this.#listeners]) listener()
    }
  }

  /** Pinned snapshots, ascending. */
  ids(): readonly number[] {
    return [...this.#counts.keys()].sort((a, b) => a - b)
  }

  /** Calls `listener` each time a snapshot's last pin goes; the function returned ends that. */
  onRelease(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

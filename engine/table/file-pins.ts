import { posix } from 'node:path'

/**
 * Data files that no snapshot names but open scans read. Their owner deletes them when they are released. (Files that snapshots
 * name are protected by pins on the snapshot.)
 */
export class FilePins {
  readonly #counts = new Map<string, number>()
  readonly #doomed = new Map<string, () => void>()

  /** Holds files until the function returned is called; calling it twice is harmless. */
  pin(paths: readonly string[]): () => void {
    for (const path of paths) this.#counts.set(path, (this.#counts.get(path) ?? 0) + 1)
    let held = true
    return () => {
      if (!held) return
      held = false
      for (const path of paths) this.#release(path)
    }
  }

  /** Names of the files that are held. */
  names(): readonly string[] {
    return [...this.#counts.keys()].map((path) => posix.basename(path))
  }

  /** Runs `remove` now, or when the last pin of the file goes. */
  whenFree(path: string, remove: () => void): void {
    if (this.#counts.has(path)) this.#doomed.set(path, remove)
    else remove()
  }

  #release(path: string): void {
    const count = this.#counts.get(path)! - 1
    if (count > 0) {
      this.#counts.set(path, count)
      return
    }
    this.#counts.delete(path)
    const remove = this.#doomed.get(path)
    this.#doomed.delete(path)
    remove?.()
  }
}

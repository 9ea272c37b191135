/** Where new columns take their bytes from: so many, all zero. */
export type Memory = (bytes: number) => ArrayBufferLike

/** Buffers of this thread, which can be moved to another one. */
export const heapMemory = (bytes: number): ArrayBuffer => new ArrayBuffer(bytes)

/** Buffers that threads share. */
export const sharedMemory: Memory = (bytes) => new SharedArrayBuffer(bytes)

/** Like `Memory` for those who write every byte: at least so many, with whatever is in them. */
export type Scratch = (bytes: number) => ArrayBuffer

/**
 * Hands the same buffers out again after each `reset`, in the order in which they are asked for: batches of one kind, made one
 * after the other, need no new memory. Zeroing and collecting fresh buffers took an eighth of a compaction.
 */
export class Arena {
  readonly #buffers: ArrayBuffer[] = []
  #next = 0

  /** All buffers are free again. */
  reset(): void {
    this.#next = 0
  }

  readonly take: Scratch = (bytes) => {
    const at = this.#next++
    const kept = this.#buffers[at]
    if (kept !== undefined && kept.byteLength >= bytes) return kept
    // A little more than asked for: batches differ by a few rows.
    const buffer = new ArrayBuffer((bytes + (bytes >>> 3) + 7) & ~7)
    this.#buffers[at] = buffer
    return buffer
  }
}

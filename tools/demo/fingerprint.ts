/** What two sets of rows must agree in to be taken for equal. */
export interface Fingerprint {
  readonly rows: number
  /** Minutes. */
  readonly delaySum: number
  /** Over whole rows, whatever their order: sum and exclusive or of a 64-bit hash of each row, 32 hex digits. */
  readonly hash: string
}

/**
 * Adds up a fingerprint. A sum notices a row that is missing, doubled or changed; the exclusive or catches what a sum of two wrong
 * rows might cancel out.
 */
export class FingerprintBuilder {
  #rows = 0
  #delaySum = 0
  readonly #sum = new Uint32Array(2)
  readonly #xor = new Uint32Array(2)

  /** `date` in microseconds. Numbers must be whole; those of a `bigint` give the same text. */
  add(
    origin: string,
    destination: string,
    date: number | bigint,
    delay: number | bigint | null,
    distance: number | bigint,
  ): void {
    const text = `${origin},${destination},${date},${delay},${distance}`
    let a = 0x811c9dc5
    let b = 0x2f0b4c47
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      a = Math.imul(a ^ unit, 0x01000193)
      b = Math.imul(b ^ unit, 0x5bd1e995)
      b ^= b >>> 15
    }
    a = Math.imul(a ^ (a >>> 16) ^ b, 0x85ebca6b)
    b = Math.imul(b ^ (b >>> 13) ^ a, 0xc2b2ae35)
    a ^= a >>> 15
    b ^= b >>> 16
    this.#rows++
    this.#delaySum += Number(delay ?? 0)
    this.#sum[0]! += a
    this.#sum[1]! += b
    this.#xor[0]! ^= a
    this.#xor[1]! ^= b
  }

  finish(): Fingerprint {
    const hash = [...this.#sum, ...this.#xor].map((part) => part.toString(16).padStart(8, '0')).join('')
    return { rows: this.#rows, delaySum: this.#delaySum, hash }
  }
}

/** What differs, one line each; none = equal. */
export function differences(expected: Fingerprint, actual: Fingerprint): readonly string[] {
  return (['rows', 'delaySum', 'hash'] as const)
    .filter((part) => expected[part] !== actual[part])
    .map((part) => `${part}: the table has ${actual[part]}, the data set gives ${expected[part]}`)
}

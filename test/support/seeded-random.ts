import type { Random } from '../../engine/ports/random.ts'

/** Randomness that repeats: the same seed gives the same names and numbers (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const hex = () => next().toString(16).padStart(8, '0')
  return {
    fraction: () => next() / 2 ** 32,
    uuid: () => {
      const digits = hex() + hex() + hex() + hex()
      const variant = '89ab'[next() & 3]
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20)}`
    },
  }
}

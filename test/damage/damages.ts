import { seededRandom } from '../support/seeded-random.ts'

/** One way in which a file was changed. */
export interface Damage {
  readonly what: string
  /** Undefined: the file is gone. */
  readonly bytes: Uint8Array | undefined
}

/** How many of each kind of damage a file gets, spread over it; `Infinity` = one a byte. */
export interface DamageCounts {
  readonly flips: number
  readonly cuts: number
}

/** Damages of a file, `others` being files of the same kind. The same for the same seed. */
export function* damagesOf(
  file: Uint8Array,
  others: readonly { readonly name: string; readonly bytes: Uint8Array }[],
  { flips, cuts }: DamageCounts,
  seed: number,
): Generator<Damage> {
  const random = seededRandom(seed)
  for (const at of places(file.length, flips, random)) {
    const bit = Math.floor(random.fraction() * 8)
    const bytes = file.slice()
    bytes[at]! ^= 1 << bit
    yield { what: `bit ${bit} of byte ${at} of ${file.length} flipped`, bytes }
  }
  for (const length of places(file.length, cuts, random)) {
    yield { what: `cut to ${length} of ${file.length} bytes`, bytes: file.slice(0, length) }
  }
  yield { what: 'zeros', bytes: new Uint8Array(file.length) }
  if (file.length > 100) {
    const bytes = file.slice()
    bytes.fill(0, file.length >> 1)
    yield { what: 'zeros in the second half', bytes }
  }
  const longer = new Uint8Array(file.length + 16)
  longer.set(file)
  yield { what: '16 zeros appended', bytes: longer }
  yield { what: 'missing', bytes: undefined }
  for (const { name, bytes } of others) yield { what: `replaced by ${name}`, bytes }
}

/** So many numbers below `length`, one in each stretch of equal length. */
function places(length: number, count: number, random: { fraction(): number }): number[] {
  if (count >= length) return Array.from({ length }, (_, i) => i)
  return Array.from({ length: count }, (_, i) => Math.floor(((i + random.fraction()) * length) / count))
}

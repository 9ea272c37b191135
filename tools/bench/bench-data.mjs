// The rows of the Java side, `test/interop/oracle/src/main/java/BenchData.java`, made by the same recipe.

class Xorshift32 {
  constructor(seed) {
    this.x = seed | 0 || 1
  }
  /** The next value, 0 to 2^32 - 1. */
  next() {
    let x = this.x
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.x = x
    return x >>> 0
  }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const WORDS = (
  'amber anchor apple arrow autumn basket beacon birch bottle bridge candle canyon carbon castle cedar cherry cloud cobalt ' +
  'copper coral cotton crystal dagger desert dragon eagle ember falcon feather forest garden ginger glacier granite harbor ' +
  'hazel island ivory jasmine jungle kettle lagoon lantern lemon marble meadow mirror nectar ocean olive orchid pebble pepper ' +
  'planet prairie quartz river saddle silver summit thunder tulip velvet willow'
).split(' ')
const PAYLOAD = 80

/** The ids 0 to n - 1 in the order in which they are written. */
export function order(n, seed) {
  const ids = Int32Array.from({ length: n }, (_, i) => i)
  const random = new Xorshift32(seed)
  for (let i = n - 1; i > 0; i--) {
    const j = random.next() % (i + 1)
    const swapped = ids[i]
    ids[i] = ids[j]
    ids[j] = swapped
  }
  return ids
}

/** Finaliser of MurmurHash3 over id + 1; never 0. */
function mix(id) {
  let h = (id + 1) | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  h ^= h >>> 16
  return h || 1
}

/** The row of an id; `ts` in milliseconds. */
export function rowOf(id) {
  const random = new Xorshift32(mix(id))
  const a = random.next() | 0
  const b = (random.next() / 4294967296) * 1000
  let name = ''
  let bits = 0
  for (let k = 0; k < 16; k++) {
    bits = k % 6 === 0 ? random.next() : bits >>> 5
    name += ALPHABET[bits & 31]
  }
  const ts = 1_700_000_000_000 + id * 1000 + (random.next() % 1000)
  let payload = ''
  while (payload.length < PAYLOAD) {
    payload += WORDS[random.next() >>> 26]
    if (payload.length < PAYLOAD) payload += ' '
  }
  return { id, a, b, name, payload: payload.slice(0, PAYLOAD), ts }
}

/** The ids that are looked up. */
export function lookupIds(rows, lookups, seed) {
  const random = new Xorshift32(seed + 1)
  return Int32Array.from({ length: lookups }, () => random.next() % rows)
}

/** The table's columns, given the types of Lakelet. */
export function fieldsOf(t) {
  const number = () => t.bigint({ mode: 'number' })
  return {
    id: number(),
    a: number().nullable(),
    b: t.double().nullable(),
    name: t.string().nullable(),
    payload: t.string().nullable(),
    ts: t.timestamp(3).nullable(),
  }
}

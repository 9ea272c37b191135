// Deterministic workload. Every value is a pure function of (key index, version), so the
// harness can check any engine's answers without keeping a second copy of the data.
// README.md describes the same thing in words, for ports to other languages.

/** 32-bit finaliser (murmur3). */
export function mix(x) {
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return (x ^ (x >>> 16)) >>> 0
}

/** Column hash: one 32-bit value per (key index, version, salt). */
export function hash(i, version, salt) {
  return mix((i + Math.imul(version, 0x9e3779b1) + Math.imul(salt, 0x7f4a7c15)) | 0)
}

/** mulberry32: the only sequential random source, used for orders and samples. */
export function prng(seed) {
  let s = seed >>> 0
  return () => {
    s = (s + 0x6d2b79f5) >>> 0
    let t = s
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const SYLLABLES = ['ba', 'ke', 'lo', 'mi', 'nu', 'ra', 'se', 'to', 'vi', 'xa', 'du', 'fe', 'go', 'hi', 'ju', 'pra']
/** 512 words of three or four syllables. */
export const WORDS = Array.from({ length: 512 }, (_, w) => {
  const h = mix(w + 1)
  let s = ''
  for (let k = 0; k < 3 + (h & 1); k++) s += SYLLABLES[(h >>> (1 + 4 * k)) & 15]
  return s
})

export const KEY_STEP = 3
export const BASE_TS = 1735689600000 // 2025-01-01T00:00:00Z

const hex8 = (x) => x.toString(16).padStart(8, '0')

export const idOf = (i) => i * KEY_STEP
export const aOf = (i, version) => hash(i, version, 1) >>> 2 // 0 .. 2^30-1
export function rowOf(i, version) {
  const h1 = hash(i, version, 3)
  const h2 = hash(i, version, 4)
  const h3 = hash(i, version, 5)
  const w = WORDS
  return {
    id: i * KEY_STEP,
    a: aOf(i, version),
    b: (hash(i, version, 2) % 1000000) / 100,
    // join() gives flat strings: no engine pays for flattening the ropes that `+` would leave.
    name: [w[h1 & 511], hex8(h2)].join('-'),
    payload: [
      w[(h1 >>> 9) & 511],
      w[(h1 >>> 18) & 511],
      w[h2 & 511],
      w[(h2 >>> 9) & 511],
      w[(h2 >>> 18) & 511],
      w[h3 & 511],
      w[(h3 >>> 9) & 511],
      w[(h3 >>> 18) & 511],
      hex8(hash(i, version, 6)) + hex8(hash(i, version, 7)),
    ].join(' '),
    ts: BASE_TS + i * 1000 + (hash(i, version, 8) % 1000) + version * 86400000,
  }
}

/** Random permutation of 0..n-1 (Fisher-Yates from the end), or its first `take` entries. */
export function permutation(n, seed, take = n) {
  const rnd = prng(seed)
  const p = new Uint32Array(n)
  for (let i = 0; i < n; i++) p[i] = i
  for (let i = 0; i < take; i++) {
    const j = i + Math.floor(rnd() * (n - i))
    const t = p[i]
    p[i] = p[j]
    p[j] = t
  }
  return take === n ? p : p.slice(0, take)
}

/** The whole plan for one run, plus the state the engine must hold at each step. */
export function plan({ rows, batches, gets, ranges, seed }) {
  const order = permutation(rows, seed)
  const overwrite = permutation(rows, seed + 1, Math.round(rows * 0.2))
  const remove = permutation(rows, seed + 2, Math.round(rows * 0.05))
  const version = new Uint8Array(rows).fill(1) // 0 = deleted
  for (const i of overwrite) version[i] = 2
  for (const i of remove) version[i] = 0

  let count = 0
  let sum = 0
  const groups = new Array(10).fill(0)
  for (let i = 0; i < rows; i++) {
    if (version[i] === 0) continue
    const a = aOf(i, version[i])
    count++
    sum += a
    groups[(i * KEY_STEP) % 10] += a
  }

  const rnd = prng(seed + 3)
  const width = Math.max(1, Math.round(rows * 0.01))
  const rangeList = Array.from({ length: ranges }, () => {
    const from = Math.floor(rnd() * (rows - width + 1))
    return { lo: from * KEY_STEP, hi: (from + width) * KEY_STEP, from, to: from + width }
  })

  // 90 % hits on live keys; the misses alternate between ids that never existed and deleted ids.
  const getIds = new Float64Array(gets)
  const getA = new Int32Array(gets) // expected `a`, -1 for a miss
  let miss = 0
  for (let g = 0; g < gets; g++) {
    if (g % 10 !== 9) {
      let i
      do i = Math.floor(rnd() * rows)
      while (version[i] === 0)
      getIds[g] = i * KEY_STEP
      getA[g] = aOf(i, version[i])
    } else {
      const i = Math.floor(rnd() * rows)
      getIds[g] = miss++ % 2 === 0 ? i * KEY_STEP + 1 : remove[i % remove.length] * KEY_STEP
      getA[g] = -1
    }
  }

  return { rows, batches, order, overwrite, remove, version, count, sum, groups, ranges: rangeList, getIds, getA }
}

export function* batchesOf(indexes, batches, version) {
  const n = indexes.length
  for (let b = 0; b < batches; b++) {
    const part = indexes.subarray(Math.floor((n * b) / batches), Math.floor((n * (b + 1)) / batches))
    yield Array.from(part, (i) => rowOf(i, version))
  }
}

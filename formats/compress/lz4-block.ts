import { corrupt } from '../bytes/format-error.ts'

/*
 * An LZ4 block is a row of sequences:
 *
 *   token: literal length (high 4 bits), match length - 4 (low 4 bits); 15 = more length bytes follow, until one is not 255
 *   literals │ offset (2 bytes, little-endian) │ more match length
 *
 * The last sequence is literals only. A compressor must leave the last five bytes as literals and start no match in the
 * last twelve.
 */
const TABLE_BITS = 15
const MIN_MATCH = 4
const LAST_LITERALS = 5
const MATCH_LIMIT = 12
const MAX_OFFSET = 65535
const table = new Int32Array(1 << TABLE_BITS)

function hash4(bytes: Uint8Array, at: number): number {
  const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
  return Math.imul(word, 0x9e3779b1) >>> (32 - TABLE_BITS)
}

function putLength(target: Uint8Array, at: number, rest: number): number {
  for (; rest >= 255; rest -= 255) target[at++] = 255
  target[at++] = rest
  return at
}

function putLiterals(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
  matchCode: number,
): number {
  const length = to - from
  target[at++] = (Math.min(length, 15) << 4) | Math.min(matchCode, 15)
  if (length >= 15) at = putLength(target, at, length - 15)
  if (length < 24) for (let i = from; i < to; i++) target[at++] = source[i]!
  else {
    target.set(source.subarray(from, to), at)
    at += length
  }
  return at
}

/** Most bytes a block of this many can need. */
function lz4Bound(bytes: number): number {
  return bytes + Math.ceil(bytes / 255) + 16
}

/** One LZ4 block; the empty input becomes one zero byte. */
export function compressLz4Block(source: Uint8Array): Uint8Array {
  const target = new Uint8Array(lz4Bound(source.length))
  const end = source.length
  let at = 0
  let literal = 0
  if (end > MATCH_LIMIT) {
    table.fill(-1)
    const lastMatchStart = end - MATCH_LIMIT
    const matchEnd = end - LAST_LITERALS
    let i = 0
    let misses = 64
    while (i <= lastMatchStart) {
      const h = hash4(source, i)
      const candidate = table[h]!
      table[h] = i
      if (
        candidate < 0 ||
        i - candidate > MAX_OFFSET ||
        source[candidate] !== source[i] ||
        source[candidate + 1] !== source[i + 1] ||
        source[candidate + 2] !== source[i + 2] ||
        source[candidate + 3] !== source[i + 3]
      ) {
        i += misses++ >>> 6
        continue
      }
      let length = MIN_MATCH
      while (i + length < matchEnd && source[candidate + length] === source[i + length]) length++
      at = putLiterals(source, literal, i, target, at, length - MIN_MATCH)
      const offset = i - candidate
      target[at++] = offset & 255
      target[at++] = offset >>> 8
      if (length - MIN_MATCH >= 15) at = putLength(target, at, length - MIN_MATCH - 15)
      i += length
      literal = i
      misses = 64
    }
  }
  at = putLiterals(source, literal, end, target, at, 0)
  return target.slice(0, at)
}

/**
 * Decompresses a block into the start of `target` and returns how many bytes came out, or -1 when `target` is too small.
 * Throws `CORRUPT` for damaged input.
 */
export function decompressLz4Block(bytes: Uint8Array, target: Uint8Array): number {
  const end = bytes.length
  const limit = target.length
  let from = 0
  let to = 0
  while (from < end) {
    const token = bytes[from++]!
    let size = token >>> 4
    if (size === 15) {
      let more = 255
      while (more === 255) {
        if (from >= end) throw corrupt(`lz4: length cut at byte ${from}`)
        more = bytes[from++]!
        size += more
      }
    }
    if (from + size > end) throw corrupt(`lz4: ${size} literals at byte ${from} pass the end`)
    if (to + size > limit) return -1
    if (size < 32) for (let i = 0; i < size; i++) target[to++] = bytes[from++]!
    else {
      target.set(bytes.subarray(from, from + size), to)
      from += size
      to += size
    }
    if (from === end) return to
    if (from + 2 > end) throw corrupt(`lz4: offset cut at byte ${from}`)
    const offset = bytes[from]! | (bytes[from + 1]! << 8)
    from += 2
    if (offset === 0 || offset > to) throw corrupt(`lz4: offset ${offset} at byte ${from}, ${to} bytes done`)
    size = (token & 15) + MIN_MATCH
    if ((token & 15) === 15) {
      let more = 255
      while (more === 255) {
        if (from >= end) throw corrupt(`lz4: length cut at byte ${from}`)
        more = bytes[from++]!
        size += more
      }
    }
    if (to + size > limit) return -1
    if (offset >= size && size >= 32) {
      target.copyWithin(to, to - offset, to - offset + size)
      to += size
    } else for (let i = 0; i < size; i++, to++) target[to] = target[to - offset]!
  }
  throw corrupt(`lz4: block of ${end} bytes ends without literals`)
}

import { corrupt } from '../bytes/format-error.ts'
import type { Codec } from './codec.ts'
import { checkAnnounced } from './limits.ts'

/*
 * Raw snappy (not the framing format): the uncompressed length as a varint, then elements. The low two bits of an
 * element's tag say what it is:
 *
 *   00  literal       length - 1 in the upper six bits; 60 to 63: in the next 1 to 4 bytes, little-endian
 *   01  short copy    length 4..11, offset of 11 bits: three in the tag, eight in the next byte
 *   10  copy          length 1..64, offset in two bytes
 *   11  long copy     length 1..64, offset in four bytes
 *
 * The compressor works on blocks of 64 KiB, so that offsets fit in two bytes and the hash table in a Uint16Array.
 */
const BLOCK = 65536
const TABLE_BITS = 14
const table = new Uint16Array(1 << TABLE_BITS)

function hash4(bytes: Uint8Array, at: number): number {
  const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
  return Math.imul(word, 0x1e35a7bd) >>> (32 - TABLE_BITS)
}

function same4(bytes: Uint8Array, a: number, b: number): boolean {
  return (
    bytes[a] === bytes[b] &&
    bytes[a + 1] === bytes[b + 1] &&
    bytes[a + 2] === bytes[b + 2] &&
    bytes[a + 3] === bytes[b + 3]
  )
}

function putLiteral(source: Uint8Array, from: number, to: number, target: Uint8Array, at: number): number {
  const less = to - from - 1
  if (less < 60) target[at++] = less << 2
  else if (less < 256) {
    target[at++] = 60 << 2
    target[at++] = less
  } else {
    target[at++] = 61 << 2
    target[at++] = less & 255
    target[at++] = less >>> 8
  }
  if (less < 24) for (let i = from; i < to; i++) target[at++] = source[i]!
  else {
    target.set(source.subarray(from, to), at)
    at += less + 1
  }
  return at
}

function putCopy(offset: number, length: number, target: Uint8Array, at: number): number {
  while (length > 0) {
    // A rest below 4 could not be a short copy; 60 leaves at least 4.
    const part = length >= 68 ? 64 : length > 64 ? 60 : length
    if (part < 12 && part >= 4 && offset < 2048) {
      target[at++] = 1 | ((part - 4) << 2) | ((offset >>> 8) << 5)
      target[at++] = offset & 255
    } else {
      target[at++] = 2 | ((part - 1) << 2)
      target[at++] = offset & 255
      target[at++] = offset >>> 8
    }
    length -= part
  }
  return at
}

function compressBlock(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  table.fill(0)
  let literal = start
  let i = start + 1
  let misses = 32
  while (i + 4 <= end) {
    const h = hash4(source, i)
    const candidate = start + table[h]!
    table[h] = i - start
    if (!same4(source, candidate, i)) {
      // Data that does not compress is looked at ever more sparsely.
      i += misses++ >>> 5
      continue
    }
    let length = 4
    while (i + length < end && source[candidate + length] === source[i + length]) length++
    if (literal < i) at = putLiteral(source, literal, i, target, at)
    at = putCopy(i - candidate, length, target, at)
    i += length
    literal = i
    misses = 32
    if (i + 3 <= end) table[hash4(source, i - 1)] = i - 1 - start
  }
  return literal < end ? putLiteral(source, literal, end, target, at) : at
}

function compress(bytes: Uint8Array): Uint8Array {
  const target = new Uint8Array(32 + bytes.length + Math.ceil(bytes.length / 6))
  let at = 0
  let length = bytes.length
  for (; length > 127; length = Math.floor(length / 128)) target[at++] = (length & 127) | 128
  target[at++] = length
  for (let start = 0; start < bytes.length; start += BLOCK) {
    at = compressBlock(bytes, start, Math.min(bytes.length, start + BLOCK), target, at)
  }
  return target.slice(0, at)
}

function readLength(bytes: Uint8Array): { readonly length: number; readonly next: number } {
  let length = 0
  for (let i = 0; i < 5 && i < bytes.length; i++) {
    length += (bytes[i]! & 127) * 2 ** (7 * i)
    if (bytes[i]! < 128) return { length, next: i + 1 }
  }
  throw corrupt('snappy: the length in front is not a varint of at most 5 bytes')
}

function decompress(bytes: Uint8Array, uncompressedBytes: number | undefined): Uint8Array {
  const { length, next } = readLength(bytes)
  checkAnnounced('snappy', length)
  if (uncompressedBytes !== undefined && length !== uncompressedBytes) {
    throw corrupt(`snappy: ${length} bytes in front of the data, expected ${uncompressedBytes}`)
  }
  // The densest element is a copy of 64 bytes in 3.
  if (length > (bytes.length - next) * 22) throw corrupt(`snappy: ${bytes.length} bytes cannot hold ${length}`)
  const target = new Uint8Array(length)
  const end = bytes.length
  let from = next
  let to = 0
  while (from < end) {
    const tag = bytes[from++]!
    const kind = tag & 3
    if (kind === 0) {
      let size = tag >>> 2
      if (size >= 60) {
        const more = size - 59
        if (from + more > end) throw corrupt(`snappy: literal cut at byte ${from}`)
        size = 0
        for (let i = 0; i < more; i++) size += bytes[from + i]! * 2 ** (8 * i)
        from += more
      }
      size++
      if (from + size > end || to + size > length)
        throw corrupt(`snappy: literal of ${size} bytes at byte ${from} passes the end`)
      if (size < 32) for (let i = 0; i < size; i++) target[to++] = bytes[from++]!
      else {
        target.set(bytes.subarray(from, from + size), to)
        from += size
        to += size
      }
      continue
    }
    const wide = kind === 1 ? 1 : kind === 2 ? 2 : 4
    if (from + wide > end) throw corrupt(`snappy: copy cut at byte ${from}`)
    const size = kind === 1 ? 4 + ((tag >>> 2) & 7) : 1 + (tag >>> 2)
    let offset = bytes[from]!
    if (kind === 1) offset |= (tag >>> 5) << 8
    else {
      offset |= bytes[from + 1]! << 8
      if (kind === 3) offset += bytes[from + 2]! * 65536 + bytes[from + 3]! * 16777216
    }
    from += wide
    if (offset === 0 || offset > to || to + size > length) {
      throw corrupt(`snappy: copy of ${size} bytes from ${offset} back at byte ${from}, ${to} of ${length} bytes done`)
    }
    if (offset >= size && size >= 32) {
      target.copyWithin(to, to - offset, to - offset + size)
      to += size
    } else for (let i = 0; i < size; i++, to++) target[to] = target[to - offset]!
  }
  if (to !== length) throw corrupt(`snappy: data ends after ${to} of ${length} bytes`)
  return target
}

/** SNAPPY of Parquet: the raw format, without the framing. It has no levels. */
export const snappyCodec: Codec = { name: 'snappy', compress, decompress }

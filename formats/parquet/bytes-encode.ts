import type { BytesColumn, Column } from '../column/column.ts'
import { grown, type PageValues } from './page-values.ts'
import { type Bounds, NO_VALUES } from './write-statistics.ts'

const LENGTH_BYTES = 4
/** Values at least this long move faster with `copyWithin` than by words. */
const COPY_WITHIN_FROM = 64

/** BYTE_ARRAY: each value behind its length, a little-endian int32. */
export class BytesValues implements PageValues {
  count = 0
  plainBytes = 0
  readonly width = 0
  bytes: Uint8Array = new Uint8Array(0)
  /** Where each value ends in `bytes`; it starts four bytes after the end of the one before. */
  ends: Int32Array = new Int32Array(0)

  append(column: Column, start: number, end: number, present: number): void {
    const { data, offsets, valid } = bytesColumn(column)
    const first = offsets[start]!
    const size = offsets[end]! - first
    this.reserve(present, size + 4)
    // All bytes come over in one copy, to where the last of them will lie; then each value moves down to its place, which
    // leaves room for the lengths of those after it. A move never reaches bytes that are still to be moved.
    const { bytes, ends } = this
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const shift = this.plainBytes + present * LENGTH_BYTES - first
    bytes.set(data.subarray(first, first + size), first + shift)
    let at = this.plainBytes
    let n = this.count
    for (let i = start; i < end; i++) {
      if (valid !== undefined && valid[i] !== 1) continue
      const from = offsets[i]! + shift
      const length = offsets[i + 1]! - offsets[i]!
      at = putLength(bytes, at, length)
      if (length >= COPY_WITHIN_FROM) bytes.copyWithin(at, from, from + length)
      else if (at !== from) {
        // May write up to 3 bytes too many: the values still to come lie at least 4 bytes ahead.
        for (let j = 0; j < length; j += 4) view.setInt32(at + j, view.getInt32(from + j, true), true)
      }
      at += length
      ends[n++] = at
    }
    this.count = n
    this.plainBytes = at
  }

  appendAt(column: Column, rows: Int32Array, from: number, to: number): void {
    const { data, offsets } = bytesColumn(column)
    let size = 0
    for (let i = from; i < to; i++) if (rows[i]! >= 0) size += offsets[rows[i]! + 1]! - offsets[rows[i]!]!
    this.reserve(to - from, size)
    const { bytes, ends } = this
    for (let i = from; i < to; i++) {
      const row = rows[i]!
      if (row < 0) continue
      const start = offsets[row]!
      const length = offsets[row + 1]! - start
      const at = putLength(bytes, this.plainBytes, length)
      for (let j = 0; j < length; j++) bytes[at + j] = data[start + j]!
      this.plainBytes = at + length
      ends[this.count++] = this.plainBytes
    }
  }

  plain(): Uint8Array {
    return this.bytes.subarray(0, this.plainBytes)
  }

  bounds(): Bounds {
    const { bytes, ends, count } = this
    if (count === 0) return NO_VALUES
    let min = 0
    let max = 0
    let least = prefixOf(bytes, ends, 0)
    let most = least
    for (let i = 1; i < count; i++) {
      const prefix = prefixOf(bytes, ends, i)
      if (prefix < least || (prefix === least && before(bytes, ends, i, min))) {
        min = i
        least = prefix
      } else if (prefix > most || (prefix === most && before(bytes, ends, max, i))) {
        max = i
        most = prefix
      }
    }
    return { kind: 'known', min: this.value(min), max: this.value(max) }
  }

  clear(): void {
    this.count = 0
    this.plainBytes = 0
  }

  /** A copy of value `i`. */
  private value(i: number): Uint8Array {
    return this.bytes.slice(startOf(this.ends, i), this.ends[i])
  }

  private reserve(values: number, size: number): void {
    this.bytes = grown(this.bytes, this.plainBytes, this.plainBytes + values * LENGTH_BYTES + size)
    if (this.count + values > this.ends.length) {
      const next = new Int32Array(Math.max(this.count + values, this.ends.length * 2, 256))
      next.set(this.ends.subarray(0, this.count))
      this.ends = next
    }
  }
}

/** Where value `i` starts, behind its length. */
export function startOf(ends: Int32Array, i: number): number {
  return (i === 0 ? 0 : ends[i - 1]!) + LENGTH_BYTES
}

/** Writes a length; returns where the bytes go. */
function putLength(bytes: Uint8Array, at: number, length: number): number {
  bytes[at] = length
  bytes[at + 1] = length >>> 8
  bytes[at + 2] = length >>> 16
  bytes[at + 3] = length >>> 24
  return at + LENGTH_BYTES
}

/** The first four bytes as a number, padded with zeros: decides nearly all comparisons. */
function prefixOf(bytes: Uint8Array, ends: Int32Array, i: number): number {
  const start = startOf(ends, i)
  const length = ends[i]! - start
  if (length >= 4)
    return ((bytes[start]! << 24) | (bytes[start + 1]! << 16) | (bytes[start + 2]! << 8) | bytes[start + 3]!) >>> 0
  let prefix = 0
  for (let j = 0; j < length; j++) prefix |= bytes[start + j]! << (24 - 8 * j)
  return prefix >>> 0
}

function before(bytes: Uint8Array, ends: Int32Array, a: number, b: number): boolean {
  let i = startOf(ends, a)
  let j = startOf(ends, b)
  const aLength = ends[a]! - i
  const bLength = ends[b]! - j
  for (let left = Math.min(aLength, bLength); left > 0; left--, i++, j++) {
    if (bytes[i] !== bytes[j]) return bytes[i]! < bytes[j]!
  }
  return aLength < bLength
}

function bytesColumn(column: Column): BytesColumn {
  if (column.kind !== 'bytes') throw new TypeError(`a column of bytes was expected, got ${column.kind}`)
  return column
}

import { corrupt } from '../bytes/format-error.ts'
import { RleDecoder } from './rle.ts'
import type { BytesBuffer, FixedBuffer, ValueDecoder } from './value-buffer.ts'

/** Indexes looked up at a time; the scratch array stays in the first-level cache. */
const CHUNK = 2048

const SET_FROM = 96

/** Indexes into a dictionary: a byte with their width, then runs. */
abstract class IndexReader {
  protected readonly indexes = new Int32Array(CHUNK)
  private readonly runs: RleDecoder | undefined

  constructor(bytes: Uint8Array, start: number) {
    // A page of nulls may hold no values at all, not even the width.
    if (start >= bytes.length) return
    const width = bytes[start]!
    if (width > 31) throw corrupt(`dictionary indexes of ${width} bits at byte ${start} of the page`)
    this.runs = new RleDecoder(bytes, start + 1, bytes.length, width)
  }

  /** The next indexes, all below `size`. */
  protected next(count: number, size: number): Int32Array {
    if (this.runs === undefined) throw corrupt('page has dictionary values, but no indexes')
    const { indexes } = this
    this.runs.readInts(indexes, count)
    for (let i = 0; i < count; i++) {
      if (indexes[i]! >= size) throw corrupt(`dictionary index ${indexes[i]} in a dictionary of ${size} values`)
    }
    return indexes
  }

  skip(count: number): void {
    if (count > 0 && this.runs === undefined) throw corrupt('page has dictionary values, but no indexes')
    this.runs?.skip(count)
  }
}

/** Dictionary-encoded values of a fixed width. */
export class FixedDictionaryDecoder extends IndexReader implements ValueDecoder<FixedBuffer> {
  private readonly dictionary: FixedBuffer

  constructor(bytes: Uint8Array, start: number, dictionary: FixedBuffer) {
    super(bytes, start)
    this.dictionary = dictionary
  }

  read(out: FixedBuffer, count: number): void {
    out.reserve(count)
    for (let done = 0; done < count; done += CHUNK) {
      const take = Math.min(CHUNK, count - done)
      const indexes = this.next(take, this.dictionary.length)
      const { width } = out
      if (width === 4) gatherWords(this.dictionary.words, indexes, take, out.words, out.length)
      else if (width === 8) gatherLongs(this.dictionary.longs, indexes, take, out.longs, out.length)
      else gatherBytes(this.dictionary.bytes, width, indexes, take, out.bytes, out.length)
      out.length += take
    }
  }
}

function gatherWords(from: Int32Array, indexes: Int32Array, count: number, to: Int32Array, at: number): void {
  for (let i = 0; i < count; i++) to[at + i] = from[indexes[i]!]!
}

function gatherLongs(from: BigInt64Array, indexes: Int32Array, count: number, to: BigInt64Array, at: number): void {
  for (let i = 0; i < count; i++) to[at + i] = from[indexes[i]!]!
}

function gatherBytes(
  from: Uint8Array,
  width: number,
  indexes: Int32Array,
  count: number,
  to: Uint8Array,
  at: number,
): void {
  for (let i = 0; i < count; i++) {
    const source = indexes[i]! * width
    const target = (at + i) * width
    for (let k = 0; k < width; k++) to[target + k] = from[source + k]!
  }
}

/** Dictionary-encoded byte strings: each value is copied, so that the column stands alone. */
export class BytesDictionaryDecoder extends IndexReader implements ValueDecoder<BytesBuffer> {
  private readonly dictionary: BytesBuffer

  constructor(bytes: Uint8Array, start: number, dictionary: BytesBuffer) {
    super(bytes, start)
    this.dictionary = dictionary
  }

  read(out: BytesBuffer, count: number): void {
    const { offsets: from, data, view: source } = this.dictionary
    for (let done = 0; done < count; done += CHUNK) {
      const take = Math.min(CHUNK, count - done)
      const indexes = this.next(take, this.dictionary.length)
      let bytes = 0
      for (let i = 0; i < take; i++) bytes += from[indexes[i]! + 1]! - from[indexes[i]!]!
      out.reserve(take, bytes)
      const { offsets, view: target } = out
      let to = out.size
      for (let i = 0; i < take; i++) {
        const start = from[indexes[i]!]!
        const length = from[indexes[i]! + 1]! - start
        if (length >= SET_FROM) out.data.set(data.subarray(start, start + length), to)
        // Both buffers have slack, and what is written too far is overwritten by the next value.
        else for (let k = 0; k < length; k += 4) target.setInt32(to + k, source.getInt32(start + k, true), true)
        to += length
        offsets[out.length + i + 1] = to
      }
      out.length += take
      out.size = to
    }
  }
}

import { corrupt, unsupported } from '../bytes/format-error.ts'
import { DeltaReader } from './delta.ts'
import type { BytesBuffer, FixedBuffer, ValueDecoder } from './value-buffer.ts'

/** Most strings of one page; some 100 million empty ones would fit in a page of 1 MiB, and no writer makes such a page. */
const MAX_COUNT = 1 << 26

/** All lengths of a page at once: the strings lie behind the last of them. Sums stay below the page's length. */
function readLengths(bytes: Uint8Array, start: number): { readonly lengths: Int32Array; readonly end: number } {
  const reader = new DeltaReader(bytes, start)
  if (reader.count > MAX_COUNT)
    throw unsupported(`a page of ${reader.count} delta-encoded strings, more than ${MAX_COUNT}`)
  const lengths = new Int32Array(reader.count)
  reader.read(lengths, 0, reader.count, 1)
  for (let i = 0; i < lengths.length; i++) {
    if (lengths[i]! < 0) throw corrupt(`value ${i} of the page has a length of ${lengths[i]}`)
  }
  return { lengths, end: reader.offset }
}

/** DELTA_LENGTH_BYTE_ARRAY: all lengths, then all strings behind each other. */
export class DeltaLengthDecoder implements ValueDecoder<BytesBuffer> {
  private readonly bytes: Uint8Array
  private readonly lengths: Int32Array
  private offset: number
  private next = 0

  constructor(bytes: Uint8Array, start: number) {
    const { lengths, end } = readLengths(bytes, start)
    this.bytes = bytes
    this.lengths = lengths
    this.offset = end
  }

  read(out: BytesBuffer, count: number): void {
    const start = this.offset
    const first = this.next
    this.skip(count)
    out.reserve(count, this.offset - start)
    out.data.set(this.bytes.subarray(start, this.offset), out.size)
    for (let i = 0; i < count; i++) {
      out.size += this.lengths[first + i]!
      out.offsets[out.length + i + 1] = out.size
    }
    out.length += count
  }

  skip(count: number): void {
    if (count > this.lengths.length - this.next) {
      throw corrupt(`page holds ${this.lengths.length} values, ${this.next + count} were expected`)
    }
    let bytes = 0
    for (let i = 0; i < count; i++) bytes += this.lengths[this.next + i]!
    if (bytes > this.bytes.length - this.offset)
      throw corrupt(`page of ${this.bytes.length} bytes ends inside its strings`)
    this.next += count
    this.offset += bytes
  }
}

/** DELTA_BYTE_ARRAY: how many bytes each value shares with the one before, then the rest as DELTA_LENGTH_BYTE_ARRAY. */
export class DeltaStringsDecoder implements ValueDecoder<BytesBuffer | FixedBuffer> {
  private readonly bytes: Uint8Array
  private readonly prefixes: Int32Array
  private readonly suffixes: Int32Array
  private offset: number
  private next = 0
  private last = new Uint8Array(64)
  private lastLength = 0

  constructor(bytes: Uint8Array, start: number) {
    const prefixes = readLengths(bytes, start)
    const suffixes = readLengths(bytes, prefixes.end)
    if (prefixes.lengths.length !== suffixes.lengths.length) {
      throw corrupt(`page has ${prefixes.lengths.length} prefixes and ${suffixes.lengths.length} suffixes`)
    }
    this.bytes = bytes
    this.prefixes = prefixes.lengths
    this.suffixes = suffixes.lengths
    this.offset = suffixes.end
  }

  /** Makes the next value the last one. */
  private advance(): void {
    const i = this.next++
    if (i >= this.prefixes.length) throw corrupt(`page holds ${this.prefixes.length} values, more were expected`)
    const prefix = this.prefixes[i]!
    const suffix = this.suffixes[i]!
    if (prefix > this.lastLength || suffix > this.bytes.length - this.offset) {
      throw corrupt(`value ${i} of the page shares ${prefix} of ${this.lastLength} bytes and adds ${suffix}`)
    }
    const length = prefix + suffix
    if (length > this.last.length) {
      const grown = new Uint8Array(length * 2)
      grown.set(this.last.subarray(0, prefix))
      this.last = grown
    }
    this.last.set(this.bytes.subarray(this.offset, this.offset + suffix), prefix)
    this.lastLength = length
    this.offset += suffix
  }

  read(out: BytesBuffer | FixedBuffer, count: number): void {
    for (let i = 0; i < count; i++) {
      this.advance()
      const value = this.last.subarray(0, this.lastLength)
      if (out.kind === 'bytes') {
        out.reserve(1, value.length)
        out.data.set(value, out.size)
        out.size += value.length
        out.offsets[++out.length] = out.size
      } else {
        if (value.length !== out.width) throw corrupt(`value of ${value.length} bytes in a column of ${out.width}`)
        out.reserve(1)
        out.bytes.set(value, out.length++ * out.width)
      }
    }
  }

  skip(count: number): void {
    for (let i = 0; i < count; i++) this.advance()
  }
}

import { corrupt, type FormatError } from '../bytes/format-error.ts'

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const utf8 = new TextEncoder()
const TWO_28 = 2 ** 28
const TWO_51 = 2 ** 51
const MAX_NUMBER = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Reads Avro's primitive values one after another. Every read is checked against the bytes present, so that neither a
 * length nor a count can make it allocate more than the input holds.
 *
 * `bytes()` returns views: they keep the array they look into alive, which is one block of the container (64 kB in files of
 * the usual writers).
 */
export class AvroReader {
  private readonly data: Uint8Array
  private readonly text: Buffer
  /** What `position` counts from, for messages: `Avro file`, or the block it is in. */
  private readonly place: string
  position = 0

  constructor(data: Uint8Array, place: string) {
    // A plain Uint8Array, so that the views handed out are never of a subclass: zlib and node:fs return Buffers.
    this.data = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    this.text = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    this.place = place
  }

  get remaining(): number {
    return this.data.length - this.position
  }

  /** A `CORRUPT` error that names the place and the offset. */
  error(message: string, offset = this.position): FormatError {
    return corrupt(`${this.place}, byte ${offset}: ${message}`)
  }

  boolean(): boolean {
    const byte = this.take(1, 'a boolean')[0]
    if (byte !== 0 && byte !== 1) throw this.error(`expected a boolean, found byte ${byte}`, this.position - 1)
    return byte === 1
  }

  /** A zigzag number of 32 bits. */
  int(): number {
    const start = this.position
    const value = this.number()
    if (value !== (value | 0)) throw this.error(`expected an int of 32 bits, found ${value}`, start)
    return value
  }

  /** A zigzag number of 64 bits that fits a JS number exactly; throws beyond 2^53. */
  number(): number {
    const start = this.position
    const short = this.shortNumber()
    if (!Number.isNaN(short)) return short
    const value = this.longNumber()
    if (value > MAX_NUMBER || value < -MAX_NUMBER) throw this.error(`${value} does not fit a number exactly`, start)
    return Number(value)
  }

  /** A zigzag number of 64 bits. */
  long(): bigint {
    const short = this.shortNumber()
    return Number.isNaN(short) ? this.longNumber() : BigInt(short)
  }

  /** A number of up to 7 bytes, so 49 bits; NaN, and nothing read, when there are more. */
  private shortNumber(): number {
    const data = this.data
    const start = this.position
    const end = data.length
    let low = 0
    let at = start
    for (let shift = 0; shift < 28; shift += 7) {
      if (at >= end) throw this.error('the data ends inside a number', start)
      const byte = data[at++]!
      low |= (byte & 0x7f) << shift
      if (byte < 0x80) {
        this.position = at
        return (low >>> 1) ^ -(low & 1)
      }
    }
    let high = 0
    for (let shift = 0; shift < 21; shift += 7) {
      if (at >= end) throw this.error('the data ends inside a number', start)
      const byte = data[at++]!
      high |= (byte & 0x7f) << shift
      if (byte < 0x80) {
        this.position = at
        const sign = low & 1
        const half = (high * TWO_28 + low - sign) / 2
        return sign === 0 ? half : -half - 1
      }
    }
    return Number.NaN
  }

  private longNumber(): bigint {
    const start = this.position
    let raw = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.position >= this.data.length) throw this.error('the data ends inside a number', start)
      const byte = this.data[this.position++]!
      if (shift === 63n && byte > 1) break
      raw |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, (raw >> 1n) ^ -(raw & 1n))
    }
    throw this.error('a number is longer than 64 bits', start)
  }

  /** The length of a string or of bytes: not negative and not more than what is left. */
  private length(what: string): number {
    const start = this.position
    const length = this.number()
    if (length < 0 || length > this.remaining) {
      throw this.error(`${what} of ${length} bytes, but ${this.remaining} are left`, start)
    }
    return length
  }

  /** A view, not a copy. */
  bytes(): Uint8Array {
    const length = this.length('a byte array')
    this.position += length
    return this.data.subarray(this.position - length, this.position)
  }

  /** Throws on text that is not UTF-8. */
  string(): string {
    const length = this.length('a string')
    const start = this.position
    this.position += length
    for (let i = start; i < this.position; i++) {
      if (this.data[i]! > 0x7f) return this.decodeText(start, this.position)
    }
    return this.text.toString('latin1', start, this.position)
  }

  private decodeText(start: number, end: number): string {
    try {
      return strictUtf8.decode(this.data.subarray(start, end))
    } catch {
      throw this.error('a string is not UTF-8', start)
    }
  }

  /**
   * The item count of the next block of an array or map; 0 ends it. Items take a byte or more each, so a count beyond the
   * bytes left cannot be right.
   */
  blockCount(): number {
    const start = this.position
    let count = this.number()
    if (count < 0) {
      count = -count
      const bytes = this.number()
      if (bytes < 0 || bytes > this.remaining)
        throw this.error(`a block of ${bytes} bytes, ${this.remaining} are left`, start)
    }
    if (count > this.remaining) throw this.error(`${count} items, but only ${this.remaining} bytes are left`, start)
    return count
  }

  /** The next `length` bytes as a view. */
  take(length: number, what: string): Uint8Array {
    if (length > this.remaining)
      throw this.error(`the data ends inside ${what}: ${length} bytes expected, ${this.remaining} left`)
    this.position += length
    return this.data.subarray(this.position - length, this.position)
  }
}

/** Grows as Avro's primitive values are appended. */
export class AvroWriter {
  private data: Uint8Array
  length = 0

  constructor(capacity = 1024) {
    this.data = new Uint8Array(capacity)
  }

  private reserve(bytes: number): void {
    const needed = this.length + bytes
    if (needed <= this.data.length) return
    const grown = new Uint8Array(Math.max(needed, this.data.length * 2))
    grown.set(this.data.subarray(0, this.length))
    this.data = grown
  }

  /** Zigzag; the same bytes for `int` and `long`. Throws a `RangeError` for what is not an exact integer. */
  number(value: number): void {
    if (value === (value | 0)) {
      this.reserve(5)
      let raw = ((value << 1) ^ (value >> 31)) >>> 0
      while (raw > 0x7f) {
        this.data[this.length++] = (raw & 0x7f) | 0x80
        raw >>>= 7
      }
      this.data[this.length++] = raw
      return
    }
    if (!Number.isSafeInteger(value)) throw new RangeError(`not an exact integer: ${value}`)
    if (value > TWO_51 || value < -TWO_51) {
      this.long(BigInt(value))
      return
    }
    this.reserve(10)
    let raw = value < 0 ? -2 * value - 1 : 2 * value
    while (raw > 0x7f) {
      this.data[this.length++] = (raw % 128) | 0x80
      raw = Math.floor(raw / 128)
    }
    this.data[this.length++] = raw
  }

  /** Zigzag, 64 bits. Throws a `RangeError` for what has more. */
  long(value: bigint): void {
    if (BigInt.asIntN(64, value) !== value) throw new RangeError(`not a 64-bit integer: ${value}`)
    this.reserve(10)
    let raw = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
    while (raw > 0x7fn) {
      this.data[this.length++] = Number(raw & 0x7fn) | 0x80
      raw >>= 7n
    }
    this.data[this.length++] = Number(raw)
  }

  bytes(value: Uint8Array): void {
    this.number(value.length)
    this.raw(value)
  }

  string(value: string): void {
    const start = this.length
    this.number(value.length)
    this.reserve(value.length)
    let at = this.length
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i)
      if (unit > 0x7f) {
        this.length = start
        this.bytes(utf8.encode(value))
        return
      }
      this.data[at++] = unit
    }
    this.length = at
  }

  /** Bytes without a length in front. */
  raw(value: Uint8Array): void {
    this.reserve(value.length)
    this.data.set(value, this.length)
    this.length += value.length
  }

  /** A view of what was written; valid until the next append. */
  written(): Uint8Array {
    return this.data.subarray(0, this.length)
  }

  /** Forgets what was written, keeps the memory. */
  clear(): void {
    this.length = 0
  }
}

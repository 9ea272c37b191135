import { corrupt } from '../bytes/format-error.ts'
import type { FixedBuffer, ValueDecoder } from './value-buffer.ts'

const MAX_BLOCK = 1 << 15

/**
 * DELTA_BINARY_PACKED, as a sequence of 64-bit integers in two halves; a 32-bit column takes the low ones.
 *
 *   header = varint block size, varint miniblocks a block, varint count, zigzag first value
 *   block  = zigzag least delta, a width byte for each miniblock, miniblocks of packed (delta - least delta)
 *
 * Arithmetic wraps at 64 bits, as the format wants: writers of 32-bit columns may have wrapped at 32.
 */
export class DeltaReader {
  private readonly bytes: Uint8Array
  private readonly view: DataView
  /** Behind the last miniblock that was entered; behind all values once they are all read. */
  offset: number
  readonly count: number
  private readonly blockSize: number
  private readonly miniblockSize: number
  private given = 0
  private low = 0
  private high = 0
  private leastLow = 0
  private leastHigh = 0
  private widthsAt = 0
  private inBlock = 0
  private inMiniblock = 0
  private width = 0
  private bit = 0
  private byte = 0

  constructor(bytes: Uint8Array, start: number) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.offset = start
    this.blockSize = this.size('block size')
    const miniblocks = this.size('miniblocks a block')
    this.count = this.size('count of values')
    if (this.blockSize === 0 || this.blockSize > MAX_BLOCK || miniblocks === 0 || this.blockSize % miniblocks !== 0) {
      throw corrupt(`delta block of ${this.blockSize} values in ${miniblocks} miniblocks at byte ${start} of the page`)
    }
    this.miniblockSize = this.blockSize / miniblocks
    if (this.miniblockSize % 8 !== 0) throw corrupt(`delta miniblock of ${this.miniblockSize} values at byte ${start}`)
    this.zigzag()
    this.low = this.zigzagLow
    this.high = this.zigzagHigh
    // A block takes at least its least delta and its widths: bounds what may be allocated for `count`.
    const blocks = Math.floor((bytes.length - this.offset) / (1 + miniblocks))
    if (this.count > blocks * this.blockSize + 1) {
      throw corrupt(`delta page claims ${this.count} values in ${bytes.length - this.offset} bytes`)
    }
  }

  private zigzagLow = 0
  private zigzagHigh = 0

  private next(): number {
    if (this.offset >= this.bytes.length) throw corrupt(`delta page ends at byte ${this.offset}, more was expected`)
    return this.bytes[this.offset++]!
  }

  private size(what: string): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.next()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) {
        if (value > 0x7fffffff) break
        return value
      }
    }
    throw corrupt(`delta page has a ${what} above 2^31 before byte ${this.offset}`)
  }

  private zigzag(): void {
    let low = 0
    let high = 0
    for (let shift = 0; ; shift += 7) {
      if (shift > 63) throw corrupt(`delta value before byte ${this.offset} is longer than 10 bytes`)
      const byte = this.next()
      const bits = byte & 0x7f
      if (shift < 32) low |= bits << shift
      if (shift >= 32) high |= bits << (shift - 32)
      else if (shift > 25) high |= bits >>> (32 - shift)
      if (byte < 0x80) break
    }
    const sign = -(low & 1)
    this.zigzagLow = ((low >>> 1) | (high << 31)) ^ sign
    this.zigzagHigh = (high >>> 1) ^ sign
  }

  private nextBlock(): void {
    this.zigzag()
    this.leastLow = this.zigzagLow
    this.leastHigh = this.zigzagHigh
    this.widthsAt = this.offset
    this.offset += this.blockSize / this.miniblockSize
    if (this.offset > this.bytes.length) throw corrupt(`delta page ends at byte ${this.bytes.length}, inside a block`)
    this.inBlock = this.blockSize
  }

  private nextMiniblock(): void {
    if (this.inBlock === 0) this.nextBlock()
    this.width = this.bytes[this.widthsAt++]!
    if (this.width > 64) throw corrupt(`delta miniblock of ${this.width} bits before byte ${this.offset}`)
    this.byte = this.offset
    this.bit = 0
    this.offset += (this.miniblockSize / 8) * this.width
    const needed = Math.ceil((Math.min(this.miniblockSize, this.count - this.given) * this.width) / 8)
    // The last miniblock may be cut after its last value.
    if (needed > this.bytes.length - this.byte)
      throw corrupt(`delta page ends at byte ${this.bytes.length}, inside a miniblock`)
    if (this.offset > this.bytes.length) this.offset = this.bytes.length
    this.inBlock -= this.miniblockSize
    this.inMiniblock = this.miniblockSize
  }

  /** The next `count` values: low halves to `out[at * stride]`, high halves behind them when `stride` is 2. */
  read(out: Int32Array, at: number, count: number, stride: 1 | 2): void {
    if (count > this.count - this.given) {
      throw corrupt(`delta page holds ${this.count} values, ${this.given + count} were expected`)
    }
    let target = at * stride
    let done = 0
    if (this.given === 0 && count > 0) {
      out[target] = this.low
      if (stride === 2) out[target + 1] = this.high
      target += stride
      done = 1
      this.given = 1
    }
    while (done < count) {
      if (this.inMiniblock === 0) this.nextMiniblock()
      const take = Math.min(this.inMiniblock, count - done)
      this.unpack(out, target, take, stride)
      target += take * stride
      this.inMiniblock -= take
      done += take
      this.given += take
    }
  }

  private unpack(out: Int32Array, at: number, count: number, stride: 1 | 2): void {
    if (this.width <= 24) this.unpackNarrow(out, at, count, stride)
    else this.unpackWide(out, at, count, stride)
  }

  /** Deltas of up to 24 bits, which is most of them: a word holds one and what is left of a byte. */
  private unpackNarrow(out: Int32Array, at: number, count: number, stride: 1 | 2): void {
    const { bytes, width, leastLow, leastHigh } = this
    let { low, high, byte, bit } = this
    const mask = (1 << width) - 1
    let held = bit === 0 ? 0 : bytes[byte++]! >> bit
    let bits = bit === 0 ? 0 : 8 - bit
    let target = at
    for (let i = 0; i < count; i++) {
      for (; bits < width; bits += 8) held |= bytes[byte++]! << bits
      const first = (leastLow >>> 0) + (held & mask)
      held >>>= width
      bits -= width
      const sum = (first >>> 0) + (low >>> 0)
      high = (high + leastHigh + (first > 0xffffffff ? 1 : 0) + (sum > 0xffffffff ? 1 : 0)) | 0
      low = sum | 0
      out[target] = low
      if (stride === 2) out[target + 1] = high
      target += stride
    }
    // A started byte is looked at again.
    bit = bits === 0 ? 0 : 8 - bits
    this.low = low
    this.high = high
    this.byte = bits === 0 ? byte : byte - 1
    this.bit = bit
  }

  private unpackWide(out: Int32Array, at: number, count: number, stride: 1 | 2): void {
    const { bytes, view, width, leastLow, leastHigh } = this
    let { low, high } = this
    const highBits = Math.max(0, width - 32)
    const lowMask = width >= 32 ? -1 : 2 ** width - 1
    const highMask = highBits === 32 ? -1 : 2 ** highBits - 1
    // A word at any bit takes five bytes: behind the last of the page some are missing.
    const last = bytes.length - 5
    const start = this.byte
    let bit = this.bit
    let target = at
    for (let i = 0; i < count; i++) {
      let byte = start + (bit >>> 3)
      let deltaLow = byte <= last ? wordAt(view, byte, bit & 7) : wordNearEnd(bytes, byte, bit & 7)
      let deltaHigh = 0
      if (highBits > 0) {
        byte += 4
        deltaHigh = (byte <= last ? wordAt(view, byte, bit & 7) : wordNearEnd(bytes, byte, bit & 7)) & highMask
      } else deltaLow &= lowMask
      bit += width
      // value += least + delta, in halves with carry.
      const first = (leastLow >>> 0) + (deltaLow >>> 0)
      const sum = (first >>> 0) + (low >>> 0)
      high = (high + leastHigh + deltaHigh + (first > 0xffffffff ? 1 : 0) + (sum > 0xffffffff ? 1 : 0)) | 0
      low = sum | 0
      out[target] = low
      if (stride === 2) out[target + 1] = high
      target += stride
    }
    this.low = low
    this.high = high
    this.byte = start + (bit >>> 3)
    this.bit = bit & 7
  }
}

/** The 32 bits that start at a bit of a byte. */
function wordAt(view: DataView, byte: number, bit: number): number {
  const word = view.getInt32(byte, true)
  return bit === 0 ? word : (word >>> bit) | (view.getUint8(byte + 4) << (32 - bit))
}

/** The same where bytes past the end count as zero. */
function wordNearEnd(bytes: Uint8Array, byte: number, bit: number): number {
  const at = (i: number) => (byte + i < bytes.length ? bytes[byte + i]! : 0)
  const word = at(0) | (at(1) << 8) | (at(2) << 16) | (at(3) << 24)
  return bit === 0 ? word : (word >>> bit) | (at(4) << (32 - bit))
}

/** DELTA_BINARY_PACKED for INT32 and INT64 columns. */
export class DeltaDecoder implements ValueDecoder<FixedBuffer> {
  private readonly reader: DeltaReader
  private readonly stride: 1 | 2

  constructor(bytes: Uint8Array, start: number, width: number) {
    this.reader = new DeltaReader(bytes, start)
    this.stride = width === 4 ? 1 : 2
  }

  read(out: FixedBuffer, count: number): void {
    out.reserve(count)
    this.reader.read(out.words, out.length, count, this.stride)
    out.length += count
  }

  skip(count: number): void {
    const scratch = new Int32Array(Math.min(count, 1024))
    for (let rest = count; rest > 0; rest -= 1024) this.reader.read(scratch, 0, Math.min(rest, 1024), 1)
  }
}

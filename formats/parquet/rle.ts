import { corrupt } from '../bytes/format-error.ts'

/** Filled and emptied within one call. */
const SCRATCH = new Int32Array(256)

/** Reads levels of a page: 0 to 255. */
export interface LevelDecoder {
  /** The next `count` levels into `out` from `at`; answers how many of them equal `level`. */
  read(out: Uint8Array, at: number, count: number, level: number): number
}

/**
 * Parquet's mix of runs and bit-packed groups, used for levels, booleans and dictionary indexes:
 *
 *   run    = varint (count << 1), value in ceil(width / 8) bytes
 *   packed = varint (groups << 1 | 1), groups of 8 values, `width` bits each, lowest bit first
 *
 * A decoder keeps its place: memory is that of the output, whatever counts the runs claim.
 */
export class RleDecoder implements LevelDecoder {
  private readonly bytes: Uint8Array
  private readonly end: number
  private readonly width: number
  private offset: number
  /** Values left in the current run or group. */
  private left = 0
  private packed = false
  private value = 0
  /** Bits taken from the group but not handed out yet. */
  private pending = 0
  private pendingBits = 0
  private packedEnd = 0

  constructor(bytes: Uint8Array, start: number, end: number, width: number) {
    this.bytes = bytes
    this.offset = start
    this.end = end
    this.width = width
    // A dictionary of one entry needs no bits: every index is 0, and some writers leave out the runs.
    if (width === 0) this.left = Number.POSITIVE_INFINITY
  }

  read(out: Uint8Array, at: number, count: number, level: number): number {
    let equal = 0
    for (let done = 0; done < count; ) {
      if (this.left === 0) this.nextRun()
      const take = Math.min(this.left, count - done)
      const from = at + done
      if (!this.packed) {
        out.fill(this.value, from, from + take)
        if (this.value === level) equal += take
      } else {
        if (this.width === 1) this.unpackBits(out, from, take)
        else this.unpackLevels(out, from, take)
        for (let i = from; i < from + take; i++) if (out[i] === level) equal++
      }
      this.left -= take
      done += take
    }
    return equal
  }

  /** The next `count` values into `out` from its start. */
  readInts(out: Int32Array, count: number): void {
    for (let done = 0; done < count; ) {
      if (this.left === 0) this.nextRun()
      const take = Math.min(this.left, count - done)
      if (this.packed) this.unpack(out, done, take)
      else out.fill(this.value, done, done + take)
      this.left -= take
      done += take
    }
  }

  skip(count: number): void {
    const scratch = new Int32Array(Math.min(count, 1024))
    for (let rest = count; rest > 0; rest -= 1024) this.readInts(scratch, Math.min(rest, 1024))
  }

  private nextRun(): void {
    while (this.left === 0) {
      if (this.packed) this.offset = this.packedEnd
      this.packed = false
      const header = this.varint()
      const { width } = this
      if ((header & 1) === 1) {
        const bytes = Math.floor(header / 2) * width
        // The last group may be cut short by writers that do not pad.
        const present = Math.min(bytes, this.end - this.offset)
        this.left = present === bytes ? Math.floor(header / 2) * 8 : Math.floor((present * 8) / width)
        this.packed = true
        this.packedEnd = this.offset + present
        this.pending = 0
        this.pendingBits = 0
      } else {
        this.left = Math.floor(header / 2)
        const size = (width + 7) >> 3
        if (size > this.end - this.offset) throw this.short()
        let value = 0
        for (let i = 0; i < size; i++) value |= this.bytes[this.offset + i]! << (8 * i)
        if (width < 32 && value >>> width !== 0) {
          throw corrupt(`run of value ${value >>> 0} at byte ${this.offset} is wider than ${width} bits`)
        }
        this.value = value
        this.offset += size
      }
    }
  }

  private varint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      if (this.offset >= this.end) throw this.short()
      const byte = this.bytes[this.offset++]!
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) {
        if (value > 0xffffffff) break
        return value
      }
    }
    throw corrupt(`run header before byte ${this.offset} is above 2^32`)
  }

  private short(): Error {
    return corrupt(`runs end at byte ${this.end} of the page, more values were expected`)
  }

  /** Whole bytes of eight levels where possible. */
  private unpackBits(out: Uint8Array, at: number, count: number): void {
    const { bytes } = this
    let { offset, pending, pendingBits } = this
    let i = at
    const end = at + count
    for (; i < end && pendingBits > 0; i++, pendingBits--, pending >>>= 1) out[i] = pending & 1
    for (; i + 8 <= end; i += 8) {
      const byte = bytes[offset++]!
      out[i] = byte & 1
      out[i + 1] = (byte >> 1) & 1
      out[i + 2] = (byte >> 2) & 1
      out[i + 3] = (byte >> 3) & 1
      out[i + 4] = (byte >> 4) & 1
      out[i + 5] = (byte >> 5) & 1
      out[i + 6] = (byte >> 6) & 1
      out[i + 7] = byte >> 7
    }
    if (i < end) {
      pending = bytes[offset++]!
      pendingBits = 8
      for (; i < end; i++, pendingBits--, pending >>>= 1) out[i] = pending & 1
    }
    this.offset = offset
    this.pending = pending
    this.pendingBits = pendingBits
  }

  /** Through a scratch array, so that `unpack` sees one class of array only and stays fast for indexes. */
  private unpackLevels(out: Uint8Array, at: number, count: number): void {
    for (let done = 0; done < count; done += SCRATCH.length) {
      const take = Math.min(SCRATCH.length, count - done)
      this.unpack(SCRATCH, 0, take)
      for (let i = 0; i < take; i++) out[at + done + i] = SCRATCH[i]!
    }
  }

  /** `left` was bounded by the bytes present, so the reads below stay inside the page. */
  private unpack(out: Int32Array, at: number, count: number): void {
    const { bytes, width } = this
    let { offset, pending, pendingBits } = this
    if (width <= 24) {
      const mask = (1 << width) - 1
      for (let i = at; i < at + count; i++) {
        for (; pendingBits < width; pendingBits += 8) pending |= bytes[offset++]! << pendingBits
        out[i] = pending & mask
        pending >>>= width
        pendingBits -= width
      }
    } else {
      // Up to 39 bits are pending: beyond 32-bit operators, exact in a double.
      const limit = 2 ** width
      for (let i = at; i < at + count; i++) {
        for (; pendingBits < width; pendingBits += 8) pending += bytes[offset++]! * 2 ** pendingBits
        out[i] = (pending % limit) | 0
        pending = Math.floor(pending / limit)
        pendingBits -= width
      }
    }
    this.offset = offset
    this.pending = pending
    this.pendingBits = pendingBits
  }
}

/** Levels as files before 2013 hold them: bit-packed without runs, highest bit first. */
export class BitPackedLevels implements LevelDecoder {
  private readonly bytes: Uint8Array
  private readonly width: number
  private bit: number

  constructor(bytes: Uint8Array, start: number, width: number) {
    this.bytes = bytes
    this.width = width
    this.bit = start * 8
  }

  read(out: Uint8Array, at: number, count: number, level: number): number {
    if (this.bit + count * this.width > this.bytes.length * 8) {
      throw corrupt(`bit-packed levels end at byte ${this.bytes.length} of the page, more were expected`)
    }
    let equal = 0
    for (let i = at; i < at + count; i++) {
      let value = 0
      for (let k = 0; k < this.width; k++, this.bit++) {
        value = (value << 1) | ((this.bytes[Math.floor(this.bit / 8)]! >> (7 - (this.bit % 8))) & 1)
      }
      out[i] = value
      if (value === level) equal++
    }
    return equal
  }
}

import { corrupt } from './format-error.ts'

/**
 * Cursor over a byte array. Every read checks the bytes left and throws CORRUPT with the offset when they do not suffice, so a
 * decoder built on it cannot read past its input or loop on a length that the input does not hold.
 */
export class ByteReader {
  readonly bytes: Uint8Array
  private readonly view: DataView
  private readonly end: number
  /** Offset of the next byte, from the start of `bytes`. */
  position: number

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    if (start < 0 || end > bytes.length || start > end) {
      throw corrupt(`range ${start} to ${end} is not inside ${bytes.length} bytes`)
    }
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.position = start
    this.end = end
  }

  get remaining(): number {
    return this.end - this.position
  }

  /** Moves to an absolute offset. */
  seek(position: number): void {
    if (!(position >= 0 && position <= this.end)) {
      throw corrupt(`offset ${position} is not inside ${this.end} bytes`)
    }
    this.position = position
  }

  skip(count: number): void {
    this.advance(count)
  }

  /** The next `count` bytes, not copied. */
  take(count: number): Uint8Array {
    const at = this.advance(count)
    return this.bytes.subarray(at, at + count)
  }

  u8(): number {
    return this.view.getUint8(this.advance(1))
  }
  i8(): number {
    return this.view.getInt8(this.advance(1))
  }
  u16le(): number {
    return this.view.getUint16(this.advance(2), true)
  }
  u16be(): number {
    return this.view.getUint16(this.advance(2))
  }
  i32le(): number {
    return this.view.getInt32(this.advance(4), true)
  }
  i32be(): number {
    return this.view.getInt32(this.advance(4))
  }
  u32le(): number {
    return this.view.getUint32(this.advance(4), true)
  }
  u32be(): number {
    return this.view.getUint32(this.advance(4))
  }
  i64le(): bigint {
    return this.view.getBigInt64(this.advance(8), true)
  }
  i64be(): bigint {
    return this.view.getBigInt64(this.advance(8))
  }
  f32le(): number {
    return this.view.getFloat32(this.advance(4), true)
  }
  f64le(): number {
    return this.view.getFloat64(this.advance(8), true)
  }

  /** Unsigned LEB128 of at most 32 bits. */
  uvarint32(): number {
    const start = this.position
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.u8()
      if (shift === 28 && byte > 0x0f) break
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    throw corrupt(`varint at offset ${start} is longer than 32 bits`)
  }

  /** Unsigned LEB128 of at most 64 bits, as a value of 0 to 2^64 - 1. */
  uvarint64(): bigint {
    const start = this.position
    let low = 0
    let shift = 0
    // The first four bytes stay in a small integer: nearly all values end there, without a bigint operation a byte.
    for (; shift < 28; shift += 7) {
      const byte = this.u8()
      low |= (byte & 0x7f) << shift
      if (byte < 0x80) return BigInt(low)
    }
    let value = BigInt(low)
    for (; shift < 70; shift += 7) {
      const byte = this.u8()
      if (shift === 63 && byte > 1) break
      value |= BigInt(byte & 0x7f) << BigInt(shift)
      if (byte < 0x80) return value
    }
    throw corrupt(`varint at offset ${start} is longer than 64 bits`)
  }

  /** Zigzag LEB128 of at most 32 bits, as in Thrift and Avro. */
  varint32(): number {
    const value = this.uvarint32()
    return (value >>> 1) ^ -(value & 1)
  }

  /** Zigzag LEB128 of at most 64 bits. */
  varint64(): bigint {
    const value = this.uvarint64()
    return (value >> 1n) ^ -(value & 1n)
  }

  private advance(count: number): number {
    const at = this.position
    if (!(count >= 0 && count <= this.end - at)) {
      throw corrupt(`need ${count} bytes at offset ${at}, but only ${this.end - at} are left`)
    }
    this.position = at + count
    return at
  }
}

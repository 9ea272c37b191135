/** Growable byte buffer; capacity doubles, so appending n bytes costs O(n) in all. Numbers are cut to their width. */
export class ByteWriter {
  private buffer: Uint8Array
  private view: DataView
  private size = 0

  constructor(capacity = 64) {
    this.buffer = new Uint8Array(capacity)
    this.view = new DataView(this.buffer.buffer)
  }

  /** Bytes written so far: the offset of the next one. */
  get length(): number {
    return this.size
  }

  /** What was written, not copied: valid until the next write or `clear`. */
  peek(): Uint8Array {
    return this.buffer.subarray(0, this.size)
  }

  /** A copy of what was written. */
  finish(): Uint8Array {
    return this.buffer.slice(0, this.size)
  }

  /** Forgets all bytes and keeps the capacity. */
  clear(): void {
    this.size = 0
  }

  bytes(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length)
    this.buffer.set(bytes, at)
  }

  zeros(count: number): void {
    const at = this.reserve(count)
    this.buffer.fill(0, at, at + count)
  }

  u8(value: number): void {
    const at = this.reserve(1)
    this.buffer[at] = value
  }
  u16le(value: number): void {
    const at = this.reserve(2)
    this.view.setUint16(at, value, true)
  }
  u16be(value: number): void {
    const at = this.reserve(2)
    this.view.setUint16(at, value)
  }
  i32le(value: number): void {
    const at = this.reserve(4)
    this.view.setInt32(at, value, true)
  }
  i32be(value: number): void {
    const at = this.reserve(4)
    this.view.setInt32(at, value)
  }
  i64le(value: bigint): void {
    const at = this.reserve(8)
    this.view.setBigInt64(at, value, true)
  }
  i64be(value: bigint): void {
    const at = this.reserve(8)
    this.view.setBigInt64(at, value)
  }
  f32le(value: number): void {
    const at = this.reserve(4)
    this.view.setFloat32(at, value, true)
  }
  f64le(value: number): void {
    const at = this.reserve(8)
    this.view.setFloat64(at, value, true)
  }

  /** Unsigned LEB128 of the low 32 bits. */
  uvarint32(value: number): void {
    let rest = value >>> 0
    while (rest >= 0x80) {
      this.u8((rest & 0x7f) | 0x80)
      rest >>>= 7
    }
    this.u8(rest)
  }

  /** Unsigned LEB128 of the low 64 bits. */
  uvarint64(value: bigint): void {
    let rest = BigInt.asUintN(64, value)
    while (rest >= 0x80n) {
      this.u8(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    this.u8(Number(rest))
  }

  /** Zigzag LEB128 of a signed 32-bit number, as in Thrift and Avro. */
  varint32(value: number): void {
    this.uvarint32((value << 1) ^ (value >> 31))
  }

  /** Zigzag LEB128 of a signed 64-bit number. */
  varint64(value: bigint): void {
    this.uvarint64((value << 1n) ^ (value >> 63n))
  }

  /** Overwrites four bytes that were written before, for a length known only later. */
  patchI32le(offset: number, value: number): void {
    this.view.setInt32(offset, value, true)
  }

  /** Big-endian twin of `patchI32le`. */
  patchI32be(offset: number, value: number): void {
    this.view.setInt32(offset, value)
  }

  private reserve(count: number): number {
    const at = this.size
    const needed = at + count
    if (needed > this.buffer.length) {
      const grown = new Uint8Array(Math.max(needed, this.buffer.length * 2))
      grown.set(this.buffer.subarray(0, at))
      this.buffer = grown
      this.view = new DataView(grown.buffer)
    }
    this.size = needed
    return at
  }
}

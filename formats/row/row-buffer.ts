import { DECIMAL_BYTES, headerBytes, SLOT_BYTES } from './slot.ts'

/** Up to here a loop beats `set`, which needs a view of its source. */
const COPIED_BY_HAND = 64

/**
 * One BinaryRow under construction, in memory that the next row uses again. The layout is Paimon's, byte for byte: the hash of
 * these bytes chooses the bucket, so padding and reserved room are as binding as the values.
 *
 *   | kind | null bits … | slot 0 | slot 1 | … | variable part, each value padded to 8 bytes |
 */
export class RowBuffer {
  bytes: Uint8Array = new Uint8Array(128)
  private view: DataView = new DataView(this.bytes.buffer)
  private slots = 0
  /** Bytes of the row so far, always a multiple of eight. */
  length = 0

  /** Starts a row of kind +I without nulls; every slot is zero. */
  begin(fields: number): void {
    this.slots = headerBytes(fields)
    this.length = 0
    this.reserve(this.slots + fields * SLOT_BYTES)
  }

  /** A copy of the row, after `prefix` bytes left free. */
  finish(prefix = 0): Uint8Array {
    const row = new Uint8Array(prefix + this.length)
    row.set(this.bytes.subarray(0, this.length), prefix)
    return row
  }

  setNull(field: number): void {
    const bit = field + 8
    this.bytes[bit >>> 3]! |= 1 << (bit & 7)
  }

  /** A null that keeps its room in the variable part, as big decimals and precise timestamps do. */
  setNullReserving(field: number, room: number): void {
    this.setNull(field)
    this.setWords(field, 0, this.reserve(room))
  }

  setWords(field: number, low: number, high: number): void {
    const slot = this.slots + field * SLOT_BYTES
    this.view.setInt32(slot, low, true)
    this.view.setInt32(slot + 4, high, true)
  }

  setInt64(field: number, value: bigint): void {
    this.view.setBigInt64(this.slots + field * SLOT_BYTES, value, true)
  }

  setFloat32(field: number, value: number): void {
    this.view.setFloat32(this.slots + field * SLOT_BYTES, value, true)
  }

  setFloat64(field: number, value: number): void {
    this.view.setFloat64(this.slots + field * SLOT_BYTES, value, true)
  }

  /** Bytes `[start, end)` of `data`: in the slot up to seven, else in the variable part. */
  setBytes(field: number, data: Uint8Array, start: number, end: number): void {
    const length = end - start
    if (length < SLOT_BYTES) {
      const slot = this.slots + field * SLOT_BYTES
      for (let i = 0; i < length; i++) this.bytes[slot + i] = data[start + i]!
      this.bytes[slot + 7] = 0x80 | length
    } else {
      const at = this.reserve(length)
      this.setWords(field, length, at)
      if (length <= COPIED_BY_HAND) for (let i = 0; i < length; i++) this.bytes[at + i] = data[start + i]!
      else this.bytes.set(data.subarray(start, end), at)
    }
  }

  /** A signed 128-bit number as four little-endian words, written big endian in its shortest form. */
  setDecimal(field: number, w0: number, w1: number, w2: number, w3: number): void {
    const at = this.reserve(DECIMAL_BYTES)
    this.view.setInt32(at, w3)
    this.view.setInt32(at + 4, w2)
    this.view.setInt32(at + 8, w1)
    this.view.setInt32(at + 12, w0)
    const sign = w3 < 0 ? 0xff : 0
    let skip = 0
    // A leading byte goes when it only repeats the sign that the next one shows as well.
    while (
      skip < DECIMAL_BYTES - 1 &&
      this.bytes[at + skip] === sign &&
      ((this.bytes[at + skip + 1]! ^ sign) & 0x80) === 0
    ) {
      skip++
    }
    this.bytes.copyWithin(at, at + skip, at + DECIMAL_BYTES)
    this.bytes.fill(0, at + DECIMAL_BYTES - skip, at + DECIMAL_BYTES)
    this.setWords(field, DECIMAL_BYTES - skip, at)
  }

  /** Epoch milliseconds and the nanoseconds inside that millisecond, 0 to 999,999. */
  setTimestamp(field: number, millis: bigint, nanosOfMilli: number): void {
    const at = this.reserve(8)
    this.view.setBigInt64(at, millis, true)
    this.setWords(field, nanosOfMilli, at)
  }

  /** `setTimestamp` for milliseconds that a double holds exactly. */
  setSafeTimestamp(field: number, millis: number, nanosOfMilli: number): void {
    const at = this.reserve(8)
    const high = Math.floor(millis / 0x100000000)
    this.view.setInt32(at, millis - high * 0x100000000, true)
    this.view.setInt32(at + 4, high, true)
    this.setWords(field, nanosOfMilli, at)
  }

  /** Appends zeros up to the next multiple of eight and returns where they start. */
  private reserve(count: number): number {
    const at = this.length
    const end = at + ((count + 7) & ~7)
    if (end > this.bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.bytes.length * 2))
      grown.set(this.bytes.subarray(0, at))
      this.bytes = grown
      this.view = new DataView(grown.buffer)
    } else {
      this.bytes.fill(0, at, end)
    }
    this.length = end
    return at
  }
}

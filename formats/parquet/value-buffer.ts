import { unsupported } from '../bytes/format-error.ts'

const MAX_BYTES = 0x7fffffff

/** Values of one fixed width, packed: 1 byte for BOOLEAN, 4, 8, or any width for INT96 and FIXED_LEN_BYTE_ARRAY. Grows. */
export class FixedBuffer {
  readonly kind = 'fixed'
  readonly width: number
  /** Values written. */
  length = 0
  /** The memory in three views; use the one that fits the width. */
  bytes: Uint8Array
  words: Int32Array
  longs: BigInt64Array

  constructor(width: number, capacity: number) {
    this.width = width
    const buffer = new ArrayBuffer((capacity * width + 7) & ~7)
    this.bytes = new Uint8Array(buffer)
    this.words = new Int32Array(buffer)
    this.longs = new BigInt64Array(buffer)
  }

  /** Forgets the values, not the memory. */
  clear(): void {
    this.length = 0
  }

  /** Makes room for `count` more values. */
  reserve(count: number): void {
    const needed = (this.length + count) * this.width
    if (needed <= this.bytes.length) return
    if (needed > MAX_BYTES) throw unsupported(`a batch of more than 2 GiB in one column: ask for fewer rows at once`)
    const buffer = new ArrayBuffer((Math.max(needed, this.bytes.length * 2) + 7) & ~7)
    const bytes = new Uint8Array(buffer)
    bytes.set(this.bytes.subarray(0, this.length * this.width))
    this.bytes = bytes
    this.words = new Int32Array(buffer)
    this.longs = new BigInt64Array(buffer)
  }

  /**
   * Spreads the last `present` values over `count` places, those where `valid[from + i]` is `level`; the others become zero.
   * Runs backwards, so that it works in place.
   */
  spread(present: number, count: number, valid: Uint8Array, from: number, level: number): void {
    this.reserve(count - present)
    this.length -= present
    const start = this.length
    this.length += count
    if (this.width === 4) spreadArray(this.words, start, present, count, valid, from, level, 0)
    else if (this.width === 8) spreadLongs(this.longs, start, present, count, valid, from, level)
    else if (this.width === 1) spreadArray(this.bytes, start, present, count, valid, from, level, 0)
    else {
      const { bytes, width } = this
      let source = start + present - 1
      for (let i = count - 1; i >= 0; i--) {
        const target = (start + i) * width
        if (valid[from + i] !== level) bytes.fill(0, target, target + width)
        else bytes.copyWithin(target, source * width, source-- * width + width)
      }
    }
  }
}

function spreadArray(
  values: Int32Array | Uint8Array,
  start: number,
  present: number,
  count: number,
  valid: Uint8Array,
  from: number,
  level: number,
  zero: number,
): void {
  let source = start + present - 1
  for (let i = count - 1; i >= 0; i--) values[start + i] = valid[from + i] === level ? values[source--]! : zero
}

function spreadLongs(
  values: BigInt64Array,
  start: number,
  present: number,
  count: number,
  valid: Uint8Array,
  from: number,
  level: number,
): void {
  let source = start + present - 1
  for (let i = count - 1; i >= 0; i--) {
    if (valid[from + i] === level) values[start + i] = values[source--]!
    else values[start + i] = 0n
  }
}

/** Byte strings behind each other. Value i is `data[offsets[i], offsets[i + 1])`. Grows. */
export class BytesBuffer {
  readonly kind = 'bytes'
  length = 0
  offsets: Int32Array
  data: Uint8Array
  /** Same memory as `data`, to copy four bytes at a time. */
  view: DataView
  /** Bytes of `data` in use. */
  size = 0

  constructor(capacity: number, bytes: number) {
    this.offsets = new Int32Array(capacity + 1)
    this.data = new Uint8Array(bytes)
    this.view = new DataView(this.data.buffer)
  }

  clear(): void {
    this.length = 0
    this.size = 0
  }

  /** Makes room for `count` more values of `bytes` together, and 8 bytes of slack for copies by words. */
  reserve(count: number, bytes: number): void {
    if (this.length + count + 1 > this.offsets.length) {
      const offsets = new Int32Array(Math.max(this.length + count + 1, this.offsets.length * 2))
      offsets.set(this.offsets.subarray(0, this.length + 1))
      this.offsets = offsets
    }
    const needed = this.size + bytes + 8
    if (needed <= this.data.length) return
    if (needed > MAX_BYTES) throw unsupported('a batch of more than 2 GiB in one column: ask for fewer rows at once')
    const data = new Uint8Array(Math.min(MAX_BYTES, Math.max(needed, Math.ceil(this.data.length * 1.5))))
    data.set(this.data.subarray(0, this.size))
    this.data = data
    this.view = new DataView(data.buffer)
  }

  /** As `FixedBuffer.spread`; the other places become empty. */
  spread(present: number, count: number, valid: Uint8Array, from: number, level: number): void {
    this.reserve(count - present, 0)
    this.length -= present
    const { offsets } = this
    const start = this.length
    let source = start + present
    for (let i = count - 1; i >= 0; i--) {
      offsets[start + i + 1] = offsets[source]!
      if (valid[from + i] === level) source--
    }
    this.length += count
  }
}

export type ValueBuffer = FixedBuffer | BytesBuffer

/** Turns the bytes of one page into values. `read` appends to the buffer it was made for; both throw CORRUPT past the end. */
export interface ValueDecoder<B extends ValueBuffer = ValueBuffer> {
  read(out: B, count: number): void
  skip(count: number): void
}

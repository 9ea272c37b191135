import { type ColumnBuilder, grown, MaskBuilder, type Memory, OffsetsBuilder } from './builder-memory.ts'
import type { BytesColumn, Column, FixedArray, FixedColumn, Storage, WideColumn } from './column.ts'
import { arrays } from './constant.ts'
import { copyRanges } from './copy-bytes.ts'

/** Builds a `FixedColumn`. `pushNumber` is for all storages but int64, `pushBigInt` for int64 only. */
export class FixedBuilder implements ColumnBuilder {
  readonly #memory: Memory
  readonly #mask: MaskBuilder
  #values: FixedArray
  #shown = 0
  length = 0

  constructor(storage: Exclude<Storage, 'wide' | 'bytes' | 'nested'>, memory: Memory, rows: number) {
    this.#memory = memory
    this.#mask = new MaskBuilder(memory)
    this.#values = grown<FixedArray>(new arrays[storage](0), 0, Math.max(rows, 1), memory)
  }

  get byteLength(): number {
    return this.length * (this.#values.BYTES_PER_ELEMENT + (this.#mask.hasNulls ? 1 : 0))
  }

  pushNumber(value: number): void {
    if (this.length === this.#values.length) this.reserve(1)
    ;(this.#values as Float64Array)[this.length++] = value
  }

  pushBigInt(value: bigint): void {
    if (this.length === this.#values.length) this.reserve(1)
    ;(this.#values as BigInt64Array)[this.length++] = value
  }

  appendNull(): void {
    if (this.length === this.#values.length) this.reserve(1)
    this.#mask.setNull(this.length)
    if (this.#values instanceof BigInt64Array) this.#values[this.length++] = 0n
    else this.#values[this.length++] = 0
  }

  appendColumn(column: Column, rows?: Uint32Array): void {
    const from = column as FixedColumn
    const count = rows?.length ?? from.length
    this.reserve(count)
    this.#mask.append(this.length, count, from.valid, rows)
    if (rows === undefined) (this.#values as Uint8Array).set(from.values.subarray(0, count) as Uint8Array, this.length)
    else copyRows(from.values, rows, this.#values, this.length)
    this.length += count
  }

  reserve(rows: number): void {
    const needed = this.length + rows
    if (needed > this.#values.length) {
      this.#values = grown(this.#values, this.length, Math.max(needed, this.#values.length * 2), this.#memory)
    }
  }

  truncate(length: number): void {
    if (length < this.#shown) {
      this.#values = grown(this.#values, length, this.#values.length, this.#memory)
      this.#shown = length
    }
    this.#mask.truncate(length)
    this.length = length
  }

  view(): FixedColumn {
    const length = this.length
    this.#shown = Math.max(this.#shown, length)
    return { kind: 'fixed', length, values: this.#values.subarray(0, length), valid: this.#mask.view(length) }
  }
}

function copyRows(from: FixedArray, rows: Uint32Array, to: FixedArray, at: number): void {
  if (from instanceof BigInt64Array) {
    const target = to as BigInt64Array
    for (let i = 0; i < rows.length; i++) target[at + i] = from[rows[i]!]!
  } else if (from instanceof Int32Array) {
    for (let i = 0; i < rows.length; i++) to[at + i] = from[rows[i]!]!
  } else {
    const source = from as Float64Array
    for (let i = 0; i < rows.length; i++) to[at + i] = source[rows[i]!]!
  }
}

/** Builds a `WideColumn`: signed 128-bit integers. */
export class WideBuilder implements ColumnBuilder {
  readonly #memory: Memory
  readonly #mask: MaskBuilder
  #values: BigInt64Array
  #shown = 0
  length = 0

  constructor(memory: Memory, rows: number) {
    this.#memory = memory
    this.#mask = new MaskBuilder(memory)
    this.#values = new BigInt64Array(memory(Math.max(rows, 1) * 16))
  }

  get byteLength(): number {
    return this.length * (16 + (this.#mask.hasNulls ? 1 : 0))
  }

  /** The caller has checked that the value fits 128 bits. */
  push(value: bigint): void {
    this.#reserve(1)
    this.#values[this.length * 2] = BigInt.asIntN(64, value)
    this.#values[this.length * 2 + 1] = value >> 64n
    this.length++
  }

  appendNull(): void {
    this.#mask.setNull(this.length)
    this.push(0n)
  }

  appendColumn(column: Column, rows?: Uint32Array): void {
    const from = column as WideColumn
    const count = rows?.length ?? from.length
    this.#reserve(count)
    this.#mask.append(this.length, count, from.valid, rows)
    const at = this.length * 2
    if (rows === undefined) this.#values.set(from.values.subarray(0, count * 2), at)
    else {
      for (let i = 0; i < count; i++) {
        this.#values[at + i * 2] = from.values[rows[i]! * 2]!
        this.#values[at + i * 2 + 1] = from.values[rows[i]! * 2 + 1]!
      }
    }
    this.length += count
  }

  truncate(length: number): void {
    if (length < this.#shown) {
      this.#values = grown(this.#values, length * 2, this.#values.length, this.#memory)
      this.#shown = length
    }
    this.#mask.truncate(length)
    this.length = length
  }

  view(): WideColumn {
    const length = this.length
    this.#shown = Math.max(this.#shown, length)
    return { kind: 'wide', length, values: this.#values.subarray(0, length * 2), valid: this.#mask.view(length) }
  }

  #reserve(rows: number): void {
    const needed = (this.length + rows) * 2
    if (needed > this.#values.length) {
      this.#values = grown(this.#values, this.length * 2, Math.max(needed, this.#values.length * 2), this.#memory)
    }
  }
}

/** From this length on the call into the runtime costs less than the loop over units. */
const LONG_TEXT = 64

const encoder = new TextEncoder()

/** Builds a `BytesColumn`. Throws a RangeError past 2^31 - 1 bytes. */
export class BytesBuilder implements ColumnBuilder {
  readonly #memory: Memory
  readonly #mask: MaskBuilder
  readonly #offsets: OffsetsBuilder
  #data: Uint8Array
  #shown = 0

  constructor(memory: Memory, rows: number) {
    this.#memory = memory
    this.#mask = new MaskBuilder(memory)
    this.#offsets = new OffsetsBuilder(memory, rows)
    this.#data = new Uint8Array(memory(Math.max(rows * 8, 64)))
  }

  get length(): number {
    return this.#offsets.length
  }

  get byteLength(): number {
    return this.#offsets.end + this.length * (4 + (this.#mask.hasNulls ? 1 : 0))
  }

  push(value: Uint8Array): void {
    const at = this.#offsets.end
    this.#room(value.length)
    this.#data.set(value, at)
    this.#offsets.push(at + value.length)
  }

  /**
   * Appends text as UTF-8 and returns its code points, or -1 when it holds half a surrogate pair: nothing is appended then.
   * Short text is encoded here: no call into the runtime.
   */
  pushText(text: string): number {
    const at = this.#offsets.end
    this.#room(text.length * 3)
    const data = this.#data
    if (text.length >= LONG_TEXT) {
      const { read, written } = encoder.encodeInto(text, data.subarray(at, at + text.length))
      // One byte a unit: ASCII. Else start again below, where points are counted and halves of pairs are found.
      if (read === text.length && written === text.length) {
        this.#offsets.push(at + written)
        return written
      }
    }
    let end = at
    let points = text.length
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit < 0x80) data[end++] = unit
      else if (unit < 0x800) {
        data[end++] = 0xc0 | (unit >> 6)
        data[end++] = 0x80 | (unit & 0x3f)
      } else if (unit < 0xd800 || unit > 0xdfff) {
        data[end++] = 0xe0 | (unit >> 12)
        data[end++] = 0x80 | ((unit >> 6) & 0x3f)
        data[end++] = 0x80 | (unit & 0x3f)
      } else {
        const low = i + 1 < text.length ? text.charCodeAt(i + 1) : 0
        if (unit > 0xdbff || low < 0xdc00 || low > 0xdfff) return -1
        const point = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
        data[end++] = 0xf0 | (point >> 18)
        data[end++] = 0x80 | ((point >> 12) & 0x3f)
        data[end++] = 0x80 | ((point >> 6) & 0x3f)
        data[end++] = 0x80 | (point & 0x3f)
        i++
        points--
      }
    }
    this.#offsets.push(end)
    return points
  }

  appendNull(): void {
    this.#mask.setNull(this.length)
    this.#offsets.push(this.#offsets.end)
  }

  appendColumn(column: Column, rows?: Uint32Array): void {
    const from = column as BytesColumn
    const { offsets } = from
    const count = rows?.length ?? from.length
    this.#mask.append(this.length, count, from.valid, rows)
    this.#offsets.reserve(count)
    const at = this.#offsets.end
    let end = at
    if (rows === undefined) {
      const shift = at - offsets[0]!
      this.#room(offsets[count]! - offsets[0]!)
      this.#data.set(from.data.subarray(offsets[0]!, offsets[count]!), at)
      for (let i = 1; i <= count; i++) this.#offsets.push(offsets[i]! + shift)
      return
    }
    for (let i = 0; i < count; i++) end += offsets[rows[i]! + 1]! - offsets[rows[i]!]!
    this.#room(end - at)
    copyRanges([from], undefined, rows, count, this.#data.subarray(at, end))
    end = at
    for (let i = 0; i < count; i++) {
      end += offsets[rows[i]! + 1]! - offsets[rows[i]!]!
      this.#offsets.push(end)
    }
  }

  truncate(length: number): void {
    const end = this.#offsets.at(length)
    if (end < this.#shown) {
      this.#data = grown(this.#data, end, this.#data.length, this.#memory)
      this.#shown = end
    }
    this.#offsets.truncate(length)
    this.#mask.truncate(length)
  }

  view(): BytesColumn {
    const { length } = this
    this.#shown = Math.max(this.#shown, this.#offsets.end)
    const data = this.#data.subarray(0, this.#offsets.end)
    return { kind: 'bytes', length, data, offsets: this.#offsets.view(), valid: this.#mask.view(length) }
  }

  #room(bytes: number): void {
    const needed = this.#offsets.end + bytes
    if (needed <= this.#data.length) return
    if (needed > 0x7fffffff) throw new RangeError('more than 2^31 - 1 bytes of text in one column: flush earlier')
    const capacity = Math.min(0x7fffffff, Math.max(needed, this.#data.length * 2))
    this.#data = grown(this.#data, this.#offsets.end, capacity, this.#memory)
  }
}

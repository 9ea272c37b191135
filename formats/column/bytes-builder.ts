import { type ColumnBuilder, grown, MaskBuilder, OffsetsBuilder } from './builder-memory.ts'
import type { BytesColumn, Column } from './column.ts'
import { copyRanges } from './copy-bytes.ts'
import type { Memory } from './memory.ts'

/** From this length on the call into the runtime costs less than the loop over units. */
const LONG_TEXT = 64

const encoder = new TextEncoder()

/** Bytes that a guess may ask for: one wide row must not make room for thousands. */
const MOST_GUESSED = 1 << 26

/** Bytes of short texts that are encoded with one call: enough to make its cost small, and still in the first-level cache. */
const scratch = new Uint8Array(1 << 15)

/** Builds a `BytesColumn`. Throws a RangeError past 2^31 - 1 bytes. */
export class BytesBuilder implements ColumnBuilder {
  readonly #memory: Memory
  readonly #mask: MaskBuilder
  readonly #offsets: OffsetsBuilder
  #data: Uint8Array
  #shown = 0

  /** `rows` and `width`, bytes a row, are guesses. */
  constructor(memory: Memory, rows: number, width = 8) {
    this.#memory = memory
    this.#mask = new MaskBuilder(memory)
    this.#offsets = new OffsetsBuilder(memory, rows)
    this.#data = new Uint8Array(memory(Math.max(Math.min(Math.ceil(rows * width), MOST_GUESSED), 64)))
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

  /**
   * Appends the leading values of `[from, to)` that are text of at most `length` characters; tells how many. Neighbours are
   * joined and encoded with one call into the runtime, as each call costs more than the text of a row; ASCII only.
   */
  pushTexts(values: readonly unknown[], from: number, to: number, length: number): number {
    let at = from
    while (at < to) {
      let joined = ''
      let end = at
      for (; end < to; end++) {
        const value = values[end]
        if (typeof value !== 'string' || value.length > length || joined.length + value.length > scratch.length) break
        joined += value
      }
      if (end - at >= 4 && this.#pushAscii(joined, values as readonly string[], at, end)) at = end
      else if (end === at && typeof values[at] !== 'string') return at - from
      else {
        for (end = Math.max(end, at + 1); at < end; at++) {
          const points = this.pushText(values[at] as string)
          if (points > length) this.truncate(this.length - 1)
          if (points < 0 || points > length) return at - from
        }
      }
    }
    return at - from
  }

  /** False, and nothing is appended, when the text is not ASCII. */
  #pushAscii(joined: string, values: readonly string[], from: number, to: number): boolean {
    const { read, written } = encoder.encodeInto(joined, scratch)
    if (read !== joined.length || written !== joined.length) return false
    this.#room(written)
    this.#data.set(scratch.subarray(0, written), this.#offsets.end)
    this.#offsets.reserve(to - from)
    let end = this.#offsets.end
    for (let at = from; at < to; at++) {
      end += values[at]!.length
      this.#offsets.push(end)
    }
    return true
  }

  /** A copy of the value of a row. */
  at(row: number): Uint8Array {
    return this.#data.slice(this.#offsets.at(row), this.#offsets.at(row + 1))
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
    const at = this.#offsets.end
    if (rows === undefined) {
      this.#room(offsets[count]! - offsets[0]!)
      this.#data.set(from.data.subarray(offsets[0]!, offsets[count]!), at)
      this.#offsets.pushAll(offsets, count, at - offsets[0]!)
      return
    }
    let end = at
    for (let i = 0; i < count; i++) end += offsets[rows[i]! + 1]! - offsets[rows[i]!]!
    this.#room(end - at)
    copyRanges([from], undefined, rows, count, this.#data.subarray(at, end))
    this.#offsets.pushRows(offsets, rows)
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

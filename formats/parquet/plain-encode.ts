import type { Column } from '../column/column.ts'
import { fixed, grown, type PageValues } from './page-values.ts'
import { type BoundOrder, type Bounds, NO_VALUES, UNKNOWN_BOUNDS } from './write-statistics.ts'

/** Where words come from: columns of the same width, INT32 from bytes or shorts, or INT32 from small decimals in 64 bits. */
export type WordSource = 'same' | 'widened' | 'narrowed'

/** INT32, INT64, FLOAT and DOUBLE, kept as little-endian 32-bit words: what typed arrays are on every machine Node runs on. */
export class WordValues implements PageValues {
  count = 0
  readonly width: 4 | 8
  words: Int32Array = new Int32Array(0)
  private readonly source: WordSource
  private readonly order: BoundOrder

  constructor(width: 4 | 8, source: WordSource, order: BoundOrder) {
    this.width = width
    this.source = source
    this.order = order
  }

  get plainBytes(): number {
    return this.count * this.width
  }

  append(column: Column, start: number, end: number, present: number): void {
    const { values, valid } = fixed(column)
    this.reserve(present)
    const at = (this.count * this.width) >>> 2
    this.count += present
    if (this.source === 'widened') {
      if (present === end - start) this.words.set(values.subarray(start, end) as Int8Array, at)
      else copyPresentSmall(this.words, at, values as Int8Array, valid!, start, end)
      return
    }
    const narrowed = this.source === 'narrowed'
    const from = wordsOf(values, narrowed ? 8 : this.width)
    if (narrowed) copyLow(this.words, at, from, valid, start, end)
    else if (present === end - start) {
      const perValue = this.width >>> 2
      this.words.set(from.subarray(start * perValue, end * perValue), at)
    } else if (this.width === 4) copyPresent4(this.words, at, from, valid!, start, end)
    else copyPresent8(this.words, at, from, valid!, start, end)
  }

  appendAt(column: Column, rows: Int32Array, from: number, to: number): void {
    const { values } = fixed(column)
    this.reserve(to - from)
    const { words, source, width } = this
    if (source === 'widened') {
      for (let i = from; i < to; i++) if (rows[i]! >= 0) words[this.count++] = Number(values[rows[i]!])
      return
    }
    const sourceWords = wordsOf(values, source === 'narrowed' ? 8 : width)
    for (let i = from; i < to; i++) {
      const row = rows[i]!
      if (row < 0) continue
      if (source === 'narrowed') words[this.count] = sourceWords[2 * row]!
      else if (width === 4) words[this.count] = sourceWords[row]!
      else {
        words[2 * this.count] = sourceWords[2 * row]!
        words[2 * this.count + 1] = sourceWords[2 * row + 1]!
      }
      this.count++
    }
  }

  plain(): Uint8Array {
    return new Uint8Array(this.words.buffer, 0, this.plainBytes)
  }

  bounds(): Bounds {
    if (this.count === 0) return NO_VALUES
    if (this.order === 'int32') return bounds32(this.words, this.count)
    if (this.order === 'int64') return bounds64(this.words, this.count)
    return this.width === 4
      ? boundsFloat(new Float32Array(this.words.buffer, 0, this.count))
      : boundsFloat(new Float64Array(this.words.buffer, 0, this.count))
  }

  clear(): void {
    this.count = 0
  }

  private reserve(more: number): void {
    const needed = (this.count + more) * this.width
    if (needed <= this.words.byteLength) return
    const bytes = grown(new Uint8Array(this.words.buffer), this.plainBytes, needed)
    this.words = new Int32Array(bytes.buffer)
  }
}

/** 32-bit words under the elements of a typed array, whose elements are `width` bytes wide. */
function wordsOf(values: ArrayBufferView, width: number): Int32Array {
  if (values.byteLength % width !== 0) throw new TypeError(`a column of ${width}-byte values was expected`)
  return new Int32Array(values.buffer, values.byteOffset, values.byteLength >>> 2)
}

function copyPresentSmall(
  target: Int32Array,
  at: number,
  from: Int8Array | Int16Array,
  valid: Uint8Array,
  start: number,
  end: number,
): void {
  for (let i = start; i < end; i++) if (valid[i] === 1) target[at++] = from[i]!
}

function copyPresent4(
  target: Int32Array,
  at: number,
  from: Int32Array,
  valid: Uint8Array,
  start: number,
  end: number,
): void {
  for (let i = start; i < end; i++) if (valid[i] === 1) target[at++] = from[i]!
}

function copyPresent8(
  target: Int32Array,
  at: number,
  from: Int32Array,
  valid: Uint8Array,
  start: number,
  end: number,
): void {
  for (let i = start; i < end; i++) {
    if (valid[i] !== 1) continue
    target[at++] = from[2 * i]!
    target[at++] = from[2 * i + 1]!
  }
}

/** Low words of 64-bit values that fit in 32 bits. */
function copyLow(
  target: Int32Array,
  at: number,
  from: Int32Array,
  valid: Uint8Array | undefined,
  start: number,
  end: number,
): void {
  for (let i = start; i < end; i++) if (valid === undefined || valid[i] === 1) target[at++] = from[2 * i]!
}

function bounds32(words: Int32Array, count: number): Bounds {
  let min = words[0]!
  let max = min
  for (let i = 1; i < count; i++) {
    const value = words[i]!
    if (value < min) min = value
    else if (value > max) max = value
  }
  return known(Int32Array.of(min), Int32Array.of(max))
}

/** Signed high words, unsigned low words: no bigint per value. */
function bounds64(words: Int32Array, count: number): Bounds {
  let minHigh = words[1]!
  let minLow = words[0]! >>> 0
  let maxHigh = minHigh
  let maxLow = minLow
  for (let i = 2; i < 2 * count; i += 2) {
    const high = words[i + 1]!
    const low = words[i]! >>> 0
    if (high < minHigh || (high === minHigh && low < minLow)) {
      minHigh = high
      minLow = low
    } else if (high > maxHigh || (high === maxHigh && low > maxLow)) {
      maxHigh = high
      maxLow = low
    }
  }
  return known(Int32Array.of(minLow, minHigh), Int32Array.of(maxLow, maxHigh))
}

/** No bounds with a NaN. A zero bound covers both zeros: -0.0 as minimum, +0.0 as maximum. */
function boundsFloat(values: Float32Array | Float64Array): Bounds {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value < min) min = value
    if (value > max) max = value
    if (Number.isNaN(value)) return UNKNOWN_BOUNDS
  }
  const wide = values.BYTES_PER_ELEMENT === 8
  const low = min === 0 ? -0 : min
  const high = max === 0 ? 0 : max
  return wide ? known(Float64Array.of(low), Float64Array.of(high)) : known(Float32Array.of(low), Float32Array.of(high))
}

function known(min: ArrayBufferView, max: ArrayBufferView): Bounds {
  return {
    kind: 'known',
    min: new Uint8Array(min.buffer, min.byteOffset, min.byteLength),
    max: new Uint8Array(max.buffer, max.byteOffset, max.byteLength),
  }
}

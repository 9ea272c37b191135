import type { Column } from '../column/column.ts'
import { grown, type PageValues } from './page-values.ts'
import { type Bounds, NO_VALUES, UNKNOWN_BOUNDS } from './write-statistics.ts'

const WORD = 2 ** 32
const NANOS_PER_MILLI = 1_000_000
const MILLIS_PER_DAY = 86_400_000
const JULIAN_EPOCH_DAY = 2_440_588

/** Signed 128-bit columns: DECIMAL as big-endian FIXED_LEN_BYTE_ARRAY, fine TIMESTAMP as INT96. */
export class WideValues implements PageValues {
  count = 0
  readonly width: number
  private bytes: Uint8Array = new Uint8Array(0)
  private readonly form: 'decimal' | 'int96'

  constructor(form: 'decimal' | 'int96', width: number) {
    this.form = form
    this.width = width
  }

  get plainBytes(): number {
    return this.count * this.width
  }

  append(column: Column, start: number, end: number, present: number): void {
    const words = this.prepare(column, present)
    const valid = column.valid
    for (let i = start; i < end; i++) if (valid === undefined || valid[i] === 1) this.put(words, i)
  }

  appendAt(column: Column, rows: Int32Array, from: number, to: number): void {
    const words = this.prepare(column, to - from)
    for (let i = from; i < to; i++) if (rows[i]! >= 0) this.put(words, rows[i]!)
  }

  plain(): Uint8Array {
    return this.bytes.subarray(0, this.plainBytes)
  }

  /** Decimals compare as signed big-endian numbers; INT96 has no order. */
  bounds(): Bounds {
    if (this.count === 0) return NO_VALUES
    if (this.form === 'int96') return UNKNOWN_BOUNDS
    let min = 0
    let max = 0
    for (let at = this.width; at < this.plainBytes; at += this.width) {
      if (this.before(at, min)) min = at
      else if (this.before(max, at)) max = at
    }
    return {
      kind: 'known',
      min: this.bytes.slice(min, min + this.width),
      max: this.bytes.slice(max, max + this.width),
    }
  }

  clear(): void {
    this.count = 0
  }

  private before(a: number, b: number): boolean {
    const { bytes, width } = this
    if (bytes[a] !== bytes[b]) return (bytes[a]! ^ 0x80) < (bytes[b]! ^ 0x80)
    for (let i = 1; i < width; i++) if (bytes[a + i] !== bytes[b + i]) return bytes[a + i]! < bytes[b + i]!
    return false
  }

  private prepare(column: Column, more: number): Int32Array {
    if (column.kind !== 'wide') throw new TypeError(`a wide column was expected, got ${column.kind}`)
    this.bytes = grown(this.bytes, this.plainBytes, (this.count + more) * this.width)
    const { values } = column
    return new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  }

  private put(words: Int32Array, row: number): void {
    const at = this.count++ * this.width
    if (this.form === 'decimal') putDecimal(words, 4 * row, this.bytes, at, this.width)
    else putInt96(words, 4 * row, this.bytes, at)
  }
}

function putDecimal(words: Int32Array, from: number, target: Uint8Array, at: number, width: number): void {
  for (let i = 0; i < width; i++) target[at + width - 1 - i] = words[from + (i >>> 2)]! >>> (8 * (i & 3))
  // What does not fit must be the sign alone, else the value is outside its precision.
  const sign = words[from + 3]! >> 31
  for (let i = width; i < 16; i++) {
    if (((words[from + (i >>> 2)]! >> (8 * (i & 3))) & 255) !== (sign & 255)) {
      throw new RangeError(`a decimal does not fit in ${width} bytes`)
    }
  }
}

/**
 * Nanoseconds of the day as int64, then the Julian day as int32. As Java's writer has it, the day of milliseconds before 1970 is
 * truncated towards zero, so that nanoseconds of the day may be negative. Long division by parts, exact in doubles.
 */
function putInt96(words: Int32Array, from: number, target: Uint8Array, at: number): void {
  const top = words[from + 2]!
  if (words[from + 3] !== top >> 31 || top > 1000 || top < -1000) throw new RangeError('a timestamp is out of range')
  const high = Math.floor(top / NANOS_PER_MILLI)
  let rest = (top - high * NANOS_PER_MILLI) * WORD + (words[from + 1]! >>> 0)
  const middle = Math.floor(rest / NANOS_PER_MILLI)
  rest = (rest - middle * NANOS_PER_MILLI) * WORD + (words[from]! >>> 0)
  const low = Math.floor(rest / NANOS_PER_MILLI)
  const nanosOfMilli = rest - low * NANOS_PER_MILLI
  const millis = (high * WORD + middle) * WORD + low
  const day = Math.trunc(millis / MILLIS_PER_DAY)
  const nanosOfDay = (millis - day * MILLIS_PER_DAY) * NANOS_PER_MILLI + nanosOfMilli
  putInt32(target, at, nanosOfDay % WORD)
  putInt32(target, at + 4, Math.floor(nanosOfDay / WORD))
  putInt32(target, at + 8, day + JULIAN_EPOCH_DAY)
}

function putInt32(target: Uint8Array, at: number, value: number): void {
  const word = value | 0
  target[at] = word
  target[at + 1] = word >>> 8
  target[at + 2] = word >>> 16
  target[at + 3] = word >>> 24
}

import type { Column } from '../column/column.ts'
import { fixed, grown, type PageValues } from './page-values.ts'
import { type Bounds, NO_VALUES } from './write-statistics.ts'

/** BOOLEAN: a byte a value while the page is open, a bit a value in PLAIN form, the first in the low bit. */
export class BooleanValues implements PageValues {
  count = 0
  readonly width = 1
  private bytes: Uint8Array = new Uint8Array(0)
  private packed: Uint8Array = new Uint8Array(0)

  get plainBytes(): number {
    return (this.count + 7) >>> 3
  }

  append(column: Column, start: number, end: number, present: number): void {
    const { values, valid } = fixed(column)
    this.bytes = grown(this.bytes, this.count, this.count + present)
    if (present === end - start) this.bytes.set(values.subarray(start, end) as Uint8Array, this.count)
    else {
      let at = this.count
      for (let i = start; i < end; i++) if (valid![i] === 1) this.bytes[at++] = values[i] as number
    }
    this.count += present
  }

  appendAt(column: Column, rows: Int32Array, from: number, to: number): void {
    const { values } = fixed(column)
    this.bytes = grown(this.bytes, this.count, this.count + to - from)
    for (let i = from; i < to; i++) if (rows[i]! >= 0) this.bytes[this.count++] = values[rows[i]!] as number
  }

  plain(): Uint8Array {
    const { bytes, count } = this
    const length = this.plainBytes
    this.packed = grown(this.packed, 0, length)
    this.packed.fill(0, 0, length)
    for (let i = 0; i < count; i++) this.packed[i >>> 3]! |= (bytes[i]! & 1) << (i & 7)
    return this.packed.subarray(0, length)
  }

  bounds(): Bounds {
    if (this.count === 0) return NO_VALUES
    let trues = 0
    for (let i = 0; i < this.count; i++) trues += this.bytes[i]!
    return { kind: 'known', min: Uint8Array.of(trues === this.count ? 1 : 0), max: Uint8Array.of(trues === 0 ? 0 : 1) }
  }

  clear(): void {
    this.count = 0
  }
}

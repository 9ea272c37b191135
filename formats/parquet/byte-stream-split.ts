import { corrupt } from '../bytes/format-error.ts'
import type { FixedBuffer, ValueDecoder } from './value-buffer.ts'

/** BYTE_STREAM_SPLIT: all first bytes, then all second bytes, and so on; any fixed width. */
export class ByteStreamSplitDecoder implements ValueDecoder<FixedBuffer> {
  private readonly bytes: Uint8Array
  private readonly start: number
  private readonly width: number
  private readonly count: number
  private next = 0

  constructor(bytes: Uint8Array, start: number, width: number) {
    this.bytes = bytes
    this.start = start
    this.width = width
    this.count = (bytes.length - start) / width
    if (!Number.isInteger(this.count)) {
      throw corrupt(`page has ${bytes.length - start} bytes of values, not a multiple of ${width}`)
    }
  }

  read(out: FixedBuffer, count: number): void {
    const first = this.next
    this.skip(count)
    out.reserve(count)
    const { bytes, width } = this
    const to = out.bytes
    for (let k = 0; k < width; k++) {
      let source = this.start + k * this.count + first
      const end = source + count
      for (let target = out.length * width + k; source < end; target += width) to[target] = bytes[source++]!
    }
    out.length += count
  }

  skip(count: number): void {
    if (count > this.count - this.next) {
      throw corrupt(`page holds ${this.count} values, ${this.next + count} were expected`)
    }
    this.next += count
  }
}

import { ByteWriter } from '../bytes/writer.ts'

const COOKIE = 12346
const COOKIE_WITH_RUNS = 12347
/** From this many containers on, or without runs, the offsets of the containers follow their descriptions. */
const OFFSETS_FROM = 4
/** A container of more values than this is a bitmap. */
const MAX_ARRAY = 4096
const BITMAP_BYTES = 8192

/** Values that share their high 16 bits: `[start, end)` of all values. */
interface Container {
  readonly key: number
  readonly start: number
  readonly end: number
  /** Runs of neighbours, where they take fewer bytes than the values; else 0. */
  readonly runs: number
  readonly bytes: number
}

/** A 32-bit roaring bitmap in its portable format, of ascending values; each container takes the form that is smallest. */
export function encodeRoaring(values: Uint32Array): Uint8Array {
  const containers = containersOf(values)
  const hasRuns = containers.some(({ runs }) => runs > 0)
  const out = new ByteWriter(containers.reduce((sum, { bytes }) => sum + bytes + 8, 16))
  if (hasRuns) {
    out.u16le(COOKIE_WITH_RUNS)
    out.u16le(containers.length - 1)
    const flags = new Uint8Array((containers.length + 7) >>> 3)
    for (const [index, { runs }] of containers.entries()) if (runs > 0) flags[index >>> 3]! |= 1 << (index & 7)
    out.bytes(flags)
  } else {
    out.i32le(COOKIE)
    out.i32le(containers.length)
  }
  for (const { key, start, end } of containers) {
    out.u16le(key)
    out.u16le(end - start - 1)
  }
  if (!hasRuns || containers.length >= OFFSETS_FROM) {
    let at = out.length + containers.length * 4
    for (const { bytes } of containers) {
      out.i32le(at)
      at += bytes
    }
  }
  for (const container of containers) writeContainer(out, values, container)
  return out.finish()
}

function containersOf(values: Uint32Array): readonly Container[] {
  const containers: Container[] = []
  for (let start = 0; start < values.length; ) {
    const key = values[start]! >>> 16
    let end = start + 1
    let runs = 1
    for (; end < values.length && values[end]! >>> 16 === key; end++) {
      if (values[end]! !== values[end - 1]! + 1) runs++
    }
    const plain = end - start > MAX_ARRAY ? BITMAP_BYTES : (end - start) * 2
    const asRuns = 2 + runs * 4
    containers.push({ key, start, end, runs: asRuns < plain ? runs : 0, bytes: Math.min(asRuns, plain) })
    start = end
  }
  return containers
}

function writeContainer(out: ByteWriter, values: Uint32Array, { start, end, runs }: Container): void {
  if (runs > 0) {
    out.u16le(runs)
    for (let at = start; at < end; ) {
      const first = values[at]!
      let last = first
      while (++at < end && values[at]! === last + 1) last++
      out.u16le(first & 0xffff)
      out.u16le(last - first)
    }
  } else if (end - start <= MAX_ARRAY) {
    for (let at = start; at < end; at++) out.u16le(values[at]! & 0xffff)
  } else {
    const bits = new Uint8Array(BITMAP_BYTES)
    for (let at = start; at < end; at++) bits[(values[at]! & 0xffff) >>> 3]! |= 1 << (values[at]! & 7)
    out.bytes(bits)
  }
}

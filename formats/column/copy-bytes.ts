import { isUtf8 } from 'node:buffer'

/** Strings at least this long are cheaper to move with `set` than word by word (measured on random rows, Node 20). */
const SET_FROM = 256

/** The same where they move four bytes at a time. */
const SET_FROM_NARROW = 96

/**
 * Rows whose first bytes are looked at before they are copied. The processor then fetches all of them at once, where the copy of
 * one would wait for its own: 44 ns for 18 bytes at random places of a large column instead of 90, 100 for 80 bytes instead of 190.
 */
const AHEAD = 32
const CACHE_LINE = 64

/** Ranges nearer than this to the one before are on their way already. */
const NEAR = 1024

/**
 * Copies the byte ranges `[offsets[rows[i]], offsets[rows[i] + 1])` of many sources behind each other into `target`, which they
 * fill.
 *
 * Short strings move in words through a DataView: text in doubles, 25 ns for 80 bytes, else in 4 bytes, against 75 to 140 ns for
 * `set(subarray)` or a byte loop (tools/bench/micro/copy.mjs). Neighbouring rows of one source are one range, so sorted stretches
 * move in one `set`.
 */
export function copyRanges(
  sources: readonly BytesSource[],
  source: Uint16Array | undefined,
  row: Uint32Array,
  count: number,
  target: Uint8Array,
): void {
  const wide = target.length > 0 && areText(sources, source, row, count)
  const setFrom = wide ? SET_FROM : SET_FROM_NARROW
  const views = sources.map(({ data }) => viewOf(data))
  const out = viewOf(target)
  let current = -1
  let data = target
  let offsets: Int32Array = new Int32Array(0)
  let view = out
  let at = 0
  for (let i = 0; i < count; ) {
    const end = Math.min(count, i + AHEAD)
    // Rows of several sources come in their order, as a rule. What was looked at must go somewhere, or looking would be dropped
    // as useless: the next copy overwrites it.
    if (source === undefined) target[at] = lookAhead(sources[0]!, row, i, end)
    while (i < end) {
      const from = source === undefined ? 0 : source[i]!
      if (from !== current) {
        current = from
        data = sources[from]!.data
        offsets = sources[from]!.offsets
        view = views[from]!
      }
      const first = row[i]!
      let next = first + 1
      i++
      while (i < count && row[i] === next && (source === undefined || source[i] === from)) {
        next++
        i++
      }
      let p = offsets[first]!
      const stop = offsets[next]!
      if (stop - p >= setFrom) {
        target.set(data.subarray(p, stop), at)
        at += stop - p
        continue
      }
      if (wide) for (; p + 8 <= stop; p += 8, at += 8) out.setFloat64(at, view.getFloat64(p, true), true)
      for (; p + 4 <= stop; p += 4, at += 4) out.setInt32(at, view.getInt32(p, true), true)
      for (; p < stop; p++) target[at++] = data[p]!
    }
  }
}

function lookAhead({ data, offsets }: BytesSource, row: Uint32Array, start: number, end: number): number {
  let seen = 0
  let before = -NEAR
  for (let i = start; i < end; i++) {
    const first = offsets[row[i]!]!
    const last = offsets[row[i]! + 1]! - 1
    if (last >= first && (first < before || first > before + NEAR)) {
      seen ^= data[first]! ^ data[last]!
      if (last > first + CACHE_LINE) seen ^= data[first + CACHE_LINE]!
    }
    before = first
  }
  return seen
}

/**
 * May the rows move in doubles? An engine may change the bits of a NaN as it loads or stores it. Its eighth byte is 0x7f or 0xff
 * and its seventh at least 0xf0; in UTF-8 neither 0x7f nor 0xff follows such a byte. So text holds none, wherever a word begins.
 */
function areText(
  sources: readonly BytesSource[],
  source: Uint16Array | undefined,
  row: Uint32Array,
  count: number,
): boolean {
  const first = new Uint32Array(sources.length).fill(0xffffffff)
  const last = new Uint32Array(sources.length)
  for (let i = 0; i < count; i++) {
    const from = source === undefined ? 0 : source[i]!
    const at = row[i]!
    if (at < first[from]!) first[from] = at
    if (at > last[from]!) last[from] = at
  }
  let looked = 0
  for (let from = 0; from < sources.length; from++) {
    if (first[from]! > last[from]!) continue
    const { data, offsets } = sources[from]!
    const [start, end] = [offsets[first[from]!]!, offsets[last[from]! + 1]!]
    looked += last[from]! - first[from]! + 1
    // Few rows of many: finding out would cost more than it saves.
    if (looked > count * MAX_LOOKED_PER_ROW || !isUtf8(data.subarray(start, end))) return false
  }
  return true
}

const MAX_LOOKED_PER_ROW = 4

interface BytesSource {
  readonly data: Uint8Array
  readonly offsets: Int32Array
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Strings at least this long are cheaper to move with `set` than word by word (measured on random rows, Node 20). */
const SET_FROM = 96

/**
 * Copies the byte ranges `[offsets[rows[i]], offsets[rows[i] + 1])` of many sources behind each other into `target`.
 *
 * Short strings move in 4-byte words through a DataView: 27 ns for 20 bytes against 127 ns for `set(subarray)` and 102 ns for
 * a byte loop. Neighbouring rows of one source are one range, so sorted stretches move in one `set`.
 */
export function copyRanges(
  sources: readonly { readonly data: Uint8Array; readonly offsets: Int32Array }[],
  source: Uint16Array | undefined,
  row: Uint32Array,
  count: number,
  target: Uint8Array,
): void {
  const views = sources.map(({ data }) => viewOf(data))
  const out = viewOf(target)
  let current = -1
  let data = target
  let offsets: Int32Array = new Int32Array(0)
  let view = out
  let at = 0
  for (let i = 0; i < count; ) {
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
    const end = offsets[next]!
    if (end - p >= SET_FROM) {
      target.set(data.subarray(p, end), at)
      at += end - p
      continue
    }
    for (; p + 4 <= end; p += 4, at += 4) out.setInt32(at, view.getInt32(p, true), true)
    for (; p < end; p++) target[at++] = data[p]!
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

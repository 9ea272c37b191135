/** The first `length` code points of UTF-8 text: never above the text. */
export function truncateText(text: Uint8Array, length: number): Uint8Array {
  return text.subarray(0, endOf(text, length))
}

/**
 * A text of at most `length` code points that no text with the same start passes: the text itself where it is short enough,
 * else its first code points with the last one raised by one. A code point that cannot be raised is dropped and the one before
 * it raised. Undefined when none can, or when the bytes are not UTF-8.
 *
 *   'abcdef', 3 → 'abd'      'ab\u{10FFFF}x', 3 → 'ac'
 */
export function truncateTextUp(text: Uint8Array, length: number): Uint8Array | undefined {
  let end = endOf(text, length)
  if (end === text.length) return text
  while (end > 0) {
    let start = end - 1
    while (start > 0 && isContinuation(text[start]!)) start--
    const point = decodePoint(text, start, end)
    if (point === undefined) return undefined
    const next = point === 0xd7ff ? 0xe000 : point + 1
    if (next <= 0x10ffff) {
      const tail = new TextEncoder().encode(String.fromCodePoint(next))
      const raised = new Uint8Array(start + tail.length)
      raised.set(text.subarray(0, start))
      raised.set(tail, start)
      return raised
    }
    end = start
  }
  return undefined
}

/** Offset after the first `points` code points. */
function endOf(text: Uint8Array, points: number): number {
  if (text.length <= points) return text.length
  let seen = 0
  for (let i = 0; i < text.length; i++) {
    if (isContinuation(text[i]!)) continue
    if (seen === points) return i
    seen++
  }
  return text.length
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/** The one code point in `[start, end)`, or undefined when these bytes are not its shortest UTF-8 form. */
function decodePoint(text: Uint8Array, start: number, end: number): number | undefined {
  try {
    const decoded = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(text.subarray(start, end))
    const point = decoded.codePointAt(0)
    return point !== undefined && decoded.length === (point > 0xffff ? 2 : 1) ? point : undefined
  } catch {
    return undefined
  }
}

import type { Column, FixedArray } from './column.ts'

/** Whether rows `[start, end)` of two flat columns hold the same: nulls at the same places, equal bytes. Both of one storage. */
export function sameValues(a: Column, b: Column, start: number, end: number): boolean {
  if (a === b) return true
  if (!sameNulls(a.valid, b.valid, start, end)) return false
  if (a.kind === 'fixed' && b.kind === 'fixed') return sameBytes(a.values, b.values, start, end)
  if (a.kind === 'wide' && b.kind === 'wide') return sameBytes(a.values, b.values, start * 2, end * 2)
  if (a.kind !== 'bytes' || b.kind !== 'bytes')
    throw new TypeError(`columns of ${a.kind} and ${b.kind} are not compared`)
  const shift = b.offsets[start]! - a.offsets[start]!
  for (let row = start + 1; row <= end; row++) if (b.offsets[row]! - a.offsets[row]! !== shift) return false
  const [from, to] = [a.offsets[start]!, a.offsets[end]!]
  return Buffer.compare(a.data.subarray(from, to), b.data.subarray(from + shift, to + shift)) === 0
}

function sameNulls(a: Uint8Array | undefined, b: Uint8Array | undefined, start: number, end: number): boolean {
  for (let row = start; row < end; row++) if ((a?.[row] ?? 1) !== (b?.[row] ?? 1)) return false
  return true
}

function sameBytes(a: FixedArray, b: FixedArray, start: number, end: number): boolean {
  if (a.BYTES_PER_ELEMENT !== b.BYTES_PER_ELEMENT) return false
  return Buffer.compare(bytesOf(a, start, end), bytesOf(b, start, end)) === 0
}

function bytesOf(values: FixedArray, start: number, end: number): Uint8Array {
  const width = values.BYTES_PER_ELEMENT
  return new Uint8Array(values.buffer, values.byteOffset + start * width, (end - start) * width)
}

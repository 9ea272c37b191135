import { corrupt } from '../bytes/format-error.ts'

const COOKIE = 12346
const COOKIE_WITH_RUNS = 12347
/** From this many containers on, or without runs, the offsets of the containers follow their descriptions. */
const OFFSETS_FROM = 4
const MAX_CONTAINERS = 65536
/** A container of more values than this is a bitmap. */
const MAX_ARRAY = 4096
const BITMAP_BYTES = 8192

/**
 * The values of a 32-bit roaring bitmap in its portable format, ascending. `limit`: values must be below it, and it bounds
 * the memory, since a run of 65,536 values takes 4 bytes. The bitmap must fill `bytes`. Throws CORRUPT.
 */
export function decodeRoaring(bytes: Uint8Array, limit: number): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const take = (length: number): number => {
    if (at + length > bytes.length)
      throw corrupt(`roaring bitmap: ${length} bytes expected at ${at} of ${bytes.length}`)
    at += length
    return at - length
  }

  const cookie = view.getUint32(take(4), true)
  const hasRuns = (cookie & 0xffff) === COOKIE_WITH_RUNS
  if (!hasRuns && cookie !== COOKIE) throw corrupt(`roaring bitmap: expected the cookie ${COOKIE}, found ${cookie}`)
  const containers = hasRuns ? (cookie >>> 16) + 1 : view.getUint32(take(4), true)
  if (containers > MAX_CONTAINERS) throw corrupt(`roaring bitmap: ${containers} containers`)
  const runFlags = hasRuns ? take((containers + 7) >>> 3) : -1
  const descriptions = take(containers * 4)
  let total = 0
  for (let i = 0; i < containers; i++) total += view.getUint16(descriptions + i * 4 + 2, true) + 1
  if (total > limit) throw corrupt(`roaring bitmap: ${total} values below ${limit}`)
  if (!hasRuns || containers >= OFFSETS_FROM) take(containers * 4)

  const values = new Uint32Array(total)
  let count = 0
  for (let i = 0; i < containers; i++) {
    const base = view.getUint16(descriptions + i * 4, true) * 65536
    const cardinality = view.getUint16(descriptions + i * 4 + 2, true) + 1
    const end = count + cardinality
    if (hasRuns && (bytes[runFlags + (i >>> 3)]! >>> (i & 7)) & 1) {
      const runs = view.getUint16(take(2), true)
      const start = take(runs * 4)
      for (let run = 0; run < runs; run++) {
        const first = view.getUint16(start + run * 4, true)
        const last = first + view.getUint16(start + run * 4 + 2, true)
        if (last > 0xffff || count + last - first >= end)
          throw corrupt(`roaring bitmap: run ${run} of container ${i} is too long`)
        for (let value = first; value <= last; value++) values[count++] = base + value
      }
    } else if (cardinality <= MAX_ARRAY) {
      const start = take(cardinality * 2)
      for (let k = 0; k < cardinality; k++) values[count++] = base + view.getUint16(start + k * 2, true)
    } else {
      const start = take(BITMAP_BYTES)
      for (let byte = 0; byte < BITMAP_BYTES; byte++) {
        for (let bits = bytes[start + byte]!; bits !== 0; bits &= bits - 1) {
          if (count === end) throw corrupt(`roaring bitmap: container ${i} holds more than its ${cardinality} values`)
          values[count++] = base + byte * 8 + (31 - Math.clz32(bits & -bits))
        }
      }
    }
    if (count !== end)
      throw corrupt(`roaring bitmap: container ${i} holds ${cardinality - end + count} of ${cardinality} values`)
  }
  if (at !== bytes.length) throw corrupt(`roaring bitmap: ${bytes.length - at} bytes behind it`)
  for (let i = 1; i < total; i++) {
    if (values[i]! <= values[i - 1]!) throw corrupt(`roaring bitmap: ${values[i]} follows ${values[i - 1]}`)
  }
  if (total > 0 && values[total - 1]! >= limit)
    throw corrupt(`roaring bitmap: ${values[total - 1]} is not below ${limit}`)
  return values
}

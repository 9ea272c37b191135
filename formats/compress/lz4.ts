import { corrupt, FormatError } from '../bytes/format-error.ts'
import type { Codec } from './codec.ts'
import { checkAnnounced, FIRST_GUESS_BYTES, MAX_DECOMPRESSED_BYTES } from './limits.ts'
import { compressLz4Block, decompressLz4Block } from './lz4-block.ts'

/** Output of one block whose length is known, or found by doubling: a block cannot grow more than 255-fold. */
function decompressRaw(bytes: Uint8Array, uncompressedBytes: number | undefined): Uint8Array {
  if (uncompressedBytes !== undefined) {
    // Checked before allocating: no more than 255 bytes can come from one.
    if (uncompressedBytes > bytes.length * 255)
      throw corrupt(`lz4: ${bytes.length} bytes cannot hold ${uncompressedBytes}`)
    const target = new Uint8Array(uncompressedBytes)
    const written = decompressLz4Block(bytes, target)
    if (written !== uncompressedBytes) {
      throw corrupt(`lz4: ${written < 0 ? 'more' : written} bytes after decompression, expected ${uncompressedBytes}`)
    }
    return target
  }
  const most = Math.min(bytes.length * 255, MAX_DECOMPRESSED_BYTES)
  for (let size = Math.min(most, FIRST_GUESS_BYTES); ; size = Math.min(most, size * 2)) {
    const target = new Uint8Array(size)
    const written = decompressLz4Block(bytes, target)
    if (written >= 0) return target.slice(0, written)
    if (size === most) throw corrupt(`lz4: more than ${most} bytes after decompression`)
  }
}

/** LZ4_RAW of Parquet (codec 7): one LZ4 block without any frame. It has no levels here. */
export const lz4RawCodec: Codec = { name: 'lz4_raw', compress: compressLz4Block, decompress: decompressRaw }

function uint32(bytes: Uint8Array, at: number): number {
  return bytes[at]! * 16777216 + ((bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!)
}

function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

/*
 * Hadoop's framing, big-endian, repeated to the end:
 *
 *   uncompressed bytes of the group (4) │ { compressed bytes (4) │ LZ4 block } until the group is full
 */
function compressFramed(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return new Uint8Array(4)
  const block = compressLz4Block(bytes)
  const framed = new Uint8Array(8 + block.length)
  putUint32(framed, 0, bytes.length)
  putUint32(framed, 4, block.length)
  framed.set(block, 8)
  return framed
}

/** Group by group, each into memory of its own: no more is allocated than what is left of the input can fill. */
function decompressFramed(bytes: Uint8Array, uncompressedBytes: number | undefined): Uint8Array {
  const groups: Uint8Array[] = []
  let total = 0
  let at = 0
  while (at < bytes.length) {
    if (at + 4 > bytes.length) throw corrupt(`lz4: group header cut at byte ${at}`)
    const length = uint32(bytes, at)
    at += 4
    total += length
    checkAnnounced('lz4', total)
    if (length > (bytes.length - at) * 255 || total > (uncompressedBytes ?? total)) {
      throw corrupt(`lz4: group of ${length} bytes at byte ${at} is larger than it can be`)
    }
    const group = new Uint8Array(length)
    at = decompressGroup(bytes, at, group)
    groups.push(group)
  }
  if (groups.length === 1) return groups[0]!
  const whole = new Uint8Array(total)
  let to = 0
  for (const group of groups) {
    whole.set(group, to)
    to += group.length
  }
  return whole
}

/** Fills a group from its chunks; returns where the next group starts. */
function decompressGroup(bytes: Uint8Array, start: number, group: Uint8Array): number {
  let at = start
  let to = 0
  while (to < group.length) {
    if (at + 4 > bytes.length) throw corrupt(`lz4: chunk header cut at byte ${at}`)
    const length = uint32(bytes, at)
    at += 4
    if (length > bytes.length - at) throw corrupt(`lz4: chunk of ${length} bytes at byte ${at} passes the end`)
    const written = decompressLz4Block(bytes.subarray(at, at + length), group.subarray(to))
    if (written <= 0) throw corrupt(`lz4: chunk at byte ${at} does not fit in its group`)
    to += written
    at += length
  }
  return at
}

/**
 * LZ4 of Parquet (codec 5): LZ4 blocks in Hadoop's framing. Some writers put a bare block under the same codec number; it
 * is tried when the framing does not hold.
 */
export const lz4HadoopCodec: Codec = {
  name: 'lz4_hadoop',
  compress: compressFramed,
  decompress(bytes, uncompressedBytes) {
    try {
      const framed = decompressFramed(bytes, uncompressedBytes)
      if (uncompressedBytes === undefined || framed.length === uncompressedBytes) return framed
      throw corrupt(`lz4: ${framed.length} bytes after decompression, expected ${uncompressedBytes}`)
    } catch (error) {
      if (!(error instanceof FormatError) || uncompressedBytes === undefined) throw error
      try {
        return decompressRaw(bytes, uncompressedBytes)
      } catch {
        throw error
      }
    }
  },
}

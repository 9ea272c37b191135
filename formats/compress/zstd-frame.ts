import { corrupt } from '../bytes/format-error.ts'

/** One frame of a zstd stream: `[start, end)` of the input, its content size where the header has it, and a bound. */
export interface ZstdFrame {
  readonly start: number
  readonly end: number
  readonly contentBytes: number | undefined
  /** No more bytes can come out: the content size, else what its blocks can hold. */
  readonly mostBytes: number
  /** No fewer can: what its stored and run-length blocks announce. */
  readonly leastBytes: number
}

const MAGIC = 0xfd2fb528
const BLOCK_MAX = 131072

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  if (at + count > bytes.length) throw corrupt(`zstd: frame cut at byte ${bytes.length}`)
  let value = 0
  for (let i = count - 1; i >= 0; i--) value = value * 256 + bytes[at + i]!
  return value
}

/**
 * The frames of a stream, skippable ones left out, without decompressing (RFC 8878, section 3.1). Cut input, foreign bytes and
 * a content size that the blocks cannot hold are errors, so that no decompressor has to allocate from a lying header.
 */
export function zstdFrames(bytes: Uint8Array): readonly ZstdFrame[] {
  const frames: ZstdFrame[] = []
  let at = 0
  while (at < bytes.length) {
    const magic = littleEndian(bytes, at, 4)
    if (magic >= 0x184d2a50 && magic <= 0x184d2a5f) {
      at += 8 + littleEndian(bytes, at + 4, 4)
      if (at > bytes.length) throw corrupt(`zstd: skippable frame passes the end, byte ${bytes.length}`)
      continue
    }
    if (magic !== MAGIC) throw corrupt(`zstd: no frame at byte ${at}, found ${magic.toString(16)}`)
    const frame = zstdFrame(bytes, at)
    frames.push(frame)
    at = frame.end
  }
  if (frames.length === 0) throw corrupt('zstd: no frame')
  return frames
}

/*
 * magic (4) │ descriptor (1) │ window (0 or 1) │ dictionary id (0, 1, 2, 4) │ content size (0, 1, 2, 4, 8)
 * blocks: header (3: last 1 bit, type 2 bits, size 21 bits) │ content │ checksum (0 or 4)
 */
function zstdFrame(bytes: Uint8Array, start: number): ZstdFrame {
  const descriptor = littleEndian(bytes, start + 4, 1)
  const single = (descriptor & 0x20) !== 0
  let at = start + 5
  let window = 0
  if (!single) {
    const code = littleEndian(bytes, at++, 1)
    const base = 2 ** (10 + (code >>> 3))
    window = base + (base / 8) * (code & 7)
  }
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!
  if (dictionaryBytes > 0 && littleEndian(bytes, at, dictionaryBytes) !== 0) {
    throw corrupt('zstd: the frame needs a dictionary, and table files have none')
  }
  at += dictionaryBytes
  const sizeBytes = [single ? 1 : 0, 2, 4, 8][descriptor >>> 6]!
  let contentBytes: number | undefined
  if (sizeBytes > 0) contentBytes = littleEndian(bytes, at, sizeBytes) + (sizeBytes === 2 ? 256 : 0)
  at += sizeBytes
  const blockMax = Math.min(BLOCK_MAX, single ? (contentBytes ?? BLOCK_MAX) : window)

  let blocksHold = 0
  let leastBytes = 0
  for (let last = false; !last; ) {
    const header = littleEndian(bytes, at, 3)
    at += 3
    last = (header & 1) === 1
    const type = (header >>> 1) & 3
    const size = header >>> 3
    if (type === 3) throw corrupt(`zstd: reserved block type at byte ${at - 3}`)
    blocksHold += type === 2 ? blockMax : size
    if (type !== 2) leastBytes += size
    at += type === 1 ? 1 : size
    if (at > bytes.length) throw corrupt(`zstd: block passes the end, byte ${bytes.length}`)
  }
  if ((descriptor & 4) !== 0) at += 4
  if (at > bytes.length) throw corrupt(`zstd: checksum cut at byte ${bytes.length}`)
  if (contentBytes !== undefined && contentBytes > blocksHold) {
    throw corrupt(`zstd: content size ${contentBytes}, but the blocks hold at most ${blocksHold} bytes`)
  }
  return { start, end: at, contentBytes, mostBytes: contentBytes ?? blocksHold, leastBytes }
}

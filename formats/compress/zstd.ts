import { corrupt, unsupported } from '../bytes/format-error.ts'
import type { Codec } from './codec.ts'
import { checkAnnounced, checkLength, FIRST_GUESS_BYTES, MAX_DECOMPRESSED_BYTES, plainBytes } from './limits.ts'
import type { ZstdBackend } from './zstd-backends.ts'
import { zstdBackends } from './zstd-backends.ts'
import { zstdFrames } from './zstd-frame.ts'
import { decompressSmall, isPlainFrame, SMALL_BYTES } from './zstd-small.ts'

/** Level used when none is given; Paimon's `file.compression.zstd-level`. */
const DEFAULT_LEVEL = 1

/**
 * The zstd codec over the fastest implementation that loads here, in this order: `napi` (zstd-napi, when the user installed
 * it), `node` (node:zlib, Node 22.15 on), `wasm-zstd`. It is set up when something is compressed, or a frame is not small.
 * `choice` names one, set up at once: `UNSUPPORTED` when it does not load.
 */
export function loadZstd(choice: string | undefined): Codec {
  let backend = choice === undefined ? undefined : loadBackend(choice)
  let small = 0
  return zstdCodec((frame, contentBytes = Number.POSITIVE_INFINITY) => {
    if (backend === undefined && frame !== undefined && isPlainFrame(frame)) {
      small += contentBytes
      if (small <= SMALL_BYTES) return smallFrames
    }
    backend ??= loadBackend(undefined)
    return backend
  })
}

function loadBackend(choice: string | undefined): ZstdBackend {
  const wanted = choice === undefined ? zstdBackends : zstdBackends.filter((backend) => backend.name === choice)
  if (wanted.length === 0) {
    const names = zstdBackends.map((backend) => backend.name).join(', ')
    throw unsupported(`zstd implementation '${choice}' is not known; the known ones are ${names}`)
  }
  const causes: unknown[] = []
  for (const candidate of wanted) {
    try {
      return candidate.load()
    } catch (cause) {
      causes.push(cause)
    }
  }
  const names = wanted.map((backend) => backend.name).join(', ')
  throw Object.assign(unsupported(`no zstd implementation could be loaded, tried ${names}`), {
    cause: new AggregateError(causes),
  })
}

const smallFrames: ZstdBackend = {
  compress: () => {
    throw new Error('small frames are only decompressed')
  },
  decompress: decompressSmall,
}

/** Frames are found and bounded here, once for all implementations; each only has to decompress one sound-looking frame. */
function zstdCodec(backendFor: (frame?: Uint8Array, contentBytes?: number) => ZstdBackend): Codec {
  return {
    name: 'zstd',
    compress: (bytes, level) => plainBytes(backendFor().compress(bytes, level ?? DEFAULT_LEVEL)),
    decompress(bytes, uncompressedBytes, target) {
      const frames = zstdFrames(bytes)
      const parts: Uint8Array[] = []
      let done = 0
      for (const frame of frames) {
        const left = (uncompressedBytes ?? MAX_DECOMPRESSED_BYTES) - done
        const least = frame.contentBytes ?? frame.leastBytes
        checkAnnounced('zstd', done + least)
        if (least > left)
          throw corrupt(`zstd: ${least} bytes in the frame at byte ${frame.start}, expected at most ${left}`)
        const alone = frames.length === 1
        const input = alone ? bytes.subarray(frame.start, frame.end) : bytes.slice(frame.start, frame.end)
        const most = Math.min(left, frame.mostBytes)
        const backend = backendFor(input, frame.contentBytes)
        const part = decompressFrame(backend, input, frame.contentBytes, most, alone ? target : undefined)
        parts.push(part)
        done += part.length
      }
      if (parts.length === 1) return parts[0]!
      return concat(parts, done)
    },
  }
}

function decompressFrame(
  backend: ZstdBackend,
  input: Uint8Array,
  exact: number | undefined,
  most: number,
  target: Uint8Array | undefined,
): Uint8Array {
  if (exact !== undefined) {
    const result = attempt(backend, input, exact, true, target)
    checkLength('zstd', result.length, exact)
    return result
  }
  for (let size = Math.min(most, FIRST_GUESS_BYTES); ; size = Math.min(most, size * 2)) {
    try {
      return attempt(backend, input, size, false, target)
    } catch (error) {
      // Implementations do not tell "too small" from "damaged"; the bound ends the search.
      if (size === most) throw error
    }
  }
}

function attempt(
  backend: ZstdBackend,
  input: Uint8Array,
  capacity: number,
  exact: boolean,
  target: Uint8Array | undefined,
): Uint8Array {
  let result: Uint8Array
  try {
    result = plainBytes(backend.decompress(input, capacity, exact, target))
  } catch (cause) {
    throw corrupt(`zstd: a frame of ${input.length} bytes cannot be decompressed into ${capacity}`, cause)
  }
  if (result.length > capacity) throw corrupt(`zstd: more than ${capacity} bytes after decompression`)
  return result
}

function concat(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

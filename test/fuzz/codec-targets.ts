import type { CodecName } from '../../formats/compress/codec.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import type { Target } from './targets.ts'

const names: readonly CodecName[] = ['snappy', 'gzip', 'lz4_raw', 'lz4_hadoop', 'zstd', 'brotli']

/** Each codec, with and without an announced length. */
export function codecTargets(): readonly Target[] {
  const plain = [
    new Uint8Array(0),
    new TextEncoder().encode('a text that repeats, a text that repeats, a text that ends'),
    Uint8Array.from({ length: 3_000 }, (_, i) => (i * i) >> 3),
    new Uint8Array(20_000),
  ]
  return [...names.map((name) => codecTarget(name, plain)), ...zstdTargets(plain)]
}

function codecTarget(name: CodecName, plain: readonly Uint8Array[], zstd?: string): Target {
  const codec = loadCodecs(zstd === undefined ? {} : { zstd }).get(name)
  return {
    name: zstd === undefined ? name : `${name} of ${zstd}`,
    seeds: plain.map((bytes) => codec.compress(bytes).slice()),
    decode: (bytes) => {
      // Both ways: the length that pages announce, and none, as in Avro blocks.
      const announced = (bytes[bytes.length >> 1] ?? 0) * 250
      try {
        codec.decompress(bytes, announced)
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'FormatError') throw error
      }
      codec.decompress(bytes)
    },
  }
}

/** The implementations present. */
function zstdTargets(plain: readonly Uint8Array[]): Target[] {
  return ['node', 'wasm-zstd'].flatMap((zstd) => {
    try {
      return [codecTarget('zstd', plain, zstd)]
    } catch {
      return []
    }
  })
}

import { unsupported } from '../bytes/format-error.ts'
import { brotliCodec } from './brotli.ts'
import type { Codec, CodecName, Codecs } from './codec.ts'
import { gzipCodec } from './gzip.ts'
import { checkAnnounced, checkLength } from './limits.ts'
import { lz4HadoopCodec, lz4RawCodec } from './lz4.ts'
import { snappyCodec } from './snappy.ts'
import { loadZstd } from './zstd.ts'

const none: Codec = {
  name: 'none',
  compress: (bytes) => bytes,
  decompress(bytes, uncompressedBytes) {
    checkLength('none', bytes.length, uncompressedBytes)
    return bytes
  },
}

/** Wraps a codec so that announced lengths are checked in one place, before and after. */
function guarded(codec: Codec): Codec {
  return {
    name: codec.name,
    compress: codec.compress,
    decompress(bytes, uncompressedBytes) {
      if (uncompressedBytes !== undefined) checkAnnounced(codec.name, uncompressedBytes)
      const result = codec.decompress(bytes, uncompressedBytes)
      checkLength(codec.name, result.length, uncompressedBytes)
      return result
    },
  }
}

const loaded = new Map<string, Promise<Codecs>>()

/**
 * Sets up the codecs, once a thread for each choice; later calls return the same promise. `zstd` names one implementation
 * (`napi`, `node`, `wasm-zstd`) and fails when it is absent; without it the fastest present is taken.
 */
export function loadCodecs(options: { readonly zstd?: string } = {}): Promise<Codecs> {
  const choice = options.zstd ?? ''
  let codecs = loaded.get(choice)
  if (codecs === undefined) {
    codecs = setUp(options.zstd)
    // A failed set-up is not remembered: the next call tries again.
    codecs.catch(() => loaded.delete(choice))
    loaded.set(choice, codecs)
  }
  return codecs
}

async function setUp(zstd: string | undefined): Promise<Codecs> {
  const others = [snappyCodec, gzipCodec, lz4RawCodec, lz4HadoopCodec, brotliCodec, await loadZstd(zstd)]
  const byName = new Map<CodecName, Codec>([
    ['none', none],
    ...others.map((codec) => [codec.name, guarded(codec)] as const),
  ])
  return {
    get(name) {
      const codec = byName.get(name)
      if (codec === undefined) throw unsupported(`compression '${name}' is not known`)
      return codec
    },
  }
}

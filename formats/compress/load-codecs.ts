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
    decompress(bytes, uncompressedBytes, target) {
      if (uncompressedBytes !== undefined) checkAnnounced(codec.name, uncompressedBytes)
      const result = codec.decompress(bytes, uncompressedBytes, target)
      checkLength(codec.name, result.length, uncompressedBytes)
      return result
    },
  }
}

const loaded = new Map<string, Codecs>()

/**
 * The codecs of this thread, one set for each choice. `zstd` names one implementation (`napi`, `node`, `wasm-zstd`), which is
 * set up at once: `UNSUPPORTED` when it is absent. Without it the fastest present is set up when it is needed.
 */
export function loadCodecs(options: { readonly zstd?: string } = {}): Codecs {
  const choice = options.zstd ?? ''
  let codecs = loaded.get(choice)
  if (codecs === undefined) {
    codecs = setUp(options.zstd)
    loaded.set(choice, codecs)
  }
  return codecs
}

function setUp(zstd: string | undefined): Codecs {
  const others = [snappyCodec, gzipCodec, lz4RawCodec, lz4HadoopCodec, brotliCodec, loadZstd(zstd)]
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

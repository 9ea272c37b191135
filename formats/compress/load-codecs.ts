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
 * The codecs of this thread, one set for each choice. zstd is set up when it is first asked for, some 10 ms where it is
 * WebAssembly: `UNSUPPORTED` then when no implementation is there. `zstd` names one (`napi`, `node`, `wasm-zstd`), set up at
 * once; without it the fastest present is taken.
 */
export function loadCodecs(options: { readonly zstd?: string } = {}): Codecs {
  const choice = options.zstd ?? ''
  let codecs = loaded.get(choice)
  if (codecs === undefined) {
    codecs = codecsWith(options.zstd)
    if (options.zstd !== undefined) codecs.get('zstd')
    loaded.set(choice, codecs)
  }
  return codecs
}

function codecsWith(zstd: string | undefined): Codecs {
  const others = [none, ...[snappyCodec, gzipCodec, lz4RawCodec, lz4HadoopCodec, brotliCodec].map(guarded)]
  const byName = new Map<CodecName, Codec>(others.map((codec) => [codec.name, codec]))
  return {
    get(name) {
      let codec = byName.get(name)
      if (codec === undefined && name === 'zstd') {
        codec = guarded(loadZstd(zstd))
        byName.set(name, codec)
      }
      if (codec === undefined) throw unsupported(`compression '${name}' is not known`)
      return codec
    },
  }
}

import { createRequire } from 'node:module'
import * as zlib from 'node:zlib'
import { loadWasmZstd } from './zstd-wasm.ts'

/**
 * A zstd implementation that is set up. `decompress` gets one frame and either its exact size or a capacity; it throws, or
 * returns fewer bytes, when the frame does not fit, and never allocates more than a small multiple of `capacity`. The output may lie in
 * `target` if that is large enough.
 */
export interface ZstdBackend {
  compress(bytes: Uint8Array, level: number): Uint8Array
  decompress(frame: Uint8Array, capacity: number, exact: boolean, target?: Uint8Array): Uint8Array
}

/** An implementation that may be absent: `load` throws then. */
export interface ZstdCandidate {
  readonly name: string
  load(): ZstdBackend
}

/** Fastest first, as measured on pages of 64 KiB and 1 MiB. */
export const zstdBackends: readonly ZstdCandidate[] = [
  { name: 'napi', load: loadNapi },
  { name: 'node', load: loadNode },
  { name: 'wasm-zstd', load: loadWasmZstd },
]

interface NapiBinding {
  readonly CCtx: new () => { compress(target: Uint8Array, source: Uint8Array, level: number): number }
  readonly DCtx: new () => { decompress(target: Uint8Array, source: Uint8Array): number }
  compressBound(bytes: number): number
}

/** Native addon, only if the user installed it; its contexts and the output buffer of the compressor are kept. */
function loadNapi(): ZstdBackend {
  // A variable, so that neither compiler nor bundler takes it for a dependency.
  const specifier = 'zstd-napi/binding.js'
  const binding = createRequire(import.meta.url)(specifier) as NapiBinding
  const compressor = new binding.CCtx()
  const decompressor = new binding.DCtx()
  let scratch = new Uint8Array(0)
  return {
    compress(bytes, level) {
      const bound = binding.compressBound(bytes.length)
      if (bound > scratch.length) scratch = new Uint8Array(bound)
      return scratch.slice(0, compressor.compress(scratch, bytes, level))
    },
    decompress(frame, capacity, exact, target) {
      const given = target !== undefined && target.length >= capacity
      const output = given ? target.subarray(0, capacity) : new Uint8Array(capacity)
      const written = decompressor.decompress(output, frame)
      return exact || given ? output.subarray(0, written) : output.slice(0, written)
    },
  }
}

interface NodeZstd {
  zstdCompressSync?(bytes: Uint8Array, options: { readonly params: Record<number, number> }): Uint8Array
  zstdDecompressSync?(bytes: Uint8Array, options: { readonly maxOutputLength: number }): Uint8Array
  readonly constants: { readonly ZSTD_c_compressionLevel?: number }
}

/** Node's own, from 22.15 on; the types of Node 20 do not know it. */
function loadNode(): ZstdBackend {
  const { zstdCompressSync, zstdDecompressSync, constants } = zlib as unknown as NodeZstd
  const levelParameter = constants.ZSTD_c_compressionLevel
  if (zstdCompressSync === undefined || zstdDecompressSync === undefined || levelParameter === undefined) {
    throw new Error(`Node ${process.versions.node} has no zstd; it came with 22.15`)
  }
  return {
    compress: (bytes, level) => zstdCompressSync(bytes, { params: { [levelParameter]: level } }),
    // A limit of 0 is refused, so an empty frame may yield one byte more than announced, which the caller notices.
    decompress: (frame, capacity) => zstdDecompressSync(frame, { maxOutputLength: Math.max(1, capacity) }),
  }
}

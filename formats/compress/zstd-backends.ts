import * as zlib from 'node:zlib'

/**
 * A zstd implementation that is set up. `decompress` gets one frame and either its exact size or a capacity; it throws, or
 * returns fewer bytes, when the frame does not fit, and never allocates more than a small multiple of `capacity`.
 */
export interface ZstdBackend {
  compress(bytes: Uint8Array, level: number): Uint8Array
  decompress(frame: Uint8Array, capacity: number, exact: boolean): Uint8Array
}

/** An implementation that may be absent: `load` rejects then. */
export interface ZstdCandidate {
  readonly name: string
  load(): Promise<ZstdBackend>
}

/** Fastest first, as measured on pages of 64 KiB and 1 MiB. */
export const zstdBackends: readonly ZstdCandidate[] = [
  { name: 'napi', load: loadNapi },
  { name: 'node', load: loadNode },
  { name: 'wasm-zstd', load: loadWasm },
]

interface NapiBinding {
  readonly CCtx: new () => { compress(target: Uint8Array, source: Uint8Array, level: number): number }
  readonly DCtx: new () => { decompress(target: Uint8Array, source: Uint8Array): number }
  compressBound(bytes: number): number
}

/** Native addon, only if the user installed it; its contexts and the output buffer of the compressor are kept. */
async function loadNapi(): Promise<ZstdBackend> {
  // A variable, so that neither compiler nor bundler takes it for a dependency.
  const specifier = 'zstd-napi/binding.js'
  const binding = ((await import(specifier)) as { readonly default: NapiBinding }).default
  const compressor = new binding.CCtx()
  const decompressor = new binding.DCtx()
  let scratch = new Uint8Array(0)
  return {
    compress(bytes, level) {
      const bound = binding.compressBound(bytes.length)
      if (bound > scratch.length) scratch = new Uint8Array(bound)
      return scratch.slice(0, compressor.compress(scratch, bytes, level))
    },
    decompress(frame, capacity, exact) {
      const target = new Uint8Array(capacity)
      const written = decompressor.decompress(target, frame)
      return exact ? target.subarray(0, written) : target.slice(0, written)
    },
  }
}

interface NodeZstd {
  zstdCompressSync?(bytes: Uint8Array, options: { readonly params: Record<number, number> }): Uint8Array
  zstdDecompressSync?(bytes: Uint8Array, options: { readonly maxOutputLength: number }): Uint8Array
  readonly constants: { readonly ZSTD_c_compressionLevel?: number }
}

/** Node's own, from 22.15 on; the types of Node 20 do not know it. */
async function loadNode(): Promise<ZstdBackend> {
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

/** The WebAssembly build below the package's own functions, which take and free two blocks for each page. */
interface WasmZstd {
  readonly HEAPU8: Uint8Array
  _malloc(bytes: number): number
  _free(address: number): void
  _compressBound(bytes: number): number
  _compress(target: number, capacity: number, source: number, bytes: number, level: number): number
  _decompress(target: number, capacity: number, source: number, bytes: number): number
}

/** Larger blocks are given back after their use. */
const KEPT_BYTES = 4 * 1024 * 1024

/** A block of the WebAssembly heap that is used again for page after page. */
class WasmBlock {
  readonly #zstd: WasmZstd
  #address = 0
  #bytes = 0

  constructor(zstd: WasmZstd) {
    this.#zstd = zstd
  }

  /** The address of at least so many bytes; what was in the block is lost. */
  reserve(bytes: number): number {
    if (this.#address !== 0 && bytes <= this.#bytes) return this.#address
    this.#free()
    const wanted = Math.max(bytes, 64 * 1024)
    this.#address = this.#zstd._malloc(wanted)
    if (this.#address === 0) throw new Error(`no ${wanted} bytes are left in the memory of WebAssembly`)
    this.#bytes = wanted
    return this.#address
  }

  trim(): void {
    if (this.#bytes > KEPT_BYTES) this.#free()
  }

  #free(): void {
    if (this.#address !== 0) this.#zstd._free(this.#address)
    this.#address = 0
    this.#bytes = 0
  }
}

/** zstd as WebAssembly; one heap a thread. A page is copied in once and out once. */
async function loadWasm(): Promise<ZstdBackend> {
  // @ts-expect-error the module has no types
  const { default: create } = (await import('@foxglove/wasm-zstd/dist/wasm-zstd.js')) as {
    readonly default: () => Promise<WasmZstd>
  }
  const zstd = await create()
  const source = new WasmBlock(zstd)
  const target = new WasmBlock(zstd)
  function run(bytes: Uint8Array, capacity: number, call: (to: number, from: number) => number): Uint8Array {
    try {
      const from = source.reserve(bytes.length)
      const to = target.reserve(capacity)
      zstd.HEAPU8.set(bytes, from)
      const written = call(to, from)
      if (written < 0) throw new Error(`zstd failed on ${bytes.length} bytes`)
      return zstd.HEAPU8.slice(to, to + written)
    } finally {
      source.trim()
      target.trim()
    }
  }
  return {
    compress(bytes, level) {
      const capacity = zstd._compressBound(bytes.length)
      return run(bytes, capacity, (to, from) => zstd._compress(to, capacity, from, bytes.length, level))
    },
    decompress(frame, capacity) {
      return run(frame, capacity, (to, from) => zstd._decompress(to, capacity, from, frame.length))
    },
  }
}

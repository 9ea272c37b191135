import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { ZstdBackend } from './zstd-backends.ts'

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
export function loadWasmZstd(): ZstdBackend {
  const zstd = instantiate()
  const source = new WasmBlock(zstd)
  const target = new WasmBlock(zstd)
  function run(
    bytes: Uint8Array,
    capacity: number,
    call: (to: number, from: number) => number,
    output?: Uint8Array,
  ): Uint8Array {
    try {
      const from = source.reserve(bytes.length)
      const to = target.reserve(capacity)
      zstd.HEAPU8.set(bytes, from)
      const written = call(to, from)
      if (written < 0) throw new Error(`zstd failed on ${bytes.length} bytes`)
      if (output === undefined || output.length < written) return zstd.HEAPU8.slice(to, to + written)
      output.set(zstd.HEAPU8.subarray(to, to + written))
      return output.subarray(0, written)
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
    decompress(frame, capacity, _, output) {
      return run(frame, capacity, (to, from) => zstd._decompress(to, capacity, from, frame.length), output)
    },
  }
}

/** Node has it; the types come with those of a browser only. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}

/**
 * The package's module, set up in one step instead of behind a promise: so that only who decompresses pays for it. `require` takes
 * half as long as `import`, which would look for the names that the module exports.
 */
function instantiate(): WasmZstd {
  const require = createRequire(import.meta.url)
  const create = require('@foxglove/wasm-zstd/dist/wasm-zstd.js') as (module: object) => Promise<unknown>
  const bytes = readFileSync(require.resolve('@foxglove/wasm-zstd/dist/wasm-zstd.wasm'))
  const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly
  const module = {
    instantiateWasm(imports: object, done: (instance: object) => void): object {
      const instance = new Instance(new Module(bytes), imports)
      done(instance)
      return instance.exports
    },
  }
  let failure: unknown
  create(module).catch((error: unknown) => {
    failure = error
  })
  if ('_malloc' in module) return module as unknown as WasmZstd
  throw new Error('WebAssembly of zstd did not start', { cause: failure })
}

// MB/s of CPU time, of bytes before compression, by zstd implementation, direction and size of a page: text of payloads, sorted int64.
import { loadCodecs } from '../../../dist/formats/compress/load-codecs.js'
import { rowOf } from '../bench-data.mjs'
import { nanosPerItem } from './timing.mjs'

const text = new TextEncoder().encode(Array.from({ length: 13_000 }, (_, id) => rowOf(id).payload).join(''))
const ints = new BigInt64Array(131_072)
for (let i = 0; i < ints.length; i++) ints[i] = BigInt(rowOf(i).ts)
const pages = { text, ints: new Uint8Array(ints.buffer) }

for (const name of ['napi', 'node', 'wasm-zstd']) {
  let codec
  try {
    codec = loadCodecs({ zstd: name }).get('zstd')
  } catch {
    process.stdout.write(`${name}: not here\n`)
    continue
  }
  for (const [kind, all] of Object.entries(pages)) {
    for (const bytes of [64 * 1024, 1024 * 1024]) {
      const page = all.subarray(0, bytes)
      const frame = codec.compress(page, 1)
      const rate = (action) => (1000 / nanosPerItem(page.length, action, 3)).toFixed(0).padStart(6)
      const compress = rate(() => codec.compress(page, 1))
      const decompress = rate(() => codec.decompress(frame, page.length))
      const label = `${name} ${kind} ${bytes >> 10} KiB`
      process.stdout.write(`${label.padEnd(26)} compress ${compress}  decompress ${decompress} MB/s\n`)
    }
  }
}

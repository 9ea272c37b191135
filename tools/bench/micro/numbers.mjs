// Numbers that do not fill their 64 bits, a page of 4,096: PLAIN through zstd, and deltas that are stored as they are
// (formats/parquet/delta-encode.ts, page-packer.ts); the span of sequence numbers (formats/column/span.ts).
import { spanOf } from '../../../dist/formats/column/span.js'
import { loadCodecs } from '../../../dist/formats/compress/load-codecs.js'
import { DeltaReader } from '../../../dist/formats/parquet/delta.js'
import { encodeDelta } from '../../../dist/formats/parquet/delta-encode.js'
import { nanosPerItem, report } from './timing.mjs'

const COUNT = 4096
const zstd = loadCodecs().get('zstd')

for (const bits of [20, 30, 40]) {
  const values = BigInt64Array.from({ length: COUNT }, (_, i) => {
    const noise = BigInt(Math.imul(i + 1, 0x9e3779b1) >>> 0) * 0x85ebca6bn
    return BigInt.asUintN(bits, noise >> 8n)
  })
  const words = new Int32Array(values.buffer)
  const plain = new Uint8Array(values.buffer)
  const packed = zstd.compress(plain, 1)
  let body = new Uint8Array(0)
  let length = 0
  const encode = () => {
    ;({ body, length } = encodeDelta(words, COUNT, 8, body, 0))
  }
  encode()
  const out = new Int32Array(COUNT * 2)
  const name = `${bits} bits of 64`
  process.stdout.write(
    `${name}: ${packed.length} bytes through zstd, ${length} as deltas, ${plain.length} as they are\n`,
  )
  report(
    `${name}, zstd, in`,
    nanosPerItem(COUNT, () => zstd.compress(plain, 1)),
  )
  report(`${name}, deltas, in`, nanosPerItem(COUNT, encode))
  report(
    `${name}, zstd, out`,
    nanosPerItem(COUNT, () => zstd.decompress(packed, plain.length)),
  )
  report(
    `${name}, deltas, out`,
    nanosPerItem(COUNT, () => new DeltaReader(body.subarray(0, length), 0).read(out, 0, COUNT, 2)),
  )
}

const sequence = BigInt64Array.from({ length: COUNT }, (_, i) => BigInt((i * 7919) % COUNT))
report(
  'smallest and largest of int64, as words',
  nanosPerItem(COUNT, () => spanOf(sequence, COUNT)),
)
report(
  'the same as bigints',
  nanosPerItem(COUNT, () => {
    let [min, max] = [sequence[0], sequence[0]]
    for (const value of sequence) {
      if (value < min) min = value
      if (value > max) max = value
    }
    return max - min
  }),
)

// What a flush does beside encoding: sort int64 keys (engine/merge/sort-ints.ts), bring strings into their order
// (formats/column/copy-bytes.ts).
import { radixSortInt64 } from '../../../dist/engine/merge/sort-ints.js'
import { copyRanges } from '../../../dist/formats/column/copy-bytes.js'
import { permutation } from '../lib/workload.mjs'
import { nanosPerItem, report } from './timing.mjs'

const ROWS = 100_000
const inOrder = Uint32Array.from({ length: ROWS }, (_, row) => row)
const anyOrder = permutation(ROWS, 1)

for (const [name, step] of [
  ['sort 100,000 int64 below 2^32', 7n],
  ['sort 100,000 int64 of any size', 0x1234_5678_9abn],
]) {
  const keys = BigInt64Array.from(anyOrder, (key) => BigInt(key) * step)
  report(
    name,
    nanosPerItem(ROWS, () => radixSortInt64(keys, inOrder.slice())),
  )
}

for (const bytes of [8, 18, 80]) {
  const offsets = inOrder.map((row) => row * bytes + (row % 5))
  const column = { data: new Uint8Array(new SharedArrayBuffer(ROWS * bytes + 8)), offsets: new Int32Array(ROWS + 1) }
  column.offsets.set(offsets)
  column.offsets[ROWS] = ROWS * bytes + 4
  const target = new Uint8Array(column.data.length + 8)
  for (const [order, rows] of [
    ['any', anyOrder],
    ['every other', inOrder.map((row) => (row * 2) % ROWS)],
  ]) {
    report(
      `a string of ${bytes} bytes, ${order} order`,
      nanosPerItem(ROWS, () => copyRanges([column], undefined, rows, ROWS, target)),
    )
  }
}

// How to make numbers of an int64 column (formats/column/value-readers.ts), and how to search one (formats/column/key-bounds.ts).
import { firstAtLeast } from '../../../dist/formats/column/key-bounds.js'
import { nanosPerItem, report } from './timing.mjs'

const ROWS = 4096
const values = BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(row) * 1_000_003n)
const halves = new Int32Array(values.buffer)
let sink = 0

report(
  'Number(values[row])',
  nanosPerItem(ROWS, () => {
    for (let row = 0; row < ROWS; row++) sink += Number(values[row])
  }),
)
report(
  'two halves',
  nanosPerItem(ROWS, () => {
    for (let row = 0; row < ROWS; row++) sink += halves[row * 2 + 1] * 0x1_0000_0000 + (halves[row * 2] >>> 0)
  }),
)

const SEARCHES = 1000
const wanted = Array.from({ length: SEARCHES }, (_, i) => [values[(i * 7919) % ROWS]])
const long = [{ kind: 'fixed', length: ROWS, values }]
// A second key column takes the general way, where each value leaves its array.
const two = [...long, { kind: 'fixed', length: ROWS, values: new Int32Array(ROWS) }]
const pairs = wanted.map(([value]) => [value, 0])
report(
  'binary search, one int64 key',
  nanosPerItem(SEARCHES, () => {
    for (const key of wanted) sink += firstAtLeast(long, ROWS, key)
  }),
)
report(
  'binary search, any key',
  nanosPerItem(SEARCHES, () => {
    for (const key of pairs) sink += firstAtLeast(two, ROWS, key)
  }),
)
if (Number.isNaN(sink)) process.exitCode = 1

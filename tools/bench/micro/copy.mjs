// What copying a string costs in a gather, in ns of CPU time, by length: text moves in doubles, other bytes in words of four.
import { gather } from '../../../dist/formats/column/gather.js'
import { nanosPerItem, report } from './timing.mjs'

const ROWS = 8192

function column(length, byte) {
  const offsets = Int32Array.from({ length: ROWS + 1 }, (_, i) => i * length)
  const data = Uint8Array.from({ length: ROWS * length }, (_, i) => byte(i))
  return { kind: 'bytes', length: ROWS, data, offsets }
}

const source = Uint16Array.from({ length: ROWS }, (_, i) => i & 1)
const row = Uint32Array.from({ length: ROWS }, (_, i) => (i * 2731) % ROWS)
for (const length of [8, 16, 40, 80, 120, 200]) {
  for (const [name, byte] of [
    ['text', (i) => 0x61 + (i % 26)],
    ['bytes', (i) => i % 251],
  ]) {
    const columns = [column(length, byte), column(length, byte)]
    const nanos = nanosPerItem(ROWS, () => gather(columns, source, row, ROWS))
    report(`${name} of ${length} bytes`, nanos)
  }
}

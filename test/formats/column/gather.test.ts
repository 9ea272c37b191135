import t from 'tap'
import type { BytesColumn } from '../../../formats/column/column.ts'
import { nullColumn, zeroColumn } from '../../../formats/column/constant.ts'
import { gather, take } from '../../../formats/column/gather.ts'
import { concatColumns, sliceColumn } from '../../../formats/column/slice.ts'
import { allTypes, plain, plainAt, randomColumn, seeded } from './support.ts'

for (const type of allTypes) {
  const name = JSON.stringify(type)
  t.test(`gather picks the rows asked for: ${name}`, async (t) => {
    const random = seeded(7)
    const columns = [0, 1, 2].map((i) => {
      const column = randomColumn(type, 50 + i, random)
      return i === 1 ? sliceColumn(column, 7, column.length) : column
    })
    for (const stretch of [1, 5]) {
      const source = new Uint16Array(200)
      const row = new Uint32Array(200)
      for (let i = 0; i < 200; i++) {
        const jump = i % stretch === 0 || row[i - 1]! + 1 >= columns[source[i - 1]!]!.length
        source[i] = jump ? Math.floor(random() * 3) : source[i - 1]!
        row[i] = jump ? Math.floor(random() * columns[source[i]!]!.length) : row[i - 1]! + 1
      }
      const result = gather(columns, source, row, 180)
      const expected = Array.from({ length: 180 }, (_, i) => plainAt(columns[source[i]!]!, row[i]!))
      t.strictSame(plain(result), expected)
      const one = take(
        columns[1]!,
        row.map((r) => r % columns[1]!.length),
      )
      t.strictSame(
        plain(one),
        Array.from(row, (r) => plainAt(columns[1]!, r % columns[1]!.length)),
      )
    }
  })
  t.test(`slices and concatenation keep every value: ${name}`, async (t) => {
    const column = randomColumn(type, 40, seeded(3))
    const parts = [sliceColumn(column, 0, 13), sliceColumn(column, 13, 13), sliceColumn(column, 13, 40)]
    t.strictSame(plain(concatColumns(parts)), plain(column))
    t.strictSame(plain(sliceColumn(sliceColumn(column, 5, 30), 3, 9)), plain(column).slice(8, 14))
    t.strictSame(plain(concatColumns([parts[2]!, nullColumn(type, 2)])), [...plain(column).slice(13), null, null])
    t.equal(zeroColumn(type, 3).length, 3)
    t.equal(plain(zeroColumn(type, 3)).includes(null), false)
  })
}

t.test('a result without nulls has no mask, even from columns with nulls', async (t) => {
  const column = randomColumn({ kind: 'int', nullable: true }, 60, seeded(1))
  const present = Uint32Array.from([...column.valid!.keys()].filter((row) => column.valid![row] === 1))
  t.equal(take(column, present).valid, undefined)
})

t.test('strings of every length come over as they are: text, bytes that would be NaN, and both at once', async (t) => {
  const lengths = Array.from({ length: 200 }, (_, i) => (i * 37) % 199)
  const column = (byte: (i: number) => number, shared = false): BytesColumn => {
    const offsets = new Int32Array(lengths.length + 1)
    for (const [i, length] of lengths.entries()) offsets[i + 1] = offsets[i]! + length
    const bytes = offsets.at(-1)!
    const data = new Uint8Array(shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes))
    for (let i = 0; i < bytes; i++) data[i] = byte(i)
    return { kind: 'bytes', length: lengths.length, data, offsets }
  }
  const text = column((i) => 0x20 + (i % 90))
  const accents = column((i) => (i % 2 === 0 ? 0xc3 : 0xa9), true)
  const nan = column((i) => [0xf4, 0x7f, 0xf0, 0xff, 0xff, 0xf7, 0x7f, 1][i % 8]!)
  const binary = column((i) => (i * 2654435761) >>> 13)
  const row = Uint32Array.from({ length: 300 }, (_, i) => (i * 71) % lengths.length)
  for (const columns of [[text], [accents], [nan], [binary], [text, accents], [text, nan], [nan, accents, binary]]) {
    const source = Uint16Array.from(row, (_, i) => i % columns.length)
    const result = gather(columns, source, row, row.length)
    const expected = Array.from(row, (at, i) => plainAt(columns[source[i]!]!, at))
    t.strictSame(plain(result), expected)
  }
  t.strictSame(plain(take(text, Uint32Array.of(0, 199))), [plainAt(text, 0), plainAt(text, 199)], 'few rows of many')
})

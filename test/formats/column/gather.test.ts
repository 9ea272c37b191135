import t from 'tap'
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

import { readdirSync } from 'node:fs'
import t from 'tap'
import { fixtureBytes, fixtureRows, fixtures, openBytes, type Row, rowsOf } from './support.ts'

const names = readdirSync(fixtures)
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -5))

t.ok(names.length > 25, 'fixtures are there')

for (const name of names) {
  t.test(`${name}: rows are those that pyarrow reads`, async (t) => {
    const expected = fixtureRows(name)
    const file = openBytes(fixtureBytes(name))
    t.equal(file.rows, expected.length)
    t.strictSame(rowsOf(file), expected)
  })

  t.test(`${name}: batches of any size and any column alone give the same`, async (t) => {
    const expected = fixtureRows(name)
    const file = openBytes(fixtureBytes(name))
    for (const batchRows of [1, 7]) t.strictSame(rowsOf(file, { batchRows }), expected, `batches of ${batchRows}`)
    for (const { name: column } of file.fields) {
      t.strictSame(rowsOf(file, { columns: [column], batchRows: 33 }), pick(expected, column), `column ${column}`)
    }
  })

  t.test(`${name}: ranges give the rows they name`, async (t) => {
    const expected = fixtureRows(name)
    const n = expected.length
    const cuts = [
      [0, 1],
      [3, 9],
      [Math.floor(n / 2), Math.floor(n / 2) + 5],
      [n - 2, n],
    ]
    const ranges = cuts.map(([start, end]) => ({ start: start!, end: end! })).filter((r) => r.start >= 0 && r.end <= n)
    const disjoint = ranges.filter((r, i) => i === 0 || r.start >= ranges[i - 1]!.end)
    const wanted = disjoint.flatMap((r) => expected.slice(r.start, r.end))
    t.strictSame(rowsOf(openBytes(fixtureBytes(name)), { ranges: disjoint, batchRows: 4 }), wanted)
    for (const { start, end } of disjoint) {
      const alone = rowsOf(openBytes(fixtureBytes(name)), { ranges: [{ start, end }] })
      t.strictSame(alone, expected.slice(start, end), `${start} to ${end} alone`)
    }
  })
}

function pick(rows: readonly Row[], column: string): Row[] {
  return rows.map((row) => ({ [column]: row[column] }))
}

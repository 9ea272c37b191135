import t from 'tap'
import { BatchBuilder, sizeFor } from '../../../formats/column/builder.ts'
import type { ColumnBuilder } from '../../../formats/column/builder-memory.ts'
import type { BytesColumn } from '../../../formats/column/column.ts'
import { columnWriter } from '../../../formats/column/column-writers.ts'
import { valueWriter } from '../../../formats/column/value-writers.ts'
import { batchOfRows, rowsOf } from '../../../formats/column/values.ts'
import { type DataType, type Field, MAX_LENGTH } from '../../../formats/types/row-type.ts'
import { plain } from './support.ts'

const yes = { nullable: true } as const
const text: DataType = { kind: 'varchar', length: MAX_LENGTH, ...yes }
const short: DataType = { kind: 'varchar', length: 5, ...yes }
const names = ['a', 'bc', 'def', '', 'ghij', 'klmno']
const ascii = Array.from({ length: 600 }, (_, row) => names[row % names.length])

/** Columns of values that fit, plain ones and others in all neighbourhoods. */
const columns: readonly (readonly [string, DataType, readonly unknown[]])[] = [
  [
    'bigint',
    { kind: 'bigint', ...yes },
    [0, -1, 1n, null, 2 ** 53 - 1, -(2 ** 53) + 1, -0, 2 ** 32, -(2 ** 32), 7n, -(2n ** 63n)],
  ],
  ['int', { kind: 'int', ...yes }, [0, -0, undefined, 2147483647, -2147483648, 5]],
  ['smallint', { kind: 'smallint', ...yes }, [32767, -32768, null, 1]],
  ['tinyint', { kind: 'tinyint', ...yes }, [127, -128, null, 1]],
  ['double', { kind: 'double', ...yes }, [1.5, Number.NaN, -0, null, Number.POSITIVE_INFINITY, 5e-324]],
  ['float', { kind: 'float', ...yes }, [1.5, null, -0]],
  ['boolean', { kind: 'boolean', ...yes }, [true, null, false]],
  ['ASCII', text, ascii],
  ['ASCII with nulls', text, ascii.map((value, row) => (row % 7 === 0 ? null : value))],
  ['text of two, three and four bytes', text, ascii.map((value, row) => (row % 50 === 9 ? 'é€😀' : value))],
  ['a last character that is not ASCII', text, [...names, 'zü']],
  ['long text', text, [...names, 'x'.repeat(40_000), ...names, 'y'.repeat(32_768), 'ö'.repeat(40_000), ...names]],
  ['text that fills the room for joined text', text, ['x'.repeat(32_760), 'y'.repeat(5), 'ää', 'z', 'é', 'é']],
  ['length in code points', short, ['abcde', 'ä', '😀😀😀😀😀', 'b', 'c']],
]

t.test('a column is what its values one by one give', async (t) => {
  for (const shared of [false, true]) {
    for (const [name, type, values] of columns) {
      const [bulk, single] = [builder(type, shared), builder(type, shared)]
      // Twice, from a position in the middle of a word too.
      for (const at of [0, values.length]) columnWriter('c', type, undefined, bulk)(values, values.length, { row: at })
      const write = valueWriter('c', type, undefined, single)
      for (const value of [...values, ...values]) write(value)
      t.same(plain(bulk.view()), plain(single.view()), name)
    }
  }
})

t.test('what does not fit is refused at its row, however many fit before it', async (t) => {
  const bad: readonly (readonly [DataType, unknown])[] = [
    [{ kind: 'bigint', ...yes }, 2 ** 53],
    [{ kind: 'bigint', ...yes }, 0.5],
    [{ kind: 'int', ...yes }, 2 ** 31],
    [{ kind: 'int', ...yes }, '1'],
    [{ kind: 'tinyint', ...yes }, 128],
    [{ kind: 'smallint', ...yes }, -32769],
    [{ kind: 'double', ...yes }, 1n],
    [text, 'half \ud83d'],
    [text, 5],
    [short, 'abcdef'],
    [short, '😀😀😀😀😀é'],
    [{ kind: 'varchar', length: 5, nullable: false }, null],
  ]
  for (const [type, value] of bad) {
    const good = type.kind === 'varchar' ? 'ok' : 1
    for (const row of [0, 3, 511, 512, 1300]) {
      const rows = Array.from({ length: 1400 }, () => ({ c: good as unknown }))
      rows[row] = { c: value }
      const fields: readonly Field[] = [{ id: 0, name: 'c', type }]
      t.throws(() => batchOfRows(fields, rows), { name: 'ValueError', column: 'c', row }, `${String(value)} at ${row}`)
    }
  }
})

t.test('rows may have their names in any order, and lack some; each unknown name is found', async (t) => {
  const fields: readonly Field[] = ['x', 'y', 'z'].map((name, id) => ({ id, name, type: text }))
  const rows: Record<string, unknown>[] = [
    { x: 'a', y: 'b', z: 'c' },
    { z: 'c', y: 'b', x: 'a' },
    { x: 'a' },
    {},
    { y: 'b', z: 'c' },
    Object.assign(Object.create({ other: 1, z: 'inherited' }), { x: 'a' }),
  ]
  const all = [...rows, ...rows]
  t.same(
    rowsOf(batchOfRows(fields, all)),
    all.map(({ x = null, y = null, z = null }) => ({ x, y, z })),
  )
  for (const unknown of [
    { x: 'a', y: 'b', z: 'c', w: 1 },
    { w: 1 },
    { x: 'a', w: 1 },
    { x: 'a', z: 'c', w: 1, y: 'b' },
  ]) {
    t.throws(() => batchOfRows(fields, [...all, unknown]), { name: 'ValueError', column: 'w', row: all.length })
  }
})

function builder(type: DataType, shared: boolean): ColumnBuilder {
  return new BatchBuilder([{ id: 0, name: 'c', type }], { shared }).columns[0]!
}

t.test('a guess of the size, right or wrong, changes no row', async (t) => {
  const fields: readonly Field[] = [{ id: 0, name: 'c', type: text }]
  const rows = ascii.map((c) => ({ c }))
  const batch = batchOfRows(fields, rows)
  const right = sizeFor(batch)
  t.ok(right.rows >= rows.length, 'room for as many rows')
  t.ok(right.rows * right.widths![0]! >= (batch.columns[0] as BytesColumn).data.length, 'and for as much text')
  for (const widths of [right.widths, [0], [1e12], [undefined]]) {
    t.same(rowsOf(batchOfRows(fields, rows, { widths })), rowsOf(batch), `width ${widths?.[0]}`)
  }
  t.same(sizeFor(batchOfRows(fields, [])), { rows: 0, widths: [undefined] })
})

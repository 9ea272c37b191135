import { inspect } from 'node:util'
import t from 'tap'
import type { Column } from '../../../formats/column/column.ts'
import { sameRow } from '../../../formats/column/same-row.ts'
import { columnOf } from '../../support/flat-columns.ts'
import { allTypes, plainAt, randomColumn, seeded } from './support.ts'

t.test('rows are the same when their values are, in all types', async (t) => {
  const random = seeded(5)
  for (const type of allTypes.filter(({ kind }) => kind !== 'map')) {
    const [left, right] = [randomColumn(type, 12, random), randomColumn(type, 12, random)]
    for (let row = 0; row < 12; row++) {
      t.ok(sameRow(left, row, left, row), `${type.kind} is itself`)
      for (let other = 0; other < 12; other++) {
        const expected = inspect(plainAt(left, row)) === inspect(plainAt(right, other))
        t.equal(sameRow(left, row, right, other), expected, type.kind)
      }
    }
  }
})

t.test('NaN is itself, -0.0 is not 0.0', async (t) => {
  const doubles = columnOf({ kind: 'double', nullable: true }, [Number.NaN, 0, -0, null])
  const same = (a: number, b: number) => sameRow(doubles, a, doubles, b)
  t.same([same(0, 0), same(1, 2), same(3, 3), same(1, 3)], [true, false, true, false])
})

t.test('entries of a map have no order', async (t) => {
  const keys = columnOf({ kind: 'int', nullable: false }, [1, 2, 2, 1, 1, 3])
  const values = columnOf({ kind: 'int', nullable: true }, [10, null, null, 10, 10, null])
  const maps: Column = { kind: 'map', length: 3, offsets: Int32Array.of(0, 2, 4, 6), keys, values }
  t.same([sameRow(maps, 0, maps, 1), sameRow(maps, 0, maps, 2)], [true, false])
})

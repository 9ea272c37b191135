import t from 'tap'
import type { Column, Scalar } from '../../../formats/column/column.ts'
import { compareScalars, scalarAt } from '../../../formats/column/compare.ts'
import { take } from '../../../formats/column/gather.ts'
import { compareRowToKey, firstAfter, firstAtLeast } from '../../../formats/column/key-bounds.ts'
import { compareKeys, firstKeyAfter, keyFormOf, keysOf } from '../../../formats/column/key-order.ts'
import type { DataType } from '../../../formats/types/row-type.ts'
import { keyTypes, randomColumn, seeded } from './support.ts'

function compareRows(columns: readonly Column[], a: number, b: number): number {
  for (const column of columns) {
    const order = compareScalars(scalarAt(column, a)!, scalarAt(column, b)!)
    if (order !== 0) return order
  }
  return 0
}

const double: DataType = { kind: 'double', nullable: false }
const int: DataType = { kind: 'int', nullable: false }

t.test('comparable forms order rows as their columns do, for all key types alone and combined', async (t) => {
  const random = seeded(31)
  const pick = () => keyTypes[Math.floor(random() * keyTypes.length)]!
  const cases = [...keyTypes.map((type) => [type]), ...keyTypes.map((type) => [type, pick()])]
  for (let i = 0; i < 10; i++) cases.push([pick(), pick(), pick()])
  for (const types of cases) {
    const columns = types.map((type) => randomColumn(type, 40, random))
    const keys = keysOf(columns, types, 40)
    t.equal(keys.form, keyFormOf(types))
    let wrong = 0
    for (let a = 0; a < 40; a++) {
      for (let b = 0; b < 40; b++) {
        if (Math.sign(compareKeys(keys, a, keys, b)) !== Math.sign(compareRows(columns, a, b))) wrong++
      }
    }
    t.equal(wrong, 0, JSON.stringify(types))
  }
})

t.test('extremes: 128-bit numbers, floats with NaN and zeros', async (t) => {
  const wide = [-(2n ** 127n), -(2n ** 64n), -1n, 0n, 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 127n - 1n]
  const words = BigInt64Array.from(wide.flatMap((value) => [BigInt.asIntN(64, value), value >> 64n]))
  const decimals: Column = { kind: 'wide', length: wide.length, values: words }
  const floats = [-Infinity, -1.5, -Number.MIN_VALUE, 0, Number.MIN_VALUE, 1e308, Infinity, NaN]
  const doubles: Column = { kind: 'fixed', length: floats.length, values: Float64Array.from(floats) }
  const forms = [
    keysOf([decimals], [{ kind: 'decimal', precision: 38, scale: 0, nullable: false }], wide.length),
    keysOf([doubles], [double], floats.length),
  ]
  for (const keys of forms)
    for (let row = 1; row < 8; row++) t.ok(compareKeys(keys, row - 1, keys, row) < 0, `row ${row}`)
  const zeros = keysOf([{ kind: 'fixed', length: 2, values: Float64Array.of(-0, 0) }], [double], 2)
  t.equal(compareKeys(zeros, 0, zeros, 1), 0)
})

t.test('one column that is comparable as it is, is not copied', async (t) => {
  const values = Int32Array.of(1, 2)
  const keys = keysOf([{ kind: 'fixed', length: 2, values }], [int], 2)
  t.equal(keys.form === 'int32' && keys.values, values)
})

t.test('bounds: first row at or after a prefix of the key, for every prefix', async (t) => {
  const random = seeded(4)
  for (const types of [[int], [keyTypes[12]!, int], [keyTypes[13]!, keyTypes[8]!, double]]) {
    const raw = types.map((type) => randomColumn(type, 60, random))
    const order = [...Array(60).keys()].sort((a, b) => compareRows(raw, a, b))
    const columns = raw.map((column) => take(column, Uint32Array.from(order)))
    const keys = keysOf(columns, types, 60)
    for (let row = 0; row < 60; row++) {
      for (let length = 1; length <= types.length; length++) {
        const prefix: Scalar[] = columns.slice(0, length).map((column) => scalarAt(column, row)!)
        const compare = [...Array(60).keys()].map((at) => compareRowToKey(columns, at, prefix))
        t.equal(
          firstAtLeast(columns, 60, prefix),
          compare.findIndex((order) => order >= 0),
        )
        const after = compare.findIndex((order) => order > 0)
        t.equal(firstAfter(columns, 60, prefix), after < 0 ? 60 : after)
      }
      const above = [...Array(60).keys()].findIndex((at) => compareRows(columns, at, row) > 0)
      t.equal(firstKeyAfter(keys, 0, 60, keys, row), above < 0 ? 60 : above)
    }
  }
})

t.test('nested columns cannot be keys', async (t) => {
  const child: Column = { kind: 'fixed', length: 0, values: new Int32Array(0) }
  const list: Column = { kind: 'list', length: 1, offsets: new Int32Array(2), child }
  t.throws(() => keysOf([list], [{ kind: 'array', element: int, nullable: false }], 1), TypeError)
})

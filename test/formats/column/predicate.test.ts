import t from 'tap'
import type { Batch, Column, Scalar } from '../../../formats/column/column.ts'
import { compareScalars, scalarAt } from '../../../formats/column/compare.ts'
import { takeBatch } from '../../../formats/column/gather.ts'
import { columnsOf, mightMatch, select } from '../../../formats/column/predicate.ts'
import type { ColumnBounds, Predicate } from '../../../formats/column/predicate-tree.ts'
import type { DataType } from '../../../formats/types/row-type.ts'
import { fieldsOf, flatTypes, randomColumn, seeded } from './support.ts'

const comparisons = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const

/** SQL by the book, a row at a time: true, false, or undefined for unknown. */
function truth(predicate: Predicate, at: (column: string) => Scalar | null): boolean | undefined {
  switch (predicate.op) {
    case 'and': {
      const all = predicate.children.map((child) => truth(child, at))
      return all.includes(false) ? false : all.includes(undefined) ? undefined : true
    }
    case 'or': {
      const all = predicate.children.map((child) => truth(child, at))
      return all.includes(true) ? true : all.includes(undefined) ? undefined : false
    }
    case 'not': {
      const inner = truth(predicate.child, at)
      return inner === undefined ? undefined : !inner
    }
    case 'isNull':
      return at(predicate.column) === null
    case 'isNotNull':
      return at(predicate.column) !== null
    case 'in': {
      const value = at(predicate.column)
      return value === null ? undefined : predicate.values.some((item) => compareScalars(item, value) === 0)
    }
    default: {
      const value = at(predicate.column)
      if (value === null) return undefined
      const order = compareScalars(value, predicate.value)
      return { eq: order === 0, ne: order !== 0, lt: order < 0, le: order <= 0, gt: order > 0, ge: order >= 0 }[
        predicate.op
      ]
    }
  }
}

function randomPredicate(batch: Batch, random: () => number, depth: number): Predicate {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!
  if (depth > 0 && random() < 0.6) {
    const kind = random()
    if (kind < 0.3) return { op: 'not', child: randomPredicate(batch, random, depth - 1) }
    const children = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
      randomPredicate(batch, random, depth - 1),
    )
    return { op: kind < 0.65 ? 'and' : 'or', children }
  }
  const index = Math.floor(random() * batch.columns.length)
  const column = batch.fields[index]!.name
  const literal = () => {
    for (let i = 0; i < 20; i++) {
      const value = scalarAt(batch.columns[index]!, Math.floor(random() * batch.rows))
      if (value !== null) return value
    }
    throw new Error('only nulls')
  }
  if (random() < 0.2) return { op: pick(['isNull', 'isNotNull'] as const), column }
  if (random() < 0.3) return { op: 'in', column, values: Array.from({ length: Math.floor(random() * 4) }, literal) }
  return { op: pick(comparisons), column, value: literal() }
}

function boundsOf(column: Column, floating: boolean): ColumnBounds {
  const values: Scalar[] = []
  for (let row = 0; row < column.length; row++) {
    const value = scalarAt(column, row)
    if (value !== null && !Number.isNaN(value)) values.push(value)
  }
  values.sort(compareScalars)
  const nulls = column.valid === undefined ? 0 : column.valid.reduce((sum, bit) => sum + (1 - bit), 0)
  return {
    min: values[0] ?? null,
    max: values.at(-1) ?? null,
    nullCount: nulls,
    rows: column.length,
    mayHoldNaN: floating,
  }
}

t.test('random predicates over all flat types agree with SQL by the book, and pruning never loses a row', async (t) => {
  const random = seeded(5)
  const fields = fieldsOf(flatTypes)
  const floating = (type: DataType) => type.kind === 'float' || type.kind === 'double'
  let pruned = 0
  for (let round = 0; round < 300; round++) {
    const columns = fields.map((field) => randomColumn(field.type, 40, random))
    for (const column of columns) {
      if (column.kind !== 'fixed' || !(column.values instanceof Float64Array || column.values instanceof Float32Array))
        continue
      for (const [row, value] of [NaN, -0, 0, Infinity, -Infinity].entries()) {
        if (column.valid?.[row] !== 0) column.values[row] = value
      }
    }
    const batch: Batch = { fields, rows: 40, columns }
    const predicate = randomPredicate(batch, random, 3)
    const expected = Array.from({ length: 40 }, (_, row) => row).filter(
      (row) => truth(predicate, (name) => scalarAt(columns[Number(name.slice(1))]!, row)) === true,
    )
    t.strictSame([...select(predicate, batch)], expected)
    for (let part = 0; part < 8; part++) {
      const rows = Uint32Array.from({ length: 1 + Math.floor(random() * 4) }, () => Math.floor(random() * 40))
      const small = takeBatch(batch, rows)
      const keeps = mightMatch(predicate, (name) => {
        const index = Number(name.slice(1))
        return boundsOf(small.columns[index]!, floating(fields[index]!.type))
      })
      if (!keeps) pruned++
      t.ok(keeps || select(predicate, small).length === 0)
    }
  }
  t.ok(pruned > 500, `pruned ${pruned}`)
})

function doubles(values: readonly number[]): Batch {
  const type = { kind: 'double', nullable: false } as const
  return {
    fields: [{ id: 0, name: 'v', type }],
    rows: values.length,
    columns: [{ kind: 'fixed', length: values.length, values: Float64Array.from(values) }],
  }
}

t.test('C045 NaN is a value like any other, -0.0 equals 0.0, NaN bounds are ignored', async (t) => {
  const batch = doubles([3, NaN, -0])
  const rows = (op: (typeof comparisons)[number], value: number) => [...select({ op, column: 'v', value }, batch)]
  t.strictSame(rows('ne', 3), [1, 2])
  t.strictSame(rows('gt', 10), [1])
  t.strictSame(rows('eq', 0), [2])
  t.strictSame(rows('eq', NaN), [1])
  t.strictSame(rows('lt', NaN), [0, 2])
  const planted = (known: Partial<ColumnBounds>) => () => ({ min: null, max: null, nullCount: 0, rows: 3, ...known })
  const nan = planted({ min: NaN, max: NaN })
  for (const op of comparisons) t.equal(mightMatch({ op, column: 'v', value: 7 }, nan), true, op)
  const left = planted({ min: -0, max: 3, mayHoldNaN: true })
  t.equal(mightMatch({ op: 'gt', column: 'v', value: 10 }, left), true)
  t.equal(mightMatch({ op: 'eq', column: 'v', value: NaN }, left), true)
  t.equal(mightMatch({ op: 'eq', column: 'v', value: 10 }, left), false)
  t.equal(mightMatch({ op: 'eq', column: 'v', value: 0 }, left), true)
  t.equal(mightMatch({ op: 'lt', column: 'v', value: -1 }, left), false)
  const equal = planted({ min: 3, max: 3, mayHoldNaN: true })
  t.equal(mightMatch({ op: 'ne', column: 'v', value: 3 }, equal), true)
})

t.test('C050 bytes compare unsigned, shorter first', async (t) => {
  const values = [[0x80], [0x7f], [], [0x00], [0xff]]
  const offsets = new Int32Array(6)
  values.forEach((value, i) => {
    offsets[i + 1] = offsets[i]! + value.length
  })
  const fields = [{ id: 0, name: 'k', type: { kind: 'varbinary', length: 10, nullable: false } as const }]
  const columns: Column[] = [{ kind: 'bytes', length: 5, data: Uint8Array.from(values.flat()), offsets }]
  const batch = { fields, rows: 5, columns }
  t.strictSame([...select({ op: 'gt', column: 'k', value: Uint8Array.of(0x7f) }, batch)], [0, 4])
  t.strictSame([...select({ op: 'le', column: 'k', value: new Uint8Array(0) }, batch)], [2])
  const known = () => ({ min: Uint8Array.of(0x7f), max: Uint8Array.of(0x80), nullCount: 0, rows: 2 })
  t.equal(mightMatch({ op: 'eq', column: 'k', value: Uint8Array.of(0x80, 0) }, known), false)
  t.equal(mightMatch({ op: 'gt', column: 'k', value: Uint8Array.of(0x7f) }, known), true)
})

t.test('integers compare exactly beyond 2^53 and with literals outside their range', async (t) => {
  const fields = [
    { id: 0, name: 'b', type: { kind: 'bigint', nullable: false } as const },
    { id: 1, name: 'i', type: { kind: 'int', nullable: false } as const },
  ]
  const columns: Column[] = [
    { kind: 'fixed', length: 3, values: BigInt64Array.of(9007199254740992n, 9007199254740993n, -(2n ** 63n)) },
    { kind: 'fixed', length: 3, values: Int32Array.of(-1, 0, 2147483647) },
  ]
  const batch = { fields, rows: 3, columns }
  const rows = (op: 'eq' | 'lt' | 'gt', column: string, value: Scalar) => [...select({ op, column, value }, batch)]
  t.strictSame(rows('eq', 'b', 9007199254740993n), [1])
  t.strictSame(rows('gt', 'b', 9007199254740992), [1])
  t.strictSame(rows('lt', 'b', 2n ** 70n), [0, 1, 2])
  t.strictSame(rows('gt', 'b', -1.5), [0, 1])
  t.strictSame(rows('lt', 'i', 5000000000n), [0, 1, 2])
  t.strictSame(rows('gt', 'i', 9007199254740993n), [])
  t.strictSame(rows('gt', 'i', -0.5), [1, 2])
})

t.test('columns are named once; unknown and nested columns and wrong literals are refused', async (t) => {
  const leaf = (column: string): Predicate => ({ op: 'isNull', column })
  t.strictSame(columnsOf({ op: 'and', children: [leaf('a'), { op: 'not', child: leaf('b') }, leaf('a')] }), ['a', 'b'])
  const batch = doubles([1])
  t.throws(() => select(leaf('x'), batch), RangeError)
  t.throws(() => select({ op: 'eq', column: 'v', value: new Uint8Array(0) }, batch), TypeError)
  const list: Column = { kind: 'list', length: 1, offsets: new Int32Array(2), child: batch.columns[0]! }
  t.throws(() => select({ op: 'eq', column: 'v', value: 1 }, { ...batch, columns: [list] }), TypeError)
})

t.test('files of nulls only match IS NULL and nothing else', async (t) => {
  const nulls = () => ({ min: null, max: null, nullCount: 4, rows: 4 })
  t.equal(mightMatch({ op: 'isNull', column: 'v' }, nulls), true)
  t.equal(mightMatch({ op: 'isNotNull', column: 'v' }, nulls), false)
  t.equal(mightMatch({ op: 'ne', column: 'v', value: 1 }, nulls), false)
  t.equal(mightMatch({ op: 'not', child: { op: 'eq', column: 'v', value: 1 } }, nulls), false)
  t.equal(mightMatch({ op: 'not', child: { op: 'isNull', column: 'v' } }, nulls), false)
  t.equal(
    mightMatch({ op: 'eq', column: 'v', value: 1 }, () => undefined),
    true,
  )
})

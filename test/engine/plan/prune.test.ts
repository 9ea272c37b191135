import t from 'tap'
import { keyBounds, manifestBounds, meetsPartition, partitionBounds, valueBounds } from '../../../engine/plan/bounds.ts'
import { bucketing } from '../../../engine/plan/bucket.ts'
import { conjuncts, type PruneOptions, pruneFiles, restrictTo } from '../../../engine/plan/prune.ts'
import { bucketsOf } from '../../../engine/plan/prune-buckets.ts'
import { createColumnBuilder } from '../../../formats/column/builder.ts'
import type { FixedBuilder } from '../../../formats/column/fixed-builders.ts'
import type { Predicate } from '../../../formats/column/predicate-tree.ts'
import type { DataFile } from '../../../formats/meta/types.ts'
import { serializeRow } from '../../../formats/row/binary-row.ts'
import { buildStats, type ColumnStats } from '../../../formats/row/simple-stats.ts'
import type { DataType, Field } from '../../../formats/types/row-type.ts'
import { compareBytes, file } from '../../support/plan-files.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const nullable = (kind: 'int' | 'bigint' | 'double' | 'date'): DataType => ({ kind, nullable: true })
const k: Field = { id: 0, name: 'k', type: { kind: 'int', nullable: false } }
const v: Field = { id: 1, name: 'v', type: nullable('int') }
const schema = [k, v]

const stats = (fields: readonly Field[], columns: readonly ColumnStats[]) =>
  buildStats(
    fields.map((field) => ({ ...field.type, nullable: true })),
    columns,
  )
const range = (min: number, max: number): ColumnStats => ({ min, max, nullCount: 0 })

/** A file of table (k INT, v INT) with the bounds of both columns. */
function ranged(name: string, level: number, keys: [number, number], values: [number, number]): DataFile {
  return {
    ...file({ name, level, min: keys[0], max: keys[1], rows: 10 }),
    keyStats: stats([k], [range(...keys)]),
    valueStats: stats(schema, [range(...keys), range(...values)]),
  }
}

const options: PruneOptions = {
  keyColumns: ['k'],
  keyBounds: (f) => keyBounds(f, [k]),
  valueBounds: (f) => valueBounds(f, schema, schema),
  mergedOnWrite: false,
  combinesRows: false,
}

const eq = (column: string, value: number | bigint): Predicate => ({ op: 'eq', column, value })
const and = (...children: Predicate[]): Predicate => ({ op: 'and', children })
const or = (...children: Predicate[]): Predicate => ({ op: 'or', children })
const pruned = (files: readonly DataFile[], filter: Predicate, changed: Partial<PruneOptions> = {}) =>
  pruneFiles(files, filter, { ...options, ...changed }, compareBytes).map((f) => f.name)

t.test('a condition on the key drops single files, overlapping or not', async (t) => {
  const files = [ranged('new', 0, [5, 20], [0, 9]), ranged('old', 5, [1, 10], [0, 9])]
  t.same(pruned(files, eq('k', 3)), ['old'])
  t.same(pruned(files, eq('k', 7)), ['new', 'old'])
  t.same(pruned(files, eq('k', 30)), [])
  t.same(pruned(files, and(eq('k', 15), eq('v', 5))), ['new'])
})

t.test('a condition on a value never uncovers an older row', async (t) => {
  const files = [ranged('new', 0, [1, 10], [5, 5]), ranged('old', 5, [1, 10], [3, 3])]
  t.same(pruned(files, eq('v', 3)), ['new', 'old'], 'the newer rows must hide the older ones')
  t.same(pruned(files, eq('v', 4)), [], 'no file matches: the whole section goes')
  t.same(pruned(files, eq('v', 4), { combinesRows: true }), ['new', 'old'], 'combined rows may match')
  t.same(pruned(files, eq('v', 3), { mergedOnWrite: true }), ['old'], 'deletion vectors hide them already')
})

t.test('files that share no key are dropped one by one by a value, whatever their level and engine', async (t) => {
  const files = [ranged('a', 0, [1, 10], [5, 5]), ranged('b', 5, [11, 20], [3, 3]), ranged('c', 5, [21, 30], [4, 4])]
  t.same(pruned(files, eq('v', 3)), ['b'])
  t.same(pruned(files, eq('v', 3), { combinesRows: true }), ['b'])
})

t.test('the order of files is kept', async (t) => {
  const files = [ranged('z', 5, [21, 30], [3, 3]), ranged('y', 5, [1, 10], [3, 3])]
  t.same(pruned(files, eq('v', 3)), ['z', 'y'])
})

t.test('pruning never changes what a filtered scan answers', async (t) => {
  const { fraction } = seededRandom(51)
  const pick = (n: number) => Math.floor(fraction() * n)
  let dropped = 0
  for (let round = 0; round < 2000; round++) {
    const rows = new Map<DataFile, Map<number, number>>()
    const files = Array.from({ length: 1 + pick(5) }, (_, i) => {
      const from = pick(12)
      const content = new Map<number, number>()
      for (let key = from; key <= from + pick(6); key++) content.set(key, pick(8))
      const values = [...content.values()]
      const keys = [...content.keys()]
      const made = ranged(
        `f${i}`,
        0,
        [Math.min(...keys), Math.max(...keys)],
        [Math.min(...values), Math.max(...values)],
      )
      rows.set(made, content)
      return made
    })
    const filter = [
      eq('v', pick(8)),
      eq('k', pick(18)),
      and(eq('k', pick(18)), eq('v', pick(8))),
      or(eq('k', 3), eq('v', 2)),
    ][pick(4)]
    const holds = (p: Predicate, row: Readonly<Record<string, number>>): boolean => {
      if (p.op === 'and') return p.children.every((child) => holds(child, row))
      if (p.op === 'or') return p.children.some((child) => holds(child, row))
      return p.op === 'eq' && row[p.column] === p.value
    }
    // Files of level 0 in order: the later file wins.
    const answer = (of: readonly DataFile[]) => {
      const merged = new Map<number, number>()
      for (const f of of) for (const [key, value] of rows.get(f) ?? []) merged.set(key, value)
      return [...merged].filter(([key, value]) => holds(filter, { k: key, v: value })).sort(([a], [b]) => a - b)
    }
    const kept = pruneFiles(files, filter, options, compareBytes)
    dropped += files.length - kept.length
    if (JSON.stringify(answer(kept)) !== JSON.stringify(answer(files))) t.fail(`round ${round}: another answer`)
  }
  t.ok(dropped > 500)
})

t.test('conjuncts and restrictTo take conditions apart', async (t) => {
  const filter = and(eq('k', 1), and(eq('v', 2), or(eq('k', 3), eq('v', 4))))
  t.equal(conjuncts(filter).length, 3)
  t.same(restrictTo(filter, ['k']), eq('k', 1))
  t.equal(restrictTo(or(eq('k', 3), eq('v', 4)), ['k']), null, 'an OR over both says nothing of one')
  t.same(restrictTo(and(eq('k', 1), eq('k', 2), eq('v', 3)), ['k']), and(eq('k', 1), eq('k', 2)))
})

t.test('C100: bounds of a file written with an older schema', async (t) => {
  const old = ranged('a', 0, [1, 100], [1, 100])
  const wide: Field = { id: 1, name: 'renamed', type: nullable('bigint') }
  const added: Field = { id: 2, name: 'n', type: nullable('int') }
  const bounds = valueBounds(old, schema, [k, wide, added])
  t.match(bounds('renamed'), { min: 1, max: 100, nullCount: 0, rows: 10 }, 'by id, through a wider integer')
  t.same(bounds('n'), { min: null, max: null, nullCount: 10, rows: 10 }, 'a later column is all null')
  t.equal(bounds('v'), undefined)
  t.same(pruned([old], eq('n', 1), { valueBounds: () => bounds }), [])
  t.same(pruned([old], { op: 'isNull', column: 'n' }, { valueBounds: () => bounds }), ['a'])
  t.same(pruned([old], eq('renamed', 50n), { valueBounds: () => bounds }), ['a'])
  t.same(pruned([old], eq('renamed', 5000000000n), { valueBounds: () => bounds }), [])
  const cast = valueBounds(old, schema, [k, { ...v, type: nullable('double') }])
  t.equal(cast('v'), undefined, 'a cast that may move values says nothing')
  const narrowed = valueBounds(old, [k, { ...v, type: nullable('bigint') }], schema)
  t.equal(narrowed('v'), undefined, 'a narrower integer may wrap')
  const readded = valueBounds(old, schema, [k, { id: 7, name: 'v', type: nullable('int') }])
  t.equal(readded('v')?.nullCount, 10, 'C097: the same name under a new id is a new column')
})

t.test('statistics of some columns, of none, and of unknown ones', async (t) => {
  const some = { ...ranged('a', 0, [1, 9], [3, 4]), valueStats: stats([v], [range(3, 4)]), valueStatsColumns: ['v'] }
  t.match(valueBounds(some, schema, schema)('v'), { min: 3, max: 4 })
  t.equal(valueBounds(some, schema, schema)('k'), undefined, 'written, but without statistics')
  const none = { ...some, valueStats: stats([], []), valueStatsColumns: [] }
  t.equal(valueBounds(none, schema, schema)('v'), undefined)
  const strange = { ...some, valueStatsColumns: ['gone'] }
  t.equal(valueBounds(strange, schema, schema)('v'), undefined)
})

t.test('floating columns may hold NaN outside their bounds', async (t) => {
  const d: Field = { id: 1, name: 'd', type: nullable('double') }
  const f = { ...ranged('a', 0, [1, 9], [0, 0]), valueStats: stats([k, d], [range(1, 9), range(0.5, 1.5)]) }
  t.equal(valueBounds(f, [k, d], [k, d])('d')?.mayHoldNaN, true)
  t.equal(valueBounds(f, [k, d], [k, d])('k')?.mayHoldNaN, undefined)
})

t.test('partitions: a row of bounds, and the range of a manifest', async (t) => {
  const p: Field = { id: 3, name: 'p', type: nullable('int') }
  const row = (value: number | null) => serializeRow([p.type], [value])
  t.same(partitionBounds(row(7), [p])('p'), { min: 7, max: 7, nullCount: 0, rows: 1 })
  t.same(partitionBounds(row(null), [p])('p'), { min: null, max: null, nullCount: 1, rows: 1 })
  const manifest = stats([p], [{ min: 3, max: 9, nullCount: 0 }])
  t.match(manifestBounds(manifest, 5, [p])('p'), { min: 3, max: 9, rows: 5 })
  const meets = (value: number | null, of = manifest) => meetsPartition(of, 5, row(value), [p])
  t.same(
    [2, 3, 9, 10].map((value) => meets(value)),
    [false, true, true, false],
  )
  t.equal(meets(null), false)
  const withNull = stats([p], [{ min: 3, max: 9, nullCount: 1 }])
  t.equal(meets(null, withNull), true)
  const onlyNull = stats([p], [{ min: null, max: null, nullCount: 5 }])
  t.same([meets(4, onlyNull), meets(null, onlyNull)], [false, true])
  t.equal(meetsPartition(stats([], []), 5, new Uint8Array(12), []), true, 'without partition columns')
})

t.test('buckets of keys fixed by = and in, below AND and OR', async (t) => {
  const a: Field = { id: 0, name: 'a', type: { kind: 'int', nullable: false } }
  const b: Field = { id: 1, name: 'b', type: { kind: 'bigint', nullable: false } }
  const bucket = (x: number, y: bigint) => {
    const columns = [createColumnBuilder(a.type), createColumnBuilder(b.type)] as FixedBuilder[]
    columns[0].pushNumber(x)
    columns[1].pushBigInt(y)
    return bucketing(
      'default',
      [a.type, b.type],
      1000,
    )(
      columns.map((c) => c.view()),
      1,
    )[0]
  }
  const buckets = (filter: Predicate) => {
    const answer = bucketsOf(filter, [a, b], 'default')(1000)
    return answer === null ? null : [...answer].sort((x, y) => x - y)
  }
  const sorted = (...numbers: number[]) => numbers.sort((x, y) => x - y)
  const ab = and(eq('a', 1), eq('b', 2n))
  t.same(buckets(ab), [bucket(1, 2n)])
  t.same(buckets(and(eq('a', 1), { op: 'in', column: 'b', values: [2n, 3n] })), sorted(bucket(1, 2n), bucket(1, 3n)))
  t.same(buckets(or(ab, and(eq('b', 5n), eq('a', 4)))), sorted(bucket(1, 2n), bucket(4, 5n)))
  t.same(buckets(and(or(eq('a', 1), eq('a', 2)), eq('b', 2n))), sorted(bucket(1, 2n), bucket(2, 2n)))
  t.same(buckets(and(or(ab, and(eq('a', 3), eq('b', 4n))), eq('c', 9))), sorted(bucket(1, 2n), bucket(3, 4n)))
  t.same(buckets(and(ab, eq('a', 7))), [], 'contradiction')
  t.same(buckets(and(eq('a', 1), { op: 'in', column: 'a', values: [1, 2] }, eq('b', 2n))), [bucket(1, 2n)])
  t.equal(buckets(eq('a', 1)), null, 'b is open')
  t.equal(buckets(or(ab, eq('a', 1))), null)
  t.equal(buckets({ op: 'not', child: ab }), null)
  t.equal(buckets(and({ op: 'ge', column: 'a', value: 1 }, eq('b', 2n))), null)
  t.equal(buckets(and(eq('a', 1), eq('b', 2))), null, 'a literal in another unit says nothing')
  const many = Array.from({ length: 40 }, (_, i) => i)
  const wide = and({ op: 'in', column: 'a', values: many }, { op: 'in', column: 'b', values: many.map(BigInt) })
  t.equal(buckets(wide), null, 'too many combinations')
  t.equal(bucketsOf(ab, [a, b], 'default')(-1), null, 'dynamic buckets')
  t.equal(bucketsOf(ab, [], 'default')(4), null)
  t.same(bucketsOf(ab, [a, b], 'default')(1), new Set([0]))
})

t.test('a key of -0.0 is looked for where 0.0 lies', async (t) => {
  const d: Field = { id: 0, name: 'd', type: { kind: 'double', nullable: false } }
  t.same(bucketsOf(eq('d', -0), [d], 'default')(1000), bucketsOf(eq('d', 0), [d], 'default')(1000))
})

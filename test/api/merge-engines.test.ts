import t from 'tap'
import { type Fields, openWarehouse, type Table, t as types } from '../../engine/index.ts'
import { seeded } from '../formats/column/support.ts'
import { collect, open } from '../support/warehouses.ts'

type Row = Record<string, unknown>

interface Shape {
  readonly fields: Fields
  readonly options: Readonly<Record<string, string | number | boolean>>
  /** A random row of a key. */
  readonly row: (k: number, random: (below: number) => number) => Row
  /** What to delete, given the row that is there; undefined = the engine takes no deletes. */
  readonly gone?: (row: Row, random: (below: number) => number) => unknown
}

const maybe = (random: (below: number) => number, value: unknown) => (random(3) === 0 ? null : value)
const int = types.int().nullable()
const text = types.string().nullable()

const shapes: Readonly<Record<string, Shape>> = {
  'deduplicate by a sequence field': {
    fields: { k: types.int(), seq: int, v: int },
    options: { 'sequence.field': 'seq' },
    row: (k, random) => ({ k, seq: maybe(random, random(5)), v: random(100) }),
  },
  'deduplicate by two, descending': {
    fields: { k: types.int(), a: int, b: text, v: int },
    options: { 'sequence.field': 'a,b', 'sequence.field.sort-order': 'descending' },
    row: (k, random) => ({ k, a: maybe(random, random(3)), b: maybe(random, `${random(3)}`), v: random(100) }),
  },
  'deduplicate, deletes ignored': {
    fields: { k: types.int(), v: int },
    options: { 'ignore-delete': true },
    row: (k, random) => ({ k, v: random(100) }),
    gone: ({ k }) => k,
  },
  'first-row': {
    fields: { k: types.int(), v: int },
    options: { 'merge-engine': 'first-row', 'ignore-delete': true },
    row: (k, random) => ({ k, v: random(100) }),
    gone: ({ k }) => k,
  },
  'partial-update': {
    fields: { k: types.int(), a: int, b: text, c: types.array(types.int()).nullable() },
    options: { 'merge-engine': 'partial-update' },
    row: (k, random) => ({
      k,
      a: maybe(random, random(9)),
      b: maybe(random, `b${random(9)}`),
      c: maybe(random, [random(3)]),
    }),
  },
  'partial-update, deletes remove': {
    fields: { k: types.int(), a: int, b: text },
    options: { 'merge-engine': 'partial-update', 'partial-update.remove-record-on-delete': true },
    row: (k, random) => ({ k, a: maybe(random, random(9)), b: maybe(random, `b${random(9)}`) }),
    gone: ({ k }) => ({ k }),
  },
  'partial-update with sequence groups': {
    fields: { k: types.int(), a: int, g: int, b: text, c: int, h: int, i: int, free: int },
    options: {
      'merge-engine': 'partial-update',
      'fields.g.sequence-group': 'a',
      'fields.h,i.sequence-group': 'b,c',
      'fields.c.aggregate-function': 'sum',
    },
    row: (k, random) => ({
      k,
      a: maybe(random, random(9)),
      g: maybe(random, random(4)),
      b: maybe(random, `b${random(9)}`),
      c: maybe(random, random(9)),
      h: maybe(random, random(3)),
      i: maybe(random, random(3)),
      free: maybe(random, random(9)),
    }),
    gone: (row, random) => ({ k: row.k, g: random(5), h: random(4), i: random(4), c: row.c }),
  },
  'aggregation, sums': {
    fields: { k: types.int(), s: types.bigint().nullable(), m: int, n: int },
    options: {
      'merge-engine': 'aggregation',
      'fields.s.aggregate-function': 'sum',
      'fields.m.aggregate-function': 'max',
      'fields.m.ignore-retract': true,
      'fields.n.aggregate-function': 'sum',
    },
    row: (k, random) => ({ k, s: maybe(random, BigInt(random(100))), m: maybe(random, random(100)), n: random(4) }),
    gone: ({ k, s, n }, random) => ({ k, s, n: random(2) === 0 ? n : null }),
  },
  'aggregation of many functions': {
    fields: {
      k: types.int(),
      first: int,
      last: text,
      list: text,
      all: types.array(types.int()).nullable(),
      map: types.map(types.string(), types.int()).nullable(),
      any: types.boolean().nullable(),
      p: int,
    },
    options: {
      'merge-engine': 'aggregation',
      'fields.first.aggregate-function': 'first_non_null_value',
      'fields.list.aggregate-function': 'listagg',
      'fields.all.aggregate-function': 'collect',
      'fields.map.aggregate-function': 'merge_map',
      'fields.any.aggregate-function': 'bool_or',
      'fields.p.aggregate-function': 'product',
    },
    row: (k, random) => ({
      k,
      first: maybe(random, random(9)),
      last: maybe(random, `l${random(9)}`),
      list: maybe(random, `t${random(4)}`),
      all: maybe(random, [random(4), random(4)]),
      map: maybe(random, new Map([[`k${random(3)}`, random(9)]])),
      any: maybe(random, random(2) === 0),
      p: maybe(random, 1 + random(3)),
    }),
  },
  'aggregation that takes back out of order-bound functions': {
    fields: { k: types.int(), last: int, p: int, all: types.array(types.int()).nullable() },
    options: {
      'merge-engine': 'aggregation',
      'fields.p.aggregate-function': 'product',
      'fields.all.aggregate-function': 'collect',
    },
    row: (k, random) => ({ k, last: maybe(random, random(9)), p: 1 + random(3), all: [random(3)] }),
    gone: ({ k, last, p }, random) => ({ k, last: random(2) === 0 ? last : null, p: random(2) === 0 ? p : null }),
  },
  'aggregation, deletes remove': {
    fields: { k: types.int(), s: int, l: text },
    options: {
      'merge-engine': 'aggregation',
      'fields.s.aggregate-function': 'sum',
      'fields.l.aggregate-function': 'listagg',
      'aggregation.remove-record-on-delete': true,
    },
    row: (k, random) => ({ k, s: maybe(random, random(9)), l: maybe(random, `${random(9)}`) }),
    gone: ({ k }) => k,
  },
}

const KEYS = 12

/** Ways to compact: plain, and with level 0 merged with what lies above. */
const lookups = [{}, { 'force-lookup': true }, { 'deletion-vectors.enabled': true }] as const

/** Keys from here on are there to make the highest level large, so that compactions end above it. */
const BASE = 1000
const BASE_ROWS = 2500

async function rowsOf(table: Table): Promise<readonly Row[]> {
  return collect(table.scan({ range })) as Promise<readonly Row[]>
}

const range = { lt: BASE }

for (const [name, shape] of Object.entries(shapes)) {
  t.test(`${name}: a row does not depend on flushes and compactions, nor on how it is read`, async (t) => {
    let apart = 0
    for (let seed = 1; seed <= 3; seed++) {
      const next = seeded(seed * 77)
      const random = (below: number) => Math.floor(next() * below)
      const warehouse = await openWarehouse(t.testdir(), { workers: 0, durability: 'none' })
      const definition = { fields: shape.fields, primaryKey: ['k'] as never }
      const options = {
        ...shape.options,
        ...(name === 'first-row' ? {} : lookups[seed % 3]),
        'num-sorted-run.compaction-trigger': 2 + random(3),
        'sort-spill-threshold': 3,
        'num-levels': 6,
      }
      let table = (await warehouse.createTable('db.moving', { ...definition, options })) as unknown as Table
      // All of it stays in one buffer: what is merged there is merged in one go.
      const still = (await warehouse.createTable('db.still', {
        ...definition,
        options: { ...shape.options, 'write-only': true },
      })) as unknown as Table
      const base = Array.from({ length: BASE_ROWS }, (_, k) => shape.row(BASE + k, random))
      for (let k = 0; k < KEYS; k += 2) base.push(shape.row(k, random))
      await table.put(base)
      await still.put(base)
      await table.compact({ full: true })
      let middle = false
      for (let step = 0; step < 40; step++) {
        const [bucket] = table.levels()
        middle ||= bucket?.levels.some(({ level, files }) => level > 0 && level < 5 && files > 0) ?? false
        const k = random(KEYS)
        const present = (await table.get(k)) as Row | undefined
        if (present !== undefined && shape.gone !== undefined && random(4) === 0) {
          const gone = shape.gone(present, random)
          await table.delete(gone as never)
          await still.delete(gone as never)
        } else {
          const row = shape.row(k, random)
          await table.put(row)
          await still.put(row)
        }
        if (random(3) === 0) await table.commit()
        if (random(9) === 0) await table.compact()
        if (random(25) === 0) await table.compact({ full: true })
        if (random(25) === 0) {
          await table.commit()
          await table.close()
          table = (await warehouse.table('db.moving')) as unknown as Table
        }
        if (random(4) > 0) continue
        const [moving, wanted] = [await rowsOf(table), await rowsOf(still)]
        t.same(moving, wanted, `seed ${seed}, step ${step}`)
        const keys = Array.from({ length: KEYS }, (_, key) => key)
        const byKey = keys.map((key) => wanted.find((row) => row.k === key))
        t.same(await table.getMany(keys), byKey, 'getMany')
        t.same(await still.getMany(keys), byKey, 'getMany, in memory')
        t.same(await Promise.all(keys.map((key) => table.get(key))), byKey, 'get')
        const column = Object.keys(shape.fields).at(-1)!
        t.same(
          await collect(table.scan({ range, columns: [column] as never })),
          wanted.map((row) => ({ [column]: row[column] })),
        )
        t.same(await collect(table.scan({ range, reverse: true })), [...wanted].reverse(), 'in reverse')
      }
      apart += Number(middle)
      await table.compact({ full: true })
      t.same(await rowsOf(table), await rowsOf(still), `seed ${seed}, compacted`)
      await warehouse.close({ discard: true })
    }
    t.ok(apart > 0, 'histories had levels between the lowest and the highest')
  })
}

t.test('what an engine cannot take is refused when it is written, and nothing is kept', async (t) => {
  const warehouse = await open(t.testdir())
  const refusals: readonly (readonly [string, Record<string, string | boolean>, unknown, string])[] = [
    ['partial', { 'merge-engine': 'partial-update' }, 1, 'partial-update.remove-record-on-delete'],
    [
      'max',
      { 'merge-engine': 'aggregation', 'fields.v.aggregate-function': 'max' },
      { k: 1, v: 2 },
      'fields.v.ignore-retract',
    ],
  ]
  for (const [name, options, gone, option] of refusals) {
    const table = await warehouse.createTable(`db.${name}`, {
      fields: { k: types.int(), v: types.int().nullable() },
      primaryKey: ['k'],
      options,
    })
    await table.put({ k: 1, v: 1 })
    await t.rejects(table.write([{ put: { k: 2, v: 2 } }, { delete: gone as never }]), {
      code: 'INVALID',
      details: { option },
    })
    t.same(await collect(table.scan()), [{ k: 1, v: 1 }], name)
  }
  const needs: readonly (readonly [string, Record<string, string>, unknown])[] = [
    ['sequence', { 'sequence.field': 'v' }, 1],
    ['group', { 'merge-engine': 'partial-update', 'fields.v.sequence-group': 'w' }, { k: 1, w: 3 }],
    ['sum', { 'merge-engine': 'aggregation', 'fields.v.aggregate-function': 'sum' }, { k: 1 }],
  ]
  for (const [name, options, gone] of needs) {
    const table = await warehouse.createTable(`db.${name}`, {
      fields: { k: types.int(), v: types.int().nullable(), w: types.int().nullable() },
      primaryKey: ['k'],
      options,
    })
    await t.rejects(table.delete(gone as never), { code: 'INVALID' }, name)
  }
  await warehouse.close({ discard: true })
})

t.test('a delete says where it stands, and nothing of groups that it does not name', async (t) => {
  const warehouse = await open(t.testdir())
  const sequenced = await warehouse.createTable('db.sequenced', {
    fields: { k: types.int(), at: types.int().nullable() },
    primaryKey: ['k'],
    options: { 'sequence.field': 'at' },
  })
  await sequenced.put({ k: 1, at: 1 })
  await t.rejects(sequenced.delete({ k: 1, at: null }), { code: 'INVALID', message: /'at' is the sequence.field/ })
  const grouped = await warehouse.createTable('db.grouped', {
    fields: { k: types.int(), a: types.int().nullable(), g: types.int(), b: types.int().nullable(), h: types.int() },
    primaryKey: ['k'],
    options: {
      'merge-engine': 'partial-update',
      'fields.g.sequence-group': 'a',
      'fields.h.sequence-group': 'b',
    },
  })
  await grouped.put({ k: 1, a: 1, g: 1, b: 2, h: -5 })
  await t.rejects(grouped.delete({ k: 1, g: 7 }), { code: 'INVALID', message: /'h' orders a sequence group/ })
  await grouped.delete({ k: 1, g: 7, h: -9 })
  t.same(await collect(grouped.scan()), [{ k: 1, a: null, g: 7, b: 2, h: -5 }])
  const ignoring = await warehouse.createTable('db.ignoring', {
    fields: { k: types.int(), v: types.int().nullable() },
    primaryKey: ['k'],
    options: { 'merge-engine': 'aggregation', 'fields.v.aggregate-function': 'sum', 'ignore-delete': true },
  })
  await ignoring.put({ k: 1, v: 1 })
  await ignoring.delete([1, { k: 1, v: 1 }])
  t.same(await collect(ignoring.scan()), [{ k: 1, v: 1 }], 'a key or a row: it is ignored')
  await warehouse.close({ discard: true })
})

t.test('a delete takes whole rows, so that changes can be written as they come', async (t) => {
  const warehouse = await open(t.testdir())
  for (const [name, options] of [
    ['plain', {}],
    ['removed', { 'merge-engine': 'aggregation', 'aggregation.remove-record-on-delete': true }],
  ] as const) {
    const table = await warehouse.createTable(`db.${name}`, {
      fields: { k: types.int(), v: types.int().nullable(), w: types.string().nullable() },
      primaryKey: ['k'],
      options,
    })
    await table.put([1, 2, 3].map((k) => ({ k, v: k, w: 'x' })))
    await table.delete([{ k: 1, v: 1, w: 'x' }, 2])
    t.same(await collect(table.scan()), [{ k: 3, v: 3, w: 'x' }], name)
    await t.rejects(table.delete({ k: 3, u: 1 } as never), { code: 'INVALID', details: { column: 'u' } })
    await table.put({ k: 1, w: 'new' })
    t.same(await table.get(1), { k: 1, v: null, w: 'new' }, `${name}: nothing of the deleted row is left`)
  }
  await warehouse.close({ discard: true })
})

t.test('rowkind.field: a column says what a row does', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { k: types.int(), v: types.int().nullable(), op: types.string() },
    primaryKey: ['k'],
    options: { 'rowkind.field': 'op' },
  })
  await table.put([
    { k: 1, v: 1, op: '+I' },
    { k: 2, v: 2, op: '+I' },
    { k: 3, v: 3, op: '+U' },
    { k: 2, v: 2, op: '-D' },
    { k: 3, v: 3, op: '-U' },
  ])
  const rows = [{ k: 1, v: 1, op: '+I' }]
  t.same(await collect(table.scan()), rows)
  t.same(await table.getMany([1, 2, 3]), [rows[0], undefined, undefined])
  await table.commit()
  t.same(await collect(table.scan()), rows)
  await t.rejects(table.put({ k: 4, v: 4, op: 'insert' }), {
    code: 'INVALID',
    details: { column: 'op', value: 'insert' },
  })
  await table.delete(1)
  t.same(await collect(table.scan()), [])
  await warehouse.close({ discard: true })
})

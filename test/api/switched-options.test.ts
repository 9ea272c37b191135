import tap, { type Test } from 'tap'
import { type Table, t } from '../../engine/index.ts'
import { changesOf, replay } from '../support/changes.ts'
import { alter, collect, liveFiles, open, refused, storeOf } from '../support/warehouses.ts'

type Options = Readonly<Record<string, string>>

const LOOKUP = { 'changelog-producer': 'lookup' }
const FULL = { 'changelog-producer': 'full-compaction' }
const NONE = { 'changelog-producer': 'none' }
const INPUT = { 'changelog-producer': 'input' }
const WRITE_ONLY = { 'write-only': 'true' }

/** A table of sums that is closed, altered and opened again. */
async function tableOf(test: Test, engine: Options, options: Options) {
  const warehouse = await open(test.testdir())
  const fields = { k: t.int(), v: t.int().nullable() }
  const fixed = { 'num-sorted-run.compaction-trigger': 2, 'compaction.size-ratio': 0, 'num-levels': 6 }
  let table = (await warehouse.createTable('db.t', {
    fields,
    primaryKey: ['k'],
    options: { ...fixed, ...engine, ...options },
  })) as unknown as Table
  test.teardown(() => warehouse.close({ discard: true }))
  return {
    put: async (k: number, v: number) => {
      await table.put({ k, v })
      await table.commit()
    },
    set: async (changes: Options) => {
      await table.close({ discard: true })
      const store = await storeOf(warehouse.path, 'db', 't')
      await alter(store, (schema) => ({ options: { ...schema.options, ...changes } }))
      table = await warehouse.table('db.t')
    },
    /** `get` and `scan` show these values of keys. */
    shows: async (values: Readonly<Record<number, number>>, when: string) => {
      const rows = Object.entries(values).map(([k, v]) => ({ k: Number(k), v }))
      test.strictSame(await collect(table.scan()), rows, `scan ${when}`)
      for (const row of rows) test.strictSame(await table.get(row.k), row, `get ${when}`)
    },
    table: () => table,
    levels: async () => {
      const files = await liveFiles(await storeOf(warehouse.path, 'db', 't'))
      return files.map(({ file }) => file.level)
    },
  }
}

const SUMS = { 'merge-engine': 'aggregation', 'fields.v.aggregate-function': 'sum' }

/** Puts a large row and then smaller ones, so that they come to lie on several levels. */
async function severalLevels({ put, table }: Awaited<ReturnType<typeof tableOf>>): Promise<void> {
  await table().put(Array.from({ length: 2000 }, (_, k) => ({ k: k + 10, v: 1 })))
  await put(1, 1)
  await table().compact({ full: true })
  for (let i = 0; i < 4; i++) await put(1, 1)
}

for (const [before, after] of [
  [NONE, LOOKUP],
  [LOOKUP, NONE],
  [{ 'force-lookup': 'true' }, { 'force-lookup': 'false' }],
] as const) {
  tap.test(`sums stay right from ${JSON.stringify(before)} to ${JSON.stringify(after)}`, async (test) => {
    const subject = await tableOf(test, SUMS, before)
    await severalLevels(subject)
    const levels = await subject.levels()
    test.ok(new Set(levels.filter((level) => level > 0)).size > 1, `rows lie on levels ${levels}`)
    test.strictSame(await subject.table().get(1), { k: 1, v: 5 })
    await subject.set(after)
    test.strictSame(await subject.table().get(1), { k: 1, v: 5 }, 'get')
    const [row] = await collect(subject.table().scan({ where: { k: 1 } }))
    test.strictSame(row, { k: 1, v: 5 }, 'scan')
    const option = Object.keys(after)[0]!
    await refused(test, subject.put(1, 1), 'INVALID', { option }, 'full compaction')
    await refused(test, subject.table().compact({ full: true }), 'INVALID', { option })
    await subject.set(before)
    await subject.table().compact({ full: true })
    await subject.set(after)
    await subject.put(1, 1)
    await subject.put(1, 1)
    test.strictSame(await subject.table().get(1), { k: 1, v: 7 })
    await subject.table().compact({ full: true })
    test.strictSame(await subject.table().get(1), { k: 1, v: 7 }, 'compacted')
  })
}

for (const [before, after] of [
  [LOOKUP, NONE],
  [LOOKUP, FULL],
  [FULL, LOOKUP],
  [FULL, INPUT],
  [INPUT, LOOKUP],
] as const) {
  const title = `${before['changelog-producer']} to ${after['changelog-producer']}`
  tap.test(`changes that were not told yet keep a table from going from ${title}`, async (test) => {
    // Without compactions rows stay in level 0.
    const subject = await tableOf(test, {}, { ...before, 'write-only': 'false' })
    await subject.put(1, 1)
    await subject.set(WRITE_ONLY)
    await subject.put(1, 2)
    await subject.put(2, 1)
    await subject.set(after)
    await subject.shows({ 1: 2, 2: 1 }, 'while it is refused')
    await refused(test, subject.put(1, 3), 'INVALID', { option: 'changelog-producer' }, 'full compaction')
    await subject.set(before)
    await subject.table().compact({ full: true })
    await subject.set({ ...after, 'write-only': 'false' })
    await subject.put(1, 4)
    await subject.table().compact({ full: true })
    await subject.shows({ 1: 4, 2: 1 }, 'at the end')
    const changes = await changesOf(subject.table())
    test.strictSame(
      byKey(replay(changes, 'k').values()),
      [
        { k: 1, v: 4 },
        { k: 2, v: 1 },
      ],
      'what each snapshot told makes the table',
    )
  })
}

for (const after of [LOOKUP, FULL, INPUT]) {
  tap.test(
    `from none to ${after['changelog-producer']}: rows in level 0 are told again, none is missing`,
    async (test) => {
      const subject = await tableOf(test, {}, { ...NONE, ...WRITE_ONLY })
      await subject.put(1, 1)
      await subject.put(2, 1)
      await subject.put(1, 2)
      await subject.set({ ...after, 'write-only': 'false' })
      await subject.put(3, 1)
      await subject.table().compact({ full: true })
      await subject.shows({ 1: 2, 2: 1, 3: 1 }, 'compacted')
      const told = replay(await changesOf(subject.table()), 'k')
      test.strictSame(byKey(told.values()), await collect(subject.table().scan()))
    },
  )
}

function byKey(rows: Iterable<Record<string, unknown>>): readonly Record<string, unknown>[] {
  return [...rows].sort((a, b) => Number(a.k) - Number(b.k))
}

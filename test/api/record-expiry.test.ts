import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type CompactionEvent, renderExplanation, type Table, t as types } from '../../engine/index.ts'
import { expiryLimit, isExpired, type RecordExpiry, recordExpiry } from '../../engine/options/record-expiry.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { changesOf, replay } from '../support/changes.ts'
import { goldenTable } from '../support/golden.ts'
import { goldenRows, sameRows, scanJson, schemaIn } from '../support/golden-warehouse.ts'
import { manualClock } from '../support/manual-clock.ts'
import { collect, open, openAlone } from '../support/warehouses.ts'

const NOW = 1_700_000_000
const DAY = 86_400

const definition = {
  fields: { id: types.int(), at: types.int().nullable(), v: types.string().nullable() },
  primaryKey: ['id'],
  options: { 'record-level.expire-time': '1 d', 'record-level.time-field': 'at' },
} as const

async function create(
  folder: string,
  options: Record<string, string | number | boolean> = {},
  clock = manualClock(NOW * 1000),
) {
  const warehouse = openAlone(folder, { clock })
  const table = await warehouse.createTable('db.t', { ...definition, options: { ...definition.options, ...options } })
  return { warehouse, table, clock }
}

const ids = async (table: Table) => (await collect(table.scan())).map((row) => row.id)

t.test(
  'a full compaction drops rows that are older than the time, no second sooner; without a time they stay',
  async (t) => {
    const { warehouse, table, clock } = await create(t.testdir(), { 'write-only': true })
    await table.put([
      { id: 1, at: NOW - DAY - 1, v: 'past' },
      { id: 2, at: NOW - DAY, v: 'at the limit' },
      { id: 3, at: null, v: 'no time' },
      { id: 4, at: NOW + DAY, v: 'future' },
    ])
    await table.commit()
    t.strictSame(await ids(table), [1, 2, 3, 4], 'a read shows what was not compacted')
    t.ok(await table.get(1))
    await table.compact({ full: true })
    t.strictSame(await ids(table), [2, 3, 4])
    t.equal(await table.get(1), undefined)

    t.equal(await fullCompaction(table), undefined, 'nothing has expired')
    clock.advance(1000)
    t.strictSame(await ids(table), [2, 3, 4], 'time alone changes no answer')
    const event = await fullCompaction(table)
    t.match(event, { rewritten: { length: 1 }, upgraded: { length: 0 }, outputRows: 2 })
    t.match(
      renderExplanation(event!.explanation),
      /write again.*expired.*1 file.*\nPick: those files, to level 5 \(files to rewrite\)/,
    )
    t.strictSame(await ids(table), [3, 4])
    clock.advance(10 * DAY * 1000)
    await table.compact({ full: true })
    t.strictSame(await ids(table), [3])
    await warehouse.close()
  },
)

t.test('a bucket whose rows have all expired is left without files', async (t) => {
  const { warehouse, table, clock } = await create(t.testdir(), { 'write-only': true })
  await table.put({ id: 1, at: NOW, v: 'x' })
  await table.commit()
  await table.compact({ full: true })
  clock.advance(2 * DAY * 1000)
  await table.compact({ full: true })
  t.strictSame(await ids(table), [])
  t.same(
    table.levels().flatMap(({ levels }) => levels),
    [],
  )
  await table.put({ id: 1, at: null, v: 'y' })
  await table.commit()
  t.strictSame(await ids(table), [1])
  await warehouse.close()
})

t.test('a large file that would only move up is rewritten when it holds expired rows, else moved', async (t) => {
  for (const [at, expected] of [
    [NOW - 2 * DAY, { rewritten: { length: 1 }, upgraded: { length: 0 } }],
    [NOW, { rewritten: { length: 0 }, upgraded: { length: 1 } }],
  ] as const) {
    // Files of any size are large ones.
    const { warehouse, table } = await create(join(t.testdir(), String(at)), {
      'write-only': true,
      'target-file-size': '1 b',
    })
    await table.put({ id: 1, at, v: 'x' })
    await table.commit()
    t.match(await fullCompaction(table), expected)
    await warehouse.close()
  }
})

t.test(
  'a row that expired ends what came before it, and a compaction of new rows alone brings nothing back',
  async (t) => {
    const { warehouse, table, clock } = await create(t.testdir(), { 'num-sorted-run.compaction-trigger': 3 })
    const base = Array.from({ length: 2000 }, (_, id) => ({ id, at: id === 0 ? null : NOW + 9 * DAY, v: `base ${id}` }))
    await table.put(base)
    await table.commit()
    await table.compact({ full: true })
    // The newest version of row 0 has a time that has passed; the version below it has none.
    for (const row of [
      { id: 0, at: NOW - 3 * DAY, v: 'old time' },
      { id: 9000, at: null, v: 'x' },
      { id: 9001, at: null, v: 'x' },
    ]) {
      await table.put(row)
      await table.commit()
    }
    await table.compact()
    const levels = table.levels()[0]!.levels
    t.ok(levels.length > 1, 'the compaction took the new rows only')
    t.match(await table.get(0), { v: 'old time' }, 'it stays until all its versions are compacted together')
    clock.advance(1000)
    await table.compact({ full: true })
    t.equal(await table.get(0), undefined)
    t.equal((await ids(table)).length, 2001)
    await warehouse.close()
  },
)

t.test('changes tell what is in the table: not a row that has expired when it is merged', async (t) => {
  for (const [name, options] of Object.entries({
    lookup: { 'changelog-producer': 'lookup' },
    full: { 'changelog-producer': 'full-compaction' },
    vectors: { 'changelog-producer': 'lookup', 'deletion-vectors.enabled': true },
  })) {
    // Rows go from level 0 to the highest at once: where older ones lie outside of the merge, expired ones stay.
    const { warehouse, table } = await create(join(t.testdir({ [name]: {} }), name), { ...options, 'write-only': true })
    const told: string[][] = []
    const write = async (...rows: readonly (readonly [number, number | null])[]) => {
      const from = (await table.snapshots()).at(-1)?.id ?? 0
      await table.put(rows.map(([id, at]) => ({ id, at, v: 'x' })))
      await table.commit()
      await table.compact({ full: true })
      told.push((await changesOf(table as never, { from })).map(({ kind, row }) => `${kind} ${row.id} ${row.at}`))
      const there = new Set(replay(await changesOf(table as never), 'id').keys())
      t.strictSame([...there].sort(), await ids(table as never), `${name}: changes give the table`)
    }
    await write([1, NOW - 2 * DAY], [2, NOW], [3, null])
    await write([1, NOW], [2, NOW - 2 * DAY])
    await write([2, NOW - 3 * DAY])
    t.strictSame(told, [[`+I 2 ${NOW}`, '+I 3 null'], [`+I 1 ${NOW}`, `-D 2 ${NOW}`], []], name)
    await warehouse.close()
  }
})

t.test('every file of the highest level is rewritten by itself with compaction.force-rewrite-all-files', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { id: types.int(), v: types.string() },
    primaryKey: ['id'],
    options: { 'write-only': true, 'compaction.force-rewrite-all-files': true, 'target-file-size': '1 b' },
  })
  for (const id of [1, 2, 3]) {
    await table.put({ id, v: `v${id}` })
    await table.commit()
  }
  await table.compact({ full: true })
  for (let i = 0; i < 2; i++) {
    const event = await fullCompaction(table)
    t.match(event, { upgraded: { length: 0 }, outputLevel: 5 }, 'again each time')
    t.equal(event!.rewritten.length, event!.written.length, 'one by one')
    t.match(renderExplanation(event!.explanation), /files to rewrite/)
  }
  t.strictSame(
    await collect(table.scan()),
    [1, 2, 3].map((id) => ({ id, v: `v${id}` })),
  )
  await warehouse.close()
})

t.test("Paimon's table with record expiry is compacted by us as it was by Paimon", async (t) => {
  const folder = t.testdir()
  cpSync(goldenTable('record_expire'), join(folder, 'golden.db', 'record_expire'), { recursive: true })
  const clock = manualClock(Date.UTC(2026, 11, 1))
  const warehouse = openAlone(folder, { clock })
  const table = await warehouse.table('golden.record_expire')
  const schema = schemaIn(goldenTable('record_expire'))
  await table.put((await collect(table.scan({ snapshot: 1 }))) as never)
  await table.commit()
  sameRows(t, await scanJson(table, schema), goldenRows('record_expire', 'expected-before-compaction'), 'before')
  await table.compact({ full: true })
  sameRows(t, await scanJson(table, schema), goldenRows('record_expire'), 'after')
  await warehouse.close()
})

const time = (kind: 'timestamp' | 'timestamp_ltz', precision: number): DataType => ({ kind, precision, nullable: true })

/** Type, age in seconds, now in ms, the last expired value and the first that is not. */
const limits: readonly (readonly [DataType, number, number, number | bigint, number | bigint])[] = [
  [{ kind: 'int', nullable: true }, 10, 100_999, 89, 90],
  [{ kind: 'int', nullable: true }, 1000, 100_000, -901, -900],
  [{ kind: 'bigint', nullable: true }, 10, 100_000, 89n, 90n],
  [{ kind: 'bigint', nullable: true }, 0, 1_700_000_000_500, 1_699_999_999n, 1_700_000_000n],
  [{ kind: 'bigint', nullable: true }, 0, 1_700_000_000_500, 1_699_999_999_999n, 1_700_000_000_000n],
  [time('timestamp', 0), 10, 100_000, 89_999n, 90_000n],
  [time('timestamp', 3), 10, 100_000, 89_999n, 90_000n],
  [time('timestamp_ltz', 6), 10, 100_000, 89_999_999n, 90_000_000n],
  [time('timestamp', 9), 10, 100_000, 89_999_999_999n, 90_000_000_000n],
  // Times before 1970 are cut towards it: -900.999 s counts as -900 s.
  [time('timestamp', 3), 1000, 100_000, -901_000n, -900_999n],
]

t.test('the last value that has expired and the first that has not, in each type', async (t) => {
  for (const [type, seconds, now, last, first] of limits) {
    const expiry: RecordExpiry = { field: { id: 1, name: 'at', type }, seconds }
    const limit = expiryLimit(expiry, now)
    t.equal(isExpired(limit, last), true, `${JSON.stringify(type)} ${last}`)
    t.equal(isExpired(limit, first), false, `${JSON.stringify(type)} ${first}`)
  }
})

t.test('compaction goes by the same limits in columns of each type', async (t) => {
  const ms = NOW * 1000
  const kinds = {
    int: [types.int(), NOW - DAY - 1, NOW - DAY],
    seconds: [types.bigint(), BigInt(NOW - DAY - 1), BigInt(NOW - DAY)],
    millis: [types.bigint(), BigInt(ms - DAY * 1000 - 1), BigInt(ms - DAY * 1000)],
    timestamp0: [types.timestamp(0), new Date(ms - DAY * 1000 - 1000), new Date(ms - DAY * 1000)],
    timestamp3: [types.timestamp(3), new Date(ms - DAY * 1000 - 1), new Date(ms - DAY * 1000)],
    timestamp6: [types.timestamp(6), new Date(ms - DAY * 1000 - 1), new Date(ms - DAY * 1000)],
    timestamp9: [types.timestampLtz(9), new Date(ms - DAY * 1000 - 1), new Date(ms - DAY * 1000)],
  } as const
  const warehouse = openAlone(t.testdir(), { clock: manualClock(ms) })
  for (const [name, [type, last, first]] of Object.entries(kinds)) {
    const table = await warehouse.createTable(`db.${name}`, {
      fields: { id: types.int(), at: (type as ReturnType<typeof types.int>).nullable() },
      primaryKey: ['id'],
      options: { ...definition.options, 'write-only': true },
    })
    const rows = [
      { id: 1, at: last },
      { id: 2, at: first },
      { id: 3, at: null },
    ]
    // Two files that overlap are merged, whatever their statistics say: those of 9 digits hold no least value.
    for (let i = 0; i < 2; i++) {
      await table.put(rows as never)
      await table.commit()
    }
    await table.compact({ full: true })
    t.strictSame(await ids(table as never), [2, 3], name)
  }
  await warehouse.close()
})

t.test('options that cannot be are refused before a table is made', async (t) => {
  const warehouse = await open(t.testdir())
  const cases = [
    [{ 'record-level.expire-time': '1 d' }, /'record-level.expire-time' needs 'record-level.time-field'/],
    [
      { 'record-level.expire-time': '1 d', 'record-level.time-field': 'gone' },
      /cannot be 'gone': there is no such column/,
    ],
    [{ 'record-level.expire-time': '1 d', 'record-level.time-field': 'v' }, /cannot be 'v': it is of type varchar/],
    [{ 'record-level.time-field': 'v' }, /cannot be 'v'/],
    [
      { 'record-level.expire-time': 'soon', 'record-level.time-field': 'at' },
      /'record-level.expire-time' cannot be 'soon'/,
    ],
  ] as const
  for (const [options, message] of cases) {
    await t.rejects(warehouse.createTable('db.t', { ...definition, options }), { code: 'INVALID', message })
  }
  t.strictSame(await warehouse.tables(), [])
  t.equal(recordExpiry({ fields: [], options: {} }), undefined)
  await warehouse.close()
})

t.test('a time column that was renamed away by another engine stops writes, not reads', async (t) => {
  const folder = t.testdir()
  const { warehouse, table } = await create(folder)
  await table.put({ id: 1, at: NOW, v: 'x' })
  await table.commit()
  await warehouse.close()
  const path = join(folder, 'db.db', 't', 'schema', 'schema-0')
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace('"record-level.time-field" : "at"', '"record-level.time-field" : "was"'),
  )
  const again = openAlone(folder)
  const reopened = await again.table('db.t')
  t.match(await reopened.get(1), { v: 'x' })
  await t.rejects(reopened.put({ id: 2 }), { code: 'INVALID', details: { option: 'record-level.time-field' } })
  await again.close()
})

/** The event of a full compaction; undefined when there was nothing to do. */
async function fullCompaction(table: Pick<Table, 'compact' | 'on'>): Promise<CompactionEvent | undefined> {
  let seen: CompactionEvent | undefined
  const stop = table.on('compaction', (event) => {
    seen = event
  })
  await table.compact({ full: true })
  if (typeof stop === 'function') (stop as () => void)()
  return seen
}

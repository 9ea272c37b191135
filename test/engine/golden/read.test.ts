import { cpSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { isTableError, openWarehouse, type Table } from '../../../engine/index.ts'
import type { JsonRow } from '../../interop/support/oracle.ts'
import { roundFloats } from '../../interop/support/values.ts'
import { goldenCases, goldenExpect, goldenTable } from '../../support/golden.ts'
import {
  copyGolden,
  goldenRows,
  goldenWarehouse,
  inAnyOrder,
  sameRows,
  scanJson,
  schemaIn,
} from '../../support/golden-warehouse.ts'
import { listing } from '../../support/warehouses.ts'

/** What this version does not read, and the option, column type or file format that it names. */
const refused: Readonly<Record<string, string>> = {
  format_avro: 'data file of format avro',
  format_mixed: 'data file of format avro',
  format_orc: 'data file of format orc',
  types_multiset: 'MULTISET<STRING>',
  types_variant: 'VARIANT',
  uc_num_orc: 'data file of format orc',
}

/** What this version reads, and would not write, with the option in the way. */
const readOnly: Readonly<Record<string, string>> = {
  dynamic_bucket: 'bucket',
  partition_null: 'bucket',
}

/** Where Paimon's own rows depend on when compaction ran we give those that do not: docs/adr/0007. */
const betterThan: Readonly<Record<string, readonly JsonRow[]>> = {
  'partial_update_remove 3': [
    { id: 1, a: 1, b: 'x' },
    { id: 2, a: null, b: 'again' },
  ],
}

/** Columns whose elements have no order, by table. */
const sets: Readonly<Record<string, string>> = { agg: 'f_distinct' }

function ordered(row: JsonRow, table: string): JsonRow {
  const column = sets[table]
  const value = column && row[column]
  return Array.isArray(value) ? { ...row, [column!]: [...value].sort() } : row
}

const readable = goldenCases.filter((name) => !Object.hasOwn(refused, name))

/** Tables of thousands of rows in one bucket, without anything that the smaller ones lack. */
const large = ['uc_long', 'uc_num', 'uc_num_wide']

t.equal(goldenCases.length, 65, 'all golden tables are here')
t.equal(readable.length, 59, 'tables that are read')
const filesBefore = readdirSync(goldenWarehouse, { recursive: true }).sort()

const warehouse = await openWarehouse(goldenWarehouse, { readOnly: true, workers: 0 })
const opened = new Map<string, Promise<Table>>()
const open = (name: string): Promise<Table> => {
  const table = opened.get(name) ?? warehouse.table(`golden.${name}`)
  opened.set(name, table)
  return table
}

t.strictSame(
  await warehouse.tables(),
  goldenCases.map((name) => `golden.${name}`),
  'the warehouse lists them',
)

t.test('a table that would be read wrongly is refused, and the message names why', async (t) => {
  for (const [name, why] of Object.entries(refused)) {
    const outcome = await open(name)
      .then(async (table) => scanJson(table, schemaOf(name)))
      .catch((error: unknown) => error)
    if (!isTableError(outcome)) {
      t.fail(`${name} was not refused`, { found: outcome })
      continue
    }
    t.equal(outcome.code, 'UNSUPPORTED', name)
    t.ok(outcome.message.includes(why), `${name}: ${outcome.message}`)
  }
})

t.test('a refused table is refused in every way, and nothing is written to it', async (t) => {
  const folder = t.testdir()
  copyGolden(folder, ...Object.keys(refused))
  const before = listing(folder)
  const writing = await openWarehouse(folder, { workers: 0, durability: 'none' })
  for (const name of Object.keys(refused)) {
    const row = firstRow(name)
    const key = Object.fromEntries(schemaOf(name).primaryKeys.map((column) => [column, row[column]]))
    const calls: readonly ((table: Table) => Promise<unknown>)[] = [
      (table) => table.put(row),
      (table) => table.delete(key),
      (table) => table.commit(),
      (table) => table.compact({ full: true }),
      (table) => table.expireSnapshots({ retainMax: 1, retainMin: 1 }),
      (table) => table.get(key),
      (table) => table.scanArrow().next(),
      (table) => table.scan({ limit: 1, ordered: false }).next(),
    ]
    for (const call of calls) {
      await t.rejects(writing.table(`golden.${name}`).then(call), { code: 'UNSUPPORTED' }, `${name}: ${call}`)
    }
  }
  await writing.close()
  t.strictSame(listing(folder), before)
})

t.test('a scan gives the rows that Paimon gives, in key order', async (t) => {
  for (const name of readable) {
    const schema = schemaOf(name)
    const rows = await scanJson(await open(name), schema)
    const expected = goldenRows(name)
    // Partitions come first in our order; the expected rows are in primary-key order, which may name them last.
    if (schema.partitionKeys.length > 0) sameRows(t, inAnyOrder(rows), inAnyOrder(expected), name)
    else sameRows(t, rows, expected, name)
  }
})

t.test('a scan without an order gives the same rows', async (t) => {
  for (const name of readable.filter((name) => !large.includes(name))) {
    const rows = await scanJson(await open(name), schemaOf(name), { ordered: false })
    sameRows(t, inAnyOrder(rows), inAnyOrder(goldenRows(name)), name)
  }
})

t.test('getMany and get give the rows of the scan, by key', async (t) => {
  for (const name of readable) {
    const table = await open(name)
    const rows: Record<string, unknown>[] = []
    for await (const row of table.scan()) rows.push(row)
    const { primaryKeys, fields } = schemaOf(name)
    const keys = rows.map((row) => Object.fromEntries(primaryKeys.map((key) => [key, row[key]])))
    // Of large tables some keys, backwards: the answer is in the order asked.
    const step = Math.ceil(rows.length / 50)
    const asked = rows.map((_, index) => index).filter((index) => index % step === 0)
    asked.reverse()
    sameRows(
      t,
      await table.getMany(asked.map((index) => keys[index])),
      asked.map((index) => rows[index]),
      name,
    )
    for (const index of asked.slice(0, 5)) t.strictSame(await table.get(keys[index]), rows[index], name)
    const one = fields.at(-1)!.name
    const [first] = keys
    if (first !== undefined) t.strictSame(await table.get(first, { columns: [one] }), { [one]: rows[0]![one] }, name)
  }
})

t.test('a key that was deleted or never written has no row', async (t) => {
  for (const name of ['delete_all', 'delete_dropped', 'delete_kept', 'uc', 'types', 'partition_null']) {
    const table = await open(name)
    const there = new Set(goldenRows(name).map((row) => row.id))
    const keys = Array.from({ length: 60 }, (_, index) => index - 5).filter((id) => !there.has(id))
    t.ok(keys.length > 0, name)
    t.strictSame(
      await table.getMany(keys),
      keys.map(() => undefined),
      name,
    )
  }
})

t.test('levels() gives the files of each bucket and level as Paimon lists them', async (t) => {
  for (const name of readable) t.strictSame(levelsOf(await open(name)), listedLevels(name), name)
})

t.test('every snapshot that is still there is read as it was', async (t) => {
  let earlier = 0
  for (const name of readable) {
    const table = await open(name)
    const schema = schemaOf(name)
    const history = goldenExpect<{ snapshot: number; kind: string; rows?: JsonRow[] }>(name, 'history')
    t.strictSame(
      (await table.snapshots()).map(({ id, kind }) => ({ id, kind })),
      history.map(({ snapshot, kind }) => ({ id: snapshot, kind })),
      `${name}: snapshots`,
    )
    const schemaOfSnapshot = new Map((await table.snapshots()).map((snapshot) => [snapshot.id, snapshot.schemaId]))
    for (const { snapshot, rows } of history) {
      if (rows === undefined) continue
      const old = schemaIn(goldenTable(name), schemaOfSnapshot.get(snapshot))
      const expected = (betterThan[`${name} ${snapshot}`] ?? rows).map((row) => ordered(asRead(row, old, schema), name))
      const found = (await scanJson(table, schema, { snapshot })).map((row) => ordered(row, name))
      sameRows(t, inAnyOrder(found), inAnyOrder(expected), `${name} at snapshot ${snapshot}`)
      earlier++
    }
  }
  t.ok(earlier >= 129, `${earlier} snapshots were read`)
})

t.test('snapshots that were expired are refused as such, and the tables of their tags are whole', async (t) => {
  const table = await open('tags_expired')
  await t.rejects(scanJson(table, schemaOf('tags_expired'), { snapshot: 2 }), { code: 'EXPIRED' })

  const folder = t.testdir()
  copyGolden(folder, 'tags_expired')
  const copy = join(folder, 'golden.db', 'tags_expired')
  // A tag is the snapshot's own file under another name.
  cpSync(join(copy, 'tag', 'tag-two'), join(copy, 'snapshot', 'snapshot-2'))
  cpSync(join(copy, 'tag', 'tag-later'), join(copy, 'snapshot', 'snapshot-4'))
  rmSync(join(copy, 'snapshot', 'EARLIEST'))
  const other = await openWarehouse(folder, { readOnly: true, workers: 0 })
  const tagged = await other.table('golden.tags_expired')
  for (const [tag, snapshot] of [
    ['two', 2],
    ['later', 4],
  ] as const) {
    const rows = await scanJson(tagged, schemaOf('tags_expired'), { snapshot })
    sameRows(t, rows, goldenRows('tags_expired', `expected-tag-${tag}`), tag)
  }
  await other.close()
})

t.test('rows that compaction would drop by their age are there until it has run', async (t) => {
  const [last] = (await (await open('record_expire')).snapshots()).filter(({ kind }) => kind === 'APPEND').slice(-1)
  const rows = await scanJson(await open('record_expire'), schemaOf('record_expire'), { snapshot: last!.id })
  t.strictSame(rows, goldenRows('record_expire', 'expected-before-compaction'))
})

t.test('tables whose options only change writes are refused for writing, naming the option', async (t) => {
  const folder = t.testdir()
  const small = readable.filter((name) => !large.includes(name))
  copyGolden(folder, ...small)
  const writing = await openWarehouse(folder, { workers: 0, durability: 'none' })
  for (const name of small) {
    const table = await writing.table(`golden.${name}`)
    const option = readOnly[name]
    if (option === undefined) {
      await t.resolves(table.delete([]), `${name} is written`)
      continue
    }
    const writes: readonly (() => Promise<unknown>)[] = [
      () => table.put({}),
      () => table.commit(),
      () => table.compact(),
      () => table.expireSnapshots(),
    ]
    for (const write of writes) await t.rejects(write(), { code: 'UNSUPPORTED', details: { option } }, name)
    sameRows(t, inAnyOrder(await scanJson(table, schemaOf(name))), inAnyOrder(goldenRows(name)), `${name} is read`)
  }
  await writing.close()
})

t.test('reading creates nothing', async (t) => {
  await warehouse.close()
  t.strictSame(readdirSync(goldenWarehouse, { recursive: true }).sort(), filesBefore)
})

function schemaOf(name: string) {
  return schemaIn(goldenTable(name))
}

interface LevelFiles {
  readonly bucket: string
  readonly level: number
  files: number
  rows: number
  bytes: number
}

function levelsOf(table: Table): readonly LevelFiles[] {
  return sorted(
    table.levels().flatMap(({ partition, bucket, levels }) =>
      levels.map(({ level, files, rows, bytes }) => ({
        bucket: `${partition === '' ? '' : `${partition}/`}bucket-${bucket}`,
        level,
        files,
        rows,
        bytes,
      })),
    ),
  )
}

function listedLevels(name: string): readonly LevelFiles[] {
  const found = new Map<string, LevelFiles>()
  for (const file of goldenExpect<{
    file_path: string
    level: number
    record_count: number
    file_size_in_bytes: number
  }>(name, 'files')) {
    const bucket = dirname(file.file_path)
    const id = `${bucket} ${file.level}`
    const one = found.get(id) ?? { bucket, level: file.level, files: 0, rows: 0, bytes: 0 }
    found.set(id, one)
    one.files++
    one.rows += Number(file.record_count)
    one.bytes += Number(file.file_size_in_bytes)
  }
  return sorted([...found.values()])
}

function sorted(levels: readonly LevelFiles[]): readonly LevelFiles[] {
  return [...levels].sort((a, b) => (a.bucket < b.bucket ? -1 : a.bucket > b.bucket ? 1 : a.level - b.level))
}

/**
 * A row as an older schema shows it, in the columns of the newest: a handle has one row type, so it reads every snapshot in
 * its own columns, found by id and widened, where Paimon shows a snapshot in the schema of its time.
 */
function asRead(row: JsonRow, old: ReturnType<typeof schemaIn>, now: ReturnType<typeof schemaIn>): JsonRow {
  const rounded = roundFloats(old.fields, row)
  return Object.fromEntries(
    now.fields.map((field) => {
      const before = old.fields.find(({ id }) => id === field.id)
      const value = before === undefined ? null : (rounded[before.name] ?? null)
      return [field.name, field.type.kind === 'bigint' && value !== null ? String(value) : value]
    }),
  )
}

function firstRow(name: string): Record<string, unknown> {
  return goldenRows(name)[0] ?? {}
}

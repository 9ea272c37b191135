import t from 'tap'
import type { Table, Warehouse } from '../../../engine/index.ts'
import type { TableStore } from '../../../engine/store/table-store.ts'
import type { TableSchema } from '../../../formats/meta/types.ts'
import { toJsonRow } from '../../interop/support/values.ts'
import { copyGolden, inAnyOrder, sameRows, scanJson } from '../../support/golden-warehouse.ts'
import { unnamedFiles } from '../../support/table-files.ts'
import { liveFiles, open, storeOf } from '../../support/warehouses.ts'

/** Every golden table that this version writes; the rest is in read.test.ts. */
const tables = [
  'bucket_key',
  'cl_lookup',
  'cl_lookup_dedup',
  'cl_none',
  'comp_gzip',
  'comp_lz4',
  'comp_none',
  'comp_snappy',
  'dedup',
  'delete_all',
  'delete_dropped',
  'delete_kept',
  'dv',
  'dv_bitmap64',
  'dv_partitioned',
  'evolution',
  'evolution_compacted',
  'expired',
  'file_index',
  'file_index_file',
  'no_dictionary',
  'overwritten',
  'parquet_bloom',
  'partition_types',
  'partitioned',
  'pk_multi',
  'pk_types',
  'record_expire',
  'rolled_back',
  'rolling',
  'rowgroups',
  'stats_full',
  'stats_none',
  'stream_user',
  'tags_expired',
  'thin_mode',
  'types',
  'types_more',
  'uc',
  'uc_amp',
  'uc_trigger3',
]

type Row = Record<string, unknown>

/** What a table must hold: its rows when it was opened, and all that was done since. */
class Model {
  readonly #schema: TableSchema
  readonly #rows = new Map<string, Row>()

  constructor(schema: TableSchema, rows: readonly Row[]) {
    this.#schema = schema
    for (const row of rows) this.put(row)
  }

  get rows(): readonly Row[] {
    return [...this.#rows.values()]
  }

  put(row: Row): void {
    this.#rows.set(this.#id(row), row)
  }

  /** The row that has the key of this one. */
  get(row: Row): Row | undefined {
    return this.#rows.get(this.#id(row))
  }

  delete(row: Row): void {
    this.#rows.delete(this.#id(row))
  }

  key(row: Row): Row {
    return Object.fromEntries(this.#schema.primaryKeys.map((name) => [name, row[name]]))
  }

  #id(row: Row): string {
    const { fields, primaryKeys } = this.#schema
    return JSON.stringify(
      toJsonRow(
        fields.filter(({ name }) => primaryKeys.includes(name)),
        row,
      ),
    )
  }
}

/** The row with its nullable columns null: another row of the same key. */
function emptied(schema: TableSchema, row: Row): Row {
  return Object.fromEntries(schema.fields.map(({ name, type }) => [name, type.nullable ? null : row[name]]))
}

async function largestSequences(store: TableStore): Promise<ReadonlyMap<string, bigint>> {
  const largest = new Map<string, bigint>()
  for (const { partition, bucket, file } of await liveFiles(store)) {
    const place = `${Buffer.from(partition).toString('hex')}/${bucket}`
    if (file.maxSequence > (largest.get(place) ?? -1n)) largest.set(place, file.maxSequence)
  }
  return largest
}

for (const name of tables) {
  t.test(`${name}: a table of Paimon's is written on, compacted, expired and opened again`, async (t) => {
    const folder = t.testdir()
    copyGolden(folder, name)
    const store = await storeOf(folder, 'golden', name)
    const schema = await store.schemas.latest()
    let warehouse: Warehouse = await open(folder)
    let table: Table = await warehouse.table(`golden.${name}`)
    const reopen = async () => {
      await warehouse.close()
      warehouse = await open(folder)
      table = await warehouse.table(`golden.${name}`)
    }
    const before: Row[] = []
    for await (const row of table.scan()) before.push(row)
    const model = new Model(schema, before)
    const check = async (when: string) => {
      const found = inAnyOrder(await scanJson(table, schema))
      sameRows(t, found, inAnyOrder(model.rows.map((row) => toJsonRow(schema.fields, row))), `${name} ${when}`)
    }

    // A rollback of Paimon's leaves files behind.
    const unnamedBefore = new Set(await unnamedFiles(store))

    // Two commits over the files of Paimon: an update, a delete of an old row, a key that comes back.
    const largest = await largestSequences(store)
    const [first, second, third] = before
    const last = await store.snapshots.latest()
    if (first !== undefined) {
      await table.put(emptied(schema, first))
      model.put(emptied(schema, first))
    }
    if (second !== undefined) {
      await table.delete(model.key(second))
      model.delete(second)
    }
    await check('before the commit')
    await table.commit()
    await check('after a commit')
    for (const { partition, bucket, file } of await liveFiles(store)) {
      if (file.level > 0 || (await liveFiles(store, last!.id)).some((old) => old.file.name === file.name)) continue
      const place = `${Buffer.from(partition).toString('hex')}/${bucket}`
      t.ok(file.minSequence > (largest.get(place) ?? -1n), 'C034 sequence numbers go on behind those of Paimon')
    }
    if (second !== undefined) {
      await table.put(second)
      model.put(second)
    }
    if (third !== undefined) {
      await table.delete(model.key(third))
      model.delete(third)
    }
    const fresh = newRow(schema, first)
    if (fresh !== undefined) {
      await table.put(fresh)
      model.put(fresh)
    }
    await table.commit()
    await check('after another commit')
    await reopen()
    await check('opened again')
    sameRows(
      t,
      await table.getMany(before.slice(0, 50).map((row) => model.key(row))),
      before.slice(0, 50).map((row) => model.get(row)),
      'get',
    )
    sameRows(
      t,
      inAnyOrder(await scanJson(table, schema, { snapshot: last!.id })),
      inAnyOrder(before.map((row) => toJsonRow(schema.fields, row))),
      'the last snapshot of Paimon is read as it was',
    )

    await table.compact()
    await check('after a compaction')
    await table.compact({ full: true })
    await check('after a full compaction')
    const files = await liveFiles(store)
    t.ok(
      files.every(({ file }) => file.deleteRows === 0),
      'no delete is left',
    )
    t.equal(
      files.reduce((sum, { file }) => sum + file.rows, 0),
      model.rows.length,
      'each row is kept once',
    )
    await table.compact({ full: true })
    t.strictSame(
      new Set((await liveFiles(store)).map(({ file }) => file.name)),
      new Set(files.map(({ file }) => file.name)),
      'C006 a second full compaction rewrites nothing',
    )

    const { expired } = await table.expireSnapshots({ retainMax: 1, retainMin: 1, olderThan: 8e15 })
    t.ok(expired.length > 0, `${expired.length} snapshots are gone`)
    t.equal((await table.snapshots()).length, 1)
    await check('after expiry')
    const unnamed = await unnamedFiles(store)
    t.strictSame(
      unnamed.filter((file) => !unnamedBefore.has(file)),
      [],
      'no file is left that nothing names',
    )
    await reopen()
    await check('opened again after expiry')
    if (first !== undefined) {
      await table.put(first)
      model.put(first)
      await table.commit()
      await check('written once more')
    }
    await warehouse.close()
  })
}

/** A row of a key that is not there: the last integer or text of the key is changed. */
function newRow(schema: TableSchema, row: Row | undefined): Row | undefined {
  if (row === undefined) return undefined
  for (const name of [...schema.primaryKeys].reverse()) {
    const value = row[name]
    if (schema.partitionKeys.includes(name)) continue
    if (typeof value === 'number' && Number.isInteger(value)) return { ...row, [name]: value === 111 ? 112 : 111 }
    if (typeof value === 'string' && /^[a-z]*$/.test(value)) return { ...row, [name]: `${value}x` }
  }
  return undefined
}

import t from 'tap'
import { openWarehouse } from '../../../engine/index.ts'
import type { JsonRow } from '../../interop/support/oracle.ts'
import { toJsonRow } from '../../interop/support/values.ts'
import { goldenTable } from '../../support/golden.ts'
import {
  goldenRows,
  goldenWarehouse,
  inAnyOrder,
  sameRows,
  scanJson,
  schemaIn,
} from '../../support/golden-warehouse.ts'

/** All types; statistics in every form, or none; file indexes; pages and row groups; several schemas; partitions; deletes. */
const tables = [
  'bucket_key',
  'comp_lz4',
  'delete_kept',
  'dynamic_bucket',
  'evolution',
  'evolution_compacted',
  'file_index',
  'file_index_file',
  'parquet_bloom',
  'partition_null',
  'partition_types',
  'partitioned',
  'pk_multi',
  'pk_types',
  'rolling',
  'rowgroups',
  'stats_full',
  'stats_none',
  'thin_mode',
  'types',
  'types_more',
]

const warehouse = await openWarehouse(goldenWarehouse, { readOnly: true, workers: 0 })
t.teardown(() => warehouse.close())

t.test('each column alone, and its nulls, are those of the rows', async (t) => {
  for (const name of tables) {
    const table = await warehouse.table(`golden.${name}`)
    const { fields } = schemaIn(goldenTable(name))
    const expected = goldenRows(name)
    for (const field of fields) {
      const rows: JsonRow[] = []
      for await (const row of table.scan({ columns: [field.name], ordered: false })) rows.push(toJsonRow([field], row))
      const wanted = expected.map((row): JsonRow => ({ [field.name]: row[field.name] ?? null }))
      sameRows(t, inAnyOrder(rows), inAnyOrder(wanted), `${name}.${field.name}`)
      const count = async (isNull: boolean) => {
        let found = 0
        for await (const _ of table.scan({ columns: [], where: { [field.name]: { isNull } }, ordered: false })) found++
        return found
      }
      const nulls = wanted.filter((row) => row[field.name] === null).length
      t.equal(await count(true), nulls, `${name}.${field.name} is null`)
      t.equal(await count(false), wanted.length - nulls, `${name}.${field.name} is not null`)
    }
  }
})

t.test('an equality finds the rows with that value and no others', async (t) => {
  let asked = 0
  for (const name of tables) {
    const table = await warehouse.table(`golden.${name}`)
    const schema = schemaIn(goldenTable(name))
    const rows: Record<string, unknown>[] = []
    for await (const row of table.scan()) rows.push(row)
    for (const field of schema.fields) {
      if (['array', 'map', 'row'].includes(field.type.kind)) continue
      // -0.0 = 0.0
      const print = (value: unknown) => JSON.stringify(toJsonRow([field], { [field.name]: value === 0 ? 0 : value }))
      const texts = rows.map((row) => print(row[field.name]))
      for (const pick of new Set([Math.floor(rows.length / 3), rows.length - 1])) {
        const value = rows[pick]?.[field.name]
        if (value === undefined || value === null) continue
        const found = await scanJson(table, schema, { where: { [field.name]: { eq: value } } })
        const wanted = rows.filter((_, index) => texts[index] === texts[pick])
        sameRows(
          t,
          found,
          wanted.map((row) => toJsonRow(schema.fields, row)),
          `${name}: ${field.name} = ${String(value)}`,
        )
        asked++
      }
    }
  }
  t.ok(asked > 150, `${asked} equalities`)
})

t.test('a value of an older version of a row finds nothing', async (t) => {
  // delete_kept updates keys that the file below has with other values; evolution does so over schemas.
  for (const name of ['delete_kept', 'evolution', 'types', 'partitioned', 'stats_full']) {
    const table = await warehouse.table(`golden.${name}`)
    const schema = schemaIn(goldenTable(name))
    const [first] = await table.snapshots()
    const latest = new Set((await scanJson(table, schema)).map((row) => JSON.stringify(row)))
    let superseded = 0
    for await (const row of table.scan({ snapshot: first!.id })) {
      const json = toJsonRow(schema.fields, row)
      if (latest.has(JSON.stringify(json))) continue
      superseded++
      const flat = schema.fields.filter(
        ({ name, type }) => !['array', 'map', 'row'].includes(type.kind) && row[name] !== null,
      )
      const where = Object.fromEntries(flat.map((field) => [field.name, { eq: row[field.name] }]))
      const found = (await scanJson(table, schema, { where })).map((row) => JSON.stringify(row))
      t.ok(
        found.every((row) => latest.has(row)) && !found.includes(JSON.stringify(json)),
        `${name}: ${JSON.stringify(json).slice(0, 80)}`,
      )
    }
    t.ok(superseded > 0, `${name}: ${superseded} rows of the first snapshot are no more`)
  }
})

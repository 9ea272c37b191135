import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { parseDataFields } from '../../formats/types/parse.ts'
import type { Engines } from './support/engines.ts'
import type { Json } from './support/json-lines.ts'
import { type Digits, digitsOf } from './support/python.ts'

const warehouse = fileURLToPath(new URL('../golden/warehouse', import.meta.url))

/** Cases that pypaimon 2.1.0 does not read like Java, and what it lacks. */
const notInPython: Readonly<Record<string, string>> = {
  agg: 'merging MAP columns',
  agg_retract: 'ignore-retract',
  dv_bitmap64: '64-bit deletion vectors',
  partial_update_groups: 'sequence groups',
  partial_update_remove: 'remove-record-on-delete',
  types: 'TIMESTAMP(9) in a merge',
  types_multiset: 'MULTISET',
  types_variant: 'VARIANT',
}

/** The golden tables are in order, and so are the engines that check ours: they give the rows that are on record. */
export async function checkGoldenTables(t: Test, { oracle, python }: Engines): Promise<void> {
  await t.test('Java reads every golden table', { skip: typeof oracle === 'string' && oracle }, async (t) => {
    if (typeof oracle === 'string') return
    for (const name of cases()) {
      t.strictSame(await oracle.table(warehouse, `golden.${name}`).read(), expected(name), name)
    }
  })

  await t.test('pypaimon reads golden tables', { skip: typeof python === 'string' && python }, async (t) => {
    if (typeof python === 'string') return
    for (const name of cases().filter((name) => !Object.hasOwn(notInPython, name))) {
      t.strictSame(await python.readTable(warehouse, `golden.${name}`), expected(name), name)
    }
  })

  await t.test(
    'pyarrow and DuckDB read the same from Parquet files',
    { skip: typeof python === 'string' && python },
    async (t) => {
      if (typeof python === 'string') return
      // DuckDB rounds INT96 timestamps before 1970 to microseconds in the other direction.
      for (const name of cases().filter((name) => name !== 'types_more')) {
        for (const { path, digits } of parquetFiles(name)) {
          const rows = await python.readParquet('pyarrow', path, digits)
          t.ok(rows.length > 0, path.slice(warehouse.length))
          t.strictSame(await python.readParquet('duckdb', path, digits), rows, 'by DuckDB')
        }
      }
    },
  )
}

function cases(): readonly string[] {
  return readdirSync(new URL('../golden/expect', import.meta.url)).sort()
}

function expected(name: string): readonly Json[] {
  return JSON.parse(readFileSync(new URL(`../golden/expect/${name}/expected.json`, import.meta.url), 'utf8'))
}

function parquetFiles(name: string): readonly { readonly path: string; readonly digits: Digits }[] {
  const table = `${warehouse}/golden.db/${name}`
  const digits = digitsOf(parseDataFields(JSON.parse(readFileSync(`${table}/schema/schema-0`, 'utf8')).fields), 6)
  return readdirSync(table, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.parquet'))
    .slice(0, 4)
    .map((file) => ({ path: `${table}/${file}`, digits }))
}

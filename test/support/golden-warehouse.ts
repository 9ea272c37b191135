import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import type { Table } from '../../engine/index.ts'
import { parseSchemaName } from '../../formats/meta/names.ts'
import { parseSchema } from '../../formats/meta/schema.ts'
import type { TableSchema } from '../../formats/meta/types.ts'
import type { JsonRow } from '../interop/support/oracle.ts'
import { roundFloats, toJsonRow } from '../interop/support/values.ts'
import { goldenExpect, goldenFolder, goldenTable } from './golden.ts'

/** The warehouse of the golden tables; open it with `readOnly` only. */
export const goldenWarehouse = join(goldenFolder, 'warehouse')

/** Copies golden tables into the warehouse folder `to`, to be written there. */
export function copyGolden(to: string, ...names: readonly string[]): void {
  for (const name of names) {
    const target = join(to, 'golden.db', name)
    mkdirSync(dirname(target), { recursive: true })
    cpSync(goldenTable(name), target, { recursive: true })
  }
}

/** A schema of a table folder; the newest one without an id. */
export function schemaIn(folder: string, id?: number): TableSchema {
  const ids = readdirSync(join(folder, 'schema')).flatMap((file) => parseSchemaName(file) ?? [])
  return parseSchema(readFileSync(join(folder, 'schema', `schema-${id ?? Math.max(...ids)}`)))
}

/** Rows of one of the expected files of a golden table, FLOATs at 32 bits. */
export function goldenRows(name: string, file = 'expected'): readonly JsonRow[] {
  const { fields } = schemaIn(goldenTable(name))
  return goldenExpect<JsonRow>(name, file).map((row) => roundFloats(fields, row))
}

/** Rows of a scan in the notation of the expected files. */
export async function scanJson(
  table: Table,
  schema: TableSchema,
  options: Parameters<Table['scan']>[0] = {},
): Promise<readonly JsonRow[]> {
  const rows: JsonRow[] = []
  for await (const row of table.scan(options)) rows.push(toJsonRow(schema.fields, row))
  return rows
}

/** The same rows in an order that does not depend on the one they came in. */
export function inAnyOrder(rows: readonly JsonRow[]): readonly JsonRow[] {
  return rows
    .map((row) => ({ row, text: JSON.stringify(row) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ row }) => row)
}

/** `strictSame`, which prints a difference well and takes seconds over thousands of equal rows. */
export function sameRows(t: Test, found: readonly unknown[], wanted: readonly unknown[], name: string): void {
  if (isDeepStrictEqual(found, wanted)) t.pass(name)
  else t.strictSame(found, wanted, name)
}

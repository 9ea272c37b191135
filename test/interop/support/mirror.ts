import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toTableSchema } from '../../../engine/api/definition.ts'
import type { Fields } from '../../../engine/api/fields.ts'
import type { Table, Warehouse } from '../../../engine/index.ts'
import { parseSchema } from '../../../formats/meta/schema.ts'
import type { TableSchema } from '../../../formats/meta/types.ts'
import type { Field } from '../../../formats/types/row-type.ts'
import type { JsonRow } from './oracle.ts'
import { toJsonRow } from './values.ts'

export type Row = Readonly<Record<string, unknown>>

export interface Definition {
  readonly fields: Fields
  readonly primaryKey: readonly string[]
  readonly partitionBy?: readonly string[]
  readonly options?: Readonly<Record<string, string | number | boolean>>
}

/** A table of ours, and beside it a Map of the rows that it must hold. */
export class Mirror {
  readonly name: string
  /** Folder of the warehouse, for other engines. */
  readonly warehouse: string
  readonly primaryKey: readonly string[]
  table: Table
  fields: readonly Field[]
  readonly #ours: Warehouse
  readonly #rows = new Map<string, Row>()

  private constructor(
    ours: Warehouse,
    name: string,
    primaryKey: readonly string[],
    fields: readonly Field[],
    table: Table,
  ) {
    this.#ours = ours
    this.warehouse = ours.path
    this.name = name
    this.primaryKey = primaryKey
    this.fields = fields
    this.table = table
  }

  static async create(warehouse: Warehouse, name: string, definition: Definition): Promise<Mirror> {
    const { fields, primaryKeys } = toTableSchema(definition, 0)
    // Rows are made from samples of any type: the compiler can't know them.
    const table = (await warehouse.createTable(name, definition as never)) as unknown as Table
    return new Mirror(warehouse, name, primaryKeys, fields, table)
  }

  /** Opens a table that another engine made. */
  static async open(warehouse: Warehouse, name: string): Promise<Mirror> {
    const table = await warehouse.table(name)
    const { fields, primaryKeys } = newestSchema(folderOf(warehouse.path, name))
    return new Mirror(warehouse, name, primaryKeys, fields, table)
  }

  /** Folder of the table. */
  get folder(): string {
    return folderOf(this.warehouse, this.name)
  }

  async put(rows: readonly Row[]): Promise<void> {
    await this.table.put(rows)
    this.holds(rows)
  }

  async delete(keys: readonly Row[]): Promise<void> {
    await this.table.delete(keys.map((key) => this.keyOf(key)))
    this.lacks(keys)
  }

  /** Rows that another engine put. */
  holds(rows: readonly Row[]): void {
    for (const row of rows) this.#rows.set(this.#keyText(row), row)
  }

  /** Keys that another engine deleted. */
  lacks(keys: readonly Row[]): void {
    for (const key of keys) this.#rows.delete(this.#keyText(key))
  }

  /** Key columns of a row. */
  keyOf(row: Row): Row {
    return Object.fromEntries(this.primaryKey.map((name) => [name, row[name]]))
  }

  /** Rows that the table must hold, in the notation of the oracle, in no order. */
  expected(): readonly JsonRow[] {
    return [...this.#rows.values()].map((row) => this.json(row))
  }

  /** The row that the table must hold for a key, null where there is none. */
  expectedAt(key: Row): JsonRow | null {
    const row = this.#rows.get(this.#keyText(key))
    return row === undefined ? null : this.json(row)
  }

  /** Rows by our own scan. */
  async scan(options: { readonly snapshot?: number } = {}): Promise<readonly JsonRow[]> {
    const rows: JsonRow[] = []
    for await (const row of this.table.scan(options)) rows.push(this.json(row))
    return rows
  }

  /** Puts, deletes and commits; gives the id of the newest snapshot. */
  async commit(put: readonly Row[], gone: readonly Row[] = []): Promise<number> {
    await this.put(put)
    await this.delete(gone)
    const { id } = await this.table.commit()
    return id!
  }

  /** A new handle, which sees the columns that another engine changed. */
  async reopen(): Promise<void> {
    await this.table.close()
    this.table = await this.#ours.table(this.name)
    this.fields = newestSchema(this.folder).fields
  }

  /** Rows that the table must hold, as they were put. */
  rows(): readonly Row[] {
    return [...this.#rows.values()]
  }

  /** A row in the notation of the oracle. */
  json(row: Row): JsonRow {
    return toJsonRow(this.fields, row)
  }

  /** The key of a row in the notation of the oracle. */
  jsonKey(row: Row): JsonRow {
    return toJsonRow(
      this.fields.filter((field) => this.primaryKey.includes(field.name)),
      row,
    )
  }

  #keyText(row: Row): string {
    return JSON.stringify(this.jsonKey(row))
  }
}

function folderOf(warehouse: string, name: string): string {
  const [database, table] = name.split('.')
  return join(warehouse, `${database}.db`, `${table}`)
}

function newestSchema(folder: string): TableSchema {
  const ids = readdirSync(join(folder, 'schema')).map((name) => Number(name.slice('schema-'.length)))
  return parseSchema(new Uint8Array(readFileSync(join(folder, 'schema', `schema-${Math.max(...ids)}`))))
}

import { fileURLToPath } from 'node:url'
import type { Field } from '../../../formats/types/row-type.ts'
import { JsonLines, type JsonObject } from './json-lines.ts'
import type { JsonRow } from './oracle.ts'

/** Sub-second digits of TIME and TIMESTAMP columns, by name: Arrow knows units only. */
export type Digits = Readonly<Record<string, number>>

/** Digits of the columns of a table and of the copies of its keys in data files; DuckDB keeps no more than six. */
export function digitsOf(fields: readonly Field[], most = 9): Digits {
  return Object.fromEntries(
    fields.flatMap(({ name, type }) => {
      if (type.kind !== 'time' && type.kind !== 'timestamp' && type.kind !== 'timestamp_ltz') return []
      const digits = Math.min(type.precision, most)
      return [name, `_KEY_${name}`].map((column) => [column, digits] as const)
    }),
  )
}

/** Engines in Python. Rows are in the notation of ../oracle/README.md. */
export interface Python {
  /** Merged rows by pypaimon, in order of the primary key. `name` is `db.table`; options as `scan.snapshot-id`. */
  readTable(warehouse: string, name: string, options?: Readonly<Record<string, string>>): Promise<readonly JsonRow[]>
  /** All columns and rows of one Parquet file, in file order. */
  readParquet(engine: 'pyarrow' | 'duckdb', path: string, digits?: Digits): Promise<readonly JsonRow[]>
  /**
   * Reads a Parquet file with its page checksums verified by pyarrow. `problems` are statistics of row groups that are not true;
   * `statistics` and `indexes` count the column chunks that have them.
   */
  checkParquet(path: string): Promise<{ problems: readonly JsonRow[]; statistics: number; indexes: number }>
  /** Rows of a DuckDB statement. */
  query(sql: string, digits?: Digits): Promise<readonly JsonRow[]>
  close(): Promise<void>
}

/** Starts one Python process for the whole suite; `executable` is what `setup python` prints. */
export function startPython(executable: string): Python {
  const host = new JsonLines(executable, [fileURLToPath(new URL('host.py', import.meta.url))])
  const rows = async (request: JsonObject) => (await host.call(request)) as readonly JsonRow[]
  return {
    readTable(warehouse, name, options = {}) {
      const [db, table] = name.split('.') as [string, string]
      return rows({ cmd: 'read_table', warehouse, db, table, options })
    },
    readParquet: (engine, path, digits = {}) => rows({ cmd: 'read_parquet', engine, path, digits }),
    async checkParquet(path) {
      const [answer] = await rows({ cmd: 'check_parquet', path })
      return answer as unknown as { problems: readonly JsonRow[]; statistics: number; indexes: number }
    },
    query: (sql, digits = {}) => rows({ cmd: 'query', sql, digits }),
    close: () => host.close(),
  }
}

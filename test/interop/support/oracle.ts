import { fileURLToPath } from 'node:url'
import { type Json, JsonLines, type JsonObject } from './json-lines.ts'

/** A row in the notation of ../oracle/README.md, "Values in JSON". */
export type JsonRow = JsonObject

export interface SchemaDefinition {
  readonly fields: readonly { readonly name: string; readonly type: Json }[]
  readonly partitionKeys?: readonly string[]
  readonly primaryKeys: readonly string[]
  readonly options?: Readonly<Record<string, string>>
}

/** A line for `write`: a row, a row with its kind, or the end of a commit. */
export type WriteLine = { readonly row: JsonRow; readonly kind?: '+I' | '-U' | '+U' | '-D' } | { readonly commit: true }

export interface WriteOptions {
  /** No compaction, no expiry. */
  readonly writeOnly?: boolean
  /** Full compaction of the touched buckets in the same commit. */
  readonly compact?: boolean
  /** One writer for all commits, with identifiers 0, 1, 2, … */
  readonly stream?: boolean
  readonly user?: string
  readonly options?: Readonly<Record<string, string>>
}

export interface CommitAnswer {
  readonly commit: number
  readonly snapshot: number
  readonly snapshots: readonly { readonly id: number; readonly kind: string }[]
}

/** One record of a stream. */
export interface ToldChange {
  readonly snapshot: number
  readonly kind: string
  readonly row: JsonRow
}

export interface ReadOptions {
  readonly snapshot?: number
  readonly tag?: string
  readonly columns?: readonly string[]
  readonly limit?: number
  /** Tests that all must hold: pushed down to partitions, files, row groups and pages, then to rows. */
  readonly filter?: readonly Filter[]
}

/** Column, test, values. */
export type Filter = readonly [
  column: string,
  test: '=' | '<>' | '<' | '<=' | '>' | '>=' | 'in' | 'isNull' | 'isNotNull',
  ...values: Json[],
]

export interface VerifyAnswer {
  readonly snapshots: number
  readonly files: number
  readonly problems: readonly Json[]
}

/** One table, as Apache Paimon (Java) sees it. Every method rejects with Paimon's own message. */
export interface OracleTable {
  create(schema: SchemaDefinition): Promise<void>
  /** Rows of several commits; what follows the last `commit` line is committed too. */
  write(lines: readonly WriteLine[], options?: WriteOptions): Promise<readonly CommitAnswer[]>
  /** Merged rows in order of the primary key. */
  read(options?: ReadOptions): Promise<readonly JsonRow[]>
  /** Point lookups: the row of each key, null where there is none. */
  lookup(keys: readonly JsonRow[]): Promise<readonly (JsonRow | null)[]>
  compact(options?: { readonly full?: boolean }): Promise<void>
  /** What a stream from the first snapshot on is told. */
  changelog(): Promise<readonly ToldChange[]>
  expire(options: {
    readonly retainMax?: number
    readonly retainMin?: number
    readonly olderThan?: number
  }): Promise<void>
  /** Reads every file of every snapshot and checks it against its metadata. */
  verify(snapshot?: number): Promise<VerifyAnswer>
  /** Rows of a system table, `snapshots`, `files`, `options`, … */
  system(name: string, snapshot?: number): Promise<readonly JsonRow[]>
  /** Manifest entries with keys and statistics decoded. */
  entries(snapshot?: number): Promise<readonly JsonRow[]>
  /** Raw records of the data files: key, sequence, kind, value. */
  records(snapshot?: number): Promise<readonly JsonRow[]>
  /** For each row its partition path, binary key and bucket. */
  buckets(rows: readonly JsonRow[]): Promise<readonly JsonRow[]>
  alter(changes: readonly Json[]): Promise<void>
  tag(name: string, snapshot?: number): Promise<void>
  rollback(to: { readonly snapshot: number } | { readonly tag: string }): Promise<void>
  deleteTag(name: string): Promise<void>
  /** Makes a branch from a tag; it is read and written as the table `<name>$branch_<branch>`. */
  branch(name: string, tag: string): Promise<void>
  /** Files of the table that nothing names, as Java finds them; none is removed. */
  orphans(): Promise<readonly string[]>
  /** Any command of the oracle, by name. */
  call(cmd: string, request?: JsonObject): Promise<readonly Json[]>
}

export interface Oracle {
  /** `name` is `db.table`. */
  table(warehouse: string, name: string): OracleTable
  close(): Promise<void>
}

const oracleScript = fileURLToPath(new URL('../oracle/oracle', import.meta.url))

/** Starts Paimon in one JVM; it serves every table until it is closed. Building it the first time takes a while. */
export function startOracle(): Oracle {
  const server = new JsonLines(oracleScript, ['serve'])
  return {
    table: (warehouse, name) => oracleTable(server, warehouse, name),
    close: () => server.close(),
  }
}

function oracleTable(server: JsonLines, warehouse: string, name: string): OracleTable {
  const [db, table] = name.split('.') as [string, string]
  const call = (cmd: string, request: JsonObject = {}) => server.call({ cmd, warehouse, db, table, ...request })
  const rows = async (cmd: string, request?: JsonObject) => (await call(cmd, request)) as readonly JsonRow[]
  const at = (snapshot: number | undefined): JsonObject => (snapshot === undefined ? {} : { snapshot })
  return {
    call,
    async create(schema) {
      await call('create', { schema: schema as unknown as Json })
    },
    async write(lines, options = {}) {
      const { writeOnly, ...rest } = options
      const answers = await call('write', { lines, 'write-only': writeOnly ?? false, ...rest } as JsonObject)
      return answers as unknown as readonly CommitAnswer[]
    },
    read: ({ columns, ...rest } = {}) =>
      rows('read', columns === undefined ? rest : { ...rest, columns: columns.join(',') }),
    async lookup(keys) {
      const answers = await rows('lookup', { lines: keys })
      return answers.map((answer) => answer.row as JsonRow | null)
    },
    async changelog() {
      return (await rows('changelog', {})) as unknown as readonly ToldChange[]
    },
    async compact(options = {}) {
      await call('compact', options)
    },
    async expire({ retainMax, retainMin, olderThan }) {
      const flags = { 'retain-max': retainMax, 'retain-min': retainMin, 'older-than': olderThan }
      await call(
        'expire',
        Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as JsonObject,
      )
    },
    async verify(snapshot) {
      const lines = await rows('verify', at(snapshot))
      const summary = lines.at(-1) as unknown as { snapshots: number; files: number }
      return { snapshots: summary.snapshots, files: summary.files, problems: lines.slice(0, -1) }
    },
    system: (system, snapshot) => rows('sys', { args: [system], ...at(snapshot) }),
    entries: (snapshot) => rows('entries', at(snapshot)),
    records: (snapshot) => rows('kv', at(snapshot)),
    buckets: (lines) => rows('bucket', { lines }),
    async alter(changes) {
      await call('alter', { changes })
    },
    async tag(tag, snapshot) {
      await call('tag', { args: [tag], ...at(snapshot) })
    },
    async deleteTag(tag) {
      await call('delete-tag', { args: [tag] })
    },
    async branch(branch, tag) {
      await call('branch', { args: [branch], tag })
    },
    async orphans() {
      const [answer] = await rows('orphan', { 'dry-run': true })
      return answer!.files as readonly string[]
    },
    async rollback(to) {
      await call('rollback', to)
    },
  }
}

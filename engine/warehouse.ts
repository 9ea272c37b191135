import type { Codecs } from '../formats/compress/codec.ts'
import type { TableSchema } from '../formats/meta/types.ts'
import type { AutoCommit } from './api/calls.ts'
import { type AnyTableDefinition, type TableDefinition, toTableSchema, valueForms } from './api/definition.ts'
import type { Fields, InputRow, KeyNames, KeyOf, RowOf } from './api/fields.ts'
import { type ErrorDetails, isTableError, TableError } from './errors.ts'
import { checkWritable } from './options/check.ts'
import { checkCall } from './options/check-call.ts'
import type { Clock } from './ports/clock.ts'
import type { FileSystem } from './ports/file-system.ts'
import type { Random } from './ports/random.ts'
import { footersIn, type PointCache, pagesIn } from './store/blocks.ts'
import { Cache } from './store/cache.ts'
import { openTableStore, type TableStore } from './store/table-store.ts'
import {
  createDatabase,
  dropTable,
  listTables,
  parseTableName,
  realPathIfThere,
  removeDropped,
  tableExists,
  tableFolder,
} from './store/warehouse.ts'
import { checkLimits } from './table/auto-commit.ts'
import { TableCore, type TableServices } from './table/core.ts'
import { defaultsOf } from './table/encode.ts'
import { checkSameShape } from './table/same-shape.ts'
import { TableState, uncommittedError } from './table/state.ts'
import { Table } from './table/table.ts'
import { SharedExecutor } from './tasks/shared-executor.ts'
import type { TaskExecutor } from './tasks/submit.ts'
import { type CheckLevel, checkStore, type TableCheck } from './upkeep/check.ts'
import { type RepairResult, repairStore } from './upkeep/repair.ts'

/** Ports and settings of a warehouse, all decided. */
export interface WarehouseContext {
  readonly fs: FileSystem
  readonly clock: Clock
  readonly random: Random
  readonly codecs: Codecs
  /** Shared by all tables, and by what another warehouse of this process opened of them; closed by the last that needs it. */
  readonly executor: TaskExecutor
  readonly readOnly: boolean
  readonly durable: boolean
  readonly tempDirectory: string
  readonly cacheBytes: number
  /** False: every task goes to the executor, however small. */
  readonly smallTasks?: boolean
  /** Writing tables of this process by path: see `TableState`. */
  readonly states: Map<string, Promise<TableState>>
  readonly logger: Logger | undefined
  /** Lets the event loop have a turn, between steps of long work on this thread. */
  readonly pause?: (() => Promise<void>) | undefined
  /** Gives back the lock of the folder, when it was taken: the last thing that `close` does. */
  readonly unlock?: (() => Promise<void>) | undefined
}

/** Where messages go; silent when left out. The shape of pino's methods. */
export interface Logger {
  debug(details: object, message: string): void
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export interface TableOptions {
  readonly autoCommit?: AutoCommit
  /** Under whose name commits are made; a fixed one lets a restarted job replay commits by identifier. Default: random. */
  readonly commitUser?: string
}

interface OpenTable {
  readonly state: TableState | undefined
  /** It commits by itself. */
  readonly automatic: boolean
}

const TABLE_OPTIONS = { autoCommit: 'any', commitUser: 'text' } as const

/** A folder of tables, `<path>/<database>.db/<table>`. */
export class Warehouse {
  /** Absolute, symbolic links resolved. */
  readonly path: string
  readonly #context: WarehouseContext
  readonly #blocks: PointCache
  readonly #executor: SharedExecutor
  readonly #letGo: () => Promise<void>
  readonly #open = new Map<Table, OpenTable>()
  #closing: Promise<void> | undefined

  /** Use `openWarehouse`. */
  constructor(path: string, context: WarehouseContext) {
    this.path = path
    this.#context = context
    this.#blocks = new Cache(context.cacheBytes)
    this.#executor = new SharedExecutor(context.executor)
    this.#letGo = this.#executor.hold()
  }

  /**
   * Creates a table. `EXISTS` when the name is taken, unless `ifNotExists` is set: then the table is opened, and must have the
   * columns, keys, partitions and merge engine of the definition (`INVALID`).
   */
  async createTable<const F extends Fields, const PK extends readonly KeyNames<F>[]>(
    name: string,
    definition: TableDefinition<F, PK>,
    options: { readonly ifNotExists?: boolean } & TableOptions = {},
  ): Promise<Table<RowOf<F>, InputRow<F>, KeyOf<F, PK>>> {
    this.#checkOpen()
    checkCall('createTable', options, { ifNotExists: 'flag', ...TABLE_OPTIONS })
    const { fs, random, codecs, clock, readOnly } = this.#context
    const id = parseTableName(name)
    const schema = toTableSchema(definition, clock.now())
    defaultsOf(schema, valueForms(definition))
    if (options.autoCommit !== undefined) checkLimits(options.autoCommit)
    if (options.ifNotExists === true) {
      const table = await this.#openIfThere(name, definition, options)
      if (table !== undefined) return table as unknown as Table<RowOf<F>, InputRow<F>, KeyOf<F, PK>>
    }
    if (readOnly) throw readOnlyError(`${name} cannot be created`, { table: name })
    await createDatabase(fs, this.path, id.database)
    const store = openTableStore({ fs, random }, codecs, tableFolder(this.path, id))
    const created = !(await tableExists(fs, store.paths.table)) && (await store.schemas.publish(schema)) === 'published'
    if (!created && options.ifNotExists !== true) {
      throw new TableError('EXISTS', `Table ${name} exists. Open it with table(), or pass { ifNotExists: true }.`, {
        table: name,
      })
    }
    return this.#openTable(name, definition, options) as Promise<Table<RowOf<F>, InputRow<F>, KeyOf<F, PK>>>
  }

  /** Opens a table, whoever made it; `NOT_FOUND` when there is none. A definition gives rows their types and forms. */
  table(name: string, options?: TableOptions): Promise<Table>
  table<const F extends Fields, const PK extends readonly KeyNames<F>[]>(
    name: string,
    definition: TableDefinition<F, PK>,
    options?: TableOptions,
  ): Promise<Table<RowOf<F>, InputRow<F>, KeyOf<F, PK>>>
  async table(
    name: string,
    first: AnyTableDefinition | TableOptions = {},
    second: TableOptions = {},
  ): Promise<unknown> {
    this.#checkOpen()
    const definition = typeof first === 'object' && first !== null && 'fields' in first ? first : undefined
    const options = definition === undefined ? (first as TableOptions) : second
    checkCall('table', options, TABLE_OPTIONS)
    return this.#openTable(name, definition, options)
  }

  /** Names of all tables, `database.table`, in order. */
  async tables(): Promise<string[]> {
    this.#checkOpen()
    return (await listTables(this.#context.fs, this.path)).map(({ database, table }) => `${database}.${table}`)
  }

  /** Removes a table and all its files, at once and for good. `NOT_FOUND` when there is none. Close its handles first. */
  async dropTable(name: string): Promise<void> {
    this.#checkOpen()
    const { fs, random, states, readOnly } = this.#context
    if (readOnly) throw readOnlyError(`${name} cannot be dropped`, { table: name })
    const folder = tableFolder(this.path, parseTableName(name))
    if (!(await tableExists(fs, folder))) throw notFound(name)
    if (states.has(await fs.realPath(folder))) throw openError(name)
    await dropTable(fs, random, folder)
  }

  /**
   * Removes what is left of tables whose `dropTable` broke off, and gives the paths of the files; with `dryRun` it only lists them.
   * Such folders are no tables any more: nothing else looks at them.
   */
  async removeDropped(options: { readonly dryRun?: boolean } = {}): Promise<readonly string[]> {
    this.#checkOpen()
    checkCall('removeDropped', options, { dryRun: 'flag' })
    const { fs, readOnly } = this.#context
    const dryRun = options.dryRun === true
    if (readOnly && !dryRun) throw readOnlyError('Nothing can be removed', { path: this.path })
    return removeDropped(fs, this.path, dryRun)
  }

  /** Damaged and missing files of a table, also of one that cannot be opened. `data` reads each page, on the calling thread. */
  async checkTable(name: string, options: { readonly level?: CheckLevel } = {}): Promise<TableCheck> {
    checkCall('checkTable', options, { level: 'any' })
    return checkStore(await this.#storeOf(name), options.level ?? 'data', this.#context.pause)
  }

  /**
   * Goes back to the newest snapshot that `checkTable` finds whole. Says what it would do; with `dryRun: false` it does it: later
   * snapshots move to the folder `damaged` of the table, nothing is deleted. Close the table's handles, and stop other writers, first.
   */
  async repairTable(
    name: string,
    options: { readonly level?: CheckLevel; readonly dryRun?: boolean; readonly force?: boolean } = {},
  ): Promise<RepairResult> {
    checkCall('repairTable', options, { level: 'any', dryRun: 'flag', force: 'flag' })
    const { level = 'data', dryRun = true, force = false } = options
    const { states, clock, readOnly, pause } = this.#context
    const store = await this.#storeOf(name)
    if (!dryRun && readOnly) throw readOnlyError(`${name} cannot be repaired`, { table: name })
    if (!dryRun && states.has(store.paths.table)) throw openError(name)
    return repairStore(store, { level, dryRun, force, nowMillis: clock.now(), pause })
  }

  async #storeOf(name: string): Promise<TableStore> {
    this.#checkOpen()
    const { fs, random, codecs } = this.#context
    const path = await realPathIfThere(fs, tableFolder(this.path, parseTableName(name)))
    if (path === undefined || !(await tableExists(fs, path))) throw notFound(name)
    return openTableStore({ fs, random }, codecs, path)
  }

  /** Closes every table that is open. Rejects, and closes nothing, when one has rows that are not committed. */
  async close(options: { readonly discard?: boolean } = {}): Promise<void> {
    checkCall('close', options, { discard: 'flag' })
    if (this.#closing !== undefined) return this.#closing
    if (options.discard !== true) await this.#checkCommitted()
    // A handle that commits by itself does so for the others of its table, if it is the last.
    const open = [...this.#open].sort(([, a], [, b]) => Number(a.automatic) - Number(b.automatic))
    for (const [table] of open) await table.close(options)
    this.#closing ??= this.#letGo().finally(this.#context.unlock)
    return this.#closing
  }

  /** `INVALID` when closing all handles of this warehouse would lose rows. */
  async #checkCommitted(): Promise<void> {
    const open = [...this.#open]
    for (const [table, { state }] of open) {
      await state?.settled()
      const ours = open.filter(([, other]) => other.state === state)
      if (state === undefined || state.handles > ours.length || ours.some(([, { automatic }]) => automatic)) continue
      if (state.dirty) throw uncommittedError(table.name)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #openTable(name: string, definition: AnyTableDefinition | undefined, options: TableOptions): Promise<Table> {
    const table = await this.#openIfThere(name, definition, options)
    if (table === undefined) throw notFound(name)
    return table
  }

  async #openIfThere(
    name: string,
    definition: AnyTableDefinition | undefined,
    options: TableOptions & { readonly ifNotExists?: boolean },
  ): Promise<Table | undefined> {
    const { fs, random, codecs, readOnly } = this.#context
    const path = await realPathIfThere(fs, tableFolder(this.path, parseTableName(name)))
    if (path === undefined) return undefined
    const store = openTableStore({ fs, random }, codecs, path)
    const schema = await store.schemas.latestIfAny()
    if (schema === undefined) return undefined
    let read: TableSchema | undefined = schema
    const openCore = async () => {
      const newest = read ?? (await store.schemas.latest())
      // Another handle may close the table before it is opened here: then the schema is read anew.
      read = undefined
      return TableCore.open(name, store, this.#services(), newest)
    }
    let core: TableCore
    let state: TableState | undefined
    let refusal: TableError | undefined
    if (readOnly) {
      core = await openCore()
    } else {
      state = await this.#share(path, openCore).catch((error: unknown) => {
        if (!isTableError(error) || error.details.writeOnlyRefusal !== true) throw error
        refusal = error
        return undefined
      })
      core = state?.core ?? (await openCore())
    }
    try {
      if (definition !== undefined) checkSameShape(name, core.schema, toTableSchema(definition, 0), options)
      const table: Table = new Table(core, state, {
        forms: definition === undefined ? new Map() : valueForms(definition),
        autoCommit: options.autoCommit,
        commitUser: options.commitUser,
        refusal,
        onClose: async () => {
          this.#open.delete(table)
          if (state !== undefined) await this.#release(path, state)
        },
      })
      this.#open.set(table, { state, automatic: options.autoCommit !== undefined })
      return table
    } catch (error) {
      if (state !== undefined) await this.#release(path, state)
      throw error
    }
  }

  /** The writing state of a path, shared by all writing handles of the process; one more handle is counted. */
  async #share(path: string, openCore: () => Promise<TableCore>): Promise<TableState> {
    const { states } = this.#context
    for (;;) {
      const shared = states.get(path) ?? this.#openState(path, openCore)
      const state = await shared
      // The last handle may have been closed while we waited, and the state with it.
      if (states.get(path) !== shared) continue
      if (state.core.services.durable !== this.#context.durable) throw durabilityError(state.core)
      if (state.handles > 0) await state.core.newestSchema('write')
      if (states.get(path) !== shared) continue
      state.handles++
      return state
    }
  }

  #openState(path: string, openCore: () => Promise<TableCore>): Promise<TableState> {
    const { states } = this.#context
    const opened = openCore().then((core) => {
      const refusal = checkWritable(core.schema)
      if (refusal !== undefined) {
        throw new TableError(refusal.code, refusal.message, { ...refusal.details, writeOnlyRefusal: true })
      }
      this.#log(core)
      this.#warnOfSilence(core)
      const state = new TableState(core, this.#executor.hold())
      state.moveUpHidden()
      return state
    })
    states.set(path, opened)
    opened.catch(() => states.delete(path))
    return opened
  }

  async #release(path: string, state: TableState): Promise<void> {
    state.handles--
    if (state.handles > 0) return
    this.#context.states.delete(path)
    await state.close()
  }

  #services(): TableServices {
    const { clock, executor, durable, tempDirectory, smallTasks } = this.#context
    return {
      clock,
      executor,
      blocks: this.#blocks,
      footers: footersIn(this.#blocks),
      pages: pagesIn(this.#blocks),
      smallTasks,
      durable,
      tempDirectory,
    }
  }

  #log({ name: table, events }: TableCore): void {
    const { logger } = this.#context
    if (logger === undefined) return
    events.on('compaction', (event) => logger.debug({ table, ...event }, 'compacted'))
    events.on('commit', (event) => logger.debug({ table, ...event }, 'committed'))
    events.on('expiry', (event) => logger.info({ table, ...event }, 'expired snapshots'))
    events.on('stall', (event) => logger.warn({ table, ...event }, 'writers wait for compaction'))
    events.on('conflict', (event) => logger.warn({ table, ...event }, 'compaction dropped'))
    events.on('failure', (event) => logger.error({ table, ...event }, 'background work failed'))
  }

  /** Writers that leave compaction to another process leave changes by lookup to it, too. */
  #warnOfSilence({ name, options }: TableCore): void {
    if (!options['write-only'] || options['changelog-producer'] !== 'lookup') return
    const details = { table: name, 'write-only': true, 'changelog-producer': 'lookup' }
    this.#context.logger?.warn(details, 'changes are told once another process compacts')
  }

  #checkOpen(): void {
    if (this.#closing === undefined) return
    throw new TableError('CLOSED', 'The warehouse is closed. Open it again.', { path: this.path })
  }
}

/** Two warehouses of a process share the writing state of a table, so they must agree on what a commit promises. */
function durabilityError({ name, services }: TableCore): TableError {
  const durability = services.durable ? 'fsync' : 'none'
  return new TableError(
    'INVALID',
    `${name} is open in this process with durability ${durability}. Open the warehouse with the same, or close the other first.`,
    { table: name, option: 'durability', expected: durability },
  )
}

function readOnlyError(refused: string, details: ErrorDetails): TableError {
  return new TableError('INVALID', `${refused}: the warehouse was opened with readOnly. Open it without.`, details)
}

function openError(name: string): TableError {
  return new TableError('INVALID', `${name} is open in this process. Close its handles first.`, { table: name })
}

function notFound(name: string): TableError {
  return new TableError('NOT_FOUND', `There is no table ${name}. Use createTable() or see tables().`, { table: name })
}

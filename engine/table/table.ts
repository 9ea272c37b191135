import type { RecordBatch } from 'apache-arrow'
import { fromArrow, loadArrow, toRecordBatch } from '../../formats/column/arrow.ts'
import type { Batch } from '../../formats/column/column.ts'
import { sliceBatch } from '../../formats/column/slice.ts'
import { rowsOf, type ValueForms } from '../../formats/column/values.ts'
import type { Snapshot } from '../../formats/meta/types.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { Keys, type Range } from '../api/keys.ts'
import { asTableError } from '../api/value-errors.ts'
import { parseWhere, type Where } from '../api/where.ts'
import { TableError } from '../errors.ts'
import type { Explanation } from '../plan/explain.ts'
import { fieldNamed } from '../plan/kv-layout.ts'
import { buildLevels, type LevelSummary, type Levels, levelSummary } from '../plan/levels.ts'
import { bucketsOf } from '../store/view.ts'
import type { ReadStats } from '../tasks/task.ts'
import type { ExpireResult } from '../upkeep/expire.ts'
import type { ExpireOverrides } from '../upkeep/expire-request.ts'
import type { BucketWriter } from '../write/bucket-writer.ts'
import { DELETE, INSERT } from '../write/buffer.ts'
import type { WriteBatch } from '../write/writer.ts'
import { type AutoCommit, AutoCommitter } from './auto-commit.ts'
import { Compactions } from './compactions.ts'
import type { TableCore } from './core.ts'
import { RowEncoder } from './encode.ts'
import type { TableEvents } from './events.ts'
import { PointReads, type PointRow } from './point-reads.ts'
import { type CapturedScan, captureScan, type ScanRequest, scanBatches } from './reads.ts'
import { type Scan, ScanIterator } from './scan-iterator.ts'
import type { TableState } from './state.ts'

/** A commit that is durable and visible. */
export interface CommitResult {
  /** Id of the newest snapshot; undefined while the table has none. */
  readonly id: number | undefined
  /** False when there was nothing to commit, or the identifier had been committed before. */
  readonly created: boolean
  /** The snapshots this commit made, oldest first: an APPEND, and a COMPACT when compactions were part of it. */
  readonly snapshots: readonly SnapshotInfo[]
  readonly identifier: bigint
  /** Records and files that the commit added: one record a key and bucket, deletes included. */
  readonly records: number
  readonly files: number
}

export interface SnapshotInfo {
  readonly id: number
  readonly kind: Snapshot['commitKind']
  readonly schemaId: number
  readonly timeMillis: number
  readonly user: string
  readonly identifier: bigint
  /** Records in files, deletes and replaced versions included: not the number of rows. */
  readonly totalRecords: bigint
  readonly deltaRecords: bigint
  readonly properties: Readonly<Record<string, string>>
}

/** One bucket's tree. */
export interface BucketLevels {
  readonly partition: string
  readonly bucket: number
  /** Sorted runs: each level-0 file is one, each higher level that holds files is one. */
  readonly runs: number
  readonly levels: readonly LevelSummary[]
}

export interface ReadOptions<C extends string> {
  /** Columns of the result, in this order; all when left out. */
  readonly columns?: readonly C[]
  /** A snapshot to read instead of the newest state. It shows committed rows only. */
  readonly snapshot?: number
  readonly signal?: AbortSignal
}

export interface ScanOptions<Input, Key, C extends string> extends ReadOptions<C> {
  readonly range?: Range<Partial<KeyObjectOf<Key>> | Key>
  readonly where?: Where<Input>
  /** Rows at most, counted after merge, deletes and `where`. */
  readonly limit?: number
  /** `false` reads bucket by bucket instead of in one order by key. */
  readonly ordered?: boolean
  /** Not supported yet. */
  readonly reverse?: boolean
  /** Called with figures of each stretch read. */
  readonly onStats?: (stats: ReadStats) => void
}

type KeyObjectOf<Key> = Extract<Key, object>

export interface CompactOptions {
  /** All runs into the highest level; else what the picker asks for. */
  readonly full?: boolean
  /** Only buckets of this partition: its folder, as `levels()` shows it. */
  readonly partition?: string
  readonly bucket?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: { readonly buckets: number; readonly done: number }) => void
}

export type Mutation<Input, Key> =
  | { readonly put: Input | readonly Input[] }
  | { readonly delete: Key | readonly Key[] }

export interface HandleOptions {
  readonly forms: ValueForms
  readonly autoCommit: AutoCommit | undefined
  /** Fixed user of commits; else each handle has a random one. */
  readonly commitUser: string | undefined
  /** Why the table can only be read, when it is not `readOnly` that says so. */
  readonly refusal: TableError | undefined
  readonly onClose: () => Promise<void>
}

/**
 * A handle of a primary-key table. Rows are visible to `get` and `scan` of the handle at once, to others and after a crash once
 * `commit` has resolved. All methods may be called at the same time.
 */
export class Table<Row = Record<string, unknown>, Input = Record<string, unknown>, Key = unknown> {
  readonly name: string
  readonly #core: TableCore
  readonly #state: TableState | undefined
  readonly #options: HandleOptions
  readonly #keys: Keys
  readonly #encoder: RowEncoder
  readonly #points: PointReads
  readonly #auto: AutoCommitter | undefined
  readonly #user: string
  readonly #scans = new Set<ScanIterator<unknown>>()
  #identifier = 0n
  #writes: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  /** Use `warehouse.table` or `warehouse.createTable`. */
  constructor(core: TableCore, state: TableState | undefined, options: HandleOptions) {
    this.name = core.name
    this.#core = core
    this.#state = state
    this.#options = options
    this.#keys = new Keys(core.schema, options.forms)
    this.#encoder = new RowEncoder(core.schema, options.forms, this.#keys)
    this.#points = new PointReads(core, this.#keys.fields)
    const prefix = core.options['commit.user-prefix']
    this.#user = options.commitUser ?? (prefix === undefined ? '' : `${prefix}_`) + core.store.random.uuid()
    if (options.autoCommit !== undefined) {
      this.#auto = new AutoCommitter(
        options.autoCommit,
        core.services.clock,
        () => this.commit(),
        (error) => core.events.emit('failure', { during: 'commit', error }),
      )
    }
  }

  /** Inserts or replaces rows by key. `INVALID` naming row, column and value when one does not fit; then none is kept. */
  async put(rows: Input | readonly Input[], options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.write([{ put: rows }], options)
  }

  /** Deletes rows by key; a key that has no row is fine. */
  async delete(keys: Key | readonly Key[], options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await this.write([{ delete: keys }], options)
  }

  /** Puts and deletes, in order, as one unit: one snapshot holds all of them. */
  async write(
    mutations: readonly Mutation<Input, Key>[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    const state = this.#writable()
    const batches = mutations.map((mutation): WriteBatch => {
      if ('put' in mutation) return { kind: INSERT, values: this.#encoder.rows(listOf(mutation.put)) }
      if ('delete' in mutation) return { kind: DELETE, values: this.#encoder.deletes(listOf(mutation.delete)) }
      throw new TableError('INVALID', 'A mutation is { put: rows } or { delete: keys }.', { value: mutation })
    })
    await this.#append(state, batches, options.signal)
  }

  /**
   * Puts the rows of an apache-arrow RecordBatch: columns by name, types equal or widening. Its buffers must not change until the
   * promise settles.
   */
  async putArrow(batch: RecordBatch, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const state = this.#writable()
    // The place in the order of writes is taken now; the conversion may have to load apache-arrow first.
    const turn = this.#writes
    const converted = this.#fromArrow(batch)
    converted.catch(() => undefined)
    const done = turn.then(async () => state.writer.write([{ kind: INSERT, values: await converted }], options.signal))
    this.#writes = done.catch(() => undefined)
    await done
    this.#auto?.wrote(state.writer.uncommittedRows, state.writer.memoryBytes)
  }

  /**
   * Makes every row written before this call durable and visible, in one snapshot; several callers may share it. A commit that
   * fails keeps its rows for the next one. With an `identifier` that this user has committed before, the buffered rows are
   * dropped and that commit's snapshot is given back.
   */
  async commit(
    options: {
      readonly identifier?: bigint | number
      readonly properties?: Readonly<Record<string, string>>
      readonly signal?: AbortSignal
    } = {},
  ): Promise<CommitResult> {
    const state = this.#writable()
    await this.#writes
    const { properties, signal } = options
    const identifier = options.identifier === undefined ? undefined : checkIdentifier(options.identifier)
    if (identifier !== undefined) {
      const before = await this.#committedBefore(state, identifier)
      if (before !== undefined) return before
    }
    const used = identifier ?? this.#identifier + 1n
    if (used > this.#identifier) this.#identifier = used
    const shareable = identifier === undefined && properties === undefined && signal === undefined
    const { snapshots, addedFiles, addedRows } = await state.commit({
      user: this.#user,
      identifier: used,
      shareable,
      ...(properties !== undefined && { properties }),
      ...(signal !== undefined && { signal }),
    })
    return {
      id: this.#core.view?.snapshot.id,
      created: snapshots.length > 0,
      snapshots: snapshots.map(infoOf),
      identifier: snapshots[0]?.commitIdentifier ?? used,
      records: addedRows,
      files: addedFiles,
    }
  }

  /** Drops all rows that are not committed. */
  async discard(): Promise<void> {
    const state = this.#writable()
    await this.#writes
    await state.discard()
  }

  /** The row of a key, or undefined. Also rows of this handle that are not committed, unless `snapshot` is given. */
  async get<C extends keyof Row & string = keyof Row & string>(
    key: Key,
    options: ReadOptions<C> = {},
  ): Promise<Pick<Row, C> | undefined> {
    return (await this.getMany([key], options))[0]
  }

  /** The rows of keys in the order asked; undefined where there is none. */
  async getMany<C extends keyof Row & string = keyof Row & string>(
    keys: readonly Key[],
    options: ReadOptions<C> = {},
  ): Promise<(Pick<Row, C> | undefined)[]> {
    this.#checkOpen()
    const batch = this.#keys.batch(keys)
    const columns = this.#columns(options.columns)
    const fields = columns.map((name) => fieldNamed(this.#core.schema, name))
    const indexes = columns.map((name) => this.#core.schema.fields.findIndex((field) => field.name === name))
    if (this.#state === undefined && options.snapshot === undefined) await this.#core.refresh()
    const view = options.snapshot === undefined ? this.#core.view : await this.#core.viewOf(options.snapshot)
    const writer = options.snapshot === undefined ? this.#state?.writer : undefined
    const release = view && this.#core.pins.pin(view.snapshot.id)
    try {
      return this.#points.find(batch, writer, view).map((found) => {
        if (found === undefined) return undefined
        return this.#rows(pointBatch(found, fields, indexes))[0] as Pick<Row, C>
      })
    } catch (error) {
      throw await this.#explained(error, view?.snapshot.id)
    } finally {
      release?.()
    }
  }

  /**
   * Rows in partition order, within a partition by key. What is read is fixed by the call: later writes, commits, compactions
   * and expiries do not show, and the files stay until the scan ends, is left with `break`, or the table is closed.
   */
  scan<C extends keyof Row & string = keyof Row & string>(
    options: ScanOptions<Input, Key, C> = {},
  ): Scan<Pick<Row, C>> {
    return this.#scan(options, async function* (this: Table<Row, Input, Key>, batches: AsyncGenerator<Batch>) {
      for await (const batch of batches) {
        for (let start = 0; start < batch.rows; start += ROWS_AT_A_TIME) {
          yield this.#rows(sliceBatch(batch, start, Math.min(batch.rows, start + ROWS_AT_A_TIME))) as Pick<Row, C>[]
        }
      }
    })
  }

  /** Like `scan`, as apache-arrow RecordBatches that share the buffers they were decoded into. */
  scanArrow<C extends keyof Row & string = keyof Row & string>(
    options: ScanOptions<Input, Key, C> = {},
  ): Scan<RecordBatch> {
    return this.#scan(options, async function* (this: Table<Row, Input, Key>, batches: AsyncGenerator<Batch>) {
      const arrow = await loadArrow()
      for await (const batch of batches) yield [toRecordBatch(arrow, batch)]
    })
  }

  /**
   * Compacts buckets: by default what the picker asks for, with `full` everything into the highest level. Resolves when the
   * result is in a snapshot. Rows that are not committed are left alone.
   */
  async compact(options: CompactOptions = {}): Promise<void> {
    const state = this.#writable()
    const { full = false, partition, bucket, signal, onProgress } = options
    await state.committer.exclusive(() => state.committer.catchUp())
    const buckets = this.#bucketsFor(state, partition, bucket)
    let done = 0
    const progress = () => onProgress?.({ buckets: buckets.length, done })
    progress()
    await Promise.all(
      buckets.map(async (one) => {
        await state.compact(full, [one], signal)
        done++
        progress()
      }),
    )
  }

  /** What a compaction of each bucket would take now, rule by rule. */
  async explainCompaction(
    options: { readonly partition?: string; readonly bucket?: number } = {},
  ): Promise<readonly { readonly partition: string; readonly bucket: number; readonly explanation: Explanation }[]> {
    this.#checkOpen()
    return this.#levelsOf()
      .filter(({ partition, bucket }) => matches(options, partition, bucket))
      .map(({ partition, bucket, levels }) => ({ partition, bucket, explanation: this.#explain(levels) }))
  }

  /** The tree of each bucket, as this handle sees it now. */
  levels(): readonly BucketLevels[] {
    this.#checkOpen()
    return this.#levelsOf().map(({ partition, bucket, levels }) => ({
      partition,
      bucket,
      runs: levels.runs.length,
      levels: levelSummary(levels),
    }))
  }

  /** All snapshots that can be read, oldest first. */
  async snapshots(): Promise<readonly SnapshotInfo[]> {
    this.#checkOpen()
    const { snapshots } = this.#core.store
    const found = await Promise.all((await snapshots.ids()).map((id) => snapshots.find(id)))
    return found.filter((snapshot) => snapshot !== undefined).map(infoOf)
  }

  /** Looks for snapshots of other processes; a handle that only reads does so before each read. */
  async refresh(): Promise<void> {
    this.#checkOpen()
    const { committer } = this.#state ?? {}
    if (committer === undefined) await this.#core.refresh()
    else await committer.exclusive(() => committer.catchUp())
  }

  /**
   * Ends old snapshots and removes the files that only they name; without arguments as the table's options say. `olderThan` is
   * epoch ms. `dryRun` removes nothing and lists what would go.
   */
  async expireSnapshots(options: ExpireOverrides = {}): Promise<ExpireResult> {
    return this.#writable().expire(options, false)
  }

  on<K extends keyof TableEvents>(event: K, listener: (...args: TableEvents[K]) => void): this {
    this.#core.events.on(event, listener)
    return this
  }

  off<K extends keyof TableEvents>(event: K, listener: (...args: TableEvents[K]) => void): this {
    this.#core.events.off(event, listener)
    return this
  }

  /**
   * Ends scans and running compactions and lets go of the table. With rows that are not committed it rejects with `INVALID` and
   * leaves the handle open, unless `discard` is set or the handle commits by itself.
   */
  async close(options: { readonly discard?: boolean } = {}): Promise<void> {
    if (this.#closing !== undefined) return this.#closing
    const state = this.#state
    await this.#writes
    await this.#auto?.close()
    if (state !== undefined && state.handles === 1 && state.dirty) {
      if (options.discard === true) await state.discard()
      else if (this.#auto !== undefined) await this.commit()
      else {
        throw new TableError(
          'INVALID',
          `${this.name} has rows that are not committed. Call commit() first, or close({ discard: true }) to drop them.`,
          { table: this.name },
        )
      }
    }
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    for (const scan of this.#scans) await scan.return()
    await this.#options.onClose()
  }

  #scan<C extends string, T>(
    options: ScanOptions<Input, Key, C>,
    convert: (this: Table<Row, Input, Key>, batches: AsyncGenerator<Batch>) => AsyncGenerator<readonly T[]>,
  ): Scan<T> {
    this.#checkOpen()
    const request = this.#request(options)
    const { snapshot } = options
    const late = snapshot !== undefined || this.#state === undefined
    // A writing handle fixes its state now; a snapshot does not change, and a reading handle looks for the newest first.
    let captured: CapturedScan | undefined = late
      ? undefined
      : captureScan(this.#core, this.#state?.writer, this.#core.view, request)
    let id = late ? undefined : this.#core.view?.snapshot.id
    const batches = async function* (this: Table<Row, Input, Key>): AsyncGenerator<Batch> {
      try {
        if (captured === undefined) {
          if (snapshot === undefined) await this.#core.refresh()
          const view = snapshot === undefined ? this.#core.view : await this.#core.viewOf(snapshot)
          id = view?.snapshot.id
          captured = captureScan(this.#core, undefined, view, request)
        }
        yield* scanBatches(this.#core, captured, request)
      } catch (error) {
        throw await this.#explained(error, id)
      }
    }
    const scan = new ScanIterator<T>(
      () => convert.call(this, batches.call(this)),
      () => {
        captured?.release()
        this.#scans.delete(scan)
      },
    )
    this.#scans.add(scan)
    return scan
  }

  #request<C extends string>(options: ScanOptions<Input, Key, C>): ScanRequest {
    if (options.reverse === true) {
      throw new TableError('UNSUPPORTED', 'Reverse scans are not supported yet. Collect the rows and reverse them.', {
        value: 'reverse',
      })
    }
    const { limit = Number.POSITIVE_INFINITY } = options
    if (limit !== Number.POSITIVE_INFINITY && (!Number.isInteger(limit) || limit < 0)) {
      throw new TableError('INVALID', `limit is ${String(limit)}: give a whole number from 0 on.`, { value: limit })
    }
    const { range, partition } = this.#keys.range((options.range ?? {}) as Range<unknown>)
    const { schema } = this.#core
    return {
      columns: this.#columns(options.columns),
      range,
      partition,
      where: options.where === undefined ? undefined : parseWhere(options.where, schema.fields, this.#options.forms),
      limit,
      ordered: options.ordered ?? true,
      signal: options.signal,
      onStats: options.onStats,
    }
  }

  #columns(columns: readonly string[] | undefined): readonly string[] {
    const { schema } = this.#core
    if (columns === undefined) return schema.fields.map((field) => field.name)
    for (const name of columns) fieldNamed(schema, name)
    return [...new Set(columns)]
  }

  #rows(batch: Batch): Record<string, unknown>[] {
    try {
      return rowsOf(batch, this.#options.forms)
    } catch (error) {
      throw asTableError(error)
    }
  }

  /** A file that is gone because its snapshot was expired elsewhere is no damage. */
  async #explained(error: unknown, snapshot: number | undefined): Promise<unknown> {
    if (!(error instanceof TableError) || error.code !== 'CORRUPT' || snapshot === undefined) return error
    if (await this.#core.store.snapshots.isLive(snapshot)) return error
    return new TableError(
      'EXPIRED',
      `Snapshot ${snapshot} of ${this.name} was expired while it was read. Read again: a newer snapshot is there.`,
      { table: this.name, value: snapshot },
      error,
    )
  }

  async #fromArrow(batch: RecordBatch): Promise<Batch> {
    const { fields, primaryKeys } = this.#core.schema
    const arrow = await loadArrow()
    try {
      return fromArrow(arrow, batch, fields, { keys: new Set(primaryKeys) })
    } catch (error) {
      throw asTableError(error)
    }
  }

  async #append(state: TableState, batches: readonly WriteBatch[], signal: AbortSignal | undefined): Promise<void> {
    const done = this.#writes.then(() => state.writer.write(batches, signal))
    this.#writes = done.catch(() => undefined)
    await done
    this.#auto?.wrote(state.writer.uncommittedRows, state.writer.memoryBytes)
  }

  /** The commit of this user with this identifier, if there is one. Its rows are there, so ours are dropped. */
  async #committedBefore(state: TableState, identifier: bigint): Promise<CommitResult | undefined> {
    const { snapshots } = this.#core.store
    for (const id of [...(await snapshots.ids())].reverse()) {
      const snapshot = await snapshots.find(id)
      if (snapshot?.commitUser !== this.#user) continue
      if (snapshot.commitIdentifier < identifier) return undefined
      if (snapshot.commitIdentifier > identifier || snapshot.commitKind === 'COMPACT') continue
      await state.discard()
      return {
        id,
        created: false,
        snapshots: [infoOf(snapshot)],
        identifier,
        records: 0,
        files: 0,
      }
    }
    return undefined
  }

  #bucketsFor(state: TableState, partition: string | undefined, bucket: number | undefined): readonly BucketWriter[] {
    const { view } = this.#core
    if (view !== undefined) for (const one of bucketsOf(view)) state.writer.bucket(one.partition, one.bucket)
    return [...state.writer.buckets].filter((one) =>
      matches(
        { ...(partition !== undefined && { partition }), ...(bucket !== undefined && { bucket }) },
        this.#core.partitionName(one.partition),
        one.bucket,
      ),
    )
  }

  #explain(levels: Levels): Explanation {
    return (this.#state?.compactions ?? new Compactions(this.#core, () => undefined)).explain(levels)
  }

  #levelsOf() {
    const { view, options, compareKeys } = this.#core
    const found = new Map<string, { partition: string; bucket: number; levels: ReturnType<typeof buildLevels> }>()
    for (const { partition, bucket, files } of view === undefined ? [] : bucketsOf(view)) {
      const name = this.#core.partitionName(partition)
      found.set(`${name}/${bucket}`, {
        partition: name,
        bucket,
        levels: buildLevels(files, options['num-levels'], compareKeys),
      })
    }
    for (const { partition, bucket, levels } of this.#state?.writer.buckets ?? []) {
      const name = this.#core.partitionName(partition)
      if (levels.runs.length > 0) found.set(`${name}/${bucket}`, { partition: name, bucket, levels })
      else found.delete(`${name}/${bucket}`)
    }
    return [...found.values()].sort((a, b) =>
      a.partition < b.partition ? -1 : a.partition > b.partition ? 1 : a.bucket - b.bucket,
    )
  }

  #writable(): TableState {
    this.#checkOpen()
    if (this.#options.refusal !== undefined) throw this.#options.refusal
    if (this.#state === undefined) {
      throw new TableError(
        'INVALID',
        `${this.name} was opened with readOnly. Open the warehouse without it to write.`,
        {
          table: this.name,
        },
      )
    }
    this.#state.committer.checkUsable()
    return this.#state
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) {
      throw new TableError('CLOSED', `The handle of ${this.name} is closed. Open the table again.`, {
        table: this.name,
      })
    }
  }
}

/** Rows turned into objects at a time: a consumer that leaves early has not paid for a whole batch. */
const ROWS_AT_A_TIME = 1024

/** Identifiers of batch writers of other engines. */
const BATCH_IDENTIFIER = 9223372036854775807n

function checkIdentifier(identifier: bigint | number): bigint {
  if (
    typeof identifier === 'bigint'
      ? identifier >= 0n && identifier < BATCH_IDENTIFIER
      : Number.isSafeInteger(identifier) && identifier >= 0
  ) {
    return BigInt(identifier)
  }
  throw new TableError(
    'INVALID',
    `identifier is ${String(identifier)}: give a whole number from 0 to 2^63 - 2 that grows with each commit.`,
    {
      value: identifier,
    },
  )
}

function listOf<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? value : [value as T]
}

function pointBatch({ batch, row, offset }: PointRow, fields: readonly Field[], indexes: readonly number[]): Batch {
  const slice = sliceBatch(batch, row, row + 1)
  return { fields, rows: 1, columns: indexes.map((index) => slice.columns[index + offset]!) }
}

function matches(
  wanted: { readonly partition?: string; readonly bucket?: number },
  partition: string,
  bucket: number,
): boolean {
  return (
    (wanted.partition === undefined || wanted.partition === partition) &&
    (wanted.bucket === undefined || wanted.bucket === bucket)
  )
}

function infoOf(snapshot: Snapshot): SnapshotInfo {
  return {
    id: snapshot.id,
    kind: snapshot.commitKind,
    schemaId: snapshot.schemaId,
    timeMillis: snapshot.timeMillis,
    user: snapshot.commitUser,
    identifier: snapshot.commitIdentifier,
    totalRecords: snapshot.totalRecordCount,
    deltaRecords: snapshot.deltaRecordCount,
    properties: snapshot.properties ?? {},
  }
}

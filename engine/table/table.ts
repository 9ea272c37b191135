import type { RecordBatch } from 'apache-arrow'
import { loadArrow, toRecordBatch } from '../../formats/column/arrow.ts'
import type { Batch } from '../../formats/column/column.ts'
import { reversed } from '../../formats/column/gather.ts'
import type {
  BucketExplanation,
  BucketFilter,
  BucketLevels,
  CallOptions,
  ChangeBatch,
  ChangesOptions,
  CommitOptions,
  CommitResult,
  CompactOptions,
  Deleted,
  FollowOptions,
  Mutation,
  ReadOptions,
  ScanOptions,
  SchemaInfo,
  SnapshotInfo,
} from '../api/calls.ts'
import { Keys } from '../api/keys.ts'
import { asTableError } from '../api/value-errors.ts'
import { TableError } from '../errors.ts'
import { checkCall } from '../options/check-call.ts'
import { bucketsOf } from '../store/view.ts'
import type { ExpireResult } from '../upkeep/expire.ts'
import type { ExpireOverrides } from '../upkeep/expire-request.ts'
import type { OrphanOptions, OrphanResult } from '../upkeep/orphans.ts'
import { ChangeReads } from './change-reads.ts'
import type { TableCore } from './core.ts'
import type { TableEvents } from './events.ts'
import type { HandleOptions } from './handle-options.ts'
import { bucketLevels, checkFilter, explainBuckets, infoOf, matches, schemaInfoOf } from './inspect.ts'
import { RowReads } from './row-reads.ts'
import { RowWrites } from './row-writes.ts'
import type { Scan } from './scan-iterator.ts'
import { type TableState, uncommittedError } from './state.ts'

const BUCKETS = { partition: 'text', bucket: 'count' } as const
const CALL = { signal: 'signal' } as const

function recordBatch(arrow: Awaited<ReturnType<typeof loadArrow>>, batch: Batch): RecordBatch {
  try {
    return toRecordBatch(arrow, batch)
  } catch (error) {
    throw asTableError(error, 'read')
  }
}

/**
 * A handle of a primary-key table. Rows are visible to `get` and `scan` of the handle at once, to others and after a crash once
 * `commit` has resolved. All methods may be called at the same time; writes take effect in the order of the calls.
 */
export class Table<Row = Record<string, unknown>, Input = Record<string, unknown>, Key = unknown> {
  /** `database.table`. */
  readonly name: string
  readonly #core: TableCore
  readonly #state: TableState | undefined
  readonly #options: HandleOptions
  readonly #reads: RowReads
  readonly #changes: ChangeReads
  readonly #writes: RowWrites | undefined
  #closing: Promise<void> | undefined

  /** Use `warehouse.table` or `warehouse.createTable`. */
  constructor(core: TableCore, state: TableState | undefined, options: HandleOptions) {
    const keys = new Keys(core.schema, options.forms)
    this.name = core.name
    this.#core = core
    this.#state = state
    this.#options = options
    this.#reads = new RowReads(core, state, keys, options.forms)
    this.#changes = new ChangeReads(core, this.#reads, state !== undefined)
    this.#writes = state && new RowWrites(state, keys, options)
  }

  /** Inserts or replaces rows by key. `INVALID` naming row, column and value when one does not fit; then none is kept. */
  async put(rows: Input | readonly Input[], options: CallOptions = {}): Promise<void> {
    checkCall('put', options, CALL)
    await this.#writable().write([{ put: rows }], options.signal)
  }

  /**
   * Deletes rows by key; a key that has no row is fine. Tables with a `sequence.field`, sequence groups or an aggregation take rows: the
   * key, and the columns that say how new the delete is or what it takes back. `INVALID` naming the option that is missing when
   * the table's merge engine cannot take rows back.
   */
  async delete(keys: Deleted<Input, Key> | readonly Deleted<Input, Key>[], options: CallOptions = {}): Promise<void> {
    checkCall('delete', options, CALL)
    await this.#writable().write([{ delete: keys }], options.signal)
  }

  /** Puts and deletes, in order, as one unit: one snapshot holds all of them. */
  async write(mutations: readonly Mutation<Input, Key>[], options: CallOptions = {}): Promise<void> {
    checkCall('write', options, CALL)
    await this.#writable().write(mutations, options.signal)
  }

  /**
   * Puts the rows of an apache-arrow RecordBatch: columns by name, types equal or widening. Its buffers must not change until the
   * promise settles.
   */
  async putArrow(batch: RecordBatch, options: CallOptions = {}): Promise<void> {
    checkCall('putArrow', options, CALL)
    await this.#writable().writeArrow(batch, options.signal)
  }

  /**
   * Makes every row written before this call durable and visible, in one snapshot; several callers may share it. A commit that
   * fails keeps its rows for the next one. With an `identifier` that this user has committed before, the buffered rows are
   * dropped and that commit's snapshot is given back.
   */
  async commit(options: CommitOptions = {}): Promise<CommitResult> {
    return this.#writable().commit(options)
  }

  /** Drops all rows that are not committed. */
  async discard(): Promise<void> {
    await this.#writable().discard()
  }

  /**
   * The row of a key, or undefined. Also rows of this handle that are not committed, unless `snapshot` is given. Reads that miss
   * the cache block the event loop for the pages they need.
   */
  async get<C extends keyof Row & string = keyof Row & string>(
    key: Key,
    options: ReadOptions<C> = {},
  ): Promise<Pick<Row, C> | undefined> {
    this.#checkOpen()
    return this.#reads.get(key, options) as Pick<Row, C> | undefined
  }

  /**
   * `get` of all columns without a promise. Blocks for the pages that are not in memory. A handle that only reads answers from
   * the snapshot that it saw last: call `refresh` for a newer one.
   */
  getSync(key: Key): Row | undefined {
    this.#checkOpen()
    return this.#reads.getSync(key) as Row | undefined
  }

  /** The rows of keys in the order asked; undefined where there is none. */
  async getMany<C extends keyof Row & string = keyof Row & string>(
    keys: readonly Key[],
    options: ReadOptions<C> = {},
  ): Promise<(Pick<Row, C> | undefined)[]> {
    this.#checkOpen()
    return (await this.#reads.getMany(keys, options)) as (Pick<Row, C> | undefined)[]
  }

  /**
   * Rows in partition order, within a partition by key. A writing handle fixes what is read by the call: later writes, commits,
   * compactions and expiries do not show, and the files stay until the scan ends, is left with `break`, or the table is closed.
   */
  scan<C extends keyof Row & string = keyof Row & string>(
    options: ScanOptions<Input, Key, C> = {},
  ): Scan<Pick<Row, C>> {
    this.#checkOpen()
    const scan = this.#reads.scan(options, (batches) => this.#reads.rowLists(batches, options.reverse === true))
    return scan as unknown as Scan<Pick<Row, C>>
  }

  /** Like `scan`, as apache-arrow RecordBatches that share the buffers they were decoded into. */
  scanArrow<C extends keyof Row & string = keyof Row & string>(
    options: ScanOptions<Input, Key, C> = {},
  ): Scan<RecordBatch> {
    this.#checkOpen()
    return this.#reads.scan(options, async function* (batches) {
      const arrow = await loadArrow()
      for await (const batch of batches) {
        yield [recordBatch(arrow, options.reverse === true ? reversed(batch) : batch)]
      }
    })
  }

  /**
   * What changed from snapshot to snapshot: after `from`, up to `to`. Without a changelog producer the records as they were flushed,
   * of each key the last one of a commit; with one what it wrote. `EXPIRED` when changes asked for are gone, `NOT_FOUND` for
   * snapshots still to come.
   */
  changes<C extends keyof Row & string = keyof Row & string>(
    options: ChangesOptions<C> = {},
  ): Scan<ChangeBatch<Pick<Row, C>>> {
    this.#checkOpen()
    return this.#changes.changes(options) as unknown as Scan<ChangeBatch<Pick<Row, C>>>
  }

  /**
   * `changes` that goes on with each new snapshot, of this process at once, of others after `pollMillis` at most. Ends when the
   * signal fires, is left with `break`, or fails with `CLOSED` when the table is closed.
   */
  follow<C extends keyof Row & string = keyof Row & string>(
    options: FollowOptions<C> = {},
  ): Scan<ChangeBatch<Pick<Row, C>>> {
    this.#checkOpen()
    return this.#changes.follow(options) as unknown as Scan<ChangeBatch<Pick<Row, C>>>
  }

  /**
   * Compacts buckets: by default what the picker asks for, with `full` everything into the highest level. Resolves when the
   * results are in snapshots; a result that took in rows which are not committed is in the snapshot of their commit.
   */
  async compact(options: CompactOptions = {}): Promise<void> {
    const { state } = this.#writable()
    checkCall('compact', options, { full: 'flag', ...BUCKETS, signal: 'signal', onProgress: 'callback' })
    const { full = false, signal, onProgress } = options
    await state.committer.exclusive(() => state.committer.catchUp())
    this.#core.checkSchema('write')
    if (this.#core.view !== undefined) {
      for (const { partition, bucket } of bucketsOf(this.#core.view)) state.writer.bucket(partition, bucket)
    }
    const buckets = [...state.writer.buckets].filter(({ partition, bucket }) =>
      matches(options, this.#core.partitionName(partition), bucket),
    )
    checkFilter(this.#core, state, options)
    let done = 0
    onProgress?.({ buckets: buckets.length, done })
    const outcomes = await Promise.allSettled(
      buckets.map(async (bucket) => {
        await state.compact(full, bucket, signal)
        onProgress?.({ buckets: buckets.length, done: ++done })
      }),
    )
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  /** What a compaction of each bucket would take now, rule by rule. */
  async explainCompaction(filter: BucketFilter = {}): Promise<readonly BucketExplanation[]> {
    this.#checkOpen()
    checkCall('explainCompaction', filter, BUCKETS)
    return explainBuckets(this.#core, this.#state, filter)
  }

  /** The tree of each bucket, as this handle sees it now. */
  levels(): readonly BucketLevels[] {
    this.#checkOpen()
    return bucketLevels(this.#core, this.#state)
  }

  /** Columns, keys and options of the schema that this handle goes by. */
  get schema(): SchemaInfo {
    return schemaInfoOf(this.#core.schema)
  }

  /** All snapshots that can be read, oldest first. */
  async snapshots(): Promise<readonly SnapshotInfo[]> {
    this.#checkOpen()
    const { snapshots } = this.#core.store
    const found: SnapshotInfo[] = []
    for (const id of await snapshots.ids()) {
      const snapshot = await snapshots.find(id)
      if (snapshot !== undefined) found.push(infoOf(snapshot))
    }
    return found
  }

  /**
   * Looks for snapshots of other processes, and for a newer schema: `CONFLICT` when its columns are others. A handle that only
   * reads looks for snapshots before each read.
   */
  async refresh(): Promise<void> {
    this.#checkOpen()
    const { committer } = this.#state ?? {}
    if (committer === undefined) await this.#core.refresh()
    else await committer.exclusive(() => committer.catchUp())
    await this.#core.newestSchema('read')
  }

  /**
   * Ends old snapshots and removes the files that only they name; without arguments as the table's options say. `olderThan` is
   * epoch ms. `dryRun` removes nothing and lists what would go.
   */
  async expireSnapshots(options: ExpireOverrides = {}): Promise<ExpireResult> {
    return this.#writable().state.expire(options)
  }

  /**
   * Removes files that no snapshot, tag, branch or changelog names, nor anything in this process: what crashes left behind.
   * `olderThan` is epoch ms, a day ago by default; a younger one needs `force`. When anything cannot be listed or read, nothing is
   * removed: `CORRUPT` or `IO` names it. Commits of this process wait meanwhile. Reads every manifest of the table once.
   */
  async removeOrphans(options: OrphanOptions = {}): Promise<OrphanResult> {
    return this.#writable().state.removeOrphans(options)
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
    checkCall('close', options, { discard: 'flag' })
    while (this.#closing === undefined) {
      await this.#writes?.settled()
      // One step from the look to the end: a write in between would be lost with the handle.
      if (this.#closing !== undefined) break
      if (this.#state?.busy === true) continue
      if (this.#losesRows()) await this.#settleRows(options.discard === true)
      else this.#closing = this.#close()
    }
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Whether rows would be lost with this handle: no other one stays that could commit them. */
  #losesRows(): boolean {
    const state = this.#state
    return state?.dirty === true && state.handles - state.leaving <= 1
  }

  async #settleRows(discard: boolean): Promise<void> {
    if (discard) await this.#writes?.discard()
    else if (this.#writes?.automatic) await this.#writes.commit({})
    else throw uncommittedError(this.name)
  }

  async #close(): Promise<void> {
    const state = this.#state
    if (state !== undefined) state.leaving++
    await this.#reads.close()
    if (state !== undefined) state.leaving--
    await this.#options.onClose()
  }

  #writable(): RowWrites {
    this.#checkOpen()
    if (this.#options.refusal !== undefined) throw this.#options.refusal
    if (this.#writes === undefined) {
      throw new TableError(
        'INVALID',
        `${this.name} was opened with readOnly. Open the warehouse without it to write.`,
        {
          table: this.name,
        },
      )
    }
    this.#writes.state.committer.checkUsable()
    return this.#writes
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) {
      throw new TableError('CLOSED', `The handle of ${this.name} is closed. Open the table again.`, {
        table: this.name,
      })
    }
  }
}

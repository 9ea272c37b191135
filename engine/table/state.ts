import { TableError } from '../errors.ts'
import { createdBy } from '../plan/increment.ts'
import { buildLevels } from '../plan/levels.ts'
import { hidesLevel0 } from '../plan/visible.ts'
import { bucketsOf } from '../store/view.ts'
import type { ExpireResult } from '../upkeep/expire.ts'
import { type ExpireOverrides, type ExpireRequest, expireRequest } from '../upkeep/expire-request.ts'
import { Expiry } from '../upkeep/expiry.ts'
import { type OrphanOptions, type OrphanResult, orphanLimit, removeOrphans } from '../upkeep/orphans.ts'
import { BucketWriter } from '../write/bucket-writer.ts'
import { flushHere } from '../write/flush-here.ts'
import { createRouter } from '../write/route.ts'
import { TableWriter } from '../write/writer.ts'
import { bucketCountError, switchedError } from './commit-errors.ts'
import { type CommitRequest, type Committed, Committer } from './committer.ts'
import { Compactions } from './compactions.ts'
import type { TableCore } from './core.ts'
import { filesInUse } from './files-in-use.ts'

/**
 * The writing half of a table in this process: buckets, compactions, commits. All writing handles of one path share it, so that
 * two opens in a process never race each other.
 */
export class TableState {
  readonly core: TableCore
  readonly writer: TableWriter
  readonly compactions: Compactions
  readonly committer: Committer
  readonly #expiry: Expiry
  readonly #closed: () => Promise<void>
  readonly #calls = new Set<Promise<unknown>>()
  handles = 0
  /** Handles among them that are closing: they commit nothing any more. */
  leaving = 0

  /** `closed` is called at the end of `close`. */
  constructor(core: TableCore, closed: () => Promise<void>) {
    core.checkWritable()
    this.core = core
    this.#closed = closed
    const { schema, options, store, services } = core
    const shape = {
      fields: schema.fields,
      keys: core.layout.keys.map((key) => schema.fields.findIndex((field) => field.id === key.id)),
      hidesLevel0: hidesLevel0(options),
    }
    this.writer = new TableWriter({
      executor: services.executor,
      random: store.random,
      clock: services.clock,
      budget: options['write-buffer-size'],
      taskTable: () => core.taskTable,
      route: createRouter(schema, options),
      openBucket: (partition, bucket) => {
        const written = core.totalBuckets(partition)
        if (written !== undefined && written !== options.bucket) throw bucketCountError(core, written)
        const switched = core.switched(core.live(partition, bucket))
        if (switched !== undefined) throw switchedError(core, switched)
        const levels = buildLevels(core.live(partition, bucket), options['num-levels'], core.compareKeys)
        return new BucketWriter(partition, bucket, core.dataPaths.bucketFolder(partition, bucket), shape, levels)
      },
      stall: (bucket) => this.compactions.stall(bucket, options['num-sorted-run.stop-trigger']),
      landed: (bucket) => this.compactions.trigger(bucket),
      flushHere: services.smallTasks === false ? undefined : (task) => flushHere(task, core.taskContext, core.unsynced),
      removeFiles: (bucket, files) => core.removeUnnamed(bucket.folder, files),
      runTask: (bucket, fileUuid, run) => core.runTask(bucket.folder, fileUuid, run),
    })
    this.compactions = new Compactions(
      core,
      () => this.committer.compactionLanded(),
      () => this.committer.followLater(),
      () => this.committer.openCut,
    )
    this.committer = new Committer(core, this.writer, this.compactions)
    this.#expiry = new Expiry(store, core.pins, {
      expired: ({ expired, files, bytes }) =>
        core.events.emit('expiry', { snapshots: expired, files: files.length, bytes }),
      failed: (error) => core.events.emit('failure', { during: 'expiry', error }),
    })
  }

  /**
   * Starts compactions of committed rows that reads leave out: what a writer left in level 0 that died between append and
   * compaction would show with the next write to its bucket, which may never come.
   */
  moveUpHidden(): void {
    const { view, options } = this.core
    if (view === undefined || options['write-only'] || !hidesLevel0(options)) return
    for (const { partition, bucket, totalBuckets, files } of bucketsOf(view)) {
      if (totalBuckets !== options.bucket || !files.some((file) => file.level === 0)) continue
      if (this.core.switched(files) !== undefined) continue
      this.compactions.trigger(this.writer.bucket(partition, bucket))
    }
  }

  /** Whether rows wait for a commit. */
  get dirty(): boolean {
    for (const bucket of this.writer.buckets) {
      if ((bucket.buffer?.rows ?? 0) > 0 || bucket.flushing.length > 0) return true
      if (bucket.pending.some((change) => change.kind === 'flush')) return true
    }
    return false
  }

  /** Notes a write or a commit that a handle is about: `settled` waits for it. */
  during<T>(call: Promise<T>): Promise<T> {
    const noted = call.finally(() => this.#calls.delete(noted))
    this.#calls.add(noted)
    return noted
  }

  /** Whether a write or a commit of any handle is under way. */
  get busy(): boolean {
    return this.#calls.size > 0
  }

  /** Resolves when no write and no commit of any handle is under way. */
  async settled(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls)
    await this.committer.settled()
  }

  async commit(request: CommitRequest): Promise<Committed> {
    const committed = await this.committer.commit(request)
    const latest = committed.snapshots.at(-1)
    if (latest !== undefined) this.#expireLater(latest.id)
    return committed
  }

  /** Full or normal compaction of a bucket; resolves when its result is in a snapshot, or waits for the commit of its rows. */
  async compact(full: boolean, bucket: BucketWriter, signal: AbortSignal | undefined): Promise<void> {
    const { committer, compactions } = this
    const manager = compactions.of(bucket)
    const run = () => (full ? manager.full(signal) : manager.normal(signal))
    await compactions.fresh(bucket, run, () => committer.exclusive(() => committer.catchUp()))
    // Also what landed before and could not be published then.
    this.committer.compactionLanded()
    await this.committer.settled()
  }

  /**
   * Drops every row that no commit has taken, in memory and in files. Waits for commits that were called before it. After a
   * commit with unknown outcome the files stay: a snapshot may name them.
   */
  async discard(): Promise<void> {
    await this.committer.exclusive(async () => {
      const buckets = this.writer.forget()
      await Promise.all([this.compactions.end(buckets), this.writer.settled()])
      for (const bucket of buckets) {
        const dropped = bucket.discard()
        if (this.committer.poisoned) continue
        this.core.removeUnnamed(bucket.folder, createdBy(dropped))
      }
    })
  }

  /** Expires between two commits. Snapshots that open scans hold back follow when the scans end. */
  expire(overrides: ExpireOverrides): Promise<ExpireResult> {
    return this.committer.exclusive(() => this.#expire(overrides))
  }

  /** Removes files that nothing names, here or on disk. Commits of this process wait until it is done. */
  removeOrphans(options: OrphanOptions): Promise<OrphanResult> {
    const { core } = this
    const limit = orphanLimit(options, core.services.clock.now())
    return this.committer.exclusive(() =>
      core.tasks.watch((tasks) =>
        removeOrphans(core.store, limit, options.dryRun === true, () => filesInUse(core, this.writer.buckets, tasks())),
      ),
    )
  }

  async #expire(overrides: ExpireOverrides): Promise<ExpireResult> {
    await this.core.newestSchema('write')
    return this.#expiry.run(this.#expireRequest(overrides))
  }

  #expireRequest(overrides: ExpireOverrides): ExpireRequest {
    const { options, services } = this.core
    return expireRequest(options, services.clock.now(), overrides)
  }

  /**
   * Ends compactions and commits; rows that nobody committed must be gone. Afterwards nothing of the table runs in this process,
   * and it has left no file behind that nothing names.
   */
  async close(): Promise<void> {
    try {
      await this.compactions.close()
      await this.writer.settled()
      this.committer.compactionLanded()
      await this.discard()
      await this.committer.settled()
      await this.#expiry.close()
      await this.core.removed()
    } finally {
      await this.#closed()
    }
  }

  /** After a commit, which is done whatever becomes of it. */
  #expireLater(latest: number): void {
    if (this.core.options['write-only'] || !this.core.current) return
    const step = async () => {
      if (!(await this.#expiry.isIdle(this.#expireRequest({}), latest))) await this.#expire({})
    }
    this.committer
      .exclusive(step)
      .catch((error: unknown) => this.core.events.emit('failure', { during: 'expiry', error }))
  }
}

/** Closing would lose rows. */
export function uncommittedError(table: string): TableError {
  return new TableError(
    'INVALID',
    `${table} has rows that are not committed. Call commit() first, or close({ discard: true }) to drop them.`,
    { table },
  )
}

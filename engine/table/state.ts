import { buildLevels } from '../plan/levels.ts'
import { type ExpireResult, expireSnapshots } from '../upkeep/expire.ts'
import { type ExpireOverrides, expireRequest } from '../upkeep/expire-request.ts'
import { BucketWriter } from '../write/bucket-writer.ts'
import { createRouter } from '../write/route.ts'
import { TableWriter } from '../write/writer.ts'
import { bucketCountError, type CommitRequest, type Committed, Committer } from './committer.ts'
import { Compactions } from './compactions.ts'
import type { TableCore } from './core.ts'

/**
 * The writing half of a table in this process: buckets, compactions, commits. All writing handles of one path share it, so that
 * two opens in a process never race each other.
 */
export class TableState {
  readonly core: TableCore
  readonly writer: TableWriter
  readonly compactions: Compactions
  readonly committer: Committer
  handles = 0

  constructor(core: TableCore) {
    core.checkWritable()
    this.core = core
    const { schema, options, store, services } = core
    const shape = {
      fields: schema.fields,
      keys: core.layout.keys.map((key) => schema.fields.findIndex((field) => field.id === key.id)),
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
        const levels = buildLevels(core.live(partition, bucket), options['num-levels'], core.compareKeys)
        return new BucketWriter(partition, bucket, core.dataPaths.bucketFolder(partition, bucket), shape, levels)
      },
      stall: (bucket) => this.compactions.stall(bucket, options['num-sorted-run.stop-trigger']),
      landed: (bucket) => this.compactions.trigger(bucket),
      removeFiles: (bucket, files) => core.removeUnnamed(bucket.folder, files),
      sweep: (bucket, fileUuid) => core.sweep(bucket.folder, fileUuid),
    })
    this.compactions = new Compactions(core, () => this.committer.compactionLanded())
    this.committer = new Committer(core, this.writer, this.compactions)
  }

  /** Whether rows wait for a commit. */
  get dirty(): boolean {
    for (const bucket of this.writer.buckets) {
      if ((bucket.buffer?.rows ?? 0) > 0 || bucket.flushing.length > 0) return true
      if (bucket.pending.some((change) => change.kind === 'flush')) return true
    }
    return false
  }

  async commit(request: CommitRequest): Promise<Committed> {
    const committed = await this.committer.commit(request)
    if (committed.snapshots.length > 0) this.#expireLater()
    return committed
  }

  /** Full or normal compaction of a bucket; resolves when its result is in a snapshot, or waits for the commit of its rows. */
  async compact(full: boolean, bucket: BucketWriter, signal: AbortSignal | undefined): Promise<void> {
    const manager = this.compactions.of(bucket)
    await (full ? manager.full(signal) : manager.normal(signal))
    await this.committer.settled()
  }

  /** Drops every row that no commit has taken, in memory and in files. */
  async discard(): Promise<void> {
    await this.compactions.close()
    const buckets = this.writer.forget()
    await this.writer.settled()
    await this.committer.exclusive(async () => {
      for (const bucket of buckets) {
        const dropped = bucket.discard()
        const inputs = new Set(dropped.flatMap((change) => change.before.map((file) => file.name)))
        for (const { after } of dropped) {
          this.core.removeUnnamed(
            bucket.folder,
            after.filter((file) => !inputs.has(file.name)),
          )
        }
      }
    })
  }

  async expire(overrides: ExpireOverrides): Promise<ExpireResult> {
    const { core } = this
    return this.committer.exclusive(async () => {
      const now = core.services.clock.now()
      const request = expireRequest(core.schema.options, core.options, now, overrides)
      const result = await expireSnapshots(core.store, core.pins, request)
      if (!request.dryRun && result.expired.length > 0) {
        core.events.emit('expiry', { snapshots: result.expired, files: result.files.length, bytes: result.bytes })
      }
      return result
    })
  }

  /** Ends compactions and commits; rows that nobody committed must be gone. */
  async close(): Promise<void> {
    await this.compactions.close()
    await this.writer.settled()
    this.committer.compactionLanded()
    await this.committer.settled()
    await this.discard()
    await this.committer.settled()
  }

  #expireLater(): void {
    if (this.core.options['write-only']) return
    this.expire({}).catch((error: unknown) => this.core.events.emit('failure', { during: 'expiry', error }))
  }
}

import { posix } from 'node:path'
import type { DataFile } from '../../formats/meta/types.ts'
import { type CompactionPlan, type CompactionRequest, CompactManager, planOf } from '../compact/manager.ts'
import { isTableError } from '../errors.ts'
import { isPlain } from '../options/merge-spec.ts'
import { expiryLimit, recordExpiry } from '../options/record-expiry.ts'
import { holdsExpired } from '../plan/expired.ts'
import { type Explanation, explainFull, explainPick } from '../plan/explain.ts'
import { compactionFits } from '../plan/fits.ts'
import { createdBy } from '../plan/increment.ts'
import { filesOf, type Levels, replaceFiles } from '../plan/levels.ts'
import { activeOffPeakRatio, type PickOptions, pickCompaction, pickFull, type RunSize } from '../plan/pick.ts'
import { minFileSize } from '../plan/steps.ts'
import type { SortedRun } from '../plan/types.ts'
import { isMissing } from '../store/errors.ts'
import { newCancelFlag, submit } from '../tasks/submit.ts'
import type { FilesResult } from '../tasks/task.ts'
import type { BucketWriter } from '../write/bucket-writer.ts'
import type { TableCore } from './core.ts'
import type { CompactionEvent } from './events.ts'

/** The compactions of all buckets of a table. Results land in the bucket's levels; `landed` sees to it that they are committed. */
export class Compactions {
  readonly #core: TableCore
  readonly #landed: (bucket: BucketWriter) => void
  readonly #stale: () => void
  readonly #managers = new Map<BucketWriter, CompactManager>()
  /** When all runs of a bucket were last picked in this process. */
  readonly #lastFull = new Map<BucketWriter, number>()
  /** How often gentle lookups have let level 0 of a bucket wait. */
  readonly #waited = new Map<BucketWriter, number>()
  /** Buckets in which a compaction of some runs did not fit a column: the next takes all. */
  readonly #takesAll = new WeakSet<BucketWriter>()
  readonly #openCut: () => number | undefined
  /** Buckets that nothing may start in any more. */
  readonly #ended = new WeakSet<BucketWriter>()
  #closed = false

  /**
   * `stale` is called when another writer has moved on and expired what was to be compacted; `openCut` tells the oldest cut whose
   * commit is under way.
   */
  constructor(
    core: TableCore,
    landed: (bucket: BucketWriter) => void,
    stale: () => void = () => undefined,
    openCut: () => number | undefined = () => undefined,
  ) {
    this.#core = core
    this.#landed = landed
    this.#stale = stale
    this.#openCut = openCut
  }

  get running(): number {
    return [...this.#managers.values()].filter((manager) => manager.running !== undefined).length
  }

  of(bucket: BucketWriter): CompactManager {
    const known = this.#managers.get(bucket)
    if (known !== undefined) return known
    const manager = new CompactManager(
      {
        levels: () => bucket.levels,
        plan: (request) => this.#plan(bucket, request),
        run: (plan, signal) => this.#run(bucket, plan, signal),
        land: (plan, result) => this.#land(bucket, plan, result),
        failed: (plan, error) => void this.#failed(bucket, plan, error),
      },
      this.#core.services.clock,
    )
    if (this.#closed || this.#ended.has(bucket)) void manager.close()
    else this.#managers.set(bucket, manager)
    return manager
  }

  /** Aborts everything; nothing starts afterwards. */
  async close(): Promise<void> {
    this.#closed = true
    await this.end([...this.#managers.keys()])
  }

  /** Aborts what runs in these buckets; nothing starts in them afterwards. */
  async end(buckets: readonly BucketWriter[]): Promise<void> {
    for (const bucket of buckets) this.#ended.add(bucket)
    await Promise.all(buckets.map((bucket) => this.#managers.get(bucket)?.close()))
    for (const bucket of buckets) {
      this.#managers.delete(bucket)
      this.#lastFull.delete(bucket)
      this.#waited.delete(bucket)
    }
  }

  /** Starts what is due in a bucket; `write-only` tables leave it to another process. */
  trigger(bucket: BucketWriter): void {
    if (this.#starts(bucket)) this.of(bucket).trigger()
  }

  /**
   * Waits while the bucket has more than `limit` runs and a compaction is at work on them. When none can help (nothing to pick,
   * or it failed just now) the writer goes on: more runs are slow, lost rows are lost.
   */
  async stall(bucket: BucketWriter, limit: number): Promise<void> {
    if (!this.#starts(bucket)) return
    const manager = this.of(bucket)
    let told = false
    while (bucket.levels.runs.length > limit) {
      manager.trigger()
      if (manager.running === undefined) return
      if (!told) {
        const partition = this.#core.partitionName(bucket.partition)
        this.#core.events.emit('stall', { partition, bucket: bucket.bucket, runs: bucket.levels.runs.length })
        told = true
      }
      await manager.settled()
    }
  }

  /** Waits until the bucket has been compacted as far as the picker asks; one that failed before is tried again now. */
  async finish(bucket: BucketWriter): Promise<void> {
    const manager = this.of(bucket)
    await manager.settled()
    if (manager.cause !== undefined) await manager.normal()
  }

  /**
   * Runs a compaction that its caller waits for, again from the newest snapshot as long as other writers expire what it was about to
   * read. `catchUp` follows them; what is missing again after that is no work of theirs.
   */
  async fresh(bucket: BucketWriter, run: () => Promise<unknown>, catchUp: () => Promise<void>): Promise<void> {
    let missed: unknown
    for (;;) {
      try {
        await run()
        return
      } catch (error) {
        if (!isTableError(error) || !isMissing(error) || error.details.path === missed) throw error
        missed = error.details.path
        await catchUp()
        if (!this.#isStale(bucket, error)) throw error
      }
    }
  }

  /** Whether an error says that a file is gone which the bucket does not hold any more: another writer took it away, nothing is wrong. */
  #isStale(bucket: BucketWriter, error: unknown): boolean {
    if (!isTableError(error, 'CORRUPT') || error.details.missing !== true) return false
    const name = posix.basename(String(error.details.path))
    return !filesOf(bucket.levels).some((file) => file.name === name || file.vector?.indexFile === name)
  }

  /** What a normal compaction of these levels, those of `bucket` when it is written here, would do now, and why. */
  explain(all: Levels, bucket?: BucketWriter): Explanation {
    const levels = bucket === undefined ? all : this.#committable(bucket)
    return explainPick(this.#runsOf(levels), this.#pickOptions(levels, bucket))
  }

  #starts(bucket: BucketWriter): boolean {
    return !this.#core.options['write-only'] && !this.#closed && !this.#ended.has(bucket)
  }

  #plan(bucket: BucketWriter, request: CompactionRequest): CompactionPlan | undefined {
    const { options } = this.#core
    const levels = this.#committable(bucket)
    // Rewritten with our schema, rows of a newer one would lose the columns that we do not know.
    if (!this.#core.current) return undefined
    const forceRewriteAllFiles = options['compaction.force-rewrite-all-files']
    const pickOptions = this.#pickOptions(levels, bucket, request === 'normal')
    const expired = this.#expiryTest()
    const needsRewrite = (file: DataFile) => file.vector !== undefined || expired?.(file) === true
    const runs = this.#runsOf(levels, this.#takesAll.has(bucket))
    const pick =
      request === 'full' ? pickFull(levels, { forceRewriteAllFiles, needsRewrite }) : pickCompaction(runs, pickOptions)
    if (pick === null) return undefined
    if (pick.runCount === levels.runs.length) this.#lastFull.set(bucket, this.#core.services.clock.now())
    const explanation =
      request === 'full'
        ? explainFull(
            levels.runs,
            levels.numLevels,
            pickOptions.trigger,
            pick.reason === 'rewrite-files' ? pick.files : [],
          )
        : explainPick(runs, pickOptions)
    return planOf(pick, explanation, levels, {
      minFileSize: minFileSize(options['target-file-size']),
      forceRewriteAllFiles,
      holdsExpired: expired,
      rewriter: this.#core.rewriter,
      deletionVectors: options['deletion-vectors.enabled'],
      newestWins: isPlain(this.#core.spec),
    })
  }

  /** Whether a file holds rows that are past `record-level.expire-time` now; undefined when rows do not expire. */
  #expiryTest(): ((file: DataFile) => boolean) | undefined {
    const expiry = recordExpiry(this.#core.schema)
    if (expiry === undefined) return undefined
    const limit = expiryLimit(expiry, this.#core.services.clock.now())
    return (file) => {
      const fields = this.#core.schemaOf(file.schemaId)?.fields
      return fields !== undefined && holdsExpired(file, expiry, limit, fields)
    }
  }

  /** The runs as the picker sees them. */
  #runsOf(levels: Levels, takesAll = false): readonly (SortedRun & RunSize)[] {
    // Lookups have all older rows at hand.
    if (this.#core.rewriter === 'lookup') return levels.runs
    if (!takesAll && !this.#core.spec.retractsApart) return levels.runs
    const goesDown = ({ files }: SortedRun) => takesAll || files.some((file) => file.deleteRows !== 0)
    return levels.runs.map((run) => ({ ...run, retractsApart: goesDown(run) }))
  }

  /**
   * What a compaction may take that a commit waits for: not the level-0 files of later rows, since it would have to wait for their
   * commit. They are the newest, so that no older one stays above them.
   */
  #committable({ levels, epochOf }: BucketWriter): Levels {
    const cut = this.#openCut()
    if (cut === undefined || this.#core.rewriter !== 'lookup') return levels
    const later = filesOf(levels).filter((file) => file.level === 0 && epochOf([file]) > cut)
    return later.length === 0 ? levels : replaceFiles(levels, later, [])
  }

  /** Whether level 0 moves up though nothing else is to do. Gentle lookups let it wait; `asked` counts how often. */
  #forcesUp(levels: Levels, bucket: BucketWriter | undefined, asked: boolean): boolean {
    const { options, rewriter } = this.#core
    if (rewriter !== 'lookup' || options['lookup-compact'] === 'radical') {
      return rewriter === 'lookup' || options['compaction.force-up-level-0']
    }
    if (bucket === undefined || levels.runs[0]?.level !== 0) return false
    const trigger = options['num-sorted-run.compaction-trigger']
    const patience = Math.max(trigger, options['lookup-compact.max-interval'] ?? trigger * 2)
    const waited = (this.#waited.get(bucket) ?? 0) + 1
    if (asked) this.#waited.set(bucket, waited % patience)
    return waited >= patience
  }

  #pickOptions(levels: Levels, bucket: BucketWriter | undefined, asked = false): PickOptions {
    const { options, services } = this.#core
    const nowMillis = services.clock.now()
    const localMillis = nowMillis + services.clock.offsetMinutes(nowMillis) * 60_000
    return {
      trigger: options['num-sorted-run.compaction-trigger'],
      numLevels: levels.numLevels,
      sizeRatio: options['compaction.size-ratio'],
      maxSizeAmp: options['compaction.max-size-amplification-percent'],
      offPeakRatio: activeOffPeakRatio(
        {
          startHour: options['compaction.offpeak.start.hour'],
          endHour: options['compaction.offpeak.end.hour'],
          ratio: options['compaction.offpeak-ratio'],
        },
        Math.floor(localMillis / 3_600_000) % 24,
      ),
      optimizationIntervalMillis: options['compaction.optimization-interval'] ?? null,
      lastFullMillis: (bucket && this.#lastFull.get(bucket)) ?? null,
      nowMillis,
      totalSizeThreshold: options['compaction.total-size-threshold'] ?? null,
      incrementalSizeThreshold: options['compaction.incremental-size-threshold'] ?? null,
      forceUpLevel0: this.#forcesUp(levels, bucket, asked),
    }
  }

  async #run(bucket: BucketWriter, plan: CompactionPlan, signal: AbortSignal): Promise<FilesResult | undefined> {
    const { services, store, events } = this.#core
    const fileUuid = store.random.uuid()
    events.emit('compactionStart', {
      partition: this.#core.partitionName(bucket.partition),
      bucket: bucket.bucket,
      outputLevel: plan.outputLevel,
      inputBytes: plan.pick.files.reduce((sum, file) => sum + file.bytes, 0),
      explanation: plan.explanation,
    })
    return this.#core
      .runTask(bucket.folder, fileUuid, () =>
        submit(
          services.executor,
          {
            kind: 'compact',
            table: this.#core.taskTable,
            folder: bucket.folder,
            fileUuid,
            cancel: newCancelFlag(),
            steps: plan.steps,
            outputLevel: plan.outputLevel,
            dropDelete: plan.dropDelete,
            maxLevel: plan.maxLevel,
            rewriter: plan.rewriter,
            above: plan.above,
            marked: plan.marked,
          },
          signal,
        ),
      )
      .catch((error: unknown) => {
        const leavesOlder = plan.outputLevel < plan.maxLevel && this.#core.rewriter !== 'lookup'
        if (!isTableError(error, 'OVERFLOW') || !leavesOlder) throw error
        // What some rows of a key make may be too large where all of them fit.
        this.#takesAll.add(bucket)
        return undefined
      })
  }

  /** A file that is missing because another writer has expired it is no damage: the next try starts from the newest snapshot. */
  async #failed(bucket: BucketWriter, { pick }: CompactionPlan, error: unknown): Promise<void> {
    const { store, view, events } = this.#core
    if (isTableError(error, 'CORRUPT')) {
      const latest = await store.snapshots.latestId().catch(() => undefined)
      if (latest !== undefined && latest !== view?.snapshot.id) return this.#stale()
      // By now the handle may have followed the writer that took the files away: then there is nothing wrong with the table.
      const live = new Set(filesOf(bucket.levels).map((file) => file.name))
      if (!pick.files.every((file) => live.has(file.name))) return
    }
    events.emit('failure', { during: 'compaction', error })
  }

  #land(bucket: BucketWriter, plan: CompactionPlan, result: FilesResult): boolean {
    const upgraded = upgradesOf(result)
    const written = result.after.filter((file) => !upgraded.has(file.name))
    const { before, after, changelog, vectors } = result
    // Where marks hide what deletes hid, nothing was forgotten with them.
    const dropDelete = plan.dropDelete && !this.#core.options['deletion-vectors.enabled']
    const finished = { before, after, changelog, vectors, dropDelete, seen: plan.seen }
    if (!compactionFits(bucket.levels, finished)) {
      this.#core.removeUnnamed(bucket.folder, createdBy([finished]))
      this.#core.events.emit('conflict', {
        partition: this.#core.partitionName(bucket.partition),
        bucket: bucket.bucket,
        reason: 'another writer changed the files around this compaction',
      })
      return false
    }
    bucket.landCompaction(finished)
    this.#takesAll.delete(bucket)
    this.#core.events.emit('compaction', this.#event(bucket, plan, result, upgraded, written))
    this.#landed(bucket)
    return true
  }

  #event(
    bucket: BucketWriter,
    plan: CompactionPlan,
    { before, stats }: FilesResult,
    upgraded: ReadonlySet<string>,
    written: readonly DataFile[],
  ): CompactionEvent {
    const { inputBytes, outputBytes, inputRows, outputRows, spilledBytes, millis } = stats
    return {
      partition: this.#core.partitionName(bucket.partition),
      bucket: bucket.bucket,
      outputLevel: plan.outputLevel,
      explanation: plan.explanation,
      rewritten: before.filter((file) => !upgraded.has(file.name)).map((file) => file.name),
      written: written.map((file) => file.name),
      upgraded: [...upgraded],
      inputBytes,
      outputBytes,
      inputRows,
      outputRows,
      spilledBytes,
      millis,
    }
  }
}

/** Names in both lists: files that only changed their level. */
function upgradesOf({ before, after }: FilesResult): ReadonlySet<string> {
  const inputs = new Set(before.map((file) => file.name))
  return new Set(after.filter((file) => inputs.has(file.name)).map((file) => file.name))
}

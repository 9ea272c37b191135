import type { ManifestEntry, Snapshot } from '../../formats/meta/types.ts'
import { appendChanges, compactChanges, NO_CHANGES } from '../commit/entries.ts'
import { type CommitStore, publishSnapshot, type SnapshotChanges } from '../commit/publish-snapshot.ts'
import { isTableError, type TableError } from '../errors.ts'
import { conflictError, findConflict, partitionsTouched } from '../plan/conflicts.ts'
import { partitionId } from '../plan/entry-id.ts'
import { createdBy } from '../plan/increment.ts'
import { partitionFields } from '../plan/kv-layout.ts'
import { manifestWriter } from '../store/table-store.ts'
import { applyDelta, liveEntriesOf } from '../store/view.ts'
import { checkAborted, untilAborted } from '../tasks/abort.ts'
import type { BucketWriter, PendingChange } from '../write/bucket-writer.ts'
import type { TableWriter } from '../write/writer.ts'
import { bucketCountError, level0Error } from './commit-errors.ts'
import type { Compactions } from './compactions.ts'
import type { TableCore } from './core.ts'
import { followSnapshot } from './follow.ts'
import { type Taken, takePending } from './take.ts'

export interface CommitRequest {
  readonly user: string
  readonly identifier: bigint
  readonly properties?: Readonly<Record<string, string>> | undefined
  /** Callers that ask for nothing special may share one snapshot. */
  readonly shareable: boolean
  readonly signal?: AbortSignal | undefined
}

/** What a commit made: its snapshots, an APPEND and what was compacted for it. */
export interface Committed {
  readonly snapshots: readonly Snapshot[]
  readonly addedFiles: number
  readonly addedRows: number
}

/** What was appended. */
interface Appended {
  readonly snapshot: Snapshot
  readonly entries: readonly ManifestEntry[]
}

interface Job {
  readonly request: CommitRequest
  epoch: number
  readonly done: Promise<Committed>
}

/**
 * Turns what landed into snapshots, one commit at a time. Callers that come while a commit waits for its turn share it.
 *
 *   cut ─▶ flushed ─▶ stall, force-compact ─▶ APPEND ─▶ COMPACT ─▶ view
 *
 * A change stays pending in its bucket until a snapshot holds it, so a commit that fails loses nothing: the next one takes it.
 */
export class Committer {
  readonly #core: TableCore
  readonly #writer: TableWriter
  readonly #compactions: Compactions
  readonly #store: CommitStore
  #tail: Promise<unknown> = Promise.resolve()
  readonly #jobs = new Set<Job>()
  #waiting: Job | undefined
  #committedEpoch = 0
  /** Whose commit came last: a snapshot of background compaction goes under it, as the second half of Paimon's commits does. */
  #last: CommitRequest | undefined
  #compactQueued = false
  #poison: TableError | undefined

  constructor(core: TableCore, writer: TableWriter, compactions: Compactions) {
    this.#core = core
    this.#writer = writer
    this.#compactions = compactions
    const { store, services, schema, options } = core
    this.#store = {
      snapshots: store.snapshots,
      newestSchema: () => core.newestSchema('commit'),
      manifests: store.manifests,
      newManifestWriter: () => manifestWriter(store, schema),
      settle: ({ files, changelog }) => core.unsynced.settle([...files, ...changelog].map(({ file }) => file.name)),
      partitionFields: partitionFields(schema),
      options,
      clock: services.clock,
      random: store.random,
    }
  }

  /** The oldest cut whose commit is under way. */
  get openCut(): number | undefined {
    return this.#jobs.size === 0 ? undefined : Math.min(...[...this.#jobs].map((job) => job.epoch))
  }

  get #waitsForCompaction(): boolean {
    const { options, rewriter } = this.#core
    return options['commit.force-compact'] || (rewriter === 'lookup' && options['lookup-wait'])
  }

  /** Whether a commit ends when its rows have left level 0. Gentle lookups let them wait there, `write-only` leaves them to others. */
  get #clearsLevel0(): boolean {
    const { options, rewriter } = this.#core
    if (rewriter !== 'lookup' || options['write-only']) return false
    return options['lookup-wait'] && options['lookup-compact'] === 'radical'
  }

  /** Whether a commit had an unknown outcome: its snapshot may be there, or not. */
  get poisoned(): boolean {
    return this.#poison !== undefined
  }

  /** Throws when a commit with unknown outcome has made writing unsafe. */
  checkUsable(): void {
    if (this.#poison !== undefined) throw this.#poison
  }

  /** Commits every row appended before this call. */
  commit(request: CommitRequest): Promise<Committed> {
    this.checkUsable()
    const waiting = this.#waiting
    if (
      waiting !== undefined &&
      request.shareable &&
      waiting.request.shareable &&
      waiting.request.user === request.user
    ) {
      waiting.epoch = this.#writer.cut()
      return waiting.done
    }
    const epoch = this.#writer.cut()
    let started = () => {}
    const turn = new Promise<void>((resolve) => {
      started = resolve
    })
    const done: Promise<Committed> = this.#enqueue(() => {
      started()
      if (this.#waiting === job) this.#waiting = undefined
      checkAborted(request.signal, COMMIT_ABORTED)
      return this.#run(job)
    })
    const job: Job = { request, epoch, done }
    this.#waiting = job
    this.#jobs.add(job)
    const ended = () => {
      this.#jobs.delete(job)
      // Level-0 files of later rows had to wait for it; gentle compaction lets them wait on.
      const { rewriter, options } = this.#core
      if (rewriter !== 'lookup' || options['lookup-compact'] !== 'radical') return
      for (const bucket of this.#writer.buckets) this.#compactions.trigger(bucket)
    }
    done.then(ended, ended)
    return untilAborted(turn, request.signal, COMMIT_ABORTED).then(() => done)
  }

  /** A compaction landed: publishes it in a snapshot of its own once every row in it is committed. */
  compactionLanded(): void {
    if (this.#compactQueued) return
    this.#compactQueued = true
    this.#enqueue(async () => {
      this.#compactQueued = false
      if (this.#poison === undefined) await this.#publishCompactions(this.#committedEpoch, this.#lastRequest())
    }).catch((error: unknown) => this.#core.events.emit('failure', { during: 'commit', error }))
  }

  #lastRequest(): CommitRequest {
    this.#last ??= { user: this.#store.random.uuid(), identifier: 0n, shareable: false }
    return this.#last
  }

  /** Looks for snapshots of other writers when nothing else runs. */
  followLater(): void {
    this.#enqueue(() => this.catchUp()).catch((error: unknown) =>
      this.#core.events.emit('failure', { during: 'compaction', error }),
    )
  }

  /** Runs `step` between two commits. */
  exclusive<T>(step: () => Promise<T>): Promise<T> {
    // A commit that is called from here on comes after the step: it may not join one from before.
    this.#waiting = undefined
    return this.#enqueue(step)
  }

  /** Resolves when no commit runs or waits. */
  async settled(): Promise<void> {
    await this.#tail
  }

  /**
   * Looks for snapshots of other writers and puts our uncommitted changes on top of them. Only between commits: `exclusive`.
   * Files whose sequence numbers another writer used are written again, so that in scans too our rows are the newer ones.
   */
  async catchUp(): Promise<void> {
    await this.#follow(await this.#core.store.snapshots.latest())
  }

  async #run({ request, epoch }: Job): Promise<Committed> {
    this.checkUsable()
    await untilAborted(this.#ready(epoch), request.signal, COMMIT_ABORTED)
    if (this.#waitsForCompaction) await this.#finishCompactions(this.#touched(epoch, 'flush'), request.signal)
    const appended = await this.#publishAppend(epoch, request)
    this.#committedEpoch = Math.max(this.#committedEpoch, epoch)
    const compacted = await this.#compactionsAfter(epoch, request, appended)
    const entries = appended?.entries ?? []
    return {
      snapshots: [appended?.snapshot, ...compacted].filter((snapshot) => snapshot !== undefined),
      addedFiles: entries.length,
      addedRows: entries.reduce((sum, { file }) => sum + file.rows, 0),
    }
  }

  /**
   * The second half of a commit. Its rows may be durable already: then nothing that fails here may call the commit failed.
   *
   * With `lookup-wait` it goes on until they have left level 0: when another writer comes between the compaction and the append,
   * the compaction is dropped.
   */
  async #compactionsAfter(
    epoch: number,
    request: CommitRequest,
    appended: Appended | undefined,
  ): Promise<readonly (Snapshot | undefined)[]> {
    if (appended === undefined) return [await this.#publishCompactions(epoch, request)]
    const snapshots: (Snapshot | undefined)[] = []
    let left: readonly BucketWriter[] = []
    let failure: unknown
    for (let round = 0; round <= this.#core.options['commit.max-retries']; round++) {
      failure = undefined
      try {
        if (round > 0) await this.#finishCompactions(left, undefined)
        snapshots.push(await this.#publishCompactions(epoch, { ...request, signal: undefined }))
      } catch (error) {
        failure = error
      }
      left = this.#leftInLevel0(appended)
      if (left.length === 0 || isTableError(failure, 'CONFLICT') || isTableError(failure, 'POISONED')) break
    }
    const error = failure ?? (left.length > 0 ? level0Error(this.#core, appended.snapshot) : undefined)
    if (error !== undefined) this.#core.events.emit('failure', { during: 'commit', error })
    return snapshots
  }

  /** The buckets where appended files lie in level 0 yet, though a commit has to wait for them. */
  #leftInLevel0({ entries }: Appended): readonly BucketWriter[] {
    if (!this.#clearsLevel0) return []
    const names = new Set(entries.map(({ file }) => file.name))
    return [...this.#writer.buckets].filter(({ partition, bucket }) =>
      this.#core.live(partition, bucket).some(({ level, name }) => level === 0 && names.has(name)),
    )
  }

  /** Resolves when the rows of a cut are in files, and no bucket has more runs than a commit may leave. */
  async #ready(epoch: number): Promise<void> {
    await this.#writer.flushed(epoch)
    const limit = this.#core.options['num-sorted-run.stop-trigger'] + 1
    for (const bucket of this.#touched(epoch, 'flush')) await this.#compactions.stall(bucket, limit)
  }

  /**
   * `commit.force-compact` and `lookup-wait`: what the rows of a cut start in the way of compaction ends before they are committed. Another
   * writer may have expired files that it would read: so from the newest snapshot on.
   */
  async #finishCompactions(buckets: readonly BucketWriter[], signal: AbortSignal | undefined): Promise<void> {
    await this.catchUp()
    for (const bucket of buckets) {
      if (this.#clearsLevel0) this.#compactions.trigger(bucket)
      const finish = () => untilAborted(this.#compactions.finish(bucket), signal, COMMIT_ABORTED)
      await this.#compactions.fresh(bucket, finish, () => this.catchUp())
    }
  }

  #touched(epoch: number, kind: PendingChange['kind']): readonly BucketWriter[] {
    return [...this.#writer.buckets].filter((bucket) => bucket.pendingUpTo(epoch, kind).length > 0)
  }

  async #publishAppend(epoch: number, request: CommitRequest): Promise<Appended | undefined> {
    let taken: Taken[] = []
    let changes = NO_CHANGES
    const snapshot = await this.#publish('APPEND', request, async () => {
      taken = this.#take(epoch, 'flush')
      changes = appendChanges(taken.map(({ increment }) => increment))
      this.#checkBucketCounts(changes.files)
      return changes.files.length > 0 || !this.#core.options['snapshot.ignore-empty-commit'] ? changes : undefined
    })
    if (snapshot === undefined) return undefined
    await this.#done(snapshot, changes, taken)
    return { snapshot, entries: changes.files }
  }

  /** A compaction that does not fit any more is dropped: the rows are safe, and the picker will look at the bucket again. */
  async #publishCompactions(epoch: number, request: CommitRequest): Promise<Snapshot | undefined> {
    if (this.#touched(epoch, 'compact').length === 0) return undefined
    let taken: Taken[] = []
    let changes = NO_CHANGES
    const snapshot = await this.#publish('COMPACT', request, async () => {
      taken = this.#take(epoch, 'compact')
      for (;;) {
        const dropStats = this.#core.options['manifest.delete-file-drop-stats']
        const increments = taken.map(({ increment }) => increment)
        changes = compactChanges(increments, this.#core.view?.indexes ?? [], dropStats)
        const live = liveEntriesOf(this.#core.view, partitionsTouched(changes.files))
        const conflict = findConflict(live, changes.files, 'COMPACT', this.#core.compareKeys)
        if (conflict === null) break
        const loser = taken.find(
          ({ bucket }) =>
            bucket.bucket === conflict.entry.bucket &&
            partitionId(bucket.partition) === partitionId(conflict.entry.partition),
        )
        if (loser === undefined) throw conflictError(conflict, this.#core.name)
        this.#drop(loser.bucket, loser.changes, conflictError(conflict, this.#core.name).message)
        taken = taken.filter((other) => other !== loser)
      }
      return changes.files.length > 0 ? changes : undefined
    })
    if (snapshot !== undefined) await this.#done(snapshot, changes, taken)
    return snapshot
  }

  async #publish(
    kind: 'APPEND' | 'COMPACT',
    request: CommitRequest,
    prepare: () => Promise<SnapshotChanges | undefined>,
  ): Promise<Snapshot | undefined> {
    try {
      return await publishSnapshot(
        this.#store,
        {
          kind,
          user: request.user,
          identifier: request.identifier,
          properties: kind === 'APPEND' ? request.properties : undefined,
          prepare: async (latest) => {
            await this.#follow(latest)
            return prepare()
          },
        },
        request.signal,
      )
    } catch (error) {
      if (isTableError(error, 'POISONED')) this.#poison = error
      throw error
    }
  }

  async #done(snapshot: Snapshot, { files, indexes }: SnapshotChanges, taken: readonly Taken[]): Promise<void> {
    const view = this.#core.view ?? { snapshot, partitions: new Map(), indexes: [] }
    await this.#core.setView(applyDelta(view, snapshot, files, indexes ?? view.indexes))
    for (const { bucket, changes, obsolete } of taken) {
      bucket.committed(changes)
      this.#core.removeUnnamed(bucket.folder, obsolete)
    }
    this.#last = { user: snapshot.commitUser, identifier: snapshot.commitIdentifier, shareable: false }
    const added = files.filter((entry) => entry.kind === 'add').length
    this.#core.events.emit('commit', {
      snapshot: snapshot.id,
      kind: snapshot.commitKind,
      addedFiles: added,
      removedFiles: files.length - added,
    })
  }

  #take(epoch: number, kind: PendingChange['kind']): Taken[] {
    return takePending(this.#writer.buckets, epoch, kind, this.#core.options.bucket)
  }

  #checkBucketCounts(entries: readonly ManifestEntry[]): void {
    for (const partition of partitionsTouched(entries)) {
      const written = this.#core.totalBuckets(partition)
      if (written === undefined || written === this.#core.options.bucket) continue
      throw bucketCountError(this.#core, written)
    }
  }

  async #follow(latest: Snapshot | undefined): Promise<void> {
    await followSnapshot(this.#core, this.#writer, latest, (bucket, dropped) =>
      this.#report(bucket, dropped, 'another writer changed the files around it'),
    )
  }

  #drop(bucket: BucketWriter, changes: readonly PendingChange[], reason: string): void {
    bucket.committed(changes)
    const dropped = bucket.rebase(this.#core.live(bucket.partition, bucket.bucket))
    this.#report(bucket, [...changes, ...dropped], reason)
  }

  #report(bucket: BucketWriter, dropped: readonly PendingChange[], reason: string): void {
    this.#core.removeUnnamed(bucket.folder, createdBy(dropped))
    this.#core.events.emit('conflict', {
      partition: this.#core.partitionName(bucket.partition),
      bucket: bucket.bucket,
      reason,
    })
  }

  #enqueue<T>(step: () => Promise<T>): Promise<T> {
    const run = this.#tail.then(step)
    this.#tail = run.catch(() => undefined)
    return run
  }
}

const COMMIT_ABORTED = 'The commit was aborted. Its rows are kept for the next one.'

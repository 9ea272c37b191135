import type { Batch } from '../../formats/column/column.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { bucketId } from '../plan/entry-id.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import { checkAborted, untilAborted } from '../tasks/abort.ts'
import { newCancelFlag, submit, type TaskExecutor } from '../tasks/submit.ts'
import type { FilesResult, FlushTask, RenumberTask, TaskTable } from '../tasks/task.ts'
import type { BucketWriter } from './bucket-writer.ts'
import type { RowKinds } from './buffer.ts'
import type { Router } from './route.ts'

const WRITE_ABORTED = 'The write was aborted. Nothing of it was kept.'

/** What the writer needs of the table around it. */
export interface WriterHost {
  readonly executor: TaskExecutor
  readonly random: Random
  readonly clock: Clock
  /** Memory of all buffers, bytes. */
  readonly budget: number
  readonly taskTable: () => TaskTable
  readonly route: Router
  /** The state of a bucket, restored from the view when it is new. */
  readonly openBucket: (partition: Uint8Array, bucket: number) => BucketWriter
  /** Resolves when the bucket has few enough runs for one more file. */
  readonly stall: (bucket: BucketWriter) => Promise<void>
  readonly landed: (bucket: BucketWriter, files: readonly DataFile[]) => void
  readonly removeFiles: (bucket: BucketWriter, files: readonly DataFile[]) => void
  /** The result of a flush that needs no thread; undefined for one that does. */
  readonly flushHere?: ((task: FlushTask) => Promise<FilesResult | undefined>) | undefined
  /** Runs a task that writes files with this UUID; removes what it may have left when it fails. */
  readonly runTask: <T>(bucket: BucketWriter, fileUuid: string, run: () => Promise<T>) => Promise<T>
}

/** Rows of all columns of the table, and what they do. */
export interface WriteBatch {
  readonly kinds: RowKinds
  readonly values: Batch
}

/**
 * Routes rows to buckets, shares the memory budget among them, and flushes.
 *
 * Half of the budget fills while the other half is being written. The bucket with most rows in memory goes first. A write that
 * finds the budget full waits for a flush before it appends anything, so each call is in memory whole or not at all.
 */
export class TableWriter {
  readonly #host: WriterHost
  readonly #buckets = new Map<string, BucketWriter>()
  /** Running flushes, by bucket: the end of the last one that was started. */
  readonly #flushes = new Map<BucketWriter, Promise<void>>()
  #epoch = 1
  /** Counts up with each appended call: lets auto-commit see that something came. */
  uncommittedRows = 0

  constructor(host: WriterHost) {
    this.#host = host
  }

  get buckets(): Iterable<BucketWriter> {
    return this.#buckets.values()
  }

  get memoryBytes(): number {
    let bytes = 0
    for (const bucket of this.#buckets.values()) bytes += bucket.memoryBytes
    return bytes
  }

  /** `id`: the `bucketId` of the bucket. */
  find(id: string): BucketWriter | undefined {
    return this.#buckets.get(id)
  }

  /** The bucket's state, opened on first use. */
  bucket(partition: Uint8Array, bucket: number): BucketWriter {
    const id = bucketId({ partition, bucket })
    const known = this.#buckets.get(id)
    if (known !== undefined) return known
    const opened = this.#host.openBucket(partition, bucket)
    this.#buckets.set(id, opened)
    return opened
  }

  /** Appends the batches, in order, as one unit: a commit sees all of them or none. */
  async write(batches: readonly WriteBatch[], signal?: AbortSignal): Promise<void> {
    const routed = batches.flatMap(({ kinds, values }) =>
      this.#host.route(values).map((route) => ({ ...route, kinds, values })),
    )
    checkAborted(signal, WRITE_ABORTED)
    await this.#room(signal)
    // Only now: a discard may have forgotten buckets meanwhile. Opening one can fail (other bucket count): before anything is appended.
    const targets = routed.map(({ partition, bucket }) => this.bucket(partition, bucket))
    routed.forEach(({ kinds, values, rows }, index) => {
      targets[index]!.append(values, kinds, rows)
    })
    for (const { values } of batches) this.uncommittedRows += values.rows
    this.#relieve()
  }

  /** A cut: rows appended before it belong to this commit, rows after it to the next. Starts to flush what it takes in. */
  cut(): number {
    const epoch = this.#epoch++
    for (const bucket of this.#buckets.values()) {
      bucket.detach(epoch)
      if (bucket.flushing.length > 0) void this.#flush(bucket).catch(() => undefined)
    }
    this.uncommittedRows = 0
    return epoch
  }

  /** Waits until every row of the cut is in a file. A flush that failed before is tried again; its error is thrown. */
  async flushed(epoch: number): Promise<void> {
    const waits = [...this.#buckets.values()]
      .filter((bucket) => bucket.flushing.some((flushing) => flushing.epoch <= epoch))
      .map((bucket) => this.#flushUntil(bucket, epoch))
    const failed = (await Promise.allSettled(waits)).find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  /** Waits for running flushes, whatever becomes of them. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#flushes.values())
  }

  /** Forgets every bucket; the caller has waited for flushes and compactions. */
  forget(): readonly BucketWriter[] {
    const buckets = [...this.#buckets.values()]
    this.#buckets.clear()
    this.uncommittedRows = 0
    return buckets
  }

  /** Waits for memory. Throws the error of a flush that cannot give any back. */
  async #room(signal: AbortSignal | undefined): Promise<void> {
    while (this.memoryBytes > this.#host.budget) {
      const full = this.#largest((bucket) => bucket.memoryBytes)
      if (full === undefined) return
      full.detach(this.#epoch)
      await untilAborted(this.#flush(full), signal, WRITE_ABORTED)
    }
  }

  /** Starts a flush once half of the budget is in open buffers. */
  #relieve(): void {
    let open = 0
    for (const bucket of this.#buckets.values()) open += bucket.buffer?.bytes ?? 0
    while (open > this.#host.budget / 2) {
      const largest = this.#largest((bucket) => bucket.buffer?.bytes ?? 0)
      if (largest === undefined) return
      open -= largest.buffer?.bytes ?? 0
      largest.detach(this.#epoch)
      // Its failure is met by the next write that needs memory, or by the commit.
      void this.#flush(largest).catch(() => undefined)
    }
  }

  #largest(bytes: (bucket: BucketWriter) => number): BucketWriter | undefined {
    let largest: BucketWriter | undefined
    for (const bucket of this.#buckets.values()) {
      if (bytes(bucket) > 0 && (largest === undefined || bytes(bucket) > bytes(largest))) largest = bucket
    }
    return largest
  }

  async #flushUntil(bucket: BucketWriter, epoch: number): Promise<void> {
    while (bucket.flushing.some((flushing) => flushing.epoch <= epoch)) await this.#flush(bucket)
  }

  /** Writes all flushing rows of the bucket, oldest first; joins the run that is under way. */
  #flush(bucket: BucketWriter): Promise<void> {
    const running = this.#flushes.get(bucket)
    if (running !== undefined) return running
    const flush = this.#flushAll(bucket).finally(() => this.#flushes.delete(bucket))
    this.#flushes.set(bucket, flush)
    return flush
  }

  async #flushAll(bucket: BucketWriter): Promise<void> {
    for (let next = bucket.flushing[0]; next !== undefined; next = bucket.flushing[0]) {
      await this.#host.stall(bucket)
      next.raisedBy = 0n
      let written: FlushedFiles = await this.#run(bucket, { kind: 'flush', rows: next.buffer.view() })
      // The last look and the landing are one step: a number that another writer takes in between would be used twice.
      while (next.raisedBy > 0n) {
        const offset = next.raisedBy
        next.raisedBy = 0n
        const low = written
        // Whether it works or fails: nobody will ask for the files with the low numbers again.
        written = await this.renumber(bucket, low, offset).finally(() => this.#host.removeFiles(bucket, allOf(low)))
      }
      // discard() may have emptied the bucket meanwhile.
      if (bucket.flushing[0] !== next) {
        this.#host.removeFiles(bucket, allOf(written))
        return
      }
      bucket.landFlush(next, written)
      this.#host.landed(bucket, written.after)
    }
  }

  /** Writes the files of a flush again with sequence numbers raised by `offset`. */
  renumber(bucket: BucketWriter, { after, changelog }: FlushedFiles, offset: bigint): Promise<FlushedFiles> {
    return this.#run(bucket, { kind: 'renumber', files: after, changelog, offset })
  }

  async #run(
    bucket: BucketWriter,
    work: Pick<FlushTask, 'kind' | 'rows'> | Pick<RenumberTask, 'kind' | 'files' | 'changelog' | 'offset'>,
  ): Promise<FlushedFiles> {
    const { executor, random, taskTable, flushHere, runTask } = this.#host
    const fileUuid = random.uuid()
    const task = { ...work, table: taskTable(), folder: bucket.folder, fileUuid, cancel: newCancelFlag() }
    return runTask(bucket, fileUuid, async () => {
      const here = task.kind === 'flush' ? await flushHere?.(task) : undefined
      return here ?? (await submit(executor, task))
    })
  }
}

type FlushedFiles = Pick<FilesResult, 'after' | 'changelog'>

function allOf({ after, changelog }: FlushedFiles): readonly DataFile[] {
  return [...after, ...changelog]
}

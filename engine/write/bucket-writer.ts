import { type BatchSize, sizeFor } from '../../formats/column/builder.ts'
import type { Batch } from '../../formats/column/column.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { assert } from '../assert.ts'
import { compactionFits, type FinishedCompaction } from '../plan/fits.ts'
import { buildLevels, filesOf, type Levels, maxSequence, replaceFiles } from '../plan/levels.ts'
import { type VectorFile, withVectors } from '../plan/vectors.ts'
import { withoutLevel0 } from '../plan/visible.ts'
import { type RowKinds, WriteBuffer } from './buffer.ts'

/** Rows on their way to a level-0 file. They stay here, readable, until the file has landed. */
export interface Flushing {
  /** Sequence numbers that another writer took since a task was given the rows: the file must be renumbered before it lands. */
  raisedBy: bigint
  readonly buffer: WriteBuffer
  /** The commit cut these rows belong to. */
  readonly epoch: number
}

/** A change of the bucket's files that no snapshot holds yet. */
export interface PendingChange {
  readonly kind: 'flush' | 'compact'
  readonly before: readonly DataFile[]
  readonly after: readonly DataFile[]
  readonly changelog: readonly DataFile[]
  /** See `CompactionChange`. */
  readonly vectors?: VectorFile | null | undefined
  /** See `FinishedCompaction`. */
  readonly seen?: ReadonlySet<string> | undefined
  /** A compaction that forgot deletes. */
  readonly dropDelete: boolean
  /** The earliest cut whose commit may hold it: the highest of the rows it has seen; 0 = committed rows only. */
  readonly epoch: number
}

/** What is fixed for all buckets of a table. */
export interface BucketShape {
  readonly fields: readonly Field[]
  /** Indexes of the trimmed primary key in `fields`. */
  readonly keys: readonly number[]
  /** Reads leave level 0 out, but for files that no snapshot holds. */
  readonly hidesLevel0: boolean
}

/**
 * State of one bucket of a writing handle. Everything here changes on the main thread, in synchronous steps.
 *
 *   append ─▶ buffer ─▶ flushing ─(file lands)─▶ levels + pending ─(commit takes)─▶ snapshot
 *
 * I4 sequence numbers only grow. I7 flushes land in the order of their rows. I8 what a change takes out is there.
 */
export class BucketWriter {
  readonly partition: Uint8Array
  readonly bucket: number
  /** Absolute path of the bucket's folder. */
  readonly folder: string
  readonly #shape: BucketShape
  readonly #flushing: Flushing[] = []
  #pending: PendingChange[] = []
  #uncommitted = new Map<string, number>()
  #buffer: WriteBuffer | undefined
  /** Of the last buffer: the next one will be like it. */
  #size: BatchSize | undefined
  #nextSequence: bigint
  #levels: Levels
  #readable: Levels | undefined

  constructor(partition: Uint8Array, bucket: number, folder: string, shape: BucketShape, levels: Levels) {
    this.partition = partition
    this.bucket = bucket
    this.folder = folder
    this.#shape = shape
    this.#levels = levels
    this.#nextSequence = maxSequence(filesOf(levels)) + 1n
  }

  /** Committed files and those that landed since. */
  get levels(): Levels {
    return this.#levels
  }

  /** The files that reads look at. */
  get readable(): Levels {
    if (!this.#shape.hidesLevel0) return this.#levels
    this.#readable ??= withoutLevel0(this.#levels, (file) => this.#uncommitted.has(file.name))
    return this.#readable
  }

  /** The highest cut that uncommitted files among these belong to; 0 when all are committed. */
  readonly epochOf = (files: readonly DataFile[]): number =>
    files.reduce((epoch, file) => Math.max(epoch, this.#uncommitted.get(file.name) ?? 0), 0)

  get buffer(): WriteBuffer | undefined {
    return this.#buffer
  }

  /** Oldest first. */
  get flushing(): readonly Flushing[] {
    return this.#flushing
  }

  /** Buffers whose rows no file holds yet, oldest first. */
  get buffers(): readonly WriteBuffer[] {
    return [...this.#flushing.map(({ buffer }) => buffer), ...(this.#buffer ? [this.#buffer] : [])]
  }

  get pending(): readonly PendingChange[] {
    return this.#pending
  }

  /** Whether there are rows that no file holds yet. */
  get holdsRows(): boolean {
    return this.#buffer !== undefined || this.#flushing.length > 0
  }

  /** Bytes of rows in memory. */
  get memoryBytes(): number {
    return this.#flushing.reduce((sum, { buffer }) => sum + buffer.bytes, this.#buffer?.bytes ?? 0)
  }

  append(values: Batch, kinds: RowKinds, rows?: Uint32Array): void {
    this.#buffer ??= new WriteBuffer(this.#shape.fields, this.#shape.keys, this.#nextSequence, this.#size)
    const before = this.#buffer.rows
    this.#buffer.append(values, kinds, rows)
    this.#nextSequence += BigInt(this.#buffer.rows - before)
  }

  /** Moves the buffer to the flushing rows. */
  detach(epoch: number): void {
    const buffer = this.#buffer
    this.#buffer = undefined
    if (buffer === undefined || buffer.rows === 0) return
    this.#size = sizeFor(buffer.view().values)
    this.#flushing.push({ raisedBy: 0n, buffer, epoch })
  }

  /** The oldest flushing rows are in files now. */
  landFlush(flushing: Flushing, { after, changelog }: Pick<PendingChange, 'after' | 'changelog'>): void {
    assert(this.#flushing[0] === flushing, 'I7: flushes of a bucket land in order')
    this.#flushing.shift()
    this.#change({ kind: 'flush', before: [], after, changelog, dropDelete: false, epoch: flushing.epoch })
  }

  landCompaction(finished: FinishedCompaction): PendingChange {
    const { before, changelog = [] } = finished
    // Vectors stand on those of the compactions before, so they cannot be committed before these.
    const below = finished.seen === undefined ? [] : this.#pending.filter(({ kind }) => kind === 'compact')
    const epoch = below.reduce((max, earlier) => Math.max(max, earlier.epoch), this.epochOf(before))
    const change: PendingChange = { ...finished, changelog, kind: 'compact', epoch }
    this.#change(change)
    return change
  }

  /** The changes that the commit of a cut may hold, in landing order. */
  pendingUpTo(epoch: number, kind: PendingChange['kind']): readonly PendingChange[] {
    return this.#pending.filter((change) => change.kind === kind && change.epoch <= epoch)
  }

  /** These changes are in a snapshot now. */
  committed(changes: readonly PendingChange[]): void {
    const done = new Set(changes)
    this.#pending = this.#pending.filter((change) => !done.has(change))
    for (const change of changes) for (const file of change.after) this.#uncommitted.delete(file.name)
    this.#readable = undefined
  }

  /**
   * By how much the sequence numbers of our uncommitted rows must rise to lie above all of `live`: another writer may have used
   * them, and the later commit must win, in scans too. 0 = they lie above.
   */
  offsetAbove(live: readonly DataFile[]): bigint {
    const first = this.#firstUncommitted()
    const floor = maxSequence(live) + 1n
    return first !== undefined && first < floor ? floor - first : 0n
  }

  /** Flushes that no snapshot holds, oldest first. */
  get flushed(): readonly PendingChange[] {
    return this.#pending.filter((change) => change.kind === 'flush')
  }

  /**
   * The bucket's committed files changed under us: puts our pending changes on top again, and gives those that were dropped: a
   * compaction that does not fit any more, and those that build on it.
   *
   * With an `offset` all our uncommitted rows rise by it: those in memory here, those in files because `raised` has, for each
   * flushed file, the files that take its place.
   */
  rebase(
    live: readonly DataFile[],
    offset = 0n,
    raised: ReadonlyMap<DataFile, readonly DataFile[]> = new Map(),
  ): readonly PendingChange[] {
    const dropped: PendingChange[] = []
    const kept: PendingChange[] = []
    let levels = buildLevels(live, this.#levels.numLevels, this.#levels.compareKeys)
    for (const change of this.#pending) {
      if (change.kind === 'flush') {
        const moved = (files: readonly DataFile[]) =>
          offset === 0n ? files : files.flatMap((file) => replaced(file, raised))
        const [after, changelog] = [moved(change.after), moved(change.changelog)]
        levels = replaceFiles(levels, [], after)
        kept.push({ ...change, after, changelog })
      } else if ((offset === 0n || change.epoch === 0) && compactionFits(levels, change)) {
        levels = changed(levels, change)
        kept.push(change)
      } else {
        dropped.push(change)
      }
    }
    this.#pending = kept
    this.#levels = levels
    this.#readable = undefined
    this.#uncommitted = new Map(kept.flatMap(({ epoch, after }) => after.map((file) => [file.name, epoch] as const)))
    if (offset > 0n) this.#raise(offset)
    const floor = maxSequence(live) + 1n
    if (floor > this.#nextSequence) this.#nextSequence = floor
    return dropped
  }

  /** Forgets every row and file that no commit took; gives back the files. */
  discard(): readonly PendingChange[] {
    const dropped = this.#pending
    this.#buffer = undefined
    this.#flushing.length = 0
    this.#pending = []
    this.#uncommitted.clear()
    this.#readable = undefined
    return dropped
  }

  #change(change: PendingChange): void {
    this.#levels = changed(this.#levels, change)
    this.#readable = undefined
    for (const file of change.after) {
      if (change.epoch > 0) this.#uncommitted.set(file.name, change.epoch)
    }
    this.#pending.push(change)
  }

  /** The lowest sequence number of a row that no snapshot holds. */
  #firstUncommitted(): bigint | undefined {
    let first: bigint | undefined
    for (const change of this.#pending) {
      if (change.kind !== 'flush') continue
      for (const { minSequence } of change.after) if (first === undefined || minSequence < first) first = minSequence
    }
    return first ?? this.#flushing[0]?.buffer.firstSequence ?? this.#buffer?.firstSequence
  }

  #raise(offset: bigint): void {
    for (const flushing of this.#flushing) {
      flushing.raisedBy += offset
      flushing.buffer.raise(offset)
    }
    this.#buffer?.raise(offset)
    this.#nextSequence += offset
  }
}

/** The levels with a change: all files have their vectors by what the last change says. */
function changed(levels: Levels, { before, after, vectors }: PendingChange): Levels {
  const next = replaceFiles(levels, before, after)
  if (vectors === undefined) return next
  return buildLevels(withVectors(filesOf(next), vectors ?? undefined), next.numLevels, next.compareKeys)
}

function replaced(file: DataFile, raised: ReadonlyMap<DataFile, readonly DataFile[]>): readonly DataFile[] {
  const files = raised.get(file)
  assert(files !== undefined, `I4: ${file.name} has sequence numbers that another writer used`)
  return files
}

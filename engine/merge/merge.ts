import type { Batch } from '../../formats/column/column.ts'
import { copyBatch } from '../../formats/column/copy.ts'
import { Arena, heapMemory, type Scratch } from '../../formats/column/memory.ts'
import { batchBytes } from '../../formats/column/size.ts'
import { concatBatches, sliceBatch } from '../../formats/column/slice.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { type MergeOrder, orderRows, type SortEngine } from './order.ts'
import { type MergeEngine, reduce } from './reduce.ts'
import { cutWindow, openRuns, type WindowPart } from './window.ts'

export interface MergeOptions {
  /** Positions of the key columns in every batch, and their types. */
  readonly keys: readonly number[]
  readonly keyTypes: readonly DataType[]
  /** Position of `_SEQUENCE_NUMBER`. */
  readonly sequence: number
  readonly engine: MergeEngine
  readonly sortEngine: SortEngine
  /** Most rows of a batch of the result; 16384 when absent. Batches far smaller are joined. */
  readonly windowRows?: number
  /**
   * A batch of a run may be overwritten when the next but one of it is asked for, and one of the result is when the next is asked
   * for: nothing is allocated where the caller takes rows at once.
   */
  readonly reuse?: boolean | undefined
  /** Takes the place of the reduction of a window by `engine`: for merges that give more than the result. */
  readonly reduceWindow?: ReduceWindow | undefined
}

/**
 * Makes the rows of the result from the parts of a window, oldest run first, and the order of their rows. Called for every row of the
 * merge, also where only one run has rows; each key is in one call. The result may lie in `memory`, which the next call overwrites.
 */
export type ReduceWindow = (parts: readonly WindowPart[], order: MergeOrder, memory: Scratch | undefined) => Batch

/** Sources are 16-bit in a `MergeOrder`. */
const MAX_RUNS = 65536

/**
 * Merges sorted runs, oldest first, into batches by key, each key once. Of rows with equal key and sequence number the one of
 * the later run is the newer.
 *
 * Each run must hold strictly ascending keys; `CORRUPT` where it does not between batches. Holds one batch a run and one
 * window. Runs are closed when the caller stops early. Batches of the result may share memory with those of the runs.
 */
export function* mergeRuns(runs: readonly Iterable<Batch>[], options: MergeOptions): Generator<Batch> {
  if (runs.length > MAX_RUNS) {
    throw new TableError('UNSUPPORTED', `a merge of ${runs.length} runs is too wide: spill some of them first.`, {
      runs: runs.length,
    })
  }
  const maxRows = options.windowRows ?? 16384
  yield* joinSmall(windows(runs, options, maxRows), maxRows, options.reuse === true)
}

function* windows(runs: readonly Iterable<Batch>[], options: MergeOptions, maxRows: number): Generator<Batch> {
  const cursors = openRuns(runs, options)
  const arena = options.reuse === true ? new Arena() : undefined
  try {
    for (;;) {
      const parts = cutWindow(cursors)
      if (parts.length === 0) return
      if (parts.length === 1 && options.reduceWindow === undefined) yield* pieces(parts[0]!, maxRows)
      else yield* merged(parts, options, maxRows, arena)
    }
  } finally {
    for (const cursor of cursors) cursor.close()
  }
}

/** A window that only one run has rows in: its rows as they are. */
function* pieces(part: WindowPart, maxRows: number): Generator<Batch> {
  for (let start = part.start; start < part.end; start += maxRows) {
    yield sliceBatch(part.batch, start, Math.min(part.end, start + maxRows))
  }
}

function* merged(
  parts: readonly WindowPart[],
  options: MergeOptions,
  maxRows: number,
  arena: Arena | undefined,
): Generator<Batch> {
  const order = parts.length === 1 ? orderOfPart(parts[0]!) : orderRows(parts, options.sortEngine)
  const batches = parts.map((part) => part.batch)
  const { engine, reduceWindow } = options
  for (const piece of order.row.length <= maxRows ? [order] : cutOrder(order, maxRows)) {
    arena?.reset()
    yield reduceWindow === undefined
      ? reduce(batches, piece, engine, arena?.take)
      : reduceWindow(parts, piece, arena?.take)
  }
}

/** The rows of one run: each key once. */
function orderOfPart({ start, end }: WindowPart): MergeOrder {
  const row = new Uint32Array(end - start)
  const groupEnd = new Uint32Array(end - start)
  for (let i = 0; i < row.length; i++) {
    row[i] = start + i
    groupEnd[i] = i + 1
  }
  return { source: new Uint16Array(row.length), row, groupEnd }
}

/** Stretches of at most `maxRows` groups. */
function* cutOrder(order: MergeOrder, maxRows: number): Generator<MergeOrder> {
  const { source, row, groupEnd } = order
  for (let group = 0; group < groupEnd.length; group += maxRows) {
    const start = group === 0 ? 0 : groupEnd[group - 1]!
    const ends = groupEnd.slice(group, group + maxRows)
    const end = ends.at(-1)!
    for (let i = 0; i < ends.length; i++) ends[i]! -= start
    yield { source: source.subarray(start, end), row: row.subarray(start, end), groupEnd: ends }
  }
}

/** Bytes from which on a batch is no longer small, however few rows it has. */
const JOINED_BYTES = 1 << 20

/** Joins neighbouring batches while each is below a quarter of `maxRows`, so that tiny windows do not make tiny batches. */
function* joinSmall(batches: Iterable<Batch>, maxRows: number, reuse: boolean): Generator<Batch> {
  const small = maxRows >>> 2
  let pending: Batch[] = []
  let rows = 0
  let bytes = 0
  for (const batch of batches) {
    if (batch.rows === 0) continue
    const size = batch.rows >= small ? 0 : batchBytes(batch)
    const large = batch.rows >= small || size >= JOINED_BYTES
    if (pending.length > 0 && (large || rows + batch.rows > maxRows || bytes + size > JOINED_BYTES)) {
      yield concatBatches(pending)
      pending = []
      rows = 0
      bytes = 0
    }
    if (large) {
      yield batch
      continue
    }
    pending.push(reuse ? copyBatch(batch, heapMemory) : batch)
    rows += batch.rows
    bytes += size
  }
  if (pending.length > 0) yield concatBatches(pending)
}

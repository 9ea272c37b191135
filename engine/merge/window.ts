import type { Batch, FixedColumn } from '../../formats/column/column.ts'
import { compareKeys, firstKeyAfter, type Keys, keysOf } from '../../formats/column/key-order.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'

/** Where the keys of a run's batches are. */
export interface RunLayout {
  readonly keys: readonly number[]
  readonly keyTypes: readonly DataType[]
  readonly sequence: number
}

/** Rows `[start, end)` of one run's batch that fall into a window. */
export interface WindowPart {
  /** Position of the run among those of the merge. */
  readonly run: number
  readonly batch: Batch
  readonly keys: Keys
  readonly sequence: BigInt64Array
  readonly start: number
  readonly end: number
}

/** The runs, oldest first, each before its first batch. */
export function openRuns(runs: readonly Iterable<Batch>[], layout: RunLayout): readonly RunCursor[] {
  return runs.map((run, index) => new RunCursor(index, run[Symbol.iterator](), layout))
}

/**
 * The next window: of each run's current batch the rows up to the smallest last key of all of them, oldest run first. Empty
 * when all runs are at their end.
 *
 *   run 0   a  c  e |          last key e     a run holds a key once, and its next batch starts above its last key,
 *   run 1   b  e |  g  h       last key h     so no key is ever split over two windows
 *   run 2   d |  f             last key f
 */
export function cutWindow(cursors: readonly RunCursor[]): readonly WindowPart[] {
  let smallest: RunCursor | undefined
  for (const cursor of cursors) {
    cursor.fill()
    if (cursor.ended) continue
    if (smallest === undefined || cursor.lastKeyIsBelow(smallest)) smallest = cursor
  }
  if (smallest === undefined) return []
  const parts: WindowPart[] = []
  for (const cursor of cursors) {
    const part = cursor.ended ? undefined : cursor.take(smallest)
    if (part !== undefined) parts.push(part)
  }
  return parts
}

const NOTHING: WindowPart = {
  run: 0,
  batch: { fields: [], rows: 0, columns: [] },
  keys: { form: 'int32', rows: 0, values: new Int32Array(0) },
  sequence: new BigInt64Array(0),
  start: 0,
  end: 0,
}

/** Walks the batches of one run and checks that keys ascend from one to the next. */
export class RunCursor {
  readonly #index: number
  readonly #batches: Iterator<Batch>
  readonly #layout: RunLayout
  #current: WindowPart = NOTHING
  ended = false

  constructor(index: number, batches: Iterator<Batch>, layout: RunLayout) {
    this.#index = index
    this.#batches = batches
    this.#layout = layout
  }

  /** Moves on to the next batch when the current one is used up. */
  fill(): void {
    const last = this.#current
    if (this.ended || last.start < last.end) return
    for (;;) {
      const step = this.#batches.next()
      if (step.done === true) {
        this.ended = true
        this.#current = NOTHING
        return
      }
      if (step.value.rows > 0) {
        this.#current = this.#partOf(step.value)
        break
      }
    }
    const { keys, end } = this.#current
    const ascends = end === 1 || compareKeys(keys, 0, keys, end - 1) < 0
    if (!ascends || (last.end > 0 && compareKeys(last.keys, last.end - 1, keys, 0) >= 0)) {
      throw new TableError(
        'CORRUPT',
        'keys out of order: a sorted run must hold strictly ascending keys. Restore its files.',
        {
          run: this.#index,
        },
      )
    }
  }

  lastKeyIsBelow(other: RunCursor): boolean {
    const [mine, theirs] = [this.#current, other.#current]
    return compareKeys(mine.keys, mine.end - 1, theirs.keys, theirs.end - 1) < 0
  }

  /** Takes the rows up to the last key of another run's batch; undefined when there are none. */
  take(bound: RunCursor): WindowPart | undefined {
    const current = this.#current
    // The bounding run may have given up its rows already, but its end still stands.
    const { keys, end } = bound.#current
    const cut = bound === this ? current.end : firstKeyAfter(current.keys, current.start, current.end, keys, end - 1)
    if (cut === current.start) return undefined
    this.#current = { ...current, start: cut }
    return { ...current, end: cut }
  }

  close(): void {
    if (!this.ended) this.#batches.return?.()
    this.ended = true
  }

  #partOf(batch: Batch): WindowPart {
    const { keys, keyTypes, sequence } = this.#layout
    const columns = keys.map((index) => batch.columns[index]!)
    const numbers = (batch.columns[sequence] as FixedColumn).values as BigInt64Array
    return {
      run: this.#index,
      batch,
      keys: keysOf(columns, keyTypes, batch.rows),
      sequence: numbers,
      start: 0,
      end: batch.rows,
    }
  }
}

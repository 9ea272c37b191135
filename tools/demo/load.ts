import { type ArrowModule, loadArrow, toRecordBatch } from '../../formats/column/arrow.ts'
import type { Batch, FixedColumn } from '../../formats/column/column.ts'
import { takeBatch } from '../../formats/column/gather.ts'
import { rowsOf } from '../../formats/column/values.ts'
import type { CompactionWatch } from './compaction-watch.ts'
import { type DataSet, flightBatches } from './data-set.ts'
import { columns, type Flight, type FlightsTable } from './flights-table.ts'
import { Progress } from './progress.ts'
import { type Change, changeOf, correctionOf } from './second-wave.ts'
import type { Terminal } from './terminal.ts'

/** Commits of the first wave: enough to fill level 0 of each bucket a few times, so that compactions start in between. */
const COMMITS = 15

/** Of the second wave, for its corrections; the deletes are one more. */
const CORRECTING_COMMITS = 3

export interface LoadContext {
  readonly table: FlightsTable
  readonly data: DataSet
  readonly watch: CompactionWatch
  readonly terminal: Terminal
  readonly signal: AbortSignal
}

export interface LoadResult {
  readonly rows: number
  readonly seconds: number
  /** The last snapshot. */
  readonly snapshot: number
}

/** Upserts the data set in file order, with a commit every so often. */
export async function loadFirstWave(context: LoadContext): Promise<LoadResult> {
  const { data } = context
  const batches = function* () {
    for (const { batch } of flightBatches(data)) yield batch
  }
  return upsert(context, 'upsert ', batches(), data.rows, COMMITS)
}

export interface SecondWaveResult extends LoadResult {
  readonly corrected: number
  readonly deleted: number
}

/** Corrects and deletes rows as second-wave.ts says. */
export async function loadSecondWave(context: LoadContext, seed: number): Promise<SecondWaveResult> {
  const { table, data, watch, signal } = context
  const counts = countChanges(seed, data.rows)
  const corrections = function* () {
    for (const { firstRow, batch } of flightBatches(data)) {
      const rows = rowsWith('correct', seed, firstRow, batch.rows)
      yield corrected(takeBatch(batch, rows), (i) => correctionOf(seed, firstRow + rows[i]!))
    }
  }
  const start = performance.now()
  await upsert(context, 'correct', corrections(), counts.correct, CORRECTING_COMMITS)
  const progress = new Progress(context.terminal, {
    label: 'delete ',
    total: counts.delete,
    running: () => watch.running,
  })
  let deleted = 0
  for (const { firstRow, batch } of flightBatches(data)) {
    const rows = takeBatch(batch, rowsWith('delete', seed, firstRow, batch.rows))
    const flights = rowsOf(rows) as Flight[]
    await table.delete(
      flights.map(({ origin, destination, date }) => ({ origin, destination, date })),
      { signal },
    )
    deleted += rows.rows
    progress.update(deleted)
  }
  const { id } = await table.commit({ signal })
  progress.finish(deleted)
  watch.check()
  const seconds = (performance.now() - start) / 1000
  return { rows: counts.correct + deleted, corrected: counts.correct, deleted, seconds, snapshot: id ?? 0 }
}

async function upsert(
  { table, watch, terminal, signal }: LoadContext,
  label: string,
  batches: Iterable<Batch>,
  total: number,
  commits: number,
): Promise<LoadResult> {
  const arrow: ArrowModule = await loadArrow()
  const progress = new Progress(terminal, { label, total, running: () => watch.running })
  let rows = 0
  let uncommitted = 0
  for (const batch of batches) {
    await table.putArrow(toRecordBatch(arrow, batch), { signal })
    rows += batch.rows
    uncommitted += batch.rows
    progress.update(rows)
    if (uncommitted < total / commits) continue
    uncommitted = 0
    await table.commit({ signal })
    watch.check()
  }
  const { id } = await table.commit({ signal })
  progress.finish(rows)
  watch.check()
  return { rows, seconds: progress.seconds, snapshot: id ?? 0 }
}

function rowsWith(change: Change, seed: number, firstRow: number, rows: number): Uint32Array {
  const found: number[] = []
  for (let i = 0; i < rows; i++) if (changeOf(seed, firstRow + i) === change) found.push(i)
  return Uint32Array.from(found)
}

function countChanges(seed: number, rows: number): Record<Change, number> {
  const counts: Record<Change, number> = { none: 0, correct: 0, delete: 0 }
  for (let row = 0; row < rows; row++) counts[changeOf(seed, row)]++
  return counts
}

/** The batch with minutes added to each delay; where there was none, the minutes become the delay. */
function corrected(batch: Batch, minutes: (row: number) => number): Batch {
  const index = columns.indexOf('delay')
  const before = (batch.columns[index] as FixedColumn).values as BigInt64Array
  const values = before.map((delay, row) => delay + BigInt(minutes(row)))
  const delay: FixedColumn = { kind: 'fixed', length: batch.rows, values }
  return { ...batch, columns: batch.columns.with(index, delay) }
}

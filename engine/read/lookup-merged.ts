import type { Batch, Column } from '../../formats/column/column.ts'
import { compareRows } from '../../formats/column/key-bounds.ts'
import { dropDeletes } from '../merge/filters.ts'
import { mergeWithLookup, WITHIN_RUNS } from '../merge/lookup.ts'
import { mergeRuns } from '../merge/merge.ts'
import type { MergeEngine } from '../merge/reduce.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import { type FileRow, rowsOf } from '../store/lookup-file.ts'
import { RunWalk } from '../store/run-walk.ts'
import type { LookupRun } from './lookup.ts'

/** A row of a batch of the columns of the table. */
export interface MergedRow {
  readonly batch: Batch
  readonly row: number
}

/** What keys are looked up in, where more than the newest record of a key counts. */
export interface MergedSource {
  /** Newest first. */
  readonly runs: readonly LookupRun[]
  /** Sorted KV batches of the keys that are newer than all runs, oldest first. */
  readonly memory: readonly Batch[]
  readonly layout: KvLayout
  readonly engine: MergeEngine
  /** Of a key only the row of the lowest level above 0 counts: it has all in it that lies below. */
  readonly upperRowsAreWhole: boolean
}

/**
 * The rows of keys of one bucket, into `found` at their positions: all records of a key, of all runs, merged as a scan merges
 * them. `rows` are positions in the key columns, in ascending order of the keys. Decodes every column of the pages that hold a key.
 */
export function lookUpMerged(
  { runs, memory, layout, engine, upperRowsAreWhole }: MergedSource,
  keys: readonly Column[],
  rows: readonly number[],
  found: (MergedRow | FileRow | undefined)[],
): void {
  const oldestFirst = runs.toReversed()
  const inputs = oldestFirst.map(({ files }) => hits(new RunWalk(files, keys), keys, rows, layout))
  const levels = [...oldestFirst.map(({ files }) => files[0]!.file.level), ...memory.map(() => 0)]
  const { sequence } = layout
  const merged = mergeRuns([...inputs, ...memory.map((batch) => [batch])], {
    keys: layout.keyIndexes,
    keyTypes: layout.keyTypes,
    sequence,
    engine,
    sortEngine: 'loser-tree',
    reduceWindow: upperRowsAreWhole ? mergeWithLookup({ engine, levels, sequence, ...WITHIN_RUNS }) : undefined,
  })
  let next = 0
  for (const each of merged) {
    const batch = dropDeletes(each, layout.kind)
    const own = layout.keyIndexes.map((index) => batch.columns[index]!)
    const values = {
      fields: layout.values,
      rows: batch.rows,
      columns: batch.columns.slice(layout.firstValue),
    }
    for (let row = 0; row < batch.rows; row++) {
      while (compareRows(own, row, keys, rows[next]!) > 0) next++
      for (; next < rows.length && compareRows(own, row, keys, rows[next]!) === 0; next++) {
        found[rows[next]!] = { batch: values, row }
      }
    }
  }
}

/** The records of the keys in one run, a key once; one batch, or none. */
function* hits(walk: RunWalk, keys: readonly Column[], rows: readonly number[], layout: KvLayout): Generator<Batch> {
  const found: FileRow[] = []
  for (const [index, row] of rows.entries()) {
    if (index > 0 && compareRows(keys, rows[index - 1]!, keys, row) === 0) continue
    const hit = walk.find(row)
    if (hit !== undefined) found.push(hit)
  }
  if (found.length > 0) yield rowsOf(found, layout)
}

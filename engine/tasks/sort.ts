import { copyBatch } from '../../formats/column/copy.ts'
import { sharedMemory } from '../../formats/column/memory.ts'
import { concatBatches } from '../../formats/column/slice.ts'
import { createMergeEngine } from '../merge/engines/create.ts'
import { sortBatch } from '../merge/sort.ts'
import { mergeSpec } from '../options/merge-spec.ts'
import { kvLayout } from '../plan/kv-layout.ts'
import { bufferedBatch } from './buffered.ts'
import type { SortResult, SortTask } from './task.ts'

/** Sorted KV batches of all buffered rows, oldest first, each key once in each, in shared memory: later read tasks merge them in. */
export function runSort(task: SortTask): SortResult {
  const layout = kvLayout(task.table.schema)
  const rows = concatBatches(task.rows.map((buffer) => bufferedBatch(layout, buffer)))
  const engine = createMergeEngine(layout, mergeSpec(task.table.schema))
  const runs = sortBatch(rows, layout.keyIndexes, layout.keyTypes, engine)
  return { kind: 'sort', runs: runs.map((run) => copyBatch(run, sharedMemory)) }
}

import { copyBatch } from '../../formats/column/copy.ts'
import { sharedMemory } from '../../formats/column/memory.ts'
import { concatBatches } from '../../formats/column/slice.ts'
import { sortBatch } from '../merge/sort.ts'
import { kvLayout } from '../plan/kv-layout.ts'
import { bufferedBatch } from './files.ts'
import type { SortResult, SortTask } from './task.ts'

/** One sorted KV batch of all buffered rows, the last of each key, in shared memory: later read tasks merge it in. */
export function runSort(task: SortTask): SortResult {
  const layout = kvLayout(task.table.schema)
  const rows = concatBatches(task.rows.map((buffer) => bufferedBatch(layout, buffer)))
  return { kind: 'sort', batch: copyBatch(sortBatch(rows, layout.keyIndexes, layout.keyTypes), sharedMemory) }
}

import type { Batch } from '../../formats/column/column.ts'
import { heapMemory } from '../../formats/column/memory.ts'
import { assert } from '../assert.ts'
import { type ChangeRules, changesOf } from './changes.ts'
import type { ReduceWindow } from './merge.ts'
import type { MergeOrder } from './order.ts'
import { type MergeEngine, reduce } from './reduce.ts'
import type { WindowPart } from './window.ts'

export interface TopChanges {
  readonly engine: MergeEngine
  /** Which run of the merge holds the rows before; -1 = there are none. */
  readonly before: number
  readonly rules: ChangeRules
  /** Called with the changes of each window that has any, in key order; the batch is valid until it returns. */
  readonly tell: (changes: Batch) => void
}

/**
 * A merge that also tells what it changes against one of its runs, that of the highest level: producer full-compaction. A row of that
 * run which meets no other tells nothing.
 */
export function tellTopChanges({ engine, before, rules, tell }: TopChanges): ReduceWindow {
  const { arrange, ...rest } = engine
  return (parts, written, memory = heapMemory) => {
    const inputs = parts.map((part) => part.batch)
    // What was arranged is told as it was merged.
    const order = arrange?.(written, inputs) ?? written
    assert(order.groupEnd.length === written.groupEnd.length, 'rows are arranged within their groups')
    const result = reduce(inputs, order, rest, memory)
    const { had, has } = sides(parts, order, before)
    const source = new Uint16Array(has.length)
    const changes = changesOf(
      { inputs, source: had.source, row: had.row },
      { inputs: [result], source, row: has },
      rules,
      memory,
    )
    if (changes.rows > 0) tell(changes)
    return result
  }
}

/** Of each group the row of the run before, and the row of the result. */
function sides(parts: readonly WindowPart[], { source, row, groupEnd }: MergeOrder, before: number) {
  const top = parts.findIndex((part) => part.run === before)
  const had = { source: new Uint16Array(groupEnd.length).fill(Math.max(0, top)), row: new Int32Array(groupEnd.length) }
  const has = new Int32Array(groupEnd.length)
  let start = 0
  for (let group = 0; group < groupEnd.length; group++) {
    const end = groupEnd[group]!
    let found = -1
    for (let place = start; place < end; place++) if (source[place] === top) found = row[place]!
    const alone = found >= 0 && end - start === 1
    had.row[group] = alone ? -1 : found
    has[group] = alone ? -1 : group
    start = end
  }
  return { had, has }
}

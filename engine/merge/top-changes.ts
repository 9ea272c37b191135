import { heapMemory } from '../../formats/column/memory.ts'
import { type ChangeListener, tellChanges } from './changes.ts'
import type { ReduceWindow } from './merge.ts'
import type { MergeOrder } from './order.ts'
import { arranged, type MergeEngine, reduceArranged } from './reduce.ts'
import type { WindowPart } from './window.ts'

export interface TopChanges extends ChangeListener {
  readonly engine: MergeEngine
  /** Which run of the merge holds the rows before; -1 = there are none. */
  readonly before: number
}

/**
 * A merge that also tells what it changes against one of its runs, that of the highest level: producer full-compaction. A row of that
 * run which meets no other tells nothing.
 */
export function tellTopChanges({ engine, before, ...listener }: TopChanges): ReduceWindow {
  return (parts, written, memory = heapMemory) => {
    const inputs = parts.map((part) => part.batch)
    // What was arranged is told as it was merged.
    const order = arranged(inputs, written, engine)
    const result = reduceArranged(inputs, order, engine, memory)
    const { had, has } = sides(parts, order, before)
    tellChanges(listener, { inputs, ...had }, result, has, memory)
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

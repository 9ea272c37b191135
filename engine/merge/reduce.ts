import type { Batch, Column } from '../../formats/column/column.ts'
import { heapMemory, type Scratch } from '../../formats/column/memory.ts'
import { assert } from '../assert.ts'
import type { MergeOrder } from './order.ts'
import { halved, Overflow, overflowError } from './overflow.ts'

/** Makes one column of the result, a value a group, from the same column of all inputs. */
export type Reducer = (inputs: readonly Column[]) => Column

/** How rows of one key become one. Groups of one row must come out as they went in: windows of one run are not reduced. */
export interface MergeEngine {
  readonly name: string
  /** Another order within the groups, or fewer rows in them; absent = rows stay as they were written. */
  arrange?(order: MergeOrder, inputs: readonly Batch[]): MergeOrder
  /**
   * Where rows can only be merged once all older rows of their key are at hand: orders, oldest first, that each can be reduced
   * without them. Absent = any rows that follow each other can.
   */
  apart?(order: MergeOrder, inputs: readonly Batch[]): readonly MergeOrder[]
  /**
   * The reducers for one order; what they share is computed here once. What they make may lie in `memory`. `column` is the position
   * in the batch.
   */
  reducers(order: MergeOrder, inputs: readonly Batch[], memory: Scratch): (column: number) => Reducer
}

/**
 * One row for each group of the order. A table's key columns come twice in a KV batch, as keys and as its own columns, often as
 * one column: then the result is made once, too.
 */
export function reduce(
  inputs: readonly Batch[],
  written: MergeOrder,
  engine: MergeEngine,
  memory: Scratch = heapMemory,
): Batch {
  return reduceArranged(inputs, arranged(inputs, written, engine), engine, memory)
}

/** The order in which an engine takes rows: within the groups of the given one, whose number it keeps. */
export function arranged(inputs: readonly Batch[], written: MergeOrder, engine: MergeEngine): MergeOrder {
  const order = engine.arrange?.(written, inputs) ?? written
  assert(order.groupEnd.length === written.groupEnd.length, 'rows are arranged within their groups')
  return order
}

/** `reduce` of an order that is arranged. `OVERFLOW` where a result does not fit its column. */
export function reduceArranged(
  inputs: readonly Batch[],
  order: MergeOrder,
  engine: MergeEngine,
  memory: Scratch = heapMemory,
): Batch {
  const { batch, column, overflow } = tryReduce(inputs, order, engine, memory)
  if (batch !== undefined) return batch
  throw overflowError(inputs[0]!.fields[column]!, overflow.groups[0]!, inputs, order)
}

/** The rows of an order in as few batches as can be merged, oldest first, a key once in each. */
export function reduceApart(inputs: readonly Batch[], order: MergeOrder, engine: MergeEngine): readonly Batch[] {
  const { batch, overflow } = tryReduce(inputs, order, engine, heapMemory)
  if (batch !== undefined) return [batch]
  return halved(order, overflow.groups).flatMap((half) => reduceApart(inputs, half, engine))
}

type Reduced =
  | { readonly batch: Batch; readonly column?: undefined; readonly overflow?: undefined }
  | { readonly batch?: undefined; readonly column: number; readonly overflow: Overflow }

/** The result, or the first column that has none because some groups do not fit it. */
function tryReduce(inputs: readonly Batch[], order: MergeOrder, engine: MergeEngine, memory: Scratch): Reduced {
  const { fields, columns } = inputs[0]!
  const reducerOf = engine.reducers(order, inputs, memory)
  const reducers = columns.map((_, index) => reducerOf(index))
  const reduced: Column[] = []
  for (let index = 0; index < columns.length; index++) {
    const same = columns.findIndex(
      (_, earlier) =>
        earlier < index &&
        reducers[earlier] === reducers[index] &&
        inputs.every((input) => input.columns[earlier] === input.columns[index]),
    )
    try {
      reduced.push(same >= 0 ? reduced[same]! : reducers[index]!(inputs.map((input) => input.columns[index]!)))
    } catch (error) {
      if (error instanceof Overflow) return { column: index, overflow: error }
      throw error
    }
  }
  return { batch: { fields, rows: order.groupEnd.length, columns: reduced } }
}

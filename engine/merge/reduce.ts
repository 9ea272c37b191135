import type { Batch, Column } from '../../formats/column/column.ts'
import type { MergeOrder } from './order.ts'

/** Makes one column of the result, a value a group, from the same column of all inputs. */
export type Reducer = (inputs: readonly Column[]) => Column

/** How rows of one key become one. Groups of one row must come out as they went in: windows of one run are not reduced. */
export interface MergeEngine {
  readonly name: string
  /** The reducers for one order; what they share is computed here once. `column` is the position in the batch. */
  reducers(order: MergeOrder): (column: number) => Reducer
}

/** One row for each group of the order. */
export function reduce(inputs: readonly Batch[], order: MergeOrder, engine: MergeEngine): Batch {
  const first = inputs[0]!
  const reducerOf = engine.reducers(order)
  return {
    fields: first.fields,
    rows: order.groupEnd.length,
    columns: first.columns.map((_, index) => reducerOf(index)(inputs.map((input) => input.columns[index]!))),
  }
}

import { TableError } from '../../errors.ts'
import { type Fold, SKIP, type Steps, TAKE } from '../folds/fold.ts'
import { pickFold } from '../folds/picks.ts'
import { isRetract, kindsOf } from '../kinds.ts'
import type { MergeOrder } from '../order.ts'
import type { MergeEngine } from '../reduce.ts'
import type { MergeShape } from './shape.ts'

/** Keeps the first row of each key. It has no use for rows that retract: among others they are an error. */
export function firstRow({ fields, kind }: MergeShape): MergeEngine {
  return {
    name: 'first-row',
    reducers(order, inputs) {
      refuseRetracts(order, kindsOf(order, inputs, kind))
      const steps = new Uint8Array(order.row.length).fill(SKIP)
      steps[0] = TAKE
      for (const end of order.groupEnd) if (end < steps.length) steps[end] = TAKE
      const rows: Steps = { ...order, steps }
      const folds: readonly Fold[] = fields.map(({ type }) => pickFold('last_value', type))
      return (column) => (columns) => folds[column]!(columns, rows)
    },
  }
}

function refuseRetracts({ groupEnd }: MergeOrder, kinds: Uint8Array): void {
  let start = 0
  for (const end of groupEnd) {
    if (end - start > 1 && kinds.subarray(start, end).some(isRetract)) {
      throw new TableError(
        'UNSUPPORTED',
        "A key of this table has a delete, and merge-engine 'first-row' cannot take rows back. Set 'ignore-delete' to read it.",
        { option: 'ignore-delete' },
      )
    }
    start = end
  }
}

import type { MergeSpec } from '../../options/merge-spec.ts'
import { placeOrder, retractsApart, sortGroups, withoutRetracts } from '../arrange.ts'
import type { MergeEngine } from '../reduce.ts'
import { aggregation } from './aggregation.ts'
import { deduplicate } from './deduplicate.ts'
import { firstRow } from './first-row.ts'
import { partialUpdate } from './partial-update.ts'
import type { MergeShape } from './shape.ts'

/**
 * The merge engine of a table for batches of one shape. The shape holds all columns that the spec orders rows by; see
 * `columnsToMerge`.
 */
export function createMergeEngine(shape: MergeShape, spec: MergeSpec): MergeEngine {
  const engine = byName(shape, spec)
  const ordering = spec.sequenceFields.map((name) =>
    shape.fields.findIndex((field, index) => index >= shape.firstValue && field.name === name),
  )
  // Old files hold deletes that were written before they were ignored. An aggregation takes them back out all the same.
  const drops = spec.ignoreDelete && spec.engine !== 'aggregation'
  const arranged: MergeEngine =
    ordering.length === 0 && !drops
      ? engine
      : {
          ...engine,
          arrange(order, inputs) {
            const kept = drops ? withoutRetracts(order, inputs, shape.kind) : order
            return ordering.length === 0 ? kept : sortGroups(kept, placeOrder(kept, inputs, ordering, spec.descending))
          },
        }
  if (!spec.retractsApart) return arranged
  return { ...arranged, apart: (order, inputs) => retractsApart(order, inputs, shape.kind, spec.removeOnDelete) }
}

function byName(shape: MergeShape, spec: MergeSpec): MergeEngine {
  switch (spec.engine) {
    case 'deduplicate':
      return deduplicate
    case 'first-row':
      return firstRow(shape)
    case 'aggregation':
      return aggregation(shape, spec)
    case 'partial-update':
      return partialUpdate(shape, spec)
  }
}

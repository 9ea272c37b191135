import type { Column } from '../../../formats/column/column.ts'
import { TableError } from '../../errors.ts'
import type { MergeSpec } from '../../options/merge-spec.ts'
import { columnFold } from '../folds/column-fold.ts'
import { filled } from '../folds/filled.ts'
import { ADD, RETRACT, RETRACT_OLDER, type Steps, TAKE } from '../folds/fold.ts'
import { pickFold } from '../folds/picks.ts'
import { DELETE, INSERT, isRetract, kindsOf } from '../kinds.ts'
import type { MergeOrder } from '../order.ts'
import type { MergeEngine } from '../reduce.ts'
import { lastRows, withRetracts } from './aggregation.ts'
import { groupSteps } from './sequence-groups.ts'
import type { MergeShape } from './shape.ts'

/** Steps of the columns in no group, and of each group those of its sequence fields and of what they protect. */
export interface PartialSteps {
  readonly free: Uint8Array
  readonly ordering: readonly Uint8Array[]
  readonly protected: readonly Uint8Array[]
}

/** Which steps a column goes by. */
type Part = (steps: PartialSteps) => Uint8Array

/**
 * Columns that a row leaves null keep their value. Columns of a sequence group change together, and only by rows whose sequence
 * fields are not older than those that stand. A delete is an error, unless the options say what it ends.
 */
export function partialUpdate({ fields, kind, firstValue }: MergeShape, spec: MergeSpec): MergeEngine {
  const positionOf = (name: string) => fields.findIndex((field, index) => index >= firstValue && field.name === name)
  const known = spec.groups.filter((group) => group.fields.every((name) => positionOf(name) >= 0))
  const groups = known.map((group) => ({ fields: group.fields.map(positionOf), removesRow: group.removesRow }))
  const partOf = (name: string): Part => {
    const ordering = known.findIndex((group) => group.fields.includes(name))
    if (ordering >= 0) return (steps) => steps.ordering[ordering]!
    const group = known.findIndex(({ columns }) => columns.includes(name))
    return group >= 0 ? (steps) => steps.protected[group]! : (steps) => steps.free
  }
  const isFree = (name: string) => !known.some((group) => group.fields.includes(name) || group.columns.includes(name))
  const columns = fields.map(({ name, type }, index) => {
    const rule = index < firstValue ? undefined : spec.rules.get(name)
    const plain = index >= firstValue && isFree(name) ? 'last_non_null_value' : 'replace'
    const fold = rule === undefined ? pickFold(plain, type) : columnFold(rule, type)
    return { name, rule, fold, part: partOf(name), nullable: type.nullable }
  })
  return {
    name: 'partial-update',
    reducers(order, inputs) {
      const kinds = kindsOf(order, inputs, kind)
      const steps =
        spec.groups.length > 0 ? groupSteps(order, inputs, kinds, groups) : whole(order, kinds, spec.removeOnDelete)
      const last = lastRows(order)
      return (index) => {
        if (index === kind) return () => kindsColumn(order, kinds, steps.free)
        const { name, rule, fold, part, nullable } = columns[index]!
        if (index < firstValue) return (values) => fold(values, last)
        let rows: Steps = { ...order, steps: part(steps) }
        if (rule !== undefined && rows.steps.some((step) => step === RETRACT || step === RETRACT_OLDER)) {
          rows = withRetracts(rows, rule, name)
        }
        return (values) => (nullable ? fold(values, rows) : filled(fold(values, rows), values, order))
      }
    },
  }
}

/** Without sequence groups all columns go by one list of steps. */
function whole({ groupEnd }: MergeOrder, kinds: Uint8Array, removeOnDelete: boolean): PartialSteps {
  const free = new Uint8Array(kinds.length)
  let start = 0
  for (const end of groupEnd) {
    if (end - start === 1) free[start] = TAKE
    else {
      const inGroup = kinds.subarray(start, end)
      if (!removeOnDelete && inGroup.some(isRetract)) throw unexpectedDelete()
      // Of rows that retract only deletes count; what comes before one is gone.
      const from = inGroup.lastIndexOf(DELETE) + 1
      for (let place = start + from; place < end; place++) if (!isRetract(kinds[place]!)) free[place] = ADD
      if (!free.subarray(start, end).includes(ADD)) free[start + Math.max(from, 1) - 1] = TAKE
    }
    start = end
  }
  return { free, ordering: [], protected: [] }
}

/** A key is there when a row was added to it after the last row that removed it; a lone row stays as it is. */
function kindsColumn({ groupEnd }: MergeOrder, kinds: Uint8Array, free: Uint8Array): Column {
  const values = new Int8Array(groupEnd.length)
  let start = 0
  for (const [group, end] of groupEnd.entries()) {
    const added = free.subarray(start, end).includes(ADD)
    values[group] = end - start === 1 ? kinds[start]! : added ? INSERT : DELETE
    start = end
  }
  return { kind: 'fixed', length: values.length, values }
}

function unexpectedDelete(): TableError {
  const choices = ['ignore-delete', 'partial-update.remove-record-on-delete', 'fields.<columns>.sequence-group']
  return new TableError(
    'UNSUPPORTED',
    `A key of this table has a delete, and merge-engine 'partial-update' does not say what it ends. Set one of ${choices.join(', ')}.`,
    { option: choices[0]! },
  )
}

import type { Column } from '../../../formats/column/column.ts'
import { TableError } from '../../errors.ts'
import type { ColumnRule, MergeSpec } from '../../options/merge-spec.ts'
import { columnFold } from '../folds/column-fold.ts'
import { filled } from '../folds/filled.ts'
import { ADD, RETRACT, RETRACT_OLDER, SKIP, type Steps, TAKE } from '../folds/fold.ts'
import { pickFold } from '../folds/picks.ts'
import { DELETE, INSERT, isRetract, kindsOf } from '../kinds.ts'
import type { MergeOrder } from '../order.ts'
import type { MergeEngine } from '../reduce.ts'
import type { MergeShape } from './shape.ts'

/**
 * Each column of its own: the function that the table names for it joins the values of all rows of a key, and takes those of
 * retracting rows back out. With `remove-record-on-delete` a delete ends the row, and later rows begin a new one.
 */
export function aggregation({ fields, kind, firstValue }: MergeShape, spec: MergeSpec): MergeEngine {
  const rules = fields.map(({ name }, index) => (index < firstValue ? undefined : spec.rules.get(name)))
  const folds = fields.map(({ type }, index) => {
    const rule = rules[index]
    return rule === undefined ? pickFold('replace', type) : columnFold(rule, type)
  })
  return {
    name: 'aggregation',
    reducers(order, inputs) {
      const kinds = kindsOf(order, inputs, kind)
      const steps = stepsOf(order, kinds, spec.removeOnDelete)
      const last = lastRows(order)
      const retracts = steps.includes(RETRACT)
      return (column) => {
        if (column === kind) return () => kindsColumn(order, kinds, spec.removeOnDelete)
        const rule = rules[column]
        if (rule === undefined) return (columns) => folds[column]!(columns, last)
        const rows = retracts ? withRetracts({ ...order, steps }, rule, fields[column]!.name) : { ...order, steps }
        const fold = folds[column]!
        if (fields[column]!.type.nullable) return (columns) => fold(columns, rows)
        return (columns) => filled(fold(columns, rows), columns, order)
      }
    },
  }
}

/** Only the last row of each group counts: keys and sequence numbers. */
export function lastRows(order: MergeOrder): Steps {
  const steps = new Uint8Array(order.row.length).fill(SKIP)
  for (const end of order.groupEnd) steps[end - 1] = TAKE
  return { ...order, steps }
}

/** The steps of a column whose function cannot take values back, or need not. */
export function withRetracts(rows: Steps, rule: ColumnRule, column: string): Steps {
  if (!rule.retracts) {
    throw new TableError(
      'UNSUPPORTED',
      `A key of this table has a delete, and ${rule.function} of column '${column}' cannot take a value back. ` +
        `Set 'fields.${column}.ignore-retract' to read it.`,
      { column, option: `fields.${column}.ignore-retract` },
    )
  }
  if (!rule.ignoreRetract) return rows
  return { ...rows, steps: rows.steps.map((step) => (step === RETRACT || step === RETRACT_OLDER ? SKIP : step)) }
}

function stepsOf({ groupEnd }: MergeOrder, kinds: Uint8Array, removeOnDelete: boolean): Uint8Array {
  const steps = new Uint8Array(kinds.length)
  let start = 0
  for (const end of groupEnd) {
    let from = start
    if (removeOnDelete) from = Math.max(start, kinds.subarray(start, end).lastIndexOf(DELETE) + start + 1)
    // A lone row stays as it is, and of a row that was deleted last the delete does.
    if (end - start === 1 || from === end) steps[end - 1] = TAKE
    else for (let place = from; place < end; place++) steps[place] = isRetract(kinds[place]!) ? RETRACT : ADD
    start = end
  }
  return steps
}

function kindsColumn({ groupEnd }: MergeOrder, kinds: Uint8Array, removeOnDelete: boolean): Column {
  const values = new Int8Array(groupEnd.length)
  let start = 0
  for (const [group, end] of groupEnd.entries()) {
    const last = kinds[end - 1]!
    values[group] = end - start === 1 || (removeOnDelete && last === DELETE) ? last : INSERT
    start = end
  }
  return { kind: 'fixed', length: values.length, values }
}

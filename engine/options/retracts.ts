import { TableError } from '../errors.ts'
import type { MergeSpec } from './merge-spec.ts'

/**
 * Why a table refuses records that take rows back (-U, and -D, which is `isDelete`): no merge could take them, and every later read of
 * their keys would fail. `INVALID` naming the option that would let them in; undefined: it takes them.
 */
export function retractRefusal(spec: MergeSpec, isDelete: boolean): TableError | undefined {
  const { engine, groups, removeOnDelete } = spec
  if (spec.ignoreDelete || engine === 'deduplicate') return undefined
  if (engine === 'first-row') return refused(engine, 'ignore-delete', "'ignore-delete' drops it")
  if (removeOnDelete && isDelete) return undefined
  if (engine === 'partial-update' && groups.length === 0) {
    if (removeOnDelete) return undefined // -U counts for nothing
    const remove = 'partial-update.remove-record-on-delete'
    return refused(
      engine,
      remove,
      `'${remove}' lets a delete remove the row, 'ignore-delete' drops it, a sequence group empties its columns`,
    )
  }
  for (const [column, rule] of spec.rules) {
    if (rule.retracts) continue
    const option = `fields.${column}.ignore-retract`
    return refused(
      engine,
      option,
      `${rule.function} of column '${column}' cannot take a value back; '${option}' leaves it as it is`,
    )
  }
  return undefined
}

function refused(engine: string, option: string, choices: string): TableError {
  return new TableError(
    'INVALID',
    `Merge engine '${engine}' of this table cannot take rows back, so nothing was written: ${choices}. Create the table with such an option.`,
    { option },
  )
}

import type { Batch, FixedColumn } from '../../formats/column/column.ts'
import { gather } from '../../formats/column/gather.ts'
import { heapMemory, type Scratch } from '../../formats/column/memory.ts'
import { sameRow } from '../../formats/column/same-row.ts'
import { DELETE, INSERT, isRetract, UPDATE_AFTER, UPDATE_BEFORE } from './kinds.ts'

/** One row a key, or none: that of key i is row `row[i]` of `inputs[source[i]]`; -1 = none. A row that retracts counts as none. */
export interface KeyRows {
  readonly inputs: readonly Batch[]
  readonly source: Uint16Array
  readonly row: Int32Array
}

export interface ChangeRules {
  /** Position of `_VALUE_KIND` in the batches. */
  readonly kind: number
  /** Positions of the columns of which one must differ for an update to be a change; undefined = each update is one. */
  readonly compared: readonly number[] | undefined
  /** Which rows of a result are not kept, because they have expired: their keys have no row after. Absent = all are kept. */
  readonly expired?: ((result: Batch) => (row: number) => boolean) | undefined
}

/**
 * What happened to keys, given the row of each before and after: records of a changelog, in the order of the keys. A key that is
 * to tell nothing has no row on either side.
 *
 *   before  after
 *     -       y      +I y
 *     x       y      -U x, +U y     nothing where the compared columns are the same
 *     x       -      -D x
 *
 * Records keep the sequence numbers of the rows they come from. The columns lie in `memory`.
 */
export function changesOf(before: KeyRows, after: KeyRows, rules: ChangeRules, memory: Scratch = heapMemory): Batch {
  const { inputs, kinds, source, row, count } = chosen(before, after, rules)
  const { fields } = inputs[0]!
  const columns = fields.map((_, index) =>
    index === rules.kind
      ? ({ kind: 'fixed', length: count, values: kinds.subarray(0, count) } as const)
      : gather(
          inputs.map((input) => input.columns[index]!),
          source,
          row,
          count,
          memory,
        ),
  )
  return { fields, rows: count, columns }
}

/** Who is told what a merge changes. */
export interface ChangeListener {
  readonly rules: ChangeRules
  /** Called with the changes of each window that has any, in key order; the batch is valid until it returns. */
  readonly tell: (changes: Batch) => void
}

/** Tells the changes of a window: of each key the row before, and which row of the result it has now, -1 = none. */
export function tellChanges(
  { rules, tell }: ChangeListener,
  before: KeyRows,
  result: Batch,
  has: Int32Array,
  memory: Scratch,
): void {
  const after = { inputs: [result], source: new Uint16Array(has.length), row: has }
  const changes = changesOf(before, after, rules, memory)
  if (changes.rows > 0) tell(changes)
}

/** Which rows of the inputs of both sides become records, and of which kind. */
function chosen(before: KeyRows, after: KeyRows, { kind, compared, expired }: ChangeRules) {
  const inputs = [...before.inputs, ...after.inputs]
  const keys = before.row.length
  const kinds = new Int8Array(keys * 2)
  const source = new Uint16Array(keys * 2)
  const row = new Uint32Array(keys * 2)
  const [had, has] = [added(before, kind), added(after, kind, expired)]
  const shift = before.inputs.length
  let count = 0
  for (let key = 0; key < keys; key++) {
    if (had[key] === 1) {
      const updated = has[key] === 1
      if (updated && compared !== undefined && sameColumns(before, after, key, compared)) continue
      kinds[count] = updated ? UPDATE_BEFORE : DELETE
      source[count] = before.source[key]!
      row[count++] = before.row[key]!
    }
    if (has[key] === 1) {
      kinds[count] = had[key] === 1 ? UPDATE_AFTER : INSERT
      source[count] = after.source[key]! + shift
      row[count++] = after.row[key]!
    }
  }
  return { inputs, kinds, source, row, count }
}

/** 1 for each key that has a row which adds and stays. */
function added({ inputs, source, row }: KeyRows, kind: number, expired?: ChangeRules['expired']): Uint8Array {
  const kinds = inputs.map((input) => (input.columns[kind] as FixedColumn).values as Int8Array)
  const result = new Uint8Array(row.length)
  for (let key = 0; key < row.length; key++) {
    if (row[key]! >= 0 && !isRetract(kinds[source[key]!]![row[key]!]!)) result[key] = 1
  }
  if (expired === undefined) return result
  const ended = inputs.map(expired)
  for (let key = 0; key < row.length; key++) {
    if (result[key] === 1 && ended[source[key]!]!(row[key]!)) result[key] = 0
  }
  return result
}

function sameColumns(before: KeyRows, after: KeyRows, key: number, columns: readonly number[]): boolean {
  const left = before.inputs[before.source[key]!]!.columns
  const right = after.inputs[after.source[key]!]!.columns
  const [a, b] = [before.row[key]!, after.row[key]!]
  for (const column of columns) if (!sameRow(left[column]!, a, right[column]!, b)) return false
  return true
}

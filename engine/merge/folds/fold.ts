import type { Column } from '../../../formats/column/column.ts'
import { nullColumn } from '../../../formats/column/constant.ts'
import { gather } from '../../../formats/column/gather.ts'
import type { DataType } from '../../../formats/types/row-type.ts'
import type { MergeOrder } from '../order.ts'

/** What a row of a group does to one column of the result. */
export const SKIP = 0
/** The value comes on top of what there is. */
export const ADD = 1
/** The value comes below what there is: by a sequence group the row is older than the rows before it. */
export const ADD_OLDER = 2
/** The value is taken back out. */
export const RETRACT = 3
/** The value of a row that is older than those before it is taken back out. */
export const RETRACT_OLDER = 4
/** The result is the value as it is; no other row of the group counts. */
export const TAKE = 5

/** Rows by group, oldest first, and what each of them does. */
export interface Steps extends MergeOrder {
  readonly steps: Uint8Array
}

/** One value a group out of the same column of all inputs. */
export type Fold = (inputs: readonly Column[], rows: Steps) => Column

/** The values at these places of the order, one a group; null where the place is -1. */
export function valuesAt(
  inputs: readonly Column[],
  { source, row }: MergeOrder,
  places: Int32Array,
  type: DataType,
): Column {
  const count = places.length
  const fromSource = new Uint16Array(count)
  const fromRow = new Uint32Array(count)
  const columns = places.includes(-1) ? [...inputs, nullColumn(type, 1)] : inputs
  for (let group = 0; group < count; group++) {
    const place = places[group]!
    fromSource[group] = place < 0 ? inputs.length : source[place]!
    fromRow[group] = place < 0 ? 0 : row[place]!
  }
  return gather(columns, fromSource, fromRow, count)
}

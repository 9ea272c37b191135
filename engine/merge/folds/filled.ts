import type { Column } from '../../../formats/column/column.ts'
import { gather } from '../../../formats/column/gather.ts'
import { isNull } from '../../../formats/column/row-order.ts'
import type { MergeOrder } from '../order.ts'

/** A NOT NULL column that no row of a key set takes the newest value there is: a retraction empties nullable columns only. */
export function filled(column: Column, inputs: readonly Column[], { source, row, groupEnd }: MergeOrder): Column {
  if (column.valid === undefined) return column
  const fromSource = new Uint16Array(groupEnd.length)
  const fromRow = Uint32Array.from(groupEnd.keys())
  let start = 0
  for (const [group, end] of groupEnd.entries()) {
    if (isNull(column, group)) {
      let place = end - 1
      while (place > start && isNull(inputs[source[place]!]!, row[place]!)) place--
      fromSource[group] = 1 + source[place]!
      fromRow[group] = row[place]!
    }
    start = end
  }
  return gather([column, ...inputs], fromSource, fromRow, groupEnd.length)
}

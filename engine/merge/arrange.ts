import type { Batch } from '../../formats/column/column.ts'
import { isNull, rowOrderOf } from '../../formats/column/row-order.ts'
import { DELETE, isRetract, kindsOf } from './kinds.ts'
import type { MergeOrder } from './order.ts'

/** Compares two places of an order: negative when the first is the older. */
export type PlaceOrder = (a: number, b: number) => number

/**
 * Order by columns of the inputs, nulls lowest whatever the direction; `descending` makes the smallest value the newest. Equal rows
 * compare as 0.
 */
export function placeOrder(
  { source, row }: MergeOrder,
  inputs: readonly Batch[],
  columns: readonly number[],
  descending = false,
): PlaceOrder {
  const sign = descending ? -1 : 1
  const parts = columns.map((column) => {
    const values = inputs.map((input) => input.columns[column]!)
    const compare = rowOrderOf(values[0]!)
    return (a: number, b: number) => {
      const [left, right] = [values[source[a]!]!, values[source[b]!]!]
      const [nullA, nullB] = [isNull(left, row[a]!), isNull(right, row[b]!)]
      if (nullA || nullB) return Number(nullB) - Number(nullA)
      return compare(left, row[a]!, right, row[b]!) * sign
    }
  })
  return (a, b) => {
    for (const part of parts) {
      const order = part(a, b)
      if (order !== 0) return order
    }
    return 0
  }
}

/** The same groups, the rows of each ordered by `compare` where that tells them apart. Groups are short: by insertion. */
export function sortGroups({ source, row, groupEnd }: MergeOrder, compare: PlaceOrder): MergeOrder {
  const places = Uint32Array.from(row.keys())
  let start = 0
  for (const end of groupEnd) {
    for (let at = start + 1; at < end; at++) {
      const moved = places[at]!
      let to = at
      for (; to > start && compare(places[to - 1]!, moved) > 0; to--) places[to] = places[to - 1]!
      places[to] = moved
    }
    start = end
  }
  return { source: source.map((_, at) => source[places[at]!]!), row: row.map((_, at) => row[places[at]!]!), groupEnd }
}

/** Without the rows that retract; of a group that holds nothing else the last one stays. */
export function withoutRetracts(order: MergeOrder, inputs: readonly Batch[], kind: number): MergeOrder {
  const kinds = kindsOf(order, inputs, kind)
  const source = new Uint16Array(order.source.length)
  const row = new Uint32Array(order.row.length)
  const groupEnd = new Uint32Array(order.groupEnd.length)
  let count = 0
  let start = 0
  for (const [group, end] of order.groupEnd.entries()) {
    const before = count
    for (let place = start; place < end; place++) {
      if (isRetract(kinds[place]!)) continue
      source[count] = order.source[place]!
      row[count++] = order.row[place]!
    }
    if (count === before) {
      source[count] = order.source[end - 1]!
      row[count++] = order.row[end - 1]!
    }
    groupEnd[group] = count
    start = end
  }
  return { source: source.subarray(0, count), row: row.subarray(0, count), groupEnd }
}

/**
 * Rows that add to a key may be merged before what is older is known, rows that retract may not: those stand alone. Gives orders,
 * oldest first, each with one stretch of a key at most. With `removes` a row is gone with its last delete, and so is all before it.
 *
 *   a key   +1 +2 -2 +3      orders   +1 +2 │ -2 │ +3      with `removes`   -2 │ +3
 */
export function retractsApart(
  order: MergeOrder,
  inputs: readonly Batch[],
  kind: number,
  removes: boolean,
): readonly MergeOrder[] {
  const kinds = kindsOf(order, inputs, kind)
  if (!kinds.some(isRetract)) return [order]
  const parts: { readonly source: number[]; readonly row: number[]; readonly groupEnd: number[] }[] = []
  let start = 0
  for (const end of order.groupEnd) {
    const last = removes ? kinds.subarray(start, end).lastIndexOf(DELETE) : -1
    let part = 0
    for (let place = start + Math.max(0, last); place < end; ) {
      let next = place + 1
      if (!isRetract(kinds[place]!)) while (next < end && !isRetract(kinds[next]!)) next++
      parts[part] ??= { source: [], row: [], groupEnd: [] }
      const { source, row, groupEnd } = parts[part++]!
      for (; place < next; place++) {
        source.push(order.source[place]!)
        row.push(order.row[place]!)
      }
      groupEnd.push(row.length)
    }
    start = end
  }
  return parts.map(({ source, row, groupEnd }) => ({
    source: Uint16Array.from(source),
    row: Uint32Array.from(row),
    groupEnd: Uint32Array.from(groupEnd),
  }))
}

import type { Batch } from '../../formats/column/column.ts'
import { scalarAt } from '../../formats/column/compare.ts'
import { describeType } from '../../formats/types/parse.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { valueText } from '../../formats/types/value-text.ts'
import { TableError } from '../errors.ts'
import type { MergeOrder } from './order.ts'

/** What a fold throws whose results for some groups, ascending, do not fit the column. Never leaves the merge. */
export class Overflow extends Error {
  readonly groups: readonly number[]
  constructor(groups: readonly number[]) {
    super('results do not fit their column')
    this.groups = groups
  }
}

/** `OVERFLOW` naming the column and the key of a group. */
export function overflowError(
  { name, type }: Field,
  group: number,
  inputs: readonly Batch[],
  order: MergeOrder,
): TableError {
  const place = order.groupEnd[group]! - 1
  const key = keyText(inputs[order.source[place]!]!, order.row[place]!)
  return new TableError(
    'OVERFLOW',
    `The values of column '${name}' for the key ${key} do not fit ${describeType(type)} once they are merged. They are kept as they were ` +
      'put: put a row that brings the result back into its range, or read other columns and keys.',
    { column: name, key },
  )
}

/** `day = 2024-05-01, id = 7`. */
function keyText({ fields, columns }: Batch, row: number): string {
  return fields
    .flatMap(({ name, type }, index) => {
      if (!name.startsWith(KEY_PREFIX)) return []
      const value = scalarAt(columns[index]!, row)!
      const isBytes = type.kind === 'binary' || type.kind === 'varbinary'
      const text = isBytes ? `0x${Buffer.from(value as Uint8Array).toString('hex')}` : valueText(type, value)
      return [`${name.slice(KEY_PREFIX.length)} = ${text}`]
    })
    .join(', ')
}

/** Names of key columns in a KV batch begin with it. */
const KEY_PREFIX = '_KEY_'

/**
 * Two orders for one in which some groups are too large to be merged: the first has half of their rows, the older ones, and all other
 * groups; the second the other half.
 */
export function halved(
  { source, row, groupEnd }: MergeOrder,
  groups: readonly number[],
): readonly [MergeOrder, MergeOrder] {
  const cut = new Set(groups)
  const parts = [0, 1].map(() => ({ places: [] as number[], groupEnd: [] as number[] }))
  const [first, second] = parts as [(typeof parts)[0], (typeof parts)[0]]
  let start = 0
  for (const [group, end] of groupEnd.entries()) {
    const middle = cut.has(group) ? start + ((end - start) >>> 1) : end
    for (let place = start; place < end; place++) (place < middle ? first : second).places.push(place)
    first.groupEnd.push(first.places.length)
    if (middle < end) second.groupEnd.push(second.places.length)
    start = end
  }
  const orderOf = ({ places, groupEnd: ends }: (typeof parts)[0]): MergeOrder => ({
    source: Uint16Array.from(places, (place) => source[place]!),
    row: Uint32Array.from(places, (place) => row[place]!),
    groupEnd: Uint32Array.from(ends),
  })
  return [orderOf(first), orderOf(second)]
}

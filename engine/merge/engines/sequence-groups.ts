import type { Batch } from '../../../formats/column/column.ts'
import { isNull } from '../../../formats/column/row-order.ts'
import { type PlaceOrder, placeOrder } from '../arrange.ts'
import { ADD, ADD_OLDER, RETRACT, RETRACT_OLDER, SKIP, TAKE } from '../folds/fold.ts'
import { DELETE, isRetract } from '../kinds.ts'
import type { MergeOrder } from '../order.ts'
import type { PartialSteps } from './partial-update.ts'

/** A sequence group by positions in the batch. */
export interface GroupRule {
  readonly fields: readonly number[]
  readonly removesRow: boolean
}

/** One group while the rows of a key go by. */
interface Progress {
  readonly compare: PlaceOrder
  readonly isEmpty: (place: number) => boolean
  readonly removesRow: boolean
  readonly ordering: Uint8Array
  readonly protected: Uint8Array
  /** Place of the sequence fields that stand; -1 = none. */
  standing: number
}

/**
 * Takes the rows of each key in the order of their writing and says, for each group, what they do: a row with empty sequence fields
 * nothing, one whose fields are not older than those that stand takes their place, an older one counts for aggregates only. After
 * a delete that removes the row its sequence fields stand, all else is as for a new key.
 */
export function groupSteps(
  order: MergeOrder,
  inputs: readonly Batch[],
  kinds: Uint8Array,
  rules: readonly GroupRule[],
): PartialSteps {
  const rows = kinds.length
  const free = new Uint8Array(rows)
  const groups: readonly Progress[] = rules.map(({ fields, removesRow }) => ({
    compare: placeOrder(order, inputs, fields),
    isEmpty: emptiness(order, inputs, fields),
    removesRow,
    ordering: new Uint8Array(rows),
    protected: new Uint8Array(rows),
    standing: -1,
  }))
  const all = [free, ...groups.flatMap((group) => [group.ordering, group.protected])]
  let start = 0
  for (const end of order.groupEnd) {
    if (end - start === 1) for (const steps of all) steps[start] = TAKE
    else if (!replay(start, end, kinds, free, groups)) {
      // A key that nothing was added to is a delete. Its sequence fields stand, the rest are values of its last row.
      for (const steps of [free, ...groups.map((group) => group.protected)]) {
        steps.fill(SKIP, start, end)
        steps[end - 1] = TAKE
      }
    }
    start = end
  }
  return { free, ordering: groups.map((group) => group.ordering), protected: groups.map((group) => group.protected) }
}

/** The rows of one key; false when none was added since the last one that removed it. */
function replay(start: number, end: number, kinds: Uint8Array, free: Uint8Array, groups: readonly Progress[]): boolean {
  let added = false
  for (const group of groups) group.standing = -1
  for (let place = start; place < end; place++) {
    const kind = kinds[place]!
    if (kind === DELETE && groups.some((group) => group.removesRow && isNewest(group, place))) {
      added = false
      free.fill(SKIP, start, place)
      for (const group of groups) restart(group, start, place)
    } else {
      if (!isRetract(kind)) {
        added = true
        free[place] = ADD
      }
      for (const group of groups) step(group, place, isRetract(kind))
    }
  }
  return added
}

/** A row was removed: of its sequence fields those of the delete stand, lest an older row comes back. */
function restart(group: Progress, start: number, place: number): void {
  group.ordering.fill(SKIP, start, place)
  group.protected.fill(SKIP, start, place)
  group.standing = group.isEmpty(place) ? -1 : place
  if (group.standing === place) group.ordering[place] = ADD
}

function step(group: Progress, place: number, retracts: boolean): void {
  if (group.isEmpty(place)) return
  const newest = isNewest(group, place)
  group.protected[place] = retracts ? (newest ? RETRACT : RETRACT_OLDER) : newest ? ADD : ADD_OLDER
  if (!newest) return
  group.ordering[place] = ADD
  group.standing = place
}

function isNewest({ compare, isEmpty, standing }: Progress, place: number): boolean {
  return !isEmpty(place) && (standing < 0 || compare(place, standing) >= 0)
}

/** Whether all sequence fields of a place are null. */
function emptiness({ source, row }: MergeOrder, inputs: readonly Batch[], fields: readonly number[]) {
  return (place: number): boolean =>
    fields.every((field) => isNull(inputs[source[place]!]!.columns[field]!, row[place]!))
}

import type { Column, ListColumn, MapColumn } from '../../../formats/column/column.ts'
import { gather } from '../../../formats/column/gather.ts'
import { type IdentityOf, identitiesOf } from '../../../formats/column/identity.ts'
import { isNull } from '../../../formats/column/row-order.ts'
import { SKIP, type Steps, TAKE } from './fold.ts'

/** An element of a list, or an entry of a map, of one of the inputs: elements move by reference and are gathered at the end. */
export interface Element {
  readonly source: number
  readonly at: number
}

/** What a list or map of one row holds; its elements can be compared and tested. */
export type Elements = readonly Element[]

/** How the elements that stand and those of a row become one; `undefined` = null. Neither is changed. */
export type Join = (standing: Elements | undefined, row: Elements | undefined, step: number) => Elements | undefined

/** Folds lists: what the groups hold, as references. */
export function foldElements(
  inputs: readonly (ListColumn | MapColumn)[],
  { source, row, groupEnd, steps }: Steps,
  join: Join,
): readonly (Elements | undefined)[] {
  const groups: (Elements | undefined)[] = []
  let place = 0
  for (const end of groupEnd) {
    let standing: Elements | undefined
    for (; place < end; place++) {
      const step = steps[place]!
      if (step === SKIP) continue
      const elements = elementsAt(inputs, source[place]!, row[place]!)
      standing = step === TAKE ? elements : join(standing, elements, step)
    }
    groups.push(standing)
  }
  return groups
}

/** Offsets and null mask of a column with these lists, and where its elements are. */
export interface GatheredElements {
  readonly offsets: Int32Array
  readonly valid: Uint8Array | undefined
  /** The elements' own column out of those of the inputs. */
  readonly gather: (columns: readonly Column[]) => Column
}

export function gatherElements(groups: readonly (Elements | undefined)[]): GatheredElements {
  const offsets = new Int32Array(groups.length + 1)
  let total = 0
  for (const [group, elements] of groups.entries()) {
    total += elements?.length ?? 0
    offsets[group + 1] = total
  }
  const source = new Uint16Array(total)
  const row = new Uint32Array(total)
  let next = 0
  for (const element of groups.flatMap((elements) => elements ?? [])) {
    source[next] = element.source
    row[next++] = element.at
  }
  const valid = groups.includes(undefined)
    ? Uint8Array.from(groups, (elements) => Number(elements !== undefined))
    : undefined
  return { offsets, valid, gather: (columns) => gather(columns, source, row, total) }
}

/** A text for each element that equal ones share, by one column, or several together, of each input. */
export function elementIdentities(columns: readonly (readonly Column[])[]): (element: Element) => string {
  const identities: readonly (readonly IdentityOf[])[] = columns.map((parts) => parts.map(identitiesOf))
  return ({ source, at }) => identities[source]!.map((identity) => identity(at)).join(',')
}

function elementsAt(inputs: readonly (ListColumn | MapColumn)[], source: number, row: number): Elements | undefined {
  const column = inputs[source]!
  if (isNull(column, row)) return undefined
  const elements: Element[] = []
  for (let at = column.offsets[row]!; at < column.offsets[row + 1]!; at++) elements.push({ source, at })
  return elements
}

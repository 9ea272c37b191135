import type { Column, ListColumn, MapColumn, RowColumn } from '../../../formats/column/column.ts'
import { isNull } from '../../../formats/column/row-order.ts'
import { type Element, type Elements, elementIdentities, foldElements, gatherElements, type Join } from './elements.ts'
import { ADD, ADD_OLDER, type Fold } from './fold.ts'

/**
 * `collect`: the elements of all lists behind each other, with `distinct` each once. What is taken back out goes once for each time
 * it is in the list that retracts.
 */
export function collectFold(distinct: boolean): Fold {
  return (inputs, rows) => {
    const lists = inputs as readonly ListColumn[]
    const identity = elementIdentities(lists.map(({ child }) => [child]))
    const once = (elements: Elements) => [...lastBy(elements, identity, 'first').values()]
    return listOf(
      lists,
      foldElements(lists, rows, (standing, row, step) => {
        if (row === undefined) return standing
        if (step === ADD || step === ADD_OLDER) {
          const all = standing === undefined ? row : [...standing, ...row]
          return distinct ? once(all) : all
        }
        return standing && without(standing, row, identity)
      }),
    )
  }
}

/** `merge_map`: entries of later maps take the place of earlier ones with their key. Retracted keys go. */
export const mergeMapFold: Fold = (inputs, rows) => {
  const maps = inputs as readonly MapColumn[]
  const identity = elementIdentities(maps.map(({ keys }) => [keys]))
  return mapOf(maps, foldElements(maps, rows, keyed(identity)))
}

/**
 * `merge_map_with_keytime`: of entries with one key the one with the larger text in a field of its value stands; an entry without a
 * value removes its key, one without a time changes nothing. `time` is the position of that field.
 */
export function mergeMapWithTimeFold(time: number): Fold {
  return (inputs, rows) => {
    const maps = inputs as readonly MapColumn[]
    const identity = elementIdentities(maps.map(({ keys }) => [keys]))
    const times = maps.map(({ values }) => (values as RowColumn).children[time]!)
    const timeOf = elementTexts(times)
    return mapOf(
      maps,
      foldElements(maps, rows, (standing, row, step) => {
        if (standing === undefined || row === undefined) return standing ?? row
        const [base, later] = step === ADD_OLDER ? [row, standing] : [standing, row]
        const entries = new Map(base.map((entry) => [identity(entry), entry]))
        for (const entry of later) {
          const key = identity(entry)
          const known = entries.get(key)
          if (isNull(maps[entry.source]!.values, entry.at)) entries.delete(key)
          else if (isNull(times[entry.source]!, entry.at)) continue
          else if (
            known === undefined ||
            isNull(maps[known.source]!.values, known.at) ||
            timeOf(entry) > timeOf(known)
          ) {
            entries.set(key, entry)
          }
        }
        return [...entries.values()]
      }),
    )
  }
}

/**
 * `nested_update`: a list of rows as a table. Without `keys`, positions of the key fields, rows are added up to `limit`, and equal ones
 * taken out; with them the last row of a key stands. Null rows do not count.
 */
export function nestedUpdateFold(keys: readonly number[], limit: number): Fold {
  return (inputs, rows) => {
    const lists = inputs as readonly ListColumn[]
    const identity = elementIdentities(lists.map(({ child }) => (keys.length === 0 ? [child] : fieldsOf(child, keys))))
    const present = (elements: Elements) => elements.filter(({ source, at }) => !isNull(lists[source]!.child, at))
    const merge = keyed(identity)
    return listOf(
      lists,
      foldElements(lists, rows, (standing, row, step) => {
        if (standing === undefined || row === undefined)
          return step === ADD || step === ADD_OLDER ? (standing ?? row) : standing
        if (step !== ADD && step !== ADD_OLDER) return merge(present(standing), present(row), step)
        const base = present(step === ADD ? standing : row)
        const later = present(step === ADD ? row : standing)
        const added = later.slice(0, Math.max(0, limit - base.length))
        return keys.length === 0 ? [...base, ...added] : merge(base, added, ADD)
      }),
    )
  }
}

/** `nested_partial_update`: like `nested_update` with keys, but fields that are null do not overwrite. */
export function nestedPartialUpdateFold(keys: readonly number[]): Fold {
  return (inputs, rows) => {
    const lists = inputs as readonly ListColumn[]
    const identity = elementIdentities(lists.map(({ child }) => fieldsOf(child, keys)))
    const all = foldElements(lists, rows, (standing, row, step) => {
      if (standing === undefined || row === undefined) return standing ?? row
      return step === ADD_OLDER ? [...row, ...standing] : [...standing, ...row]
    })
    return partialRows(lists, all, identity)
  }
}

/** Entries by key, the last one of each; what is retracted by key goes. */
function keyed(identity: (element: Element) => string): Join {
  return (standing, row, step) => {
    if (step !== ADD && step !== ADD_OLDER) {
      if (standing === undefined || row === undefined) return standing
      const gone = new Set(row.map(identity))
      return standing.filter((element) => !gone.has(identity(element)))
    }
    if (standing === undefined || row === undefined) return standing ?? row
    const elements = step === ADD ? [...standing, ...row] : [...row, ...standing]
    return [...lastBy(elements, identity, 'last').values()]
  }
}

/** One element of each identity, the first or the last, at the place of the first. */
function lastBy(
  elements: Elements,
  identity: (element: Element) => string,
  which: 'first' | 'last',
): Map<string, Element> {
  const found = new Map<string, Element>()
  for (const element of elements) {
    const key = identity(element)
    if (which === 'last' || !found.has(key)) found.set(key, element)
  }
  return found
}

/** Without one element for each that is retracted. */
function without(standing: Elements, retracted: Elements, identity: (element: Element) => string): Elements {
  const gone = new Map<string, number>()
  for (const element of retracted) {
    const key = identity(element)
    gone.set(key, (gone.get(key) ?? 0) + 1)
  }
  return standing.filter((element) => {
    const key = identity(element)
    const count = gone.get(key) ?? 0
    if (count > 0) gone.set(key, count - 1)
    return count === 0
  })
}

function listOf(lists: readonly ListColumn[], groups: readonly (Elements | undefined)[]): Column {
  const { offsets, valid, gather } = gatherElements(groups)
  return { kind: 'list', length: groups.length, offsets, child: gather(lists.map(({ child }) => child)), valid }
}

function mapOf(maps: readonly MapColumn[], groups: readonly (Elements | undefined)[]): Column {
  const { offsets, valid, gather } = gatherElements(groups)
  const keys = gather(maps.map((map) => map.keys))
  const values = gather(maps.map((map) => map.values))
  return { kind: 'map', length: groups.length, offsets, keys, values, valid }
}

/** Rows of one identity become one: of each field the last value that is not null. */
function partialRows(
  lists: readonly ListColumn[],
  groups: readonly (Elements | undefined)[],
  identity: (element: Element) => string,
): Column {
  const rows = lists.map(({ child }) => child as RowColumn)
  const merged = groups.map((elements) => {
    if (elements === undefined) return undefined
    const found = new Map<string, Element[]>()
    for (const element of elements) {
      if (isNull(rows[element.source]!, element.at)) continue
      const key = identity(element)
      const same = found.get(key)
      if (same === undefined) found.set(key, [element])
      else same.push(element)
    }
    return [...found.values()]
  })
  const { offsets, valid } = gatherElements(merged.map((keys) => keys?.map((same) => same[0]!)))
  const children = rows[0]!.children.map((_, field) => {
    const columns = rows.map((row) => row.children[field]!)
    const lastPresent = (same: Elements) => same.findLast(({ source, at }) => !isNull(columns[source]!, at)) ?? same[0]!
    return gatherElements([merged.flatMap((keys) => keys ?? []).map(lastPresent)]).gather(columns)
  })
  const child: RowColumn = { kind: 'row', length: offsets[groups.length]!, children }
  return { kind: 'list', length: groups.length, offsets, child, valid }
}

function fieldsOf(column: Column, positions: readonly number[]): readonly Column[] {
  return positions.map((position) => (column as RowColumn).children[position]!)
}

/** Bytes of flat texts as strings that order as their UTF-8 does. */
function elementTexts(columns: readonly Column[]): (element: Element) => string {
  return ({ source, at }) => {
    const column = columns[source]!
    if (column.kind !== 'bytes' || isNull(column, at)) return ''
    return Buffer.from(column.data.subarray(column.offsets[at], column.offsets[at + 1])).toString('latin1')
  }
}

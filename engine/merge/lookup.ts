import type { Batch, FixedColumn } from '../../formats/column/column.ts'
import { heapMemory } from '../../formats/column/memory.ts'
import { type ChangeListener, type KeyRows, tellChanges } from './changes.ts'
import type { ReduceWindow } from './merge.ts'
import type { MergeOrder } from './order.ts'
import { type MergeEngine, reduce } from './reduce.ts'
import type { WindowPart } from './window.ts'

/** Some of the rows of the inputs of a window, one a key, in ascending order of the keys. */
export interface AskedKeys {
  readonly inputs: readonly Batch[]
  readonly source: Uint16Array
  readonly row: Uint32Array
}

/** Which of the keys asked for were found, ascending, and their rows, where those are needed. */
export interface FoundKeys {
  readonly asked: Uint32Array
  readonly rows: Batch | undefined
}

export interface LookupMerge {
  readonly engine: MergeEngine
  /** Level of each run of the merge. */
  readonly levels: readonly number[]
  /** Position of `_SEQUENCE_NUMBER`. */
  readonly sequence: number
  /** Looks keys up in the levels above the output, the lowest first. */
  readonly find: (keys: AskedKeys) => FoundKeys
  /** The first row of a key stays, so that one found above leaves nothing to write. */
  readonly firstWins: boolean
  /** Is told what the merge changes: the row of an upper level against the result, of keys that level 0 had rows of. */
  readonly changes?: ChangeListener | undefined
}

export const NOTHING_FOUND: FoundKeys = { asked: new Uint32Array(0), rows: undefined }

/** No look outside of the runs: for reads, and for merges of upper levels. */
export const WITHIN_RUNS: Pick<LookupMerge, 'find' | 'firstWins'> = {
  find: () => NOTHING_FOUND,
  firstWins: false,
}

/**
 * A merge of level-0 rows with the row that they replace: of the lowest level above 0 that has one, among the inputs or, where
 * those have none, above the output. Rows of still higher levels are in that row already.
 *
 *   level 0   b3 d1       │ b3 with b2, which has seen b1
 *   level 3   b2          │ d1 with d0, looked up
 *   level 4   b1          ▼ output
 *   level 5   d0
 */
export function mergeWithLookup(lookup: LookupMerge): ReduceWindow {
  const { engine, changes } = lookup
  return (parts, written, memory = heapMemory) => {
    const window = withUpperRows(parts, written, lookup)
    const { inputs } = window
    const result = reduce(inputs, window.order, engine, memory)
    if (changes !== undefined) {
      const { had, has } = sidesOf(window, lookup.firstWins)
      tellChanges(changes, { inputs, ...had }, result, has, memory)
    }
    return result
  }
}

/** A window, and of each key what came from where. */
interface Window {
  readonly inputs: readonly Batch[]
  readonly order: MergeOrder
  /** Of each group the place of its row of an upper level; -1 = none. */
  readonly upper: Int32Array
  /** 1 for groups with rows of level 0. */
  readonly isNew: Uint8Array
}

function withUpperRows(parts: readonly WindowPart[], written: MergeOrder, lookup: LookupMerge): Window {
  const levels = Int32Array.from(parts, (part) => lookup.levels[part.run]!)
  const inputs = parts.map((part) => part.batch)
  const own = lowestUpper(written, levels)
  const found = findAbove(inputs, written, own, lookup.find)
  if (lookup.firstWins) {
    const order = withoutGroups(written, found.of)
    return insertUpper({ inputs, order, levels, own: lowestUpper(order, levels) }, parts, undefined, lookup.sequence)
  }
  return insertUpper({ inputs, order: written, levels, own }, parts, found, lookup.sequence)
}

/** What the levels above the output hold of the keys of a window. */
interface FoundAbove {
  /** Of each group which of the found keys is its; -1 = none. */
  readonly of: Int32Array
  readonly rows: Batch | undefined
}

/** Looks up the groups that have no row of an upper level of their own. */
function findAbove(
  inputs: readonly Batch[],
  { source, row, groupEnd }: MergeOrder,
  own: Int32Array,
  find: LookupMerge['find'],
): FoundAbove {
  const of = new Int32Array(groupEnd.length).fill(-1)
  const groups = new Uint32Array(groupEnd.length)
  let count = 0
  for (let group = 0; group < groups.length; group++) if (own[group]! < 0) groups[count++] = group
  if (count === 0) return { of, rows: undefined }
  const asked = groups.subarray(0, count)
  const found = find({
    inputs,
    source: Uint16Array.from(asked, (group) => source[groupEnd[group]! - 1]!),
    row: Uint32Array.from(asked, (group) => row[groupEnd[group]! - 1]!),
  })
  found.asked.forEach((index, at) => {
    of[asked[index]!] = at
  })
  return { of, rows: found.rows }
}

/** Without the groups that were found: their first row is there. */
function withoutGroups({ source, row, groupEnd }: MergeOrder, found: Int32Array): MergeOrder {
  const kept = { source: new Uint16Array(source.length), row: new Uint32Array(row.length) }
  const ends = new Uint32Array(groupEnd.length)
  let count = 0
  let groups = 0
  let start = 0
  for (let group = 0; group < groupEnd.length; group++) {
    const end = groupEnd[group]!
    if (found[group]! < 0) {
      kept.source.set(source.subarray(start, end), count)
      kept.row.set(row.subarray(start, end), count)
      count += end - start
      ends[groups++] = count
    }
    start = end
  }
  return {
    source: kept.source.subarray(0, count),
    row: kept.row.subarray(0, count),
    groupEnd: ends.subarray(0, groups),
  }
}

/** Of each group the place of its row of the lowest level above 0; -1 = it has rows of level 0 only. */
function lowestUpper({ source, groupEnd }: MergeOrder, levels: Int32Array): Int32Array {
  const lowest = new Int32Array(groupEnd.length).fill(-1)
  let place = 0
  for (let group = 0; group < groupEnd.length; group++) {
    for (const end = groupEnd[group]!; place < end; place++) {
      const level = levels[source[place]!]!
      if (level > 0 && (lowest[group]! < 0 || level < levels[source[lowest[group]!]!]!)) lowest[group] = place
    }
  }
  return lowest
}

interface Plan {
  readonly inputs: readonly Batch[]
  readonly order: MergeOrder
  readonly levels: Int32Array
  readonly own: Int32Array
}

/** Rows of level 0 and one of an upper level, where there is one, in the order of their numbers. */
function insertUpper(
  { inputs, order, levels, own }: Plan,
  parts: readonly WindowPart[],
  found: FoundAbove | undefined,
  sequence: number,
): Window {
  const groups = order.groupEnd.length
  const rows = found?.rows
  const most = order.row.length + (rows?.rows ?? 0)
  const source = new Uint16Array(most)
  const row = new Uint32Array(most)
  const groupEnd = new Uint32Array(groups)
  const upper = new Int32Array(groups).fill(-1)
  const isNew = new Uint8Array(groups)
  const numbers = rows && ((rows.columns[sequence] as FixedColumn).values as BigInt64Array)
  let count = 0
  let place = 0
  for (let group = 0; group < groups; group++) {
    const end = order.groupEnd[group]!
    const extra = numbers === undefined ? -1 : found!.of[group]!
    const at = extra < 0 ? -1 : placeOf(numbers![extra]!, order, parts, place, end)
    for (; place <= end; place++) {
      if (place === at) {
        upper[group] = count
        source[count] = inputs.length
        row[count++] = extra
      }
      if (place === end) break
      const input = order.source[place]!
      if (levels[input] === 0) isNew[group] = 1
      else if (place === own[group]) upper[group] = count
      else continue
      source[count] = input
      row[count++] = order.row[place]!
    }
    groupEnd[group] = count
  }
  return {
    inputs: rows === undefined ? inputs : [...inputs, rows],
    order: { source: source.subarray(0, count), row: row.subarray(0, count), groupEnd },
    upper,
    isNew,
  }
}

/** Where among the places of a group a row with this number goes: before the first that is newer. */
function placeOf(
  number: bigint,
  { source, row }: MergeOrder,
  parts: readonly WindowPart[],
  start: number,
  end: number,
): number {
  let place = start
  while (place < end && parts[source[place]!]!.sequence[row[place]!]! <= number) place++
  return place
}

/** Of each key that changed, the place of the row before among the inputs and that of the result; -1 = none. */
function sidesOf(
  { order, upper, isNew }: Window,
  firstWins: boolean,
): { readonly had: Pick<KeyRows, 'source' | 'row'>; readonly has: Int32Array } {
  const groups = order.groupEnd.length
  const had = { source: new Uint16Array(groups), row: new Int32Array(groups).fill(-1) }
  const has = new Int32Array(groups).fill(-1)
  for (let group = 0; group < groups; group++) {
    const place = upper[group]!
    if (isNew[group] === 0 || (firstWins && place >= 0)) continue
    has[group] = group
    if (place < 0) continue
    had.source[group] = order.source[place]!
    had.row[group] = order.row[place]!
  }
  return { had, has }
}

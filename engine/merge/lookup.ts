import type { Batch, FixedColumn } from '../../formats/column/column.ts'
import { heapMemory } from '../../formats/column/memory.ts'
import { type ChangeRules, changesOf } from './changes.ts'
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
  readonly changes?: { readonly rules: ChangeRules; readonly tell: (changes: Batch) => void } | undefined
}

/** No look outside of the runs: for reads, and for merges of upper levels. */
export const WITHIN_RUNS: Pick<LookupMerge, 'find' | 'firstWins'> = {
  find: () => ({ asked: new Uint32Array(0), rows: undefined }),
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
  const { arrange, ...rest } = engine
  return (parts, written, memory = heapMemory) => {
    const window = withUpperRows(parts, written, lookup)
    const { inputs } = window
    const order = arrange?.(window.order, inputs) ?? window.order
    const result = reduce(inputs, order, rest, memory)
    if (changes !== undefined) {
      const groups =
        order.groupEnd.length === window.order.groupEnd.length ? undefined : sameGroups(order, window.order)
      const told = sidesOf(window, order.groupEnd.length, groups, lookup.firstWins)
      const batch = changesOf(
        { inputs, source: told.source, row: told.had },
        { inputs: [result], source: new Uint16Array(told.has.length), row: told.has },
        changes.rules,
        memory,
      )
      if (batch.rows > 0) changes.tell(batch)
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
  const { row } = written
  const asked = new Uint32Array(written.groupEnd.length)
  let count = 0
  for (let group = 0; group < asked.length; group++) if (own[group]! < 0) asked[count++] = group
  const ends = written.groupEnd
  const found =
    count === 0
      ? undefined
      : lookup.find({
          inputs,
          source: Uint16Array.from(asked.subarray(0, count), (group) => written.source[ends[group]! - 1]!),
          row: Uint32Array.from(asked.subarray(0, count), (group) => row[ends[group]! - 1]!),
        })
  const foundOf = new Int32Array(asked.length).fill(-1)
  found?.asked.forEach((index, at) => {
    foundOf[asked[index]!] = at
  })
  const rows = found?.rows
  return insertUpper(
    { inputs: rows === undefined ? inputs : [...inputs, rows], order: written, levels, own, foundOf },
    parts,
    rows,
    lookup,
  )
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
  readonly foundOf: Int32Array
}

/** Rows of level 0 and one of an upper level, where there is one, in the order of their numbers. */
function insertUpper(
  { inputs, order, levels, own, foundOf }: Plan,
  parts: readonly WindowPart[],
  found: Batch | undefined,
  { sequence, firstWins }: LookupMerge,
): Window {
  const groups = order.groupEnd.length
  const most = order.row.length + (found?.rows ?? 0)
  const source = new Uint16Array(most)
  const row = new Uint32Array(most)
  const groupEnd = new Uint32Array(groups)
  const upper = new Int32Array(groups)
  const isNew = new Uint8Array(groups)
  const numbers = found && ((found.columns[sequence] as FixedColumn).values as BigInt64Array)
  let count = 0
  let made = 0
  let place = 0
  for (let group = 0; group < groups; group++) {
    const end = order.groupEnd[group]!
    const extra = foundOf[group]!
    if (firstWins && extra >= 0) {
      place = end
      continue
    }
    upper[made] = -1
    let pending = found === undefined ? -1 : extra
    for (; place < end; place++) {
      const input = order.source[place]!
      if (levels[input]! > 0) {
        if (place !== own[group]) continue
        upper[made] = count
      } else isNew[made] = 1
      if (pending >= 0 && parts[input]!.sequence[order.row[place]!]! > numbers![pending]!) {
        upper[made] = count
        source[count] = inputs.length - 1
        row[count++] = pending
        pending = -1
      }
      source[count] = input
      row[count++] = order.row[place]!
    }
    if (pending >= 0) {
      upper[made] = count
      source[count] = inputs.length - 1
      row[count++] = pending
    }
    groupEnd[made++] = count
  }
  const kept = { source: source.subarray(0, count), row: row.subarray(0, count), groupEnd: groupEnd.subarray(0, made) }
  return { inputs, order: kept, upper: upper.subarray(0, made), isNew: isNew.subarray(0, made) }
}

/** Of each group the group of `before` that it comes from: arranging may have dropped some. */
function sameGroups(order: MergeOrder, before: MergeOrder): Uint32Array {
  const from = new Uint32Array(order.groupEnd.length)
  let old = 0
  let place = 0
  for (let group = 0; group < from.length; group++) {
    const first = group === 0 ? 0 : order.groupEnd[group - 1]!
    const isHere = () => before.source[place] === order.source[first] && before.row[place] === order.row[first]
    while (!isHere()) place++
    while (before.groupEnd[old]! <= place) old++
    from[group] = old
    place = before.groupEnd[old]!
  }
  return from
}

/** Of each key that changed, the place of the row before among the inputs and that of the result; -1 = none. */
function sidesOf(
  { order, upper, isNew }: Window,
  groups: number,
  from: Uint32Array | undefined,
  firstWins: boolean,
): { readonly source: Uint16Array; readonly had: Int32Array; readonly has: Int32Array } {
  const source = new Uint16Array(groups)
  const had = new Int32Array(groups).fill(-1)
  const has = new Int32Array(groups).fill(-1)
  for (let group = 0; group < groups; group++) {
    const old = from === undefined ? group : from[group]!
    const place = upper[old]!
    if (isNew[old] === 0 || (firstWins && place >= 0)) continue
    has[group] = group
    if (place < 0) continue
    source[group] = order.source[place]!
    had[group] = order.row[place]!
  }
  return { source, had, has }
}

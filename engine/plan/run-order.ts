import type { DataFile } from '../../formats/meta/types.ts'
import { rowCompare } from '../../formats/row/key-compare.ts'
import type { KvLayout } from './kv-layout.ts'
import { maxSequence } from './levels.ts'
import type { SortedRun } from './types.ts'

/** Higher levels are older; on a level the smaller sequence numbers are. Runs of a section may mix levels: the lowest counts. */
export function oldestFirst(a: SortedRun, b: SortedRun): number {
  const level = lowestLevel(b) - lowestLevel(a)
  if (level !== 0) return level
  const [first, second] = [maxSequence(a.files), maxSequence(b.files)]
  return first < second ? -1 : first > second ? 1 : 0
}

/**
 * Whether sequence numbers alone tell which of two rows of a key is the newer: those of a level all lie above those of the levels
 * behind it. Two writers that did not know of each other may have left it otherwise; then the lower level counts.
 */
export function sequencesTellAge(runs: readonly SortedRun[]): boolean {
  const files = runs.flatMap((run) => run.files).sort((a, b) => b.level - a.level)
  let older: { readonly level: number; readonly max: bigint } | undefined
  let max = -1n
  for (const { level, minSequence, maxSequence } of files) {
    if (older === undefined || level < older.level) older = { level, max }
    if (minSequence <= older.max) return false
    if (maxSequence > max) max = maxSequence
  }
  return true
}

/** Runs of files that are as old as each other: a level, or a file of level 0. */
export function byAge(runs: readonly SortedRun[], layout: KvLayout): readonly SortedRun[] {
  const ages = new Map<number | string, DataFile[]>()
  for (const file of runs.flatMap((run) => run.files)) {
    const age = file.level === 0 ? file.name : file.level
    ages.set(age, [...(ages.get(age) ?? []), file])
  }
  return [...ages.values()].map((files) => runOf(inKeyOrder(files, layout)))
}

/** The files of one level as a run of their own: rows do not say where they are from. */
export function levelApart(runs: readonly SortedRun[], level: number, layout: KvLayout): readonly SortedRun[] {
  const own = runs.flatMap((run) => run.files.filter((file) => file.level === level))
  const others = runs.map((run) => run.files.filter((file) => file.level !== level))
  return [inKeyOrder(own, layout), ...others].filter((files) => files.length > 0).map(runOf)
}

/** Files in key order as a run; its level is the highest of theirs. */
export function runOf(files: readonly DataFile[]): SortedRun {
  return {
    level: Math.max(...files.map((file) => file.level)),
    files,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
  }
}

function inKeyOrder(files: readonly DataFile[], { keyTypes }: KvLayout): readonly DataFile[] {
  const compareKeys = rowCompare(keyTypes)
  return [...files].sort((a, b) => compareKeys(a.minKey, b.minKey))
}

function lowestLevel(run: SortedRun): number {
  return Math.min(...run.files.map((file) => file.level))
}

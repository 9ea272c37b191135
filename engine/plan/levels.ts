import type { DataFile } from '../../formats/meta/types.ts'
import { assert } from '../assert.ts'
import { TableError } from '../errors.ts'
import type { KeyCompare, SortedRun } from './types.ts'

/**
 * The live files of one bucket as an immutable value.
 *
 *   runs[0]   level 0, newest file     ┐ one run a file
 *   runs[1]   level 0, older file      ┘
 *   runs[2]   level 1, all its files   ┐ one run a level; levels without files are left out,
 *   runs[3]   level 5, all its files   ┘ so a huge `num-levels` costs nothing
 *
 * Invariant I3: files of a level above 0 are strictly disjoint (max key of one < min key of the next).
 */
export interface Levels {
  /** How many levels there may be; the highest is `numLevels - 1`. */
  readonly numLevels: number
  /** Newest first. */
  readonly runs: readonly SortedRun[]
  readonly compareKeys: KeyCompare
}

/** Files, runs and bytes of a level that is not empty. */
export interface LevelSummary {
  readonly level: number
  readonly runs: number
  readonly files: number
  readonly rows: number
  readonly bytes: number
}

const MAX_INT = 2147483647

/** `num-levels` when the option is not set: the compaction trigger plus one, saturating at 2^31 - 1. */
export function defaultNumLevels(trigger: number): number {
  return Math.min(trigger + 1, MAX_INT)
}

/**
 * Sorts the files of a bucket into runs. `numLevels` (at least 2) is raised when stored files lie higher, so a table that
 * is opened with fewer levels than it was written with keeps all its files.
 *
 * Throws `CORRUPT` naming both files when two files of a level above 0 overlap (I3). O(n log n).
 */
export function buildLevels(files: readonly DataFile[], numLevels: number, compareKeys: KeyCompare): Levels {
  const byLevel = new Map<number, DataFile[]>()
  for (const file of files) {
    const level = byLevel.get(file.level)
    if (level === undefined) byLevel.set(file.level, [file])
    else level.push(file)
  }
  const runs: SortedRun[] = []
  let highest = 0
  for (const [level, members] of [...byLevel].sort(([a], [b]) => a - b)) {
    highest = level
    if (level === 0) {
      for (const file of members.sort(newestFirst)) runs.push({ level: 0, files: [file], bytes: file.bytes })
    } else {
      runs.push(sortedRun(level, members, compareKeys))
    }
  }
  return { numLevels: Math.max(2, numLevels, highest + 1), runs, compareKeys }
}

/**
 * The levels after a flush or a compaction: without `before`, with `after`. Files are told apart by (level, name), so an
 * upgrade names one file in both lists.
 *
 * Throws `INTERNAL` when a file of `before` is not there (I8) or one of `after` already is, `CORRUPT` for I3.
 */
export function replaceFiles(levels: Levels, before: readonly DataFile[], after: readonly DataFile[]): Levels {
  const files = new Map<string, DataFile>()
  for (const file of filesOf(levels)) files.set(placeOf(file), file)
  for (const file of before) {
    assert(files.delete(placeOf(file)), `I8: ${file.name} is not at level ${file.level} of the bucket`)
  }
  for (const file of after) {
    assert(!files.has(placeOf(file)), `I8: ${file.name} is at level ${file.level} of the bucket twice`)
    files.set(placeOf(file), file)
  }
  return buildLevels([...files.values()], levels.numLevels, levels.compareKeys)
}

/** All files, newest run first. */
export function filesOf(levels: Levels): readonly DataFile[] {
  return levels.runs.flatMap((run) => run.files)
}

/** The largest sequence number in the files; -1 when there are none. */
export function maxSequence(files: readonly DataFile[]): bigint {
  let max = -1n
  for (const file of files) if (file.maxSequence > max) max = file.maxSequence
  return max
}

/** The highest level that holds a file; -1 for an empty bucket. */
export function highestLevel(levels: Levels): number {
  return levels.runs.at(-1)?.level ?? -1
}

/** What each level that is not empty holds, lowest level first. */
export function levelSummary(levels: Levels): readonly LevelSummary[] {
  const summaries: LevelSummary[] = []
  for (const run of levels.runs) {
    const last = summaries.at(-1)
    const rows = run.files.reduce((sum, file) => sum + file.rows, 0)
    if (last?.level !== run.level) {
      summaries.push({ level: run.level, runs: 1, files: run.files.length, rows, bytes: run.bytes })
    } else {
      summaries[summaries.length - 1] = {
        level: run.level,
        runs: last.runs + 1,
        files: last.files + run.files.length,
        rows: last.rows + rows,
        bytes: last.bytes + run.bytes,
      }
    }
  }
  return summaries
}

/**
 * Order of level 0: largest maximal sequence first, then smallest minimal sequence, then creation time, then name. A total
 * order: two writers can give two files one sequence range, and neither may vanish or move between calls.
 */
function newestFirst(a: DataFile, b: DataFile): number {
  if (a.maxSequence !== b.maxSequence) return a.maxSequence > b.maxSequence ? -1 : 1
  if (a.minSequence !== b.minSequence) return a.minSequence < b.minSequence ? -1 : 1
  const created = (a.creationMillis ?? 0) - (b.creationMillis ?? 0)
  if (created !== 0) return created
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}

function sortedRun(level: number, members: DataFile[], compareKeys: KeyCompare): SortedRun {
  const files = members.sort((a, b) => compareKeys(a.minKey, b.minKey))
  let bytes = 0
  let previous: DataFile | undefined
  for (const file of files) {
    if (previous !== undefined && compareKeys(previous.maxKey, file.minKey) >= 0) {
      throw new TableError(
        'CORRUPT',
        `I3: ${previous.name} and ${file.name} overlap at level ${level}. Go back to an earlier snapshot.`,
        { level, files: [previous.name, file.name] },
      )
    }
    previous = file
    bytes += file.bytes
  }
  return { level, files, bytes }
}

function placeOf(file: DataFile): string {
  return `${file.level}/${file.name}`
}

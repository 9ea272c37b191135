import type { DataFile } from '../../formats/meta/types.ts'
import type { CompactionChange } from './increment.ts'
import { filesOf, type Levels, maxSequence } from './levels.ts'

/** A compaction that ran. */
export interface FinishedCompaction extends CompactionChange {
  /** Its deletes were forgotten: no older row was to be outside of it. */
  readonly dropDelete: boolean
  /** With lookups: what lay above level 0 when it was planned, see `upperFiles`. */
  readonly seen?: ReadonlySet<string> | undefined
}

/** The files above level 0 with their vectors: what a compaction with lookups finds there, and what not, holds for these only. */
export function upperFiles(levels: Levels): ReadonlySet<string> {
  const upper = filesOf(levels).filter((file) => file.level > 0)
  return new Set(upper.map((file) => `${placeOf(file)} ${file.vector?.indexFile ?? ''}`))
}

/**
 * Whether a compaction may still take the place of its inputs, in levels that changed since it was planned.
 *
 *   - Its inputs are all there, at the levels they had.
 *   - Files that stay above its output and share keys with it are newer than all it merged. A file that another writer committed
 *     meanwhile may be older than an input that was not committed yet: it would stay above, and its old rows would win.
 *   - No file that stays, wherever, is older and shares keys with it when it forgot deletes: old rows would come back (I6).
 *   - It overlaps nothing that stays at the output level (I3).
 *   - With lookups no other compaction of the bucket came between: it may have moved the rows that were looked up, or have brought up
 *     newer ones that were not there, and its marks and ours would not know of each other.
 */
export function compactionFits(levels: Levels, finished: FinishedCompaction): boolean {
  const { before, after, dropDelete, seen } = finished
  const files = filesOf(levels)
  const present = new Set(files.map(placeOf))
  if (!before.every((file) => present.has(placeOf(file)))) return false
  if (seen !== undefined) {
    const now = upperFiles(levels)
    if (now.size !== seen.size || [...now].some((file) => !seen.has(file))) return false
  }
  const inputs = new Set(before.map(placeOf))
  const newest = maxSequence(before)
  const outputLevel = after.reduce((max, file) => Math.max(max, file.level), -1)
  return files.every((file) => {
    if (inputs.has(placeOf(file))) return true
    const older = file.minSequence <= newest
    if (file.level !== outputLevel && !(older && (dropDelete || file.level < outputLevel))) return true
    return ![...before, ...after].some((other) => overlaps(other, file, levels))
  })
}

function overlaps(a: DataFile, b: DataFile, { compareKeys }: Levels): boolean {
  return compareKeys(a.minKey, b.maxKey) <= 0 && compareKeys(b.minKey, a.maxKey) <= 0
}

function placeOf(file: DataFile): string {
  return `${file.level}/${file.name}`
}

import type { DataFile } from '../../formats/meta/types.ts'
import type { CompactionChange } from './increment.ts'
import { filesOf, type Levels, maxSequence } from './levels.ts'

/** A compaction that ran. */
export interface FinishedCompaction extends CompactionChange {
  /** Its deletes were forgotten: no older row was to be outside of it. */
  readonly dropDelete: boolean
}

/**
 * Whether a compaction may still take the place of its inputs, in levels that changed since it was planned.
 *
 *   - Its inputs are all there, at the levels they had.
 *   - Files that stay above its output and share keys with it are newer than all it merged. A file that another writer committed
 *     meanwhile may be older than an input that was not committed yet: it would stay above, and its old rows would win.
 *   - No file that stays, wherever, is older and shares keys with it when it forgot deletes: old rows would come back (I6).
 *   - It overlaps nothing that stays at the output level (I3).
 */
export function compactionFits(levels: Levels, { before, after, dropDelete }: FinishedCompaction): boolean {
  const files = filesOf(levels)
  const present = new Set(files.map(placeOf))
  if (!before.every((file) => present.has(placeOf(file)))) return false
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

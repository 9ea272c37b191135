import type { DataFile } from '../../formats/meta/types.ts'
import type { CompactionChange } from './increment.ts'
import { filesOf, type Levels, maxSequence } from './levels.ts'

/**
 * Whether a compaction may still take the place of its inputs, in levels that changed since it was planned.
 *
 *   - Its inputs are all there, at the levels they had.
 *   - What stays above its output and shares keys with it is newer. A file that another writer committed meanwhile may be older
 *     than an input that was not committed yet: it would stay above, and its old rows would win.
 *   - Its output overlaps nothing that stays at the output level (I3).
 */
export function compactionFits(levels: Levels, { before, after }: CompactionChange): boolean {
  const files = filesOf(levels)
  const present = new Set(files.map(placeOf))
  if (!before.every((file) => present.has(placeOf(file)))) return false
  const inputs = new Set(before.map(placeOf))
  const newest = maxSequence(before)
  // Without output all merged rows were deletes that nothing below needed: whatever stays must be newer.
  const outputLevel = after.reduce((max, file) => Math.max(max, file.level), after.length === 0 ? Infinity : 0)
  return files.every((file) => {
    if (inputs.has(placeOf(file))) return true
    if (file.level < outputLevel && file.minSequence <= newest) {
      return !before.some((input) => overlaps(input, file, levels))
    }
    return !after.some((output) => output.level === file.level && overlaps(output, file, levels))
  })
}

function overlaps(a: DataFile, b: DataFile, { compareKeys }: Levels): boolean {
  return compareKeys(a.minKey, b.maxKey) <= 0 && compareKeys(b.minKey, a.maxKey) <= 0
}

function placeOf(file: DataFile): string {
  return `${file.level}/${file.name}`
}

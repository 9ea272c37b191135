import type { DataFile } from '../../formats/meta/types.ts'
import { highestLevel, type Levels } from './levels.ts'
import type { KeyCompare } from './types.ts'

/**
 * Whether the output of a compaction may leave deletes out: it lands at or above every level that holds data, or deletion
 * vectors already mark the rows. The rule for picks of `pick.ts`, which take all runs newer than the output level.
 */
export function dropsDeletes(levels: Levels, outputLevel: number, deletionVectors: boolean): boolean {
  return outputLevel !== 0 && (outputLevel >= highestLevel(levels) || deletionVectors)
}

/**
 * I6 in general, for any choice of files: a delete may be forgotten when no file outside the task can hold an older row of
 * its key. An outside file is harmless when it overlaps no taken file, or when all it holds is newer than all that is taken.
 *
 * Levels say nothing here, only keys and sequence numbers: it is the check that the rule above is tested against.
 * O(taken * outside).
 */
export function canForgetDeletes(
  taken: readonly DataFile[],
  outside: readonly DataFile[],
  compareKeys: KeyCompare,
): boolean {
  return taken.every(
    (file) =>
      file.deleteRows === 0 ||
      outside.every((other) => !overlaps(file, other, compareKeys) || other.minSequence > file.maxSequence),
  )
}

/** Whether two files may hold one key; sharing a single key counts. */
function overlaps(a: DataFile, b: DataFile, compareKeys: KeyCompare): boolean {
  return compareKeys(a.minKey, b.maxKey) <= 0 && compareKeys(b.minKey, a.maxKey) <= 0
}

import type { DataFile } from '../../formats/meta/types.ts'
import { assert } from '../assert.ts'
import type { Increment } from './types.ts'
import type { VectorFile } from './vectors.ts'

/** What one compaction took out and put in. An upgraded file is in both lists, with its old and its new level. */
export interface CompactionChange {
  readonly before: readonly DataFile[]
  readonly after: readonly DataFile[]
  /** Changelog files that tell what it changed. */
  readonly changelog?: readonly DataFile[]
  /** The vectors of all files of the bucket afterwards, where it changed some; null = none are left. */
  readonly vectors?: VectorFile | null | undefined
}

/** A file that a change made. */
export type MadeFile = DataFile | VectorFile

/** Several compactions as one change. */
export interface FoldedChange extends CompactionChange {
  /** Made and consumed within the fold: no snapshot will ever name them, so they can be deleted at once. */
  readonly obsolete: readonly MadeFile[]
  readonly changelog: readonly DataFile[]
}

/**
 * Folds the compactions of a bucket, in the order they landed, into one change for one commit.
 *
 *   a b ──▶ m          before: a b c
 *       m c ──▶ n      after:  n        obsolete: m
 *
 * A file that one made and a later one consumed appears in no list. It is obsolete unless its name was an input before (an
 * upgraded file of an earlier commit: the older snapshot still names it) or is an output of its consumer (upgraded once more).
 * Changelogs follow each other: what came in between did happen. Of the vectors the last ones hold.
 */
export function foldCompactions(changes: readonly CompactionChange[]): FoldedChange {
  // File names are unique in a bucket, so a name stands for the bytes whatever the level.
  const before = new Map<string, DataFile>()
  const after = new Map<string, DataFile>()
  const obsolete: MadeFile[] = []
  for (const change of changes) {
    const outputs = new Set(change.after.map((file) => file.name))
    for (const file of change.before) {
      const made = after.get(file.name)
      if (made === undefined) {
        assert(!before.has(file.name), `I8: ${file.name} was consumed by two compactions`)
        before.set(file.name, file)
        continue
      }
      assert(made.level === file.level, `I8: ${file.name} was consumed at level ${file.level}, made at ${made.level}`)
      after.delete(file.name)
      if (!before.has(file.name) && !outputs.has(file.name)) obsolete.push(file)
    }
    for (const file of change.after) {
      assert(!after.has(file.name), `I8: ${file.name} was made by two compactions`)
      after.set(file.name, file)
    }
  }
  const changelog = changes.flatMap((change) => change.changelog ?? [])
  const vectors = changes.map((change) => change.vectors).filter((file) => file !== undefined)
  obsolete.push(...vectors.slice(0, -1).filter((file) => file !== null))
  return { before: [...before.values()], after: [...after.values()], changelog, vectors: vectors.at(-1), obsolete }
}

/** Files that changes made, changelogs and vectors among them, whether or not a later one of them consumed them; an upgraded file was there before. */
export function createdBy(changes: readonly CompactionChange[]): readonly MadeFile[] {
  return changes.flatMap(({ before, after, changelog = [], vectors }) => {
    const inputs = new Set(before.map((file) => file.name))
    return [...after.filter((file) => !inputs.has(file.name)), ...changelog, ...(vectors ? [vectors] : [])]
  })
}

/** The fold of all that a bucket flushed and compacted since its last commit, and what can be deleted now. */
export function buildIncrement(
  place: Pick<Increment, 'partition' | 'bucket' | 'totalBuckets'>,
  flushes: readonly CompactionChange[],
  compactions: readonly CompactionChange[],
): { readonly increment: Increment; readonly obsolete: readonly MadeFile[] } {
  const { before, after, changelog, vectors, obsolete } = foldCompactions(compactions)
  const increment = {
    ...place,
    added: flushes.flatMap((flush) => flush.after),
    compactBefore: before,
    compactAfter: after,
    changelog: [...flushes.flatMap((flush) => flush.changelog ?? []), ...changelog],
    vectors,
  }
  return { increment, obsolete }
}

/** Whether a commit of it would change nothing. */
export function isEmptyIncrement(increment: Increment): boolean {
  const { added, compactBefore, compactAfter, changelog, vectors } = increment
  return vectors === undefined && added.length + compactBefore.length + compactAfter.length + changelog.length === 0
}

import type { DataFile } from '../../formats/meta/types.ts'

/**
 * How a compaction merges rows.
 *
 * - `plain`: merge, nothing else.
 * - `lookup`: a merge with level-0 rows asks the levels above its output for the rows they replace: for changelogs, for marks of
 *   deleted rows, and for the first row of a key.
 * - `full-compaction`: a merge into the highest level tells what changed against that level.
 */
export type Rewriter = 'plain' | 'lookup' | 'full-compaction'

/** The options that choose a rewriter. */
export interface RewriterOptions {
  readonly 'changelog-producer': 'none' | 'input' | 'full-compaction' | 'lookup'
  readonly 'merge-engine': 'deduplicate' | 'partial-update' | 'aggregation' | 'first-row'
  readonly 'deletion-vectors.enabled': boolean
  readonly 'force-lookup': boolean
}

/** The rewriter of a table. The producer full-compaction comes first; whatever else asks for lookups does without them then. */
export function rewriterOf(options: RewriterOptions): Rewriter {
  if (options['changelog-producer'] === 'full-compaction') return 'full-compaction'
  return looksUp(options) ? 'lookup' : 'plain'
}

/** Whether rows leave level 0 merged with the row of their key that lies above. */
function looksUp(options: RewriterOptions): boolean {
  return (
    options['changelog-producer'] === 'lookup' ||
    options['merge-engine'] === 'first-row' ||
    options['deletion-vectors.enabled'] ||
    options['force-lookup']
  )
}

/** What moving one file up means. */
export interface UpgradeDecision {
  /** The file is read, so that the changes it makes, and the marks of the rows it replaces, come out. */
  readonly changelog: boolean
  /** Its rows are written again; else only its level changes. */
  readonly rewrite: boolean
}

export interface UpgradeContext {
  readonly outputLevel: number
  /** The highest level of the bucket. */
  readonly maxLevel: number
  readonly deletionVectors: boolean
  /** The newest row of a key is its result, whatever lies below: engine deduplicate without sequence.field. */
  readonly newestWins: boolean
  /** Files of the output level have another format, compression aside, than the file has. */
  readonly formatDiffers: boolean
}

const PLAIN: UpgradeDecision = { changelog: false, rewrite: false }
const READ: UpgradeDecision = { changelog: true, rewrite: false }
const REWRITE: UpgradeDecision = { changelog: true, rewrite: true }

/**
 * What to do with a file that overlaps no other and moves up. Rules that rewrite it whatever the rewriter is (deletes at the highest
 * level, expired rows, `compaction.force-rewrite-all-files`) come before: see `planSteps`.
 */
export function decideUpgrade(
  rewriter: Rewriter,
  file: Pick<DataFile, 'level' | 'deleteRows'>,
  context: UpgradeContext,
): UpgradeDecision {
  const { outputLevel, maxLevel } = context
  if (rewriter === 'plain') return PLAIN
  if (rewriter === 'full-compaction') return outputLevel === maxLevel ? READ : PLAIN
  // Rows above level 0 have told their changes when they left it.
  if (file.level !== 0) return PLAIN
  if (context.formatDiffers) return REWRITE
  // Marks hide the older rows, so deletes have done their work and must not stay. An unknown count may hide some.
  if (context.deletionVectors && file.deleteRows !== 0) return REWRITE
  if (outputLevel === maxLevel || context.newestWins) return READ
  // Other engines combine a row with the older one of a higher level; the result has to be written.
  return REWRITE
}

/** Whether merging these files tells changes: decided by level alone, before anything is read. */
export function mergeTellsChanges(
  rewriter: Rewriter,
  files: readonly Pick<DataFile, 'level'>[],
  { outputLevel, maxLevel }: Pick<UpgradeContext, 'outputLevel' | 'maxLevel'>,
): boolean {
  if (rewriter === 'full-compaction') return outputLevel === maxLevel
  return rewriter === 'lookup' && outputLevel !== 0 && files.some((file) => file.level === 0)
}

import { columnsOf, mightMatch } from '../../formats/column/predicate.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import type { BoundsOf } from './bounds.ts'
import { partitionIntoSections } from './sections.ts'
import type { KeyCompare, Section } from './types.ts'

export interface PruneOptions {
  /** Names of the trimmed primary key columns. */
  readonly keyColumns: readonly string[]
  readonly keyBounds: (file: DataFile) => BoundsOf
  readonly valueBounds: (file: DataFile) => BoundsOf
  /** Deletion vectors or first-row: each row that a file shows is a row of the table. */
  readonly mergedOnWrite: boolean
  /** partial-update or aggregation: a merged row may hold values that no file holds together. */
  readonly combinesRows: boolean
  /** Rows outside of the files may meet those in them: only conditions on the key drop a file. */
  readonly keysOnly?: boolean
}

/** The parts of a condition that must all hold: nested ANDs taken apart. */
export function conjuncts(filter: Predicate): readonly Predicate[] {
  return filter.op === 'and' ? filter.children.flatMap(conjuncts) : [filter]
}

/** The part of a condition that only looks at the given columns, or null. The whole is never true where the part is not. */
export function restrictTo(filter: Predicate, columns: readonly string[]): Predicate | null {
  const parts = conjuncts(filter).filter((part) => columnsOf(part).every((column) => columns.includes(column)))
  if (parts.length === 0) return null
  return parts.length === 1 ? parts[0] : { op: 'and', children: parts }
}

/**
 * The files of a bucket that a filtered scan has to read.
 *
 * Conditions on the key may drop any file by itself: all versions of a key lie in files that hold the key. Conditions on
 * other columns may not, as dropping the newest version of a row would bring back an older one that matches:
 *
 *   L0  (1, v=5)        filter v = 3: dropping only the upper file would answer (1, v=3)
 *   L5  (1, v=3)
 *
 * So they look at sections: in a section of one run each key is in one file, and files are dropped one by one; a section of
 * several runs is read in full, or not at all when no file of it matches, unless rows combine. No key is in two sections.
 * The result keeps the order of `files`. The filter must still be applied to the rows.
 */
export function pruneFiles(
  files: readonly DataFile[],
  filter: Predicate,
  options: PruneOptions,
  compareKeys: KeyCompare,
): readonly DataFile[] {
  const keyFilter = restrictTo(filter, options.keyColumns)
  const byKey = keyFilter === null ? files : files.filter((file) => mightMatch(keyFilter, options.keyBounds(file)))
  if (options.keysOnly === true) return byKey
  const matches = (file: DataFile) => mightMatch(filter, options.valueBounds(file))
  if (options.mergedOnWrite) return byKey.filter(matches)
  const kept = new Set<DataFile>()
  for (const section of partitionIntoSections(byKey, compareKeys)) {
    for (const file of keptOfSection(section, matches, options.combinesRows)) kept.add(file)
  }
  return byKey.filter((file) => kept.has(file))
}

function keptOfSection(
  section: Section,
  matches: (file: DataFile) => boolean,
  combinesRows: boolean,
): readonly DataFile[] {
  const files = section.flatMap((run) => run.files)
  if (section.length === 1) return files.filter(matches)
  return combinesRows || files.some(matches) ? files : []
}

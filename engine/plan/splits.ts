import type { DataFile } from '../../formats/meta/types.ts'
import { partitionIntoSections } from './sections.ts'
import type { KeyCompare, Section } from './types.ts'

export interface SplitOptions {
  /** `source.split.target-size`. */
  readonly targetBytes: number
  /** `source.split.open-file-cost`: what a small file counts at least. */
  readonly openFileCost: number
  /** Deletion vectors or first-row: files above level 0 need no merge with each other. */
  readonly mergedOnWrite: boolean
}

/** Files of one bucket that one reader takes; no key lies in two splits. */
export type Split =
  /** Each row of each file is a row of the table, but for deletion vectors: read file by file, no merge, kinds ignored. */
  | { readonly kind: 'raw'; readonly files: readonly DataFile[] }
  /** Section after section, in key order: merge its runs, drop deletes. */
  | { readonly kind: 'merge'; readonly sections: readonly Section[] }

/**
 * Cuts the files of a bucket into read splits of about the target size, in key order where they have one.
 *
 * When no file needs a merge (all above level 0, without deletes, and of one level or merged on write), files are packed as
 * they are. Else sections are packed, so files that share keys always meet in one split, however small the target (C054);
 * a split of a single file without deletes is raw too. A file whose count of deletes is unknown is never read raw.
 */
export function planSplits(
  files: readonly DataFile[],
  options: SplitOptions,
  compareKeys: KeyCompare,
): readonly Split[] {
  const oneLevel = files.every((file) => file.level === files[0].level)
  const unmerged = files.every((file) => file.level !== 0 && file.deleteRows === 0)
  if (unmerged && (options.mergedOnWrite || oneLevel)) {
    const inOrder = oneLevel ? [...files].sort((a, b) => compareKeys(a.minKey, b.minKey)) : files
    return pack(inOrder, (file) => file.bytes, options).map((packed) => ({ kind: 'raw', files: packed }))
  }
  return pack(partitionIntoSections(files, compareKeys), bytesOfSection, options).map((sections): Split => {
    const alone = singleFile(sections)
    return alone?.deleteRows === 0 ? { kind: 'raw', files: [alone] } : { kind: 'merge', sections }
  })
}

/** Fills a split until the next item would pass the target; an item larger than the target has a split of its own. */
function pack<T>(items: readonly T[], bytesOf: (item: T) => number, options: SplitOptions): readonly T[][] {
  const splits: T[][] = []
  let split: T[] = []
  let bytes = 0
  for (const item of items) {
    const weight = Math.max(bytesOf(item), options.openFileCost)
    if (split.length > 0 && bytes + weight > options.targetBytes) {
      splits.push(split)
      split = []
      bytes = 0
    }
    split.push(item)
    bytes += weight
  }
  if (split.length > 0) splits.push(split)
  return splits
}

function bytesOfSection(section: Section): number {
  let bytes = 0
  for (const run of section) bytes += run.bytes
  return bytes
}

function singleFile(sections: readonly Section[]): DataFile | undefined {
  if (sections.length !== 1 || sections[0].length !== 1 || sections[0][0].files.length !== 1) return undefined
  return sections[0][0].files[0]
}

import type { DataFile } from '../../formats/meta/types.ts'
import type { UpgradeDecision } from './rewriter.ts'
import { filesOfSections, partitionIntoSections } from './sections.ts'
import type { KeyCompare, Section, Step } from './types.ts'

export interface StepOptions {
  readonly outputLevel: number
  /** The highest level of the bucket: nothing older lies below it, so it holds no delete records. */
  readonly maxLevel: number
  /** Files below this many bytes join their neighbours; see `minFileSize`. */
  readonly minFileSize: number
  /** `compaction.force-rewrite-all-files`. */
  readonly forceRewriteAllFiles: boolean
  /** Says whether a file holds records past `record-level.expire-time`. */
  readonly holdsExpired?: ((file: DataFile) => boolean) | undefined
  /** What moving a file up means; absent = its level changes. */
  readonly upgrade?: ((file: DataFile) => UpgradeDecision) | undefined
}

/** From which size on a file is not merged with its neighbours only to make it larger: 7 tenths of `target-file-size`. */
export function minFileSize(targetFileSize: number): number {
  // Paimon divides first, in integers: 128 MiB gives 93952404.
  return Math.floor(targetFileSize / 10) * 7
}

/**
 * What a compaction does with its files, in key order. Sections of several runs and small files gather in a pending list
 * that is rewritten together; a large file that overlaps nothing ends the list and only changes its level.
 *
 *   a [1,10]  small ┐ overlap                         rewrite [a b][c]
 *   b   [5,20]      ┘         c [30,40] small   ────▶ upgrade d
 *   d [50,90] large           e [95,99] small         upgrade e (alone in the list: nothing to join)
 *
 * Files that neither are rewritten nor change level have no step. O(n log n).
 */
export function planSteps(files: readonly DataFile[], options: StepOptions, compareKeys: KeyCompare): readonly Step[] {
  const steps: Step[] = []
  let pending: Section[] = []
  const flush = () => {
    if (pending.length === 1 && pending[0].length === 1) {
      for (const file of pending[0][0].files) moveFile(file, options, steps)
    } else if (pending.length > 0) {
      steps.push({ kind: 'rewrite', sections: pending })
    }
    pending = []
  }
  for (const section of partitionIntoSections(files, compareKeys)) {
    if (section.length > 1) {
      pending.push(section)
      continue
    }
    for (const file of section[0].files) {
      if (file.bytes < options.minFileSize) {
        pending.push(alone(file))
      } else {
        flush()
        moveFile(file, options, steps)
      }
    }
  }
  flush()
  return steps
}

/** A rewrite step a file, for picks with reason `rewrite-files`. */
export function rewriteEach(files: readonly DataFile[]): readonly Step[] {
  return files.map((file) => ({ kind: 'rewrite', sections: [alone(file)] }))
}

/** The files that the steps take out of their levels. */
export function inputsOf(steps: readonly Step[]): readonly DataFile[] {
  return steps.flatMap((step) => (step.kind === 'upgrade' ? [step.file] : filesOfSections(step.sections)))
}

/** An upgrade where that is enough; a rewrite of the file alone where its rows have to change; else nothing. */
function moveFile(file: DataFile, options: StepOptions, steps: Step[]): void {
  // Deletes must not reach the highest level: nothing would ever drop them. An unknown count may hide some.
  const carriesDeletes = options.outputLevel === options.maxLevel && file.deleteRows !== 0
  if (carriesDeletes || options.forceRewriteAllFiles || options.holdsExpired?.(file) === true) {
    steps.push({ kind: 'rewrite', sections: [alone(file)] })
  } else if (file.level !== options.outputLevel) {
    const decision = options.upgrade?.(file)
    if (decision?.rewrite === true) steps.push({ kind: 'rewrite', sections: [alone(file)] })
    else steps.push({ kind: 'upgrade', file, ...(decision?.changelog === true && { changelog: true }) })
  }
}

function alone(file: DataFile): Section {
  return [{ level: file.level, files: [file], bytes: file.bytes }]
}

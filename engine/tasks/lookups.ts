import type { DataFile } from '../../formats/meta/types.ts'
import { deduplicate } from '../merge/engines/deduplicate.ts'
import { type AskedKeys, type FoundKeys, type LookupMerge, NOTHING_FOUND } from '../merge/lookup.ts'
import type { VectorFile } from '../plan/vectors.ts'
import { type FileRow, rowsOf } from '../store/lookup-file.ts'
import type { BucketFiles } from './files.ts'
import { Marks, writeVectors } from './marks.ts'
import type { CompactTask } from './task.ts'
import { UpperLevels } from './upper-levels.ts'

/** The lookups of one compaction: what its level-0 rows replace in the levels above its output, and the marks that leaves. */
export class Lookups {
  readonly #task: CompactTask
  readonly #files: BucketFiles
  readonly #upper: UpperLevels
  readonly #marks = new Marks()

  constructor(task: CompactTask, files: BucketFiles) {
    this.#task = task
    this.#files = files
    this.#upper = new UpperLevels(files, task.above)
  }

  /** How a merge of level-0 rows uses them. `changes` is told what changed, where the table wants to know. */
  forMerge(changes: NonNullable<LookupMerge['changes']>): Pick<LookupMerge, 'find' | 'firstWins' | 'changes'> {
    const { options } = this.#files
    const tells = options['changelog-producer'] === 'lookup'
    // Where the newest row is the result whatever lies below, only changes are told against what was there.
    const needsRows = tells || this.#files.engine !== deduplicate
    const marks = options['deletion-vectors.enabled']
    // Of a first row that is there it is enough to know.
    const firstWins = options['merge-engine'] === 'first-row'
    return {
      find: (keys) => (marks || needsRows ? this.#find(keys, marks, needsRows && !firstWins) : NOTHING_FOUND),
      firstWins,
      changes: tells ? changes : undefined,
    }
  }

  /** Writes the marks, once all is merged; `rewritten` files need none any more. Undefined when nothing changed. */
  vectors(rewritten: readonly DataFile[]): Promise<VectorFile | null | undefined> {
    const names = new Set(rewritten.map((file) => file.name))
    return writeVectors(this.#files, this.#task.fileUuid, this.#task.marked, names, this.#marks)
  }

  #find(keys: AskedKeys, marks: boolean, needsRows: boolean): FoundKeys {
    const asked: number[] = []
    const found: FileRow[] = []
    for (const [index, row] of this.#upper.find(keys).entries()) {
      if (row === undefined) continue
      asked.push(index)
      found.push(row)
      if (marks) this.#marks.add(row.file.file.name, row.block.firstRow + row.row)
    }
    const rows = needsRows && found.length > 0 ? rowsOf(found, this.#files.layout) : undefined
    return { asked: Uint32Array.from(asked), rows }
  }
}

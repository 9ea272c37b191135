import { gather } from '../../formats/column/gather.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import type { AskedKeys } from '../merge/lookup.ts'
import { narrowLayout } from '../plan/kv-layout.ts'
import type { PointCache } from '../store/blocks.ts'
import { Cache } from '../store/cache.ts'
import { type FileRow, LookupFile, type LookupFolder, type LookupTable } from '../store/lookup-file.ts'
import { RunWalk } from '../store/run-walk.ts'
import { readVector } from '../store/vectors.ts'
import type { BucketFiles } from './files.ts'

/** Memory for keys and rows of upper levels. Keys of a compaction ascend, so what is passed is not asked for again. */
const CACHE_BYTES = 32 * 1024 * 1024

/**
 * The levels above the output of a compaction, where the rows lie that its level-0 rows replace. Only pages are decoded that may
 * hold a key, and values only of those that do, where somebody needs them.
 */
export class UpperLevels {
  readonly #files: BucketFiles
  readonly #levels: readonly (readonly LookupFile[])[]

  /** Files of each level in key order, the lowest level first. */
  constructor(files: BucketFiles, levels: readonly (readonly DataFile[])[]) {
    this.#files = files
    const { layout, table, context } = files
    const cache: PointCache = new Cache(CACHE_BYTES)
    const lookups: LookupTable = {
      layout,
      narrow: (indexes) => narrowLayout(table.schema, layout, indexes),
      cache,
      nameOf: (file) => file.name,
    }
    const folder: LookupFolder = {
      open: (file, { batchRows, ...read }) => files.open(file, batchRows, { ...read, withDeleted: true }),
      deletedOf: (file) => readVector(context.fs, files.indexFolder, file),
    }
    this.#levels = levels.map((level) => level.map((file) => new LookupFile(file, lookups, folder)))
  }

  /** The row of each key, in the lowest level that has one. Keys ascend. */
  find({ inputs, source, row }: AskedKeys): readonly (FileRow | undefined)[] {
    const found: (FileRow | undefined)[] = new Array(row.length).fill(undefined)
    if (this.#levels.every((level) => level.length === 0)) return found
    const keys = this.#files.layout.keyIndexes.map((index) =>
      gather(
        inputs.map((input) => input.columns[index]!),
        source,
        row,
        row.length,
      ),
    )
    let pending = [...row.keys()]
    for (const level of this.#levels) {
      if (pending.length === 0) break
      const walk = new RunWalk(level, keys)
      pending = pending.filter((key) => {
        found[key] = walk.find(key)
        return found[key] === undefined
      })
    }
    return found
  }
}

import type { Batch, Column, Scalar } from '../../formats/column/column.ts'
import { gather } from '../../formats/column/gather.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { deserializeRow } from '../../formats/row/binary-row.ts'
import type { AskedKeys } from '../merge/lookup.ts'
import { kvLayout } from '../plan/kv-layout.ts'
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
      narrow: (indexes) =>
        kvLayout(
          table.schema,
          indexes.map((index) => layout.fields[index]!.name),
        ),
      cache,
      nameOf: (file) => file.name,
    }
    const folder: LookupFolder = {
      open: (file, { batchRows, ...read }) => files.open(file, batchRows, { ...read, withDeleted: true }),
      deletedOf: (file) => readVector(context.fs, files.indexFolder, file),
    }
    this.#levels = levels.map((level) =>
      level.map((file) => {
        const minKey = deserializeRow(layout.keyTypes, file.minKey) as readonly Scalar[]
        const maxKey = deserializeRow(layout.keyTypes, file.maxKey) as readonly Scalar[]
        return new LookupFile(file, { minKey, maxKey }, lookups, folder)
      }),
    )
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

  /** All columns of rows that were found. */
  rowsOf(found: readonly FileRow[]): Batch {
    const { fields } = this.#files.layout
    const all = [...fields.keys()]
    const sources: (readonly Column[])[] = []
    const source = new Uint16Array(found.length)
    let last: FileRow | undefined
    for (const [index, one] of found.entries()) {
      if (last?.block !== one.block) sources.push(one.file.columns(one.block, all))
      last = one
      source[index] = sources.length - 1
    }
    const row = Uint32Array.from(found, (one) => one.row)
    const columns = all.map((index) =>
      gather(
        sources.map((columns) => columns[index]!),
        source,
        row,
        found.length,
      ),
    )
    return { fields, rows: found.length, columns }
  }
}

import type { Column, Scalar } from '../../formats/column/column.ts'
import { scalarAt } from '../../formats/column/compare.ts'
import { compareRows, compareRowToKey, firstAtLeastRow } from '../../formats/column/key-bounds.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import type { Block } from './blocks.ts'
import { isDelete, type LookupRun, sequenceOf } from './lookup.ts'
import type { FileRow, LookupFile } from './lookup-file.ts'

/**
 * `lookUp` for many keys of one bucket, into `found` at their positions: `rows` are positions in the key columns, in ascending
 * order of the keys. Each run is gone through once, so no page is decoded twice and a key costs a step, not a search.
 */
export function lookUpMany(
  runs: readonly LookupRun[],
  keys: readonly Column[],
  rows: readonly number[],
  layout: KvLayout,
  wanted: readonly number[],
  found: (FileRow | undefined)[],
): void {
  let pending = rows
  /** Of rows that a later run may hold a newer version of. */
  const sequences = new Map<number, bigint>()
  for (const { files, laterSequence } of runs) {
    const walk = new RunWalk(files, keys)
    const left: number[] = []
    for (const row of pending) {
      const hit = walk.find(row)
      if (hit === undefined) {
        left.push(row)
        continue
      }
      const known = sequences.get(row)
      if (known === undefined && hit.file.file.minSequence > laterSequence) {
        found[row] = hit
        continue
      }
      const own = sequenceOf(hit, layout, wanted)
      if (known === undefined || own > known) {
        found[row] = hit
        sequences.set(row, own)
      }
      if (sequences.get(row)! < laterSequence) left.push(row)
    }
    pending = left
    if (pending.length === 0) break
  }
  for (const row of rows) {
    const hit = found[row]
    if (hit !== undefined && isDelete(hit, layout, wanted)) found[row] = undefined
  }
}

/** A way through the files of a run and their blocks, for keys that only grow. */
class RunWalk {
  readonly #files: readonly LookupFile[]
  readonly #keys: readonly Column[]
  #file = 0
  #block: Block | undefined
  #from = 0

  constructor(files: readonly LookupFile[], keys: readonly Column[]) {
    this.#files = files
    this.#keys = keys
  }

  find(row: number): FileRow | undefined {
    const keys = this.#keys
    let block = this.#block
    if (block === undefined || compareRows(block.keys, block.rows - 1, keys, row) < 0) {
      block = this.#blockFor(row)
      this.#block = block
      this.#from = 0
      if (block === undefined) return undefined
    }
    this.#from = firstAtLeastRow(block.keys, this.#from, block.rows, keys, row)
    if (compareRows(block.keys, this.#from, keys, row) !== 0) return undefined
    return { file: this.#files[this.#file]!, block, row: this.#from }
  }

  #blockFor(row: number): Block | undefined {
    const files = this.#files
    while (this.#file < files.length && compareRowToKey(this.#keys, row, files[this.#file]!.maxKey) > 0) this.#file++
    const file = files[this.#file]
    if (file === undefined || compareRowToKey(this.#keys, row, file.minKey) < 0) return undefined
    return file.blockFor(this.#keys.map((column) => scalarAt(column, row) as Scalar))
  }
}

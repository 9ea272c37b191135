import type { Column, Scalar } from '../../formats/column/column.ts'
import { scalarAt } from '../../formats/column/compare.ts'
import { compareRows, compareRowToKey, firstAtLeastRow } from '../../formats/column/key-bounds.ts'
import type { Block } from './blocks.ts'
import type { FileRow, LookupFile } from './lookup-file.ts'

/** A way through the files of a run and their blocks, for keys that only grow. */
export class RunWalk {
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
    const file = this.#files[this.#file]!
    if (compareRows(block.keys, this.#from, keys, row) !== 0 || file.isDeleted(block, this.#from)) return undefined
    return { file, block, row: this.#from }
  }

  #blockFor(row: number): Block | undefined {
    const files = this.#files
    while (this.#file < files.length && compareRowToKey(this.#keys, row, files[this.#file]!.maxKey) > 0) this.#file++
    const file = files[this.#file]
    if (file === undefined || compareRowToKey(this.#keys, row, file.minKey) < 0) return undefined
    return file.blockFor(this.#keys.map((column) => scalarAt(column, row) as Scalar))
  }
}

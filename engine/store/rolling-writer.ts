import type { Batch } from '../../formats/column/column.ts'
import { batchBytes } from '../../formats/column/size.ts'
import { sliceBatch } from '../../formats/column/slice.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import type { FileSystem } from '../ports/file-system.ts'
import type { DataWriter } from './data-writer.ts'

/** Rows between two looks at the size of the open file, as in Paimon. */
const CHECK_ROWS = 1000

/**
 * Writes a run of KV batches into as many files as its size asks for: the next file starts once the open one has reached
 * `targetBytes` of compressed bytes, written or estimated.
 */
export class RollingWriter {
  readonly #fs: Pick<FileSystem, 'unlink'>
  readonly #folder: string
  readonly #targetBytes: number
  readonly #open: () => DataWriter
  readonly #finished: DataFile[] = []
  readonly #names: string[] = []
  #current: DataWriter | undefined

  constructor(fs: Pick<FileSystem, 'unlink'>, folder: string, targetBytes: number, open: () => DataWriter) {
    this.#fs = fs
    this.#folder = folder
    this.#targetBytes = targetBytes
    this.#open = open
  }

  write(batch: Batch): void {
    if (this.#isFarFromEnd(batch)) {
      this.#current!.write(batch)
      return
    }
    for (let start = 0; start < batch.rows; start += CHECK_ROWS) {
      const end = Math.min(batch.rows, start + CHECK_ROWS)
      if (this.#current === undefined) {
        this.#current = this.#open()
        this.#names.push(this.#current.name)
      }
      this.#current.write(start === 0 && end === batch.rows ? batch : sliceBatch(batch, start, end))
      if (this.#current.estimatedBytes >= this.#targetBytes) this.#roll()
    }
  }

  /** Will the batch certainly not fill the open file? Then nobody has to look at its size on the way. */
  #isFarFromEnd(batch: Batch): boolean {
    return this.#current !== undefined && this.#current.estimatedBytes + 2 * batchBytes(batch) < this.#targetBytes / 2
  }

  /** Ends the open file. The files are in key order; no rows, no files. */
  finish(): readonly DataFile[] {
    this.#roll()
    return this.#finished
  }

  /** Removes every file of this run, finished or not. */
  async abort(): Promise<void> {
    this.#current?.abandon()
    this.#current = undefined
    for (const name of this.#names) await this.#fs.unlink(`${this.#folder}/${name}`).catch(() => undefined)
  }

  #roll(): void {
    if (this.#current === undefined) return
    this.#finished.push(this.#current.finish())
    this.#current = undefined
  }
}

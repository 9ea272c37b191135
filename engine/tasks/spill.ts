import type { Batch } from '../../formats/column/column.ts'
import type { Codecs } from '../../formats/compress/codec.ts'
import { readRun, writeRun } from '../../formats/spill/run-file.ts'
import { isTableError } from '../errors.ts'
import { toTableError } from '../store/errors.ts'
import type { TaskContext } from './context.ts'

/** A spill file that is whole. */
export interface Spilled {
  readonly bytes: number
  readonly batches: () => Generator<Batch>
}

/** Spill files of one task: `lakelet-spill-<uuid>/run-<n>` in the temp folder, gone when the task ends, however it ends. */
export class SpillFolder {
  readonly #context: TaskContext
  readonly #path: string
  readonly #files: string[] = []
  bytesWritten = 0

  constructor(context: TaskContext, tempDirectory: string, uuid: string) {
    this.#context = context
    this.#path = `${tempDirectory}/lakelet-spill-${uuid}`
  }

  /** Writes batches to a new spill file, a step for each; the result reads them back, as often as asked. */
  *write(batches: Iterable<Batch>, codecs: Codecs): Generator<void, Spilled> {
    const path = `${this.#path}/run-${this.#files.length}`
    const { fs } = this.#context
    this.#files.push(path)
    try {
      const sink = fs.createSink(path)
      try {
        yield* writeRun(sink, batches, codecs)
      } finally {
        sink.close()
      }
      this.bytesWritten += sink.bytesWritten
      return { bytes: sink.bytesWritten, batches: () => this.#read(path, codecs) }
    } catch (error) {
      // What the batches are made of is not in this file.
      throw isTableError(error) ? error : toTableError(error, path)
    }
  }

  /** Whether anything was spilled, or was about to be. */
  get used(): boolean {
    return this.#files.length > 0
  }

  async remove(): Promise<void> {
    const { fs } = this.#context
    if (this.#files.length === 0) return
    for (const path of this.#files) await fs.unlink(path).catch(() => undefined)
    await fs.removeDirectory(this.#path).catch(() => undefined)
  }

  *#read(path: string, codecs: Codecs): Generator<Batch> {
    try {
      const source = this.#context.fs.openSource(path)
      try {
        yield* readRun(source, codecs)
      } finally {
        source.close()
      }
    } catch (error) {
      throw toTableError(error, path)
    }
  }
}

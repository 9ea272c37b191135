import { TableError } from '../errors.ts'
import { consumerPath, type Mark, readConsumer, writeConsumer } from '../store/consumers.ts'
import { checkTable } from './change-source.ts'
import type { TableCore } from './core.ts'

/** The mark of a consumer while a reader of this process goes by it: one reader a name. */
export class ConsumerMark {
  readonly #core: TableCore
  readonly #path: string
  /** Milliseconds within which the mark is written again, so that it does not expire under a reader that waits. */
  readonly #period: number
  #mark: Mark | undefined
  #writtenMillis = Number.NEGATIVE_INFINITY

  private constructor(core: TableCore, path: string) {
    this.#core = core
    this.#path = path
    this.#period = Math.ceil((core.options['consumer.expiration-time'] ?? Number.POSITIVE_INFINITY) / 3)
  }

  /** Path of the mark; `INVALID` for a name that no file can have. */
  static path(core: TableCore, name: string): string {
    return consumerPath(core.store.paths.consumers, name)
  }

  /** Goes by the mark until `release`; `LOCKED` while somebody else of this process does. */
  static take(core: TableCore, name: string): ConsumerMark {
    const path = ConsumerMark.path(core, name)
    if (core.consumers.has(path)) {
      throw new TableError(
        'LOCKED',
        `Consumer ${JSON.stringify(name)} of ${core.name} is followed by another reader of this process. Close that one, or give each a name of its own.`,
        { table: core.name, option: 'consumer', value: name },
      )
    }
    core.consumers.add(path)
    return new ConsumerMark(core, path)
  }

  release(): void {
    this.#core.consumers.delete(this.#path)
  }

  /** Milliseconds after which `keep` has something to do. */
  get period(): number {
    return Math.max(1, this.#period)
  }

  /** What the mark says; undefined when there is none. */
  async read(): Promise<Mark | undefined> {
    this.#mark = await readConsumer(this.#core.store.fs, this.#path)
    return this.#mark
  }

  /** `NOT_FOUND` when the table was dropped: a mark would leave a folder in its place. */
  async write(mark: Mark): Promise<void> {
    await checkTable(this.#core)
    await writeConsumer(this.#core.store, this.#path, mark)
    this.#mark = mark
    this.#writtenMillis = this.#core.services.clock.now()
  }

  /** Writes the mark as it is once more when it has grown old. */
  async keep(): Promise<void> {
    if (this.#mark === undefined || this.#period === Number.POSITIVE_INFINITY) return
    if (this.#core.services.clock.now() - this.#writtenMillis >= this.#period) await this.write(this.#mark)
  }
}

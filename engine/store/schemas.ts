import { posix } from 'node:path'
import { parseSchemaName, schemaName } from '../../formats/meta/names.ts'
import { parseSchema, printSchema } from '../../formats/meta/schema.ts'
import type { TableSchema } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import { ifPresent, withPath } from './errors.ts'
import { listNumbers } from './listing.ts'
import { type Publisher, publishOnce } from './publish.ts'

/** The schemas of one branch. A schema file never changes and is never removed, so each is read once. */
export class Schemas {
  readonly #publisher: Publisher
  readonly #folder: string
  readonly #known = new Map<number, TableSchema>()
  /** The id found last. */
  #last: number | undefined

  constructor(publisher: Publisher, folder: string) {
    this.#publisher = publisher
    this.#folder = folder
  }

  path(id: number): string {
    return posix.join(this.#folder, schemaName(id))
  }

  /** Ids of all schemas, ascending; empty when there is no table here. */
  async ids(): Promise<readonly number[]> {
    return listNumbers(this.#publisher.fs, this.#folder, parseSchemaName)
  }

  /**
   * The schema that new snapshots get. Another process may add one at any time: two calls of `stat` when none came since the last
   * look, else a listing.
   */
  async latest(): Promise<TableSchema> {
    const schema = await this.latestIfAny()
    if (schema !== undefined) return schema
    const table = posix.dirname(this.#folder)
    throw new TableError('NOT_FOUND', `There is no table in ${table}: create it, or check the name.`, { path: table })
  }

  /** Like `latest`, undefined when there is no table here. */
  async latestIfAny(): Promise<TableSchema | undefined> {
    const last = this.#last
    if (last !== undefined && (await this.#isLatest(last))) return this.read(last)
    this.#last = (await this.ids()).at(-1)
    return this.#last === undefined ? undefined : this.read(this.#last)
  }

  /** Ids are given out one after the other; a table that was dropped has none. */
  async #isLatest(id: number): Promise<boolean> {
    const { fs } = this.#publisher
    const [next, there] = await Promise.all(
      [id + 1, id].map(async (id) => (await withPath(this.path(id), () => fs.stat(this.path(id)))) !== undefined),
    )
    return there === true && next === false
  }

  /** A schema that a snapshot or a data file names; `CORRUPT` when it is missing or damaged. */
  async read(id: number): Promise<TableSchema> {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const path = this.path(id)
    const schema = await withPath(path, async () => parseSchema(await this.#publisher.fs.readFile(path)))
    if (schema.id !== id) {
      throw new TableError(
        'CORRUPT',
        `${path} holds schema ${schema.id}, expected ${id}. Restore the file from a copy.`,
        {
          path,
          value: schema.id,
        },
      )
    }
    this.#known.set(id, schema)
    return schema
  }

  /** Like `read`, undefined when there is no such schema. */
  async find(id: number): Promise<TableSchema | undefined> {
    return ifPresent(() => this.read(id))
  }

  /** Publishes `schema-<id>`; `taken` when another process was first: reload and decide again. */
  async publish(schema: TableSchema): Promise<'published' | 'taken'> {
    const outcome = await publishOnce(this.#publisher, this.path(schema.id), printSchema(schema))
    if (outcome === 'published') this.#known.set(schema.id, schema)
    return outcome
  }
}

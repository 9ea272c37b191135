import type { Batch } from '../../formats/column/column.ts'
import type { ManifestEntry, Snapshot } from '../../formats/meta/types.ts'
import { isTableError, TableError } from '../errors.ts'
import { fileRecords } from '../read/file-records.ts'
import type { TableCore } from './core.ts'

/** `NOT_FOUND` when the table is not there any more: then it has no schema. */
export async function checkTable({ name, store }: TableCore): Promise<void> {
  if ((await store.schemas.latestIfAny()) !== undefined) return
  throw new TableError(
    'NOT_FOUND',
    `${name} was dropped. Close this handle; if the table is made anew, open it and begin from its start.`,
    { table: name, path: store.paths.table },
  )
}

/** Where the changes of snapshots are found: in the snapshots, and in long-lived changelogs once those have expired. */
export class ChangeSource {
  readonly #core: TableCore

  constructor(core: TableCore) {
    this.#core = core
  }

  /** The first and the last snapshot whose changes can be read; undefined while the table has none. */
  async range(): Promise<{ readonly first: number; readonly last: number } | undefined> {
    const { snapshots, changelogs } = this.#core.store
    const [earliest, last, kept] = await Promise.all([snapshots.earliestId(), snapshots.latestId(), changelogs.ids()])
    if (earliest === undefined || last === undefined) return undefined
    // Of what is kept only what leads up to the snapshots without a gap is of use.
    let first = earliest
    for (const id of kept.toReversed()) if (id === first - 1) first = id
    return { first, last }
  }

  /** `_VALUE_KIND` and the columns of each record that a snapshot tells, bucket by bucket. */
  async *records(id: number, columns: readonly string[], signal: AbortSignal): AsyncGenerator<Batch> {
    const core = this.#core
    try {
      const entries = await this.#entries(id)
      await core.readSchemasOf(entries.map(({ file }) => file))
      core.checkSchema('read')
      const { services } = core
      const read = {
        executor: services.executor,
        table: core.taskTable,
        columns,
        here: services.smallTasks === false ? undefined : core.taskContext,
        signal,
      }
      for (const { partition, bucket, file } of entries) {
        yield* fileRecords(core.dataPaths.bucketFolder(partition, bucket), file, read)
      }
    } catch (error) {
      if (isTableError(error, 'CORRUPT') && (await this.#find(id)) === undefined) throw await this.expired(id, error)
      throw error
    }
  }

  /** `EXPIRED` for a snapshot whose changes are gone. */
  async expired(id: number, cause?: unknown): Promise<TableError> {
    const range = await this.range()
    return new TableError(
      'EXPIRED',
      `The changes of snapshot ${id} of ${this.#core.name} have been expired: ${range === undefined ? 'none are left' : `the earliest are those of snapshot ${range.first}`}. ` +
        'Read the table anew and go on from there; to keep changes longer, name a consumer or raise changelog.num-retained.min.',
      { table: this.#core.name, value: id, earliest: range?.first },
      cause,
    )
  }

  async #find(id: number): Promise<Snapshot | undefined> {
    const { snapshots, changelogs } = this.#core.store
    const earliest = await snapshots.earliestId()
    const live = earliest !== undefined && id >= earliest ? await snapshots.find(id) : undefined
    return live ?? (await changelogs.find(id))
  }

  /** Without a producer, the files of a flush; with one, its changelog files. What the producer was when the snapshot was written counts. */
  async #entries(id: number): Promise<readonly ManifestEntry[]> {
    const { store } = this.#core
    const snapshot = await this.#find(id)
    if (snapshot === undefined) throw await this.expired(id)
    const { options } = await this.#core.schemaAt(snapshot.schemaId)
    if ((options['changelog-producer']?.toLowerCase() ?? 'none') !== 'none')
      return store.manifests.changelogEntries(snapshot)
    if (snapshot.commitKind !== 'APPEND') return []
    return (await store.manifests.deltaEntries(snapshot)).filter(({ kind, bucket }) => kind === 'add' && bucket >= 0)
  }
}

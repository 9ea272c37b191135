import { posix } from 'node:path'
import { readDeletionVector } from '../../formats/index/deletion-vector.ts'
import type { IndexEntry, ManifestEntry, Snapshot, TableSchema } from '../../formats/meta/types.ts'
import { rowCompare } from '../../formats/row/key-compare.ts'
import { isTableError, TableError } from '../errors.ts'
import { shown } from '../options/check-call.ts'
import { bucketId } from '../plan/entry-id.ts'
import { kvLayout } from '../plan/kv-layout.ts'
import { buildLevels } from '../plan/levels.ts'
import { rowDelta } from '../plan/next-snapshot.ts'
import { consumerFiles, readConsumer } from '../store/consumers.ts'
import { isMissing, withPath } from '../store/errors.ts'
import { readHint } from '../store/hints.ts'
import { dataPathsOf, type TableStore } from '../store/table-store.ts'
import { checkDataFile, type Pause } from './check-data.ts'

/** What is wrong with a file, or with what files say of each other. */
export interface TableProblem {
  readonly kind: 'damaged' | 'missing' | 'unsupported'
  /** Absolute. */
  readonly path: string
  readonly message: string
  /** `snapshot 7`, `tag x`, `changelog 3`: what cannot be read for it. */
  readonly usedBy: readonly string[]
}

/** What a check found. */
export interface TableCheck {
  /** In the order of their paths; none = the table is whole as far as the level goes. */
  readonly problems: readonly TableProblem[]
  /** Snapshots by id, whole or not. */
  readonly snapshots: readonly { readonly id: number; readonly whole: boolean }[]
  /** The newest snapshot whose files are all whole. */
  readonly newestWhole: number | undefined
  /** Files looked at, with those that turned out missing. */
  readonly files: number
  readonly bytes: number
}

/** `metadata`: everything but the content of data and index files. `data`: each page and each key, too. */
export type CheckLevel = 'metadata' | 'data'

/**
 * Walks the main branch of a table, from its snapshots, tags and changelogs down to pages, and notes each file that is damaged or
 * missing. Goes on after each problem, also where the table could not be opened. An error of the file system other than a missing file
 * is thrown, unless a folder lies there or links in a circle: it says nothing of the table. What expired, before or meanwhile, is not whole, and no problem. Memory: the names of all files, the entries of one snapshot.
 */
export async function checkStore(store: TableStore, level: CheckLevel, pause?: Pause): Promise<TableCheck> {
  if (level !== 'metadata' && level !== 'data') {
    throw new TableError('INVALID', `level is ${shown(level)}. Give metadata or data.`, {
      option: 'level',
      value: level,
    })
  }
  const walk = new Walk(store, level, pause)
  await walk.schemas()
  const ids = await store.snapshots.allIds()
  for (const id of ids) await walk.root(`snapshot ${id}`, store.snapshots.path(id), () => store.snapshots.find(id))
  await walk.order(ids)
  for (const name of await store.tags.names()) {
    await walk.root(`tag ${name}`, store.tags.path(name), async () => (await store.tags.find(name))?.snapshot)
  }
  for (const id of await store.changelogs.ids()) {
    await walk.changelog(`changelog ${id}`, store.changelogs.path(id), () => store.changelogs.find(id))
  }
  await walk.consumers()
  return walk.result(ids)
}

/** Something lies under the name of a file that no file can be read from: a folder, or links in a circle. */
function isNoFile(error: unknown): error is TableError {
  return isTableError(error, 'IO') && (error.details.errno === 'EISDIR' || error.details.errno === 'ELOOP')
}

/** Rows that a data file may have. */
const MAX_ROWS = 2 ** 31 - 1

type Found = { kind: TableProblem['kind']; message: string; usedBy: Set<string> }

class Walk {
  readonly #store: TableStore
  readonly #level: CheckLevel
  readonly #pause: Pause | undefined
  readonly #problems = new Map<string, Found>()
  readonly #failed = new Set<string>()
  /** Files that were looked at, and found whole or not. */
  readonly #seen = new Map<string, boolean>()
  #schema: TableSchema | undefined
  #bytes = 0

  constructor(store: TableStore, level: CheckLevel, pause: Pause | undefined) {
    this.#store = store
    this.#level = level
    this.#pause = pause
  }

  async schemas(): Promise<void> {
    const { schemas } = this.#store
    for (const id of await schemas.ids()) {
      const schema = await this.#try(`schema ${id}`, schemas.path(id), () => schemas.read(id))
      if (schema !== undefined) this.#schema = schema
    }
  }

  /** Snapshots without a gap, and none newer that LATEST knows of. */
  async order(ids: readonly number[]): Promise<void> {
    const { snapshots, paths } = this.#store
    const [earliest, latest] = await Promise.all([
      snapshots.earliestHint(),
      readHint(this.#store, paths.snapshots, 'LATEST'),
    ])
    const last = ids.at(-1)
    for (let i = 1; i < ids.length; i++) {
      for (let id = Math.max(ids[i - 1]! + 1, earliest ?? 1); id < ids[i]!; id++)
        await this.#gone(id, 'there are older and newer ones')
    }
    if (last === undefined && latest !== undefined) await this.#gone(latest, 'LATEST names it')
    if (last !== undefined && latest !== undefined && latest > last && latest - last < 1000) {
      for (let id = last + 1; id <= latest; id++) await this.#gone(id, 'LATEST names a newer one')
    }
  }

  async #gone(id: number, why: string): Promise<void> {
    // It may have come since the folder was listed.
    if ((await this.#store.snapshots.find(id).catch(() => null)) !== undefined) return
    const message = `Snapshot ${id} is missing, though ${why}. Restore its file from a copy if there is one.`
    this.#note(`snapshot ${id}`, this.#store.snapshots.path(id), 'missing', message)
  }

  async root(user: string, path: string, load: () => Promise<Snapshot | undefined>): Promise<void> {
    const snapshot = await this.#try(user, path, load)
    if (snapshot === undefined) return
    const { manifests, indexes, schemas, paths } = this.#store
    const schema = await this.#try(user, schemas.path(snapshot.schemaId), () => schemas.read(snapshot.schemaId))
    const entries = await this.#entries(
      user,
      manifests.path(snapshot.baseManifestList),
      () => manifests.liveEntries(snapshot),
      snapshot.totalRecordCount,
    )
    await this.#entries(
      user,
      manifests.path(snapshot.deltaManifestList),
      () => manifests.deltaEntries(snapshot),
      snapshot.deltaRecordCount,
    )
    const changes = await this.#changes(user, path, snapshot)
    const index = await this.#try(user, path, () => indexes.entriesOf(snapshot))
    if (schema === undefined) return
    await this.#levels(user, entries ?? [], schema)
    await this.#dataFiles(user, entries ?? [], schema, 'data')
    await this.#dataFiles(user, changes ?? [], schema, 'changelog')
    await this.#indexFiles(user, index ?? [], schema)
    if (snapshot.statistics !== undefined)
      await this.#file(user, posix.join(paths.statistics, snapshot.statistics), undefined)
  }

  /** Only what it is read from: the rest of its snapshot is gone by design. */
  async changelog(user: string, path: string, load: () => Promise<Snapshot | undefined>): Promise<void> {
    const snapshot = await this.#try(user, path, load)
    const schema = this.#schema
    if (snapshot?.changelogManifestList === undefined || schema === undefined) return
    await this.#dataFiles(user, (await this.#changes(user, path, snapshot)) ?? [], schema, 'changelog')
  }

  #changes(user: string, path: string, snapshot: Snapshot): Promise<readonly ManifestEntry[] | undefined> {
    const load = () => this.#store.manifests.changelogEntries(snapshot)
    return this.#entries(user, path, load, snapshot.changelogRecordCount)
  }

  /** Entries that hold as many rows as their snapshot says. Reads do not ask for that: not every engine counts well. */
  async #entries(
    user: string,
    path: string,
    load: () => Promise<readonly ManifestEntry[]>,
    expected: bigint | undefined,
  ): Promise<readonly ManifestEntry[] | undefined> {
    const entries = await this.#try(user, path, load)
    if (entries === undefined || expected === undefined) return entries
    const actual = rowDelta(entries)
    if (actual !== expected) {
      const message = `${path} and its manifests hold ${actual} rows, ${user} says ${expected}. Restore the file, or go back to an older snapshot.`
      this.#note(user, path, 'damaged', message)
    }
    return entries
  }

  async consumers(): Promise<void> {
    const { fs, paths } = this.#store
    for (const { path } of await consumerFiles(fs, paths.consumers)) {
      await this.#try(posix.basename(path), path, () => readConsumer(fs, path))
    }
  }

  async result(ids: readonly number[]): Promise<TableCheck> {
    const earliest = (await this.#store.snapshots.earliestId()) ?? 0
    const expired = new Set(ids.filter((id) => id < earliest).map((id) => `snapshot ${id}`))
    const snapshots = ids.map((id) => ({ id, whole: id >= earliest && !this.#failed.has(`snapshot ${id}`) }))
    const problems = [...this.#problems].sort(([a], [b]) => (a < b ? -1 : 1))
    return {
      problems: problems.flatMap(([path, { kind, message, usedBy }]) => {
        const users = [...usedBy].filter((user) => !expired.has(user))
        return users.length === 0 ? [] : [{ kind, path, message, usedBy: users }]
      }),
      snapshots,
      newestWhole: snapshots.findLast(({ whole }) => whole)?.id,
      files: this.#seen.size,
      bytes: this.#bytes,
    }
  }

  async #levels(user: string, entries: readonly ManifestEntry[], schema: TableSchema): Promise<void> {
    const buckets = new Map<string, ManifestEntry[]>()
    for (const entry of entries) {
      const id = bucketId(entry)
      const bucket = buckets.get(id)
      if (bucket === undefined) buckets.set(id, [entry])
      else bucket.push(entry)
    }
    for (const bucket of buckets.values()) {
      const path = this.#paths(schema).bucketFolder(bucket[0]!.partition, bucket[0]!.bucket)
      const files = bucket.map(({ file }) => file)
      await this.#try(user, path, async () => buildLevels(files, 2, rowCompare(kvLayout(schema).keyTypes)))
    }
  }

  async #dataFiles(
    user: string,
    entries: readonly ManifestEntry[],
    schema: TableSchema,
    content: 'data' | 'changelog',
  ): Promise<void> {
    for (const { kind, partition, bucket, file } of entries) {
      if (kind === 'delete') continue
      const [path, ...extra] = await this.#pathsOf(user, schema, partition, bucket, file)
      if (path === undefined) continue
      await this.#file(user, path, file.bytes, async () => {
        const fileSchema = await this.#store.schemas.read(file.schemaId)
        await checkDataFile(this.#store, { file, path, fileSchema }, content, this.#pause)
      })
      for (const other of extra) await this.#file(user, other, undefined)
    }
  }

  async #pathsOf(
    user: string,
    schema: TableSchema,
    ...[partition, bucket, file]: Parameters<ReturnType<typeof dataPathsOf>['filesOf']>
  ) {
    const folder = this.#store.paths.table
    return (await this.#try(user, folder, async () => this.#paths(schema).filesOf(partition, bucket, file))) ?? []
  }

  async #indexFiles(user: string, entries: readonly IndexEntry[], schema: TableSchema): Promise<void> {
    for (const entry of entries) {
      const path = this.#paths(schema).indexFile(entry)
      await this.#file(user, path, entry.bytes, async () => {
        const source = this.#store.fs.openSource(path)
        try {
          for (const range of entry.deletionVectors ?? []) readDeletionVector(source, range, MAX_ROWS)
        } finally {
          source.close()
        }
      })
    }
  }

  #paths(schema: TableSchema): ReturnType<typeof dataPathsOf> {
    return dataPathsOf(this.#store.paths, schema)
  }

  /** A file once: that it is there, its length, and on level `data` what is in it. */
  async #file(user: string, path: string, bytes: number | undefined, content?: () => Promise<void>): Promise<void> {
    const known = this.#seen.get(path)
    if (known !== undefined) {
      if (!known) this.#note(user, path)
      return
    }
    this.#seen.set(path, true)
    await this.#try(user, path, async () => {
      const stat = await this.#store.fs.stat(path)
      if (stat === undefined) throw Object.assign(new Error('not there'), { code: 'ENOENT' })
      this.#bytes += stat.bytes
      if (bytes !== undefined && stat.bytes !== bytes) {
        throw new TableError('CORRUPT', `${path} has ${stat.bytes} bytes, expected ${bytes}. Restore it from a copy.`, {
          path,
        })
      }
      if (this.#level === 'data') await content?.()
    })
  }

  /** What `run` gives; undefined, and a problem noted, when it finds damage. */
  async #try<T>(user: string, path: string, run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await withPath(path, run)
    } catch (error) {
      if (!isTableError(error, 'CORRUPT', 'UNSUPPORTED') && !isNoFile(error)) throw error
      const at = typeof error.details.path === 'string' ? error.details.path : path
      if (this.#seen.has(at)) this.#seen.set(at, false)
      const kind = error.code === 'UNSUPPORTED' ? 'unsupported' : isMissing(error) ? 'missing' : 'damaged'
      this.#note(user, at, kind, error.message)
      return undefined
    }
  }

  #note(user: string, path: string, kind: TableProblem['kind'] = 'damaged', message = ''): void {
    const found = this.#problems.get(path) ?? { kind, message, usedBy: new Set<string>() }
    found.usedBy.add(user)
    this.#problems.set(path, found)
    if (found.kind !== 'unsupported') this.#failed.add(user)
  }
}

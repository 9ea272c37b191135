import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import type { Test } from 'tap'
import { type ErrorCode, openWarehouse, TableError, type WarehouseOptions } from '../../engine/index.ts'
import type { FileSystem } from '../../engine/ports/file-system.ts'
import { nodeClock } from '../../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../../engine/ports/node-fs.ts'
import { nodeRandom } from '../../engine/ports/node-random.ts'
import { openTableStore, type TableStore } from '../../engine/store/table-store.ts'
import { inlineExecutor } from '../../engine/tasks/submit.ts'
import { Warehouse, type WarehouseContext } from '../../engine/warehouse.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import type { ManifestEntry, TableSchema } from '../../formats/meta/types.ts'

/** The part of tap's `t` that checks of errors need. */
type Asserts = Pick<Test, 'ok' | 'equal' | 'match' | 'has'>

/** A warehouse without threads and syncs. */
export function open(path: string, options: WarehouseOptions = {}): Promise<Warehouse> {
  return openWarehouse(path, { workers: 0, durability: 'none', ...options })
}

/**
 * A warehouse that shares nothing in memory with others of the process, as if another process had opened it. Ports can be
 * exchanged: a clock that is set, a file system that fails.
 */
export function openAlone(path: string, overrides: Partial<WarehouseContext> = {}): Warehouse {
  const fs = overrides.fs ?? createNodeFileSystem({ sync: false })
  const clock = overrides.clock ?? nodeClock
  const pause = () => new Promise<void>((done) => setImmediate(done))
  return new Warehouse(path, {
    fs,
    clock,
    random: nodeRandom,
    codecs: loadCodecs(),
    executor: inlineExecutor(async () => ({ fs, clock, codecs: loadCodecs(), pause })),
    readOnly: false,
    durable: false,
    tempDirectory: join(path, '..'),
    cacheBytes: 1 << 24,
    states: new Map(),
    logger: undefined,
    ...overrides,
  })
}

/** The files of a table, for looking at them behind the back of the engine. Caches what never changes. */
export async function storeOf(
  warehouse: string,
  database: string,
  table: string,
  fs: FileSystem = createNodeFileSystem({ sync: false }),
): Promise<TableStore> {
  return openTableStore({ fs, random: nodeRandom }, loadCodecs(), join(warehouse, `${database}.db`, table))
}

/** Files of the newest snapshot, or of the one with an id. */
export async function liveFiles(store: TableStore, id?: number): Promise<readonly ManifestEntry[]> {
  const snapshot = id === undefined ? await store.snapshots.latest() : await store.snapshots.read(id)
  return snapshot === undefined ? [] : store.manifests.liveEntries(snapshot)
}

/** Publishes the next schema of a table, as ALTER TABLE of another engine does. */
export async function alter(store: TableStore, change: (schema: TableSchema) => Partial<TableSchema>): Promise<void> {
  const schema = await store.schemas.latest()
  const outcome = await store.schemas.publish({ ...schema, ...change(schema), id: schema.id + 1 })
  if (outcome !== 'published') throw new Error('schema taken')
}

/** Paths, lengths and bytes of everything below a folder: equal before and after when nothing was written. */
export function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      if (!entry.isFile()) return `${path}/`
      const bytes = readFileSync(path)
      return `${path} ${bytes.length} ${bytes.reduce((sum, byte) => (Math.imul(sum, 31) + byte) | 0, 7)}`
    })
    .sort()
}

/** Names of the data files that lie in the bucket folders of a table. */
export function dataFilesOnDisk(table: string): string[] {
  return readdirSync(table, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.startsWith('data-'))
    .map((entry) => entry.name)
    .sort()
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** What an error message has to tell somebody to do. */
const instruction =
  /\b(add|build|call|change|check|choose|close|collect|commit|compare|create|delete|drop|expire|filter|free|give|go back|leave out|lower|make|mend|name|open|pass|put|raise|read|restore|rename|rewrite|run|set|tags? it|try again|use|write)\b/i

/**
 * Checks that a call is refused as every refusal has to be: a `TableError` with this code, `details` that hold these names and
 * values, a message that holds `names` and ends with a next step.
 */
export async function refused(
  t: Asserts,
  call: Promise<unknown> | (() => unknown),
  code: ErrorCode,
  details: object,
  ...names: readonly string[]
): Promise<TableError> {
  let error: unknown
  try {
    await (typeof call === 'function' ? call() : call)
  } catch (thrown) {
    error = thrown
  }
  if (!(error instanceof TableError)) {
    t.ok(
      false,
      `expected ${code} with ${inspect(details)}, got ${String(error instanceof Error ? error.stack : error)}`,
    )
    throw new Error('not refused')
  }
  t.equal(error.code, code, error.message)
  t.has(error.details, details, `details of: ${error.message}`)
  for (const name of names) t.ok(error.message.includes(name), `names ${name}: ${error.message}`)
  if (code === 'ABORTED') return error // who aborts knows what is next
  const next = error.message.slice(error.message.search(/[.:;] /) + 1)
  t.match(next, instruction, `ends with a next step: ${error.message}`)
  t.match(error.message, /[.!]$/, `ends as a sentence: ${error.message}`)
  return error
}

/** Checks rows where a handle can have them: in its buffer, in files of their own, and after a full compaction. */
export async function inEveryState(
  table: { commit(): Promise<unknown>; compact(options: { readonly full: boolean }): Promise<void> },
  check: (state: string) => Promise<void>,
): Promise<void> {
  await check('not committed')
  await table.commit()
  await check('committed')
  await table.compact({ full: true })
  await check('compacted')
}

import { t } from '../../engine/api/fields.ts'
import { isTableError } from '../../engine/errors.ts'
import type { Clock } from '../../engine/ports/clock.ts'
import type { FileSystem } from '../../engine/ports/file-system.ts'
import { createMemoryFileSystem, type MemoryFileSystem } from '../../engine/ports/memory-fs.ts'
import { openTableStore } from '../../engine/store/table-store.ts'
import type { Table } from '../../engine/table/table.ts'
import { inlineExecutor } from '../../engine/tasks/submit.ts'
import type { Warehouse } from '../../engine/warehouse.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import { messageOf } from '../model/run.ts'
import { faultyFileSystem, type Verdict } from '../support/faulty-fs.ts'
import { manualClock } from '../support/manual-clock.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { unnamedFiles } from '../support/table-files.ts'
import { openAlone } from '../support/warehouses.ts'

/** How a call fails: before it does anything, or after it did all, which only some calls can. */
type Failure = 'EIO' | 'ENOSPC' | 'EACCES' | 'EMFILE' | 'EIO, though done'

/** What an operation needs and does; `rows` is what it may add to the table. */
export interface Operation {
  readonly name: string
  /** Before calls fail. */
  readonly before?: (table: Table) => Promise<void>
  /** While one call fails; called again, on the same handle or a new one, once none does. */
  readonly run: (table: Table, warehouse: Warehouse) => Promise<unknown>
  /** The warehouse is opened while a call fails. */
  readonly opens?: boolean
  readonly adds?: boolean
}

const PATH = '/w'
const FIRST = Array.from({ length: 12 }, (_, k) => ({ k, v: k * 10 }))
const ADDED = { k: 100, v: 1000 }
const put = (table: Table) => table.put(ADDED)
const other = { fields: { k: t.int(), v: t.int() }, primaryKey: ['k'] } as const

export const operations: readonly Operation[] = [
  { name: 'open', opens: true, run: async (table) => table.snapshots() },
  { name: 'create a table', run: async (_, warehouse) => warehouse.createTable('db.u', other, { ifNotExists: true }) },
  { name: 'put and commit', adds: true, run: async (table) => put(table).then(() => table.commit()) },
  { name: 'commit', adds: true, before: put, run: (table) => table.commit() },
  { name: 'compact', run: (table) => table.compact({ full: true }) },
  { name: 'scan', run: (table) => table.scan().toArray() },
  { name: 'get', run: (table) => table.get({ k: 3 }) },
  { name: 'changes', run: (table) => table.changes().toArray() },
  { name: 'expire', run: (table) => table.expireSnapshots({ retainMax: 1 }) },
  { name: 'remove orphans', run: (table) => table.removeOrphans({ force: true, olderThan: 2 ** 45 }) },
  { name: 'close', before: put, run: (table) => table.close({ discard: true }) },
]

export const kinds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  plain: {},
  lookup: { 'changelog-producer': 'lookup', 'deletion-vectors.enabled': 'true' },
}

const failures: readonly Failure[] = ['EIO', 'ENOSPC', 'EACCES', 'EMFILE', 'EIO, though done']

/** What became of the calls of an operation that were made to fail, and what was wrong then. */
export interface Tried {
  readonly points: number
  readonly outcomes: Readonly<Record<string, number>>
  readonly broken: readonly string[]
}

/** Makes every `stride`-th call of an operation fail, in each way; `first` says which. */
export async function tryAll(
  disk: MemoryFileSystem,
  operation: Operation,
  stride: number,
  first: number,
): Promise<Tried> {
  const outcomes: Record<string, number> = {}
  const broken: string[] = []
  for (const [at, failure] of failures.entries()) {
    for (let n = (first + at * 7) % stride; ; n += stride) {
      const outcome = await failAt(disk, operation, n, failure).catch((error: unknown) => {
        broken.push(messageOf(error))
        return 'broken' as const
      })
      if (outcome === undefined) break
      if (outcome !== 'passed') outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
  }
  return { points: Object.values(outcomes).reduce((sum, count) => sum + count, 0), outcomes, broken }
}

/** Calls that may have taken effect when they report an error. */
const MAY_BE_DONE = /^(link|rename|unlink|mkdir|fsync) /

/** A disk with one table of several snapshots and levels, and a file that nobody names. All of it is synced. */
export async function prepare(options: Readonly<Record<string, string>>): Promise<MemoryFileSystem> {
  const fs = createMemoryFileSystem({ now: () => 0 })
  await fs.makeDirectory(PATH)
  await using warehouse = open(fs, manualClock())
  const table = await warehouse.createTable('db.t', { ...other, options: { ...options, 'file.compression': 'none' } })
  for (let at = 0; at < FIRST.length; at += 4) {
    await table.put(FIRST.slice(at, at + 4))
    await table.commit()
    if (at === 4) await table.compact({ full: true })
  }
  fs.plant(`${PATH}/db.db/t/bucket-0/data-lost-0.parquet`, new Uint8Array(8))
  return fs
}

/**
 * Runs an operation on a copy of a disk, its call number `n` failing. Undefined when it makes fewer calls, else what became of
 * it; throws where a promise is broken.
 */
async function failAt(
  disk: MemoryFileSystem,
  operation: Operation,
  n: number,
  failure: Failure,
): Promise<'rejected' | 'resolved' | 'poisoned' | 'passed' | undefined> {
  const memory = disk.crash(seededRandom(1))
  const code = failure.slice(0, failure.includes(',') ? 3 : undefined)
  let armed = false
  let calls = 0
  let hit: string | undefined
  const fs = faultyFileSystem(
    memory,
    (_, text): Verdict => {
      if (!armed || calls++ !== n) return 'pass'
      hit = text
      if (failure !== 'EIO, though done') return 'fail'
      return MAY_BE_DONE.test(text) ? 'fail after' : 'pass'
    },
    code,
  )
  const clock = countingClock()
  const where = () => `${operation.name}, call ${n} (${hit}) fails with ${failure}`
  let warehouse = open(fs, clock)
  try {
    armed = operation.opens === true
    let outcome: 'rejected' | 'resolved' | 'poisoned' = 'resolved'
    let table: Table | undefined
    try {
      table = await warehouse.table('db.t')
      await operation.before?.(table)
      armed = true
      await operation.run(table, warehouse)
    } catch (error) {
      if (!isTableError(error)) throw new Error(`${where()}: not a TableError`, { cause: error })
      if (hit === undefined || !['IO', 'POISONED', 'CORRUPT'].includes(error.code)) {
        throw new Error(`${where()}: an error of another kind`, { cause: error })
      }
      if (error.code === 'CORRUPT') throw new Error(`${where()}: sound files are called damaged`, { cause: error })
      outcome = error.code === 'POISONED' ? 'poisoned' : 'rejected'
    }
    await settle()
    armed = false
    if (hit === undefined && table !== undefined) {
      await warehouse.close({ discard: true })
      return undefined
    }
    // The cause is gone: the handle goes on, or says that it cannot.
    if (outcome === 'poisoned') {
      const again = await table!.commit().then(
        () => undefined,
        (error: unknown) => error,
      )
      if (!isTableError(again, 'POISONED')) throw new Error(`${where()}: a poisoned handle commits`, { cause: again })
      if ((await table!.scan().toArray()).length < FIRST.length)
        throw new Error(`${where()}: a poisoned handle cannot read`)
      await warehouse.close({ discard: true })
      warehouse = open(fs, clock)
      table = await warehouse.table('db.t')
    }
    if (operation.name === 'close') {
      await warehouse.close({ discard: true })
      warehouse = open(fs, clock)
    }
    table = operation.name === 'close' || table === undefined ? await warehouse.table('db.t') : table
    if (outcome !== 'resolved' && operation.name !== 'close') {
      await operation.run(table, warehouse).catch((error: unknown) => {
        throw new Error(`${where()}: it fails again though nothing is wrong any more`, { cause: error })
      })
    }
    await check(table, operation.adds === true, where)
    await warehouse.close({ discard: true })
    warehouse = open(fs, clock)
    table = await warehouse.table('db.t')
    await check(table, operation.adds === true, where)
    await table.expireSnapshots({ retainMax: 1, olderThan: Number.MAX_SAFE_INTEGER })
    await table.removeOrphans({ force: true, olderThan: 2 ** 45 })
    await check(table, operation.adds === true, where)
    await warehouse.close()
    await settle()
    const left = await unnamedFiles(
      openTableStore({ fs: memory, random: seededRandom(2) }, loadCodecs(), `${PATH}/db.db/t`),
    )
    if (left.length > 0) throw new Error(`${where()}: files are left: ${left.join(', ')}`)
    if (memory.openHandles > 0) throw new Error(`${where()}: ${memory.openHandles} files are left open`)
    if (clock.sleeping > 0) throw new Error(`${where()}: ${clock.sleeping} timers are left`)
    return failure === 'EIO, though done' && !MAY_BE_DONE.test(hit ?? '') ? 'passed' : outcome
  } catch (error) {
    throw error instanceof Error && error.message.startsWith(operation.name)
      ? error
      : new Error(where(), { cause: error })
  }
}

/** What is acknowledged is there, and nothing that nobody wrote. */
async function check(table: Table, adds: boolean, where: () => string): Promise<void> {
  const rows = JSON.stringify(await table.scan().toArray())
  if (rows === JSON.stringify(adds ? [...FIRST, ADDED] : FIRST)) return
  throw new Error(`${where()}: the table holds ${rows}`)
}

/** Background work gets to its end. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await new Promise<void>((done) => setImmediate(done))
}

let opened = 3

function open(fs: FileSystem, clock: Clock): Warehouse {
  const codecs = loadCodecs()
  // Names of files must differ from those of the handles before.
  const random = seededRandom(opened++)
  const executor = inlineExecutor(async () => ({ fs, clock, codecs }))
  return openAlone(PATH, { fs, clock, random, executor, durable: true, tempDirectory: '/tmp' })
}

/** A clock that knows who sleeps. */
function countingClock(): Clock & { readonly sleeping: number } {
  const clock = manualClock()
  let sleeping = 0
  return {
    ...clock,
    get sleeping() {
      return sleeping
    },
    sleep: (millis, options) => {
      sleeping++
      return clock.sleep(millis, options).finally(() => sleeping--)
    },
  }
}

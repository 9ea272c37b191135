import { posix } from 'node:path'
import type { Random } from '../../engine/ports/random.ts'
import { ifPresent } from '../../engine/store/errors.ts'
import { openTableStore, type TableStore } from '../../engine/store/table-store.ts'
import type { TableState } from '../../engine/table/state.ts'
import type { Table } from '../../engine/table/table.ts'
import { inlineExecutor, type TaskExecutor } from '../../engine/tasks/submit.ts'
import { Warehouse } from '../../engine/warehouse.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import { fileReport } from '../model/files.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { unnamedFiles } from '../support/table-files.ts'
import { openAlone } from '../support/warehouses.ts'
import { compactor, expirer, type Stage, scanner, tagger, writer } from './actors.ts'
import { Disk, type DiskUser } from './disk.ts'
import { Ledger, type SimCounts } from './ledger.ts'
import { FOLDER, TABLE, TABLE_FOLDER } from './observer.ts'
import { Scheduler } from './scheduler.ts'
import { contentOf, definitionOf, difference, type SimRow, shapeOf, withPartition } from './tables.ts'

/** What a seed met. */
export interface SimResult extends SimCounts {
  readonly hash: string
  readonly steps: number
  readonly calls: number
  readonly cuts: number
  readonly kills: number
}

export interface SimOptions {
  /** Hears of each step. */
  readonly trace?: (line: string) => void
  /** A disk that does not sync folders, though it says so: the simulation must find out. */
  readonly liar?: boolean
  /** How often all processes start; the power goes in between. By the seed when left out. */
  readonly generations?: number
}

const PROCESSES = 2
const READER = 2
const TAGGER = 3
const LIVES = 4

/** One seed, from an empty disk on: processes work at once until the power goes, others go on with what is left, several times. */
export async function simulate(seed: number, options: SimOptions = {}): Promise<SimResult> {
  const run = new Simulation(seed, options)
  let unhandled: unknown
  const onUnhandled = (error: unknown) => {
    unhandled ??= new Error('a promise was rejected and nobody cared', { cause: error })
  }
  process.on('unhandledRejection', onUnhandled)
  try {
    await run.all()
    if (unhandled !== undefined) throw unhandled
    return run.result
  } finally {
    process.off('unhandledRejection', onUnhandled)
  }
}

class Simulation {
  readonly #random: Random
  readonly #shape
  readonly #scheduler: Scheduler
  readonly #disk: Disk
  readonly #ledger: Ledger
  #version = 1
  #cuts = 0
  #kills = 0
  #users: DiskUser[] = []

  readonly #generations: number | undefined

  constructor(seed: number, { trace, liar = false, generations }: SimOptions) {
    this.#generations = generations
    this.#random = seededRandom(seed)
    this.#shape = shapeOf(this.#random)
    this.#scheduler = new Scheduler(this.#random, () => this.#ledger.audit(), trace)
    const counts = { snapshots: 0, expired: 0, tags: 0, scans: 0 }
    const watcher = {
      linked: (path: string, process: number) => this.#ledger.linked(path, process),
      unlinking: (path: string) => this.#ledger.unlinking(path),
      renamed: (path: string, process: number) => this.#ledger.renamed(path, process),
    }
    this.#disk = new Disk(this.#scheduler, this.#random, watcher, liar)
    this.#ledger = new Ledger(this.#shape, PROCESSES, this.#disk.memory, counts)
  }

  get result(): SimResult {
    const { hash, steps } = this.#scheduler
    return { ...this.#ledger.counts, hash, steps, calls: this.#disk.calls, cuts: this.#cuts, kills: this.#kills }
  }

  async all(): Promise<void> {
    await this.#disk.memory.makeDirectory(FOLDER)
    const generations = this.#generations ?? 2 + this.#below(3)
    for (let generation = 0; generation < generations; generation++) await this.#generation(generation)
    await this.#calm()
    await this.#ledger.close()
  }

  /** All processes from their start to the next power cut, or to their end. */
  async #generation(generation: number): Promise<void> {
    let cut = () => {}
    const isCut = new Promise<'cut'>((resolve) => {
      cut = () => resolve('cut')
    })
    // Short at times: then it falls into opening and recovery.
    const calls = this.#random.fraction() < 0.2 ? 1 + this.#below(150) : 200 + this.#below(1500)
    this.#disk.plan(
      calls,
      () => {
        for (const user of this.#users) user.alive = false
        this.#cuts++
        cut()
      },
      (user) => {
        this.#kills++
        if (user.process < PROCESSES) this.#ledger.killed(user.process)
      },
    )
    this.#users = []
    const starts = Array.from({ length: LIVES }, (_, process) => this.#live(process, generation))
    await this.#scheduler.run(Promise.race([Promise.all(starts), isCut]))
    await this.#ledger.restarted(this.#disk.memory)
  }

  /** One process; when it is killed another takes its place. */
  async #live(process: number, generation: number): Promise<void> {
    for (let restart = 0; ; restart++) {
      const isKilled = this.#random.fraction() < 0.15
      const user: DiskUser = {
        name: `${'ABRT'[process]}${generation}${restart}`,
        alive: true,
        process,
        callsLeft: isKilled ? 1 + this.#below(800) : Number.POSITIVE_INFINITY,
        killed: () => undefined,
      }
      const killed = new Promise<'killed'>((resolve) => {
        user.killed = () => resolve('killed')
      })
      this.#users.push(user)
      if ((await Promise.race([this.#work(user), killed])) !== 'killed') return
    }
  }

  async #work(user: DiskUser): Promise<void> {
    const { process } = user
    const random = seededRandom(this.#below(2 ** 31))
    const fs = this.#disk.seenBy(user)
    const clock = this.#scheduler.clock(user, process * 1000)
    const stage = (table: Table): Stage => ({
      shape: this.#shape,
      ledger: this.#ledger,
      random: seededRandom(this.#below(2 ** 31)),
      table,
      process,
      pause: () => this.#scheduler.step(user, `${user.name} goes on`),
    })
    if (process === TAGGER) {
      const store = openTableStore({ fs, random }, loadCodecs(), TABLE_FOLDER)
      return tagger(stage(undefined as never), store, clock, 6)
    }
    const warehouse = new Warehouse(FOLDER, {
      fs,
      clock,
      random,
      codecs: loadCodecs(),
      executor: this.#executor(
        user,
        inlineExecutor(async () => ({
          fs,
          clock,
          codecs: loadCodecs(),
          pause: () => this.#scheduler.step(user, `${user.name} task goes on`),
        })),
      ),
      readOnly: process === READER,
      durable: true,
      tempDirectory: '/tmp',
      cacheBytes: 1 << 20,
      states: new Map<string, Promise<TableState>>(),
      logger: undefined,
      // Small flushes and reads as tasks of an executor in one process, on the caller's thread in the other.
      smallTasks: process !== 1,
    })
    if (process === READER) {
      while (this.#ledger.latest === 0) {
        if (this.#users.every((other) => !other.alive || other.process >= PROCESSES)) return
        await this.#scheduler.step(user, `${user.name} waits`)
      }
      const table = (await warehouse.table(TABLE)) as Table
      await Promise.all([scanner(stage(table), 6, false), scanner(stage(table), 6, false)])
    } else {
      const open = async (lane: number) =>
        (await warehouse.createTable(TABLE, definitionOf(this.#shape) as never, {
          ifNotExists: true,
          commitUser: `${user.name}-${lane}`,
        })) as unknown as Table
      const tables = await Promise.all(Array.from({ length: this.#shape.lanes }, (_, lane) => open(lane)))
      await Promise.all([
        ...tables.map((table, lane) => writer(stage(table), lane, 14, () => this.#version++)),
        compactor(stage(tables[0]!), 3),
        expirer(stage(tables[0]!), 2),
        scanner(stage(tables.at(-1)!), 4, true),
      ])
    }
    await warehouse.close()
    user.alive = false
  }

  /** Tasks start and end when the scheduler says. */
  #executor(user: DiskUser, inner: TaskExecutor): TaskExecutor {
    return {
      threads: 0,
      run: async (task, options) => {
        await this.#scheduler.step(user, `${user.name} starts ${task.kind}`)
        const result = await inner.run(task, options)
        await this.#scheduler.step(user, `${user.name} ended ${task.kind}`)
        return result
      },
      close: () => inner.close(),
    }
  }

  /** After all: the table works on, and what nobody names can go. */
  async #calm(): Promise<void> {
    const fs = this.#disk.memory
    const [random, codecs] = [seededRandom(7), loadCodecs()]
    // Days later: all that crashes left behind is old enough to go.
    const clock = this.#scheduler.clock({ name: 'calm', alive: true }, 1e9)
    await this.#ledger.checkChanges()
    await using warehouse = openAlone(FOLDER, { fs, random, clock, durable: true, tempDirectory: '/tmp' })
    const definition = definitionOf(this.#shape) as never
    const table = (await warehouse.createTable(TABLE, definition, { ifNotExists: true })) as unknown as Table
    const content = new Map(this.#ledger.content)
    const row = withPartition(this.#shape, { k: 0, a: this.#version++, b: this.#version++ })
    await table.put(row)
    for (const [cell, value] of contentOf([row])) content.set(cell, value)
    await table.commit()
    await table.compact({ full: true })
    await table.expireSnapshots({ retainMax: 1, olderThan: Number.MAX_SAFE_INTEGER })
    const orphans = await table.removeOrphans()
    if (this.#cuts + this.#kills === 0 && orphans.files.length > 0) {
      throw new Error(`nothing crashed, and files are left that nobody names: ${orphans.files.join(', ')}`)
    }
    const differs = difference(content, contentOf((await table.scan().toArray()) as Iterable<SimRow>))
    if (differs !== undefined) throw new Error(`at the end the table is wrong: ${differs}`)
    const { missing, halfExpired } = await fileReport(fs, random, codecs, TABLE_FOLDER)
    const store = openTableStore({ fs, random }, codecs, TABLE_FOLDER)
    // A manifest may name a file that was taken away again: it stays until manifests are merged.
    const mentioned = await mentionedFiles(store)
    const unnamed = (await unnamedFiles(store)).filter((path) => !mentioned.has(posix.basename(path)))
    if (missing.length > 0) throw new Error(`files are missing: ${missing.join(', ')}`)
    if (halfExpired.length > 0) throw new Error(`snapshots are left that are expired: ${halfExpired.join(', ')}`)
    if (unnamed.length > 0) throw new Error(`files are left after the clean-up: ${unnamed.join(', ')}`)
    if (fs.openHandles > 0) throw new Error(`${fs.openHandles} files are open at the end`)
  }

  #below(count: number): number {
    return Math.floor(this.#random.fraction() * count)
  }
}

/** Names in all entries that anything still leads to, whatever they say of the file; lists and manifests may have gone. */
async function mentionedFiles(store: TableStore): Promise<ReadonlySet<string>> {
  const { changelogs, manifests, snapshots, tags } = store
  const older = await Promise.all((await changelogs.ids()).map((id) => changelogs.find(id)))
  const tagged = (await tags.list()).map(({ snapshot }) => snapshot)
  const names = new Set<string>()
  for (const snapshot of [await snapshots.latest(), ...tagged, ...older]) {
    if (snapshot === undefined) continue
    const { baseManifestList, deltaManifestList, changelogManifestList } = snapshot
    for (const list of [baseManifestList, deltaManifestList, changelogManifestList]) {
      if (list === undefined) continue
      for (const manifest of (await ifPresent(() => manifests.readList(list, undefined))) ?? []) {
        for (const { file } of (await ifPresent(() => manifests.read(manifest))) ?? []) names.add(file.name)
      }
    }
  }
  return names
}

let loaded: Promise<unknown> | undefined

/** The engine loads some of its modules on first use, which takes as long as it takes: a seed that is the first would differ. */
export function loadEverything(): Promise<unknown> {
  loaded ??= (async () => {
    const met = new Set<string>()
    for (let seed = 1; seed <= 40; seed++) {
      const { kind } = shapeOf(seededRandom(seed))
      if (!met.has(kind)) await simulate(seed, { generations: 1 }).catch(() => undefined)
      met.add(kind)
    }
  })()
  return loaded
}

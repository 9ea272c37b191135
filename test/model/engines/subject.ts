import { t } from '../../../engine/api/fields.ts'
import type { Clock } from '../../../engine/ports/clock.ts'
import type { FileSystem } from '../../../engine/ports/file-system.ts'
import { nodeRandom } from '../../../engine/ports/node-random.ts'
import type { Random } from '../../../engine/ports/random.ts'
import { openTableStore } from '../../../engine/store/table-store.ts'
import type { Table } from '../../../engine/table/table.ts'
import type { Warehouse } from '../../../engine/warehouse.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { allFiles, changelogFilesOf, filesOfSnapshot, unnamedFiles } from '../../support/table-files.ts'
import { openAlone } from '../../support/warehouses.ts'
import { canonical, Listener, tellsTable } from './listener.ts'
import { type Kind, type RowValues, rowOf, type Version } from './reference.ts'
import type { Draw, ModelTable } from './tables.ts'

const KEYS = 5

/** A version and its key. */
export type Arrival = Version & { readonly id: number }

/** What is done to a table, step after step; printed when a run fails. */
export type Step =
  | { readonly op: 'write'; readonly rows: readonly Arrival[] }
  | { readonly op: 'commit' | 'reopen' | 'other' }
  | { readonly op: 'compact'; readonly full: boolean }
  | { readonly op: 'expire'; readonly keep: number }

/** Where a subject lives. */
export interface Place {
  readonly fs: FileSystem
  readonly clock: Clock
  /** Folder of the warehouse; its table is `db.t`. */
  readonly path: string
}

/** A table under test, and all versions of its keys in the order of their arrival. */
export class Subject {
  readonly #model: ModelTable
  readonly #draw: Draw
  readonly #versions = new Map<number, Version[]>()
  readonly #floors = new Map<number, Record<string, number>>()
  readonly #place: Place
  readonly options: Record<string, string>
  /** Rows show once they left level 0: in tables of first rows, and in those with deletion vectors. */
  readonly #lags: boolean
  /** Reads the changes, where they make the table. */
  readonly #listener: Listener | undefined
  #warehouse!: Warehouse
  #table!: Table
  /** All that was written shows. */
  #settled = true
  #uncommitted = false

  private constructor(model: ModelTable, draw: Draw, place: Place) {
    const one = <T>(values: readonly T[]): T => values[draw.below(values.length)]!
    this.#model = model
    this.#place = place
    this.#draw = draw
    const vectors = model.rules.engine !== 'first-row' && draw.chance(0.3)
    const producers = ['none', 'none', 'lookup', ...(model.rules.engine === 'first-row' ? [] : ['input'])]
    this.options = {
      ...model.options,
      'changelog-producer': one(
        vectors || model.rules.engine === 'first-row' ? producers : [...producers, 'full-compaction'],
      ),
      ...(vectors && { 'deletion-vectors.enabled': 'true', 'deletion-vectors.bitmap64': one(['true', 'false']) }),
      bucket: one(['1', '1', '2']),
      'num-sorted-run.compaction-trigger': one(['2', '3', '5']),
      'compaction.max-size-amplification-percent': one(['100000', '200']),
      'compaction.size-ratio': one(['0', '1', '50']),
      'target-file-size': one(['1 b', '128 mb']),
      'sort-spill-threshold': one(['2', '20']),
      ...(draw.chance(0.3) && { 'compaction.force-up-level-0': 'true' }),
      ...(draw.chance(0.3) && { 'write-only': 'true' }),
      ...(draw.chance(0.3) && { 'changelog-producer.row-deduplicate': 'true' }),
      ...(model.kinds === 'all' && { 'rowkind.field': 'op' }),
      ...model.fixed,
    }
    const producer = this.options['changelog-producer']
    this.#listener = tellsTable(producer, model.rules) ? new Listener(producer, Object.keys(model.columns)) : undefined
    this.#lags = this.options['deletion-vectors.enabled'] === 'true' || model.rules.engine === 'first-row'
  }

  static async open(model: ModelTable, draw: Draw, place: Place): Promise<Subject> {
    const subject = new Subject(model, draw, place)
    await subject.reopen()
    return subject
  }

  /** Commits, closes, and opens the table anew, as another process would. */
  async reopen(): Promise<void> {
    const first = this.#warehouse === undefined
    if (!first) await this.close()
    this.#warehouse = openAlone(this.#place.path, { fs: this.#place.fs, clock: this.#place.clock })
    const types = Object.entries(this.#model.columns).map(([name, { type }]) => [name, type] as const)
    const kind = this.#model.kinds === 'all' ? { op: t.string().nullable() } : {}
    const fields = { id: t.int(), ...Object.fromEntries(types), ...kind }
    this.#table = first
      ? ((await this.#warehouse.createTable('db.t', { fields, primaryKey: ['id'], options: this.options })) as Table)
      : await this.#warehouse.table('db.t')
  }

  next(): Step {
    const draw = this.#draw
    const dice = draw.below(20)
    if (dice < 12) return { op: 'write', rows: this.versions(1 + draw.below(draw.chance(0.2) ? 12 : 3)) }
    if (dice < 16) return { op: 'commit' }
    if (dice < 19) return { op: 'compact', full: draw.chance(0.4) }
    if (draw.chance(0.3)) return { op: 'expire', keep: 1 + draw.below(5) }
    return { op: draw.chance(0.5) ? 'reopen' : 'other' }
  }

  /** New versions, which count as written from now on. Each is drawn with those before it taken in: a key gets what fits what it has. */
  versions(count: number): readonly Arrival[] {
    return Array.from({ length: count }, () => {
      const id = this.#draw.below(KEYS)
      const version = this.#version(id)
      this.#take(id, version)
      return { id, ...version }
    })
  }

  #version(id: number): Version {
    const draw = this.#draw
    const { columns, kinds, nulls, rising = [], bareDeletes = false } = this.#model
    const before = this.#versions.get(id) ?? []
    // Taking back what was never there is nobody's wish, and Paimon's answer to it hangs on what was compacted before.
    const there = rowOf(this.#model.rules, before) !== undefined
    const kind: Kind =
      kinds === 'puts' || !there || draw.chance(0.7) ? '+I' : kinds !== 'all' ? '-D' : oneOf(draw, ['-U', '-D', '+U'])
    if (kind === '-D' && kinds === 'keys') return { kind, values: {} }
    const again = kind === '-U' || kind === '-D' ? before.at(-1 - draw.below(before.length))!.values : undefined
    const values: Record<string, unknown> = {}
    const { sequence = [], groups = [] } = this.#model.rules
    // A delete that is ordered by nothing is refused.
    const needed = kind === '-D' && kinds === 'rows' ? [...sequence, ...groups.flatMap(({ fields }) => fields)] : []
    for (const [name, { value }] of Object.entries(columns)) {
      values[name] =
        again !== undefined && draw.chance(0.8) ? (again[name] ?? null) : draw.chance(nulls) ? null : value(draw)
      if (needed.includes(name)) values[name] ??= value(draw)
      if (kind === '-D' && bareDeletes && !needed.includes(name)) values[name] = null
      if (!rising.includes(name)) continue
      const floor = this.#floors.get(id)?.[name] ?? 0
      values[name] = floor + draw.below(3)
    }
    return { kind, values }
  }

  #take(id: number, version: Version): void {
    this.#versions.set(id, [...(this.#versions.get(id) ?? []), version])
    if (version.kind !== '-D' && version.kind !== '-U') return
    const highest = (name: string) =>
      Math.max(0, ...this.#versions.get(id)!.map(({ values }) => Number(values[name] ?? 0)))
    this.#floors.set(id, Object.fromEntries((this.#model.rising ?? []).map((name) => [name, highest(name)])))
  }

  async take(step: Step): Promise<void> {
    switch (step.op) {
      case 'write':
        this.#settled = false
        this.#uncommitted = true
        return this.#write(step.rows)
      case 'commit':
        return this.#commit()
      case 'compact':
        await this.#table.compact({ full: step.full })
        this.#settled ||= step.full
        return
      case 'expire':
        await this.#listener?.listen(this.#table)
        await this.#table.expireSnapshots({ retainMax: step.keep, retainMin: 1, olderThan: Number.MAX_SAFE_INTEGER })
        return
      case 'reopen':
        return this.reopen()
      case 'other': {
        // A second handle writes into the same buffers, and closes.
        const other = (await this.#warehouse.table('db.t')) as Table
        await other.compact({ full: false })
        await other.close()
        return
      }
    }
  }

  async #commit(): Promise<void> {
    await this.#table.commit()
    // Without compactions rows that showed before the commit are out of sight after it.
    if (this.options['write-only'] !== 'true') this.#settled = true
    else if (this.#uncommitted) this.#settled = false
    this.#uncommitted = false
  }

  async #write(rows: readonly Arrival[]): Promise<void> {
    if (this.#model.kinds === 'all')
      return this.#table.put(rows.map(({ id, kind, values }) => ({ id, ...values, op: kind })))
    await this.#table.write(
      rows.map(({ id, kind, values }) =>
        kind === '-D' ? { delete: [{ id, ...values }] } : { put: [{ id, ...values }] },
      ) as never,
    )
  }

  /** The rows that the table must show, by key. */
  expected(): ReadonlyMap<number, RowValues> {
    const expected = new Map<number, RowValues>()
    for (const [id, versions] of this.#versions) {
      const row = rowOf(this.#model.rules, versions)
      if (row !== undefined) expected.set(id, row)
    }
    return expected
  }

  /** Whether scans, and at times gets, show what the model holds. */
  async check(thorough: boolean): Promise<void> {
    const expected = this.expected()
    const columns = Object.keys(this.#model.columns)
    const scanned = new Map<number, RowValues>()
    for (const { id, ...row } of await this.#table.scan({ columns: ['id', ...columns] }).toArray())
      scanned.set(id as number, row)
    this.#compare('scan', expected, scanned)
    if (!thorough) return
    await this.#listener?.listen(this.#table)
    for (let id = 0; id < KEYS; id++) {
      const row = (await this.#table.get({ id }, { columns })) as RowValues | undefined
      this.#compare('get', only(expected, id), row === undefined ? new Map() : new Map([[id, row]]))
    }
    const some = columns.filter(() => this.#draw.chance(0.4))
    const part = new Map<number, RowValues>()
    for (const { id, ...row } of await this.#table.scan({ columns: ['id', ...some] }).toArray())
      part.set(id as number, row)
    const projected = [...expected].map(
      ([id, row]) => [id, Object.fromEntries(some.map((name) => [name, row[name]]))] as const,
    )
    this.#compare(`scan of ${some.join()}`, new Map(projected), part)
  }

  #compare(what: string, expected: ReadonlyMap<number, RowValues>, actual: ReadonlyMap<number, RowValues>): void {
    if (this.#lags && !this.#settled) return
    for (let id = 0; id < KEYS; id++) {
      const [wanted, found] = [canonical(expected.get(id)), canonical(actual.get(id))]
      const different = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].filter(
        (name) => wanted[name] !== found[name],
      )
      if (different.length === 0) continue
      const texts = different.map(
        (name) => `${name} is ${found[name] ?? 'not there'}, should be ${wanted[name] ?? 'not there'}`,
      )
      throw new Error(`${what}: key ${id}: ${texts.join('; ')}`)
    }
  }

  /** All is committed and compacted: the changes that were told make the table. */
  async checkChanges(): Promise<void> {
    const listener = this.#listener
    await listener?.listen(this.#table)
    if (listener === undefined || listener.missed) return
    this.#compare('changes replayed', this.expected(), listener.rows)
  }

  /** Every file that a snapshot names is there, and none that nothing names. */
  async checkFiles(): Promise<void> {
    await this.reopen()
    const store = openTableStore(
      { fs: this.#place.fs, random: nodeRandom },
      loadCodecs(),
      `${this.#place.path}/db.db/t`,
    )
    const present = new Set(await allFiles(this.#place.fs, store.paths.table))
    for (const id of await store.snapshots.ids()) {
      const snapshot = await store.snapshots.read(id)
      const needed = [...(await filesOfSnapshot(store, snapshot)), ...(await changelogFilesOf(store, snapshot))]
      const missing = needed.filter((path) => !present.has(path))
      if (missing.length > 0) throw new Error(`snapshot ${id} lacks ${missing.join(' ')}`)
    }
    const unnamed = await unnamedFiles(store)
    if (unnamed.length > 0) throw new Error(`nothing names ${unnamed.join(' ')}`)
  }

  async close(): Promise<void> {
    await this.#commit()
    await this.#table.close()
    await this.#warehouse.close()
  }
}

function only<V>(map: ReadonlyMap<number, V>, key: number): ReadonlyMap<number, V> {
  return map.has(key) ? new Map([[key, map.get(key)!]]) : new Map()
}

function oneOf<T>(draw: Draw, values: readonly T[]): T {
  return values[draw.below(values.length)]!
}

/** Draws that repeat with their seed. */
export function drawFrom(random: Random): Draw {
  return {
    below: (count) => Math.floor(random.fraction() * count),
    chance: (share) => random.fraction() < share,
  }
}

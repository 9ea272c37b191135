import type { Clock } from '../../engine/ports/clock.ts'
import type { FileSystem } from '../../engine/ports/file-system.ts'
import type { Random } from '../../engine/ports/random.ts'
import { openTableStore } from '../../engine/store/table-store.ts'
import type { Scan } from '../../engine/table/scan-iterator.ts'
import type { TableState } from '../../engine/table/state.ts'
import type { Table } from '../../engine/table/table.ts'
import type { TaskExecutor } from '../../engine/tasks/submit.ts'
import { createTag, deleteTag } from '../../engine/upkeep/tagging.ts'
import type { Warehouse } from '../../engine/warehouse.ts'
import type { Codecs } from '../../formats/compress/codec.ts'
import { recordBatch } from './arrow.ts'
import {
  crossesPartitions,
  expectedRows,
  listDifference,
  project,
  rowText,
  scanDifference,
  scanOptions,
} from './expected.ts'
import { fileReport } from './files.ts'
import { type Content, changesOf, History, type Published, type Write } from './history.ts'
import type { End, Operation, ScanSpec } from './operation.ts'
import { isInjected, ProcessFiles, turns, unruly } from './ports.ts'
import { type Row, Rows, type Shape } from './shape.ts'
import type { Tally } from './tally.ts'

/** What a world stands on: memory and one thread, or a disk and a pool. */
export interface Setting {
  readonly fs: FileSystem
  /** Folder of the warehouse. */
  readonly path: string
  readonly tempDirectory: string
  readonly codecs: Codecs
  readonly clock: Clock & { advance?(millis: number): void }
  readonly Warehouse: typeof Warehouse
  readonly executor: (fs: FileSystem) => TaskExecutor
}

interface Handle {
  readonly process: number
  readonly number: number
  warehouse: Warehouse
  table: Table
}

interface Process {
  readonly number: number
  files: ProcessFiles
  states: Map<string, Promise<TableState>>
}

interface OpenScan {
  readonly handle: Handle
  readonly scan: Scan<Row>
  readonly spec: ScanSpec
  /** States that explain what was read so far. */
  expected: readonly (readonly Row[])[]
  readonly contents: readonly Content[]
  readonly rows: Row[]
  /** The snapshot whose expiry by another process may end the scan. */
  readonly snapshot: number
}

const TABLE = 'db.t'

/** A table under test, its model beside it. */
export class World {
  readonly #shape: Shape
  readonly #setting: Setting
  readonly #random: Random
  readonly #rows: Rows
  readonly #history: History
  readonly #tally: Tally
  readonly #processes: Process[] = []
  readonly #handles: Handle[] = []
  readonly #slots = new Map<number, OpenScan>()
  readonly #tags = new Map<string, number>()
  readonly #folder: string
  #reader: { readonly warehouse: Warehouse; readonly table: Table } | undefined
  #published: Published[] = []
  /** Writes acknowledged before the commit that made a snapshot was called. */
  readonly #atLeast = new Map<number, number>()
  #generation = 0
  #crashed = false
  /** The process whose calls may be refused just now, because it is being closed. */
  #ending: number | undefined
  #calm = false
  #fault: unknown

  private constructor(shape: Shape, setting: Setting, random: Random, tally: Tally) {
    this.#shape = shape
    this.#setting = setting
    this.#random = random
    this.#rows = new Rows(shape)
    this.#history = new History(shape.processes)
    this.#tally = tally
    this.#folder = `${setting.path}/db.db/t`
  }

  static async open(shape: Shape, setting: Setting, random: Random, tally: Tally): Promise<World> {
    const world = new World(shape, setting, random, tally)
    for (let process = 0; process < shape.processes; process++) {
      world.#processes.push(world.#newProcess(process))
      for (let handle = 0; handle < shape.handles; handle++) {
        const number = process * shape.handles + handle
        world.#handles.push({ process, number, ...(await world.#openHandle(process, number)) })
      }
    }
    world.#reader = await world.#openReader()
    return world
  }

  /** Takes one step and compares with the model; throws where they differ. */
  async step(operation: Operation): Promise<void> {
    if (operation.op === 'together') await this.#together(operation.operations, operation.end)
    else await this.#alone(operation)
    await this.#settle()
    if (this.#fault !== undefined) throw this.#fault
  }

  /** Commits and closes everything, then looks at the files, opens again, and reads it all. */
  async finish(): Promise<void> {
    this.#calm = true
    this.#setting.clock.advance?.(10_000_000)
    for (const slot of [...this.#slots.keys()]) await this.#closeScan(slot)
    for (const handle of this.#handles) await this.#commitAtLast(handle)
    for (const handle of this.#handles) await this.#closeHandle(handle, false)
    await this.#settle()
    await this.#checkFiles('after everything was closed', false)
    await this.#reopenAll()
    const all = this.#rows.columns.length > 0 ? { op: 'scan', h: 0, spec: {} } : undefined
    if (all !== undefined) await this.step(all as Operation)
    await this.step({ op: 'get', h: 0, keys: Array.from({ length: this.#shape.keys }, (_, key) => key) })
    await this.step({ op: 'compact', h: 0, full: true })
    await this.step({ op: 'scan', h: 0, spec: {} })
    await this.step({ op: 'levels', h: 0 })
    await this.step({ op: 'expire', h: 0, retain: 1, dryRun: false })
    for (const name of [...this.#tags.keys()]) await this.step({ op: 'untag', name })
    for (const handle of this.#handles) await this.#closeHandle(handle, false)
    await this.#settle()
    await this.#checkFiles('after everything old was expired', true)
    await this.#reader?.warehouse.close()
    if (this.#fault !== undefined) throw this.#fault
  }

  /** A commit may lose to the other process, but not for ever. */
  async #commitAtLast(handle: Handle): Promise<void> {
    for (let tries = 0; !(await this.#commit(handle, this.#history.logs[handle.process]!.length)); tries++) {
      if (tries === 3) throw new Error(`handle ${handle.number} cannot commit though nothing else runs`)
    }
  }

  /** Lets go of everything after a failure. */
  async abandon(): Promise<void> {
    for (const process of this.#processes) process.files.killed = true
    await Promise.allSettled(this.#handles.map(({ warehouse }) => warehouse.close({ discard: true })))
    await this.#reader?.warehouse.close()
  }

  // Single steps ------------------------------------------------------------------------------------------------------

  async #alone(operation: Exclude<Operation, { op: 'together' }>): Promise<void> {
    switch (operation.op) {
      case 'put':
      case 'putArrow':
      case 'delete':
      case 'write':
        await this.#write(operation)
        return
      case 'commit':
        await this.#commit(this.#handles[operation.h]!, this.#log(operation.h).length)
        return
      case 'get': {
        if (!(await this.#catchUp(operation.h))) return
        const { process } = this.#handles[operation.h]!
        const check = await this.#get(operation)
        await this.#settle()
        check(this.#history.visible(process, this.#history.logs[process]!.length))
        return
      }
      case 'scan': {
        if (!(await this.#catchUp(operation.h))) return
        const { process } = this.#handles[operation.h]!
        const check = await this.#scan(operation.h, operation.spec)
        await this.#settle()
        check(this.#history.visible(process, this.#history.logs[process]!.length))
        return
      }
      case 'openScan':
        await this.#openScan(operation)
        return
      case 'nextRows':
        await this.#nextRows(operation.slot, operation.count)
        return
      case 'closeScan':
        await this.#closeScan(operation.slot)
        return
      case 'discard': {
        const handle = this.#handles[operation.h]!
        await handle.table.discard()
        await this.#settle()
        this.#history.forget(handle.process)
        return
      }
      case 'compact':
        await this.#compact(operation)
        return
      case 'expire':
        await this.#expire(operation)
        return
      case 'levels':
        this.#levels(operation.h)
        return
      case 'tag':
      case 'untag':
        await this.#tag(operation)
        return
      case 'reopen':
        await this.#reopen(operation)
        return
      case 'pass':
        this.#setting.clock.advance?.(operation.millis)
        await turns(operation.turns)
        return
    }
  }

  /** All calls are made before the first is awaited; at the end a process may be closed or die in the middle of them. */
  async #together(operations: readonly Operation[], end: End | undefined): Promise<void> {
    const before = this.#history.logs.map((log) => log.length)
    const states = this.#history.logs.map((_, process) => this.#history.fork(process))
    const writers = new Map<number, number>()
    const checks: (() => void)[] = []
    const calls: Promise<unknown>[] = []
    for (const operation of operations) {
      if (!('h' in operation)) {
        if (operation.op === 'pass') calls.push(this.#alone(operation))
        continue
      }
      const { process } = this.#handles[operation.h]!
      const log = this.#history.logs[process]!
      const read = async (check: Promise<(contents: readonly Content[] | undefined) => void>) => {
        const run = await check
        checks.push(() => run(this.#shape.processes > 1 ? undefined : states[process]!(before[process]!)))
      }
      switch (operation.op) {
        case 'put':
        case 'putArrow':
        case 'delete':
        case 'write':
          writers.set(process, operation.h)
          calls.push(this.#write(operation))
          break
        case 'commit': {
          const own = writers.get(process) ?? operation.h
          calls.push(this.#commit(this.#handles[operation.h]!, own === operation.h ? log.length : before[process]!))
          break
        }
        case 'get':
          calls.push(read(this.#get(operation)))
          break
        case 'scan':
          calls.push(read(this.#scan(operation.h, operation.spec)))
          break
        case 'compact':
          calls.push(this.#compact(operation))
          break
        case 'expire':
          calls.push(this.#expire(operation))
          break
        case 'levels':
          this.#levels(operation.h)
          break
        default:
      }
    }
    if (end !== undefined) await this.#end(end, calls)
    const outcomes = await Promise.allSettled(calls)
    await this.#settle()
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    for (const check of checks) check()
  }

  // Writing -----------------------------------------------------------------------------------------------------------

  async #write(operation: Extract<Operation, { op: 'put' | 'putArrow' | 'delete' | 'write' }>): Promise<void> {
    const { process, table } = this.#handles[operation.h]!
    const parts =
      operation.op === 'write'
        ? operation.parts
        : operation.op === 'delete'
          ? [{ delete: operation.keys }]
          : [{ put: operation.keys }]
    let version = 'v' in operation ? operation.v : 0
    const changes = changesOf(parts, version)
    const mutations = parts.map((part) =>
      'put' in part
        ? { put: part.put.map((key) => this.#rows.row(key, version++)) }
        : { delete: part.delete.map((key) => this.#rows.key(key)) },
    )
    const write = this.#history.add(process, changes)
    const first = mutations[0]!
    let call: Promise<void>
    if (operation.op === 'write') call = table.write(mutations)
    else if ('delete' in first) call = table.delete(first.delete)
    else if (operation.op === 'putArrow' && this.#rows.arrow) call = table.putArrow(recordBatch(this.#rows, first.put))
    else call = table.put(first.put)
    await this.#tolerate(call, process, () => this.#void(write))
  }

  #void(write: Write): void {
    write.changes = []
  }

  async #commit(handle: Handle, writes: number): Promise<boolean> {
    const result = await this.#tolerate(handle.table.commit(), handle.process)
    if (result === undefined) return false
    const append = result.snapshots.find((snapshot) => snapshot.kind === 'APPEND')
    if (append !== undefined) this.#atLeast.set(append.id, Math.max(writes, this.#atLeast.get(append.id) ?? 0))
    await this.#settle()
    this.#history.require(handle.process, writes, `commit() of handle ${handle.number}`)
    return true
  }

  async #compact({ h, full, bucket, abortAfter }: Extract<Operation, { op: 'compact' }>): Promise<void> {
    const { table, process } = this.#handles[h]!
    const abort = new AbortController()
    let ended = false
    const call = table.compact({
      full,
      ...(bucket !== undefined && { bucket }),
      ...(abortAfter !== undefined && { signal: abort.signal }),
    })
    if (abortAfter !== undefined) {
      void turns(abortAfter).then(() => {
        if (!ended) abort.abort(new Error('injected abort'))
      })
    }
    await this.#tolerate(call, process)
    ended = true
  }

  async #expire({ h, retain, dryRun }: Extract<Operation, { op: 'expire' }>): Promise<void> {
    const { table, process } = this.#handles[h]!
    const result = await this.#tolerate(table.expireSnapshots({ retainMax: retain, dryRun }), process)
    if (result === undefined || dryRun) return
    this.#tally.expired += result.expired.length
  }

  // Reading -----------------------------------------------------------------------------------------------------------

  /** A handle sees what other processes committed only when it looks; false when an injected fault kept it from that. */
  async #catchUp(h: number): Promise<boolean> {
    if (this.#shape.processes === 1) return true
    const { table, process } = this.#handles[h]!
    return (
      (await this.#tolerate(
        table.refresh().then(() => true),
        process,
      )) === true
    )
  }

  /** The snapshot meant by "so many before the newest", if the table has had it. */
  #snapshotId(back: number | undefined): number | undefined {
    const id = back === undefined ? 0 : this.#history.latest - back
    return id > 0 && this.#history.snapshots.has(id) ? id : undefined
  }

  async #get({ h, keys, back, columns }: Extract<Operation, { op: 'get' }>) {
    const { table, process } = this.#handles[h]!
    const snapshot = this.#snapshotId(back)
    const options = {
      ...(snapshot !== undefined && { snapshot }),
      ...(columns !== undefined && { columns: [...columns] }),
    }
    const wanted = keys.map((key) => this.#rows.key(key))
    const found = await this.#readable(
      process,
      keys.length === 1 ? table.get(wanted[0], options).then((row) => [row]) : table.getMany(wanted, options),
      snapshot,
    )
    return (contents: readonly Content[] | undefined) => {
      const states = snapshot === undefined ? contents : [this.#history.snapshots.get(snapshot)!]
      if (found === undefined || states === undefined) return
      const differences = states.map((content) => {
        const expected = keys.map((key) => {
          const version = content.get(key)
          return version === undefined
            ? undefined
            : project(this.#rows.row(key, version), columns ?? this.#rows.columns)
        })
        const text = (list: readonly (Row | undefined)[]) => list.map((row) => (row === undefined ? '-' : rowText(row)))
        const [right, actual] = [text(expected), text(found)]
        const at = right.findIndex((row, index) => row !== actual[index])
        return at < 0 && right.length === actual.length
          ? undefined
          : `key ${keys[at]} gave ${actual[at]}, should be ${right[at]}`
      })
      this.#oneFits(differences, `get of handle ${h}${snapshot === undefined ? '' : ` at snapshot ${snapshot}`}`)
    }
  }

  async #scan(h: number, spec: ScanSpec) {
    const { table, process } = this.#handles[h]!
    const snapshot = this.#snapshotId(spec.back)
    const actual = await this.#readable(process, this.#collect(table, spec, snapshot), snapshot)
    return (contents: readonly Content[] | undefined) => {
      const states = snapshot === undefined ? contents : [this.#history.snapshots.get(snapshot)!]
      if (actual === undefined || states === undefined) return
      this.#oneFits(
        states.map((content) => scanDifference(this.#rows, content, spec, actual)),
        `scan of handle ${h}${snapshot === undefined ? '' : ` at snapshot ${snapshot}`}`,
      )
    }
  }

  async #collect(table: Table, spec: ScanSpec, snapshot: number | undefined): Promise<readonly Row[]> {
    if (crossesPartitions(this.#rows, spec)) return this.#refused(table, spec)
    const options = { ...scanOptions(this.#rows, spec), ...(snapshot !== undefined && { snapshot }) }
    const rows: Row[] = []
    if (spec.arrow === true && this.#rows.arrow) {
      for await (const batch of table.scanArrow(options)) {
        for (let at = 0; at < batch.numRows; at++) rows.push(batch.get(at)!.toJSON() as Row)
      }
    } else {
      for await (const row of table.scan(options)) rows.push(row as Row)
    }
    return rows
  }

  /** A range over two partitions is an error of the caller. */
  async #refused(table: Table, spec: ScanSpec): Promise<readonly Row[]> {
    try {
      for await (const _ of table.scan(scanOptions(this.#rows, spec)));
    } catch (error) {
      if (codeOf(error) === 'INVALID') return expectedRows(this.#rows, this.#history.committed, { ...spec, limit: 0 })
      throw error
    }
    throw new Error('a range over two partitions was not refused')
  }

  async #openScan({ h, slot, spec }: Extract<Operation, { op: 'openScan' }>): Promise<void> {
    if (this.#slots.has(slot) || crossesPartitions(this.#rows, spec)) return
    if (!(await this.#catchUp(h))) return
    await this.#settle()
    const handle = this.#handles[h]!
    const snapshot = this.#snapshotId(spec.back)
    const contents =
      snapshot === undefined
        ? this.#history.visible(handle.process, this.#history.logs[handle.process]!.length)
        : [this.#history.snapshots.get(snapshot)!]
    const scan = handle.table.scan({ ...scanOptions(this.#rows, spec), ...(snapshot !== undefined && { snapshot }) })
    this.#slots.set(slot, {
      handle,
      scan: scan as Scan<Row>,
      spec,
      contents,
      expected: contents.map((content) => expectedRows(this.#rows, content, spec)),
      rows: [],
      snapshot: snapshot ?? this.#history.latest,
    })
  }

  async #nextRows(slot: number, count: number): Promise<void> {
    const open = this.#slots.get(slot)
    if (open === undefined) return
    const { scan, rows, spec } = open
    for (let left = count; left > 0; left--) {
      const step = await this.#readable(
        open.handle.process,
        scan.next(),
        open.snapshot,
        spec.back !== undefined && rows.length === 0,
      )
      if (step === undefined) {
        this.#slots.delete(slot)
        return
      }
      if (step.done === true) {
        this.#slots.delete(slot)
        this.#oneFits(
          open.contents.map((content) => scanDifference(this.#rows, content, spec, rows)),
          `scan in slot ${slot}, open since an earlier step,`,
        )
        return
      }
      rows.push(step.value)
    }
    if (spec.unordered === true) return
    this.#oneFits(
      open.expected.map((expected) => listDifference(expected.slice(0, rows.length), rows)),
      `scan in slot ${slot}, open since an earlier step,`,
    )
  }

  async #closeScan(slot: number): Promise<void> {
    const open = this.#slots.get(slot)
    this.#slots.delete(slot)
    await open?.scan.return()
  }

  #levels(h: number): void {
    const { table } = this.#handles[h]!
    for (const bucket of table.levels()) for (const { level } of bucket.levels) this.#tally.levels.add(level)
  }

  /** The value read; undefined where the snapshot asked for had expired, or another process expired what was read. */
  async #readable<T>(
    process: number,
    call: Promise<T>,
    snapshot: number | undefined,
    notStarted = true,
  ): Promise<T | undefined> {
    const { files } = this.#processes[process]!
    try {
      return await call
    } catch (error) {
      if (files.killed || this.#isEnd(error, process)) return undefined
      const code = codeOf(error)
      if (code === 'EXPIRED' || code === 'NOT_FOUND') {
        if (this.#shape.processes > 1) return undefined
        if (snapshot !== undefined && notStarted && !(await this.#isLive(snapshot))) return undefined
      }
      throw error
    }
  }

  async #isLive(snapshot: number): Promise<boolean> {
    return (await this.#store().snapshots.ids()).includes(snapshot)
  }

  #oneFits(differences: readonly (string | undefined)[], what: string): void {
    if (differences.some((one) => one === undefined)) return
    const [closest] = [...differences].sort((a, b) => a!.length - b!.length)
    throw new Error(`${what} does not give what the model gives: ${closest}`)
  }

  // Snapshots and files -----------------------------------------------------------------------------------------------

  #store() {
    return openTableStore({ fs: this.#setting.fs, random: this.#random }, this.#setting.codecs, this.#folder)
  }

  #settling: Promise<void> = Promise.resolve()

  /** Reads every new snapshot as another process would, and compares it with the model. */
  #settle(): Promise<void> {
    this.#settling = this.#settling.then(() => this.#settleNow())
    return this.#settling
  }

  async #settleNow(): Promise<void> {
    // A commit notes what it promises right after its call has resolved.
    await turns(1)
    const news = this.#published
    this.#published = []
    for (const snapshot of news) {
      const content = await this.#contentOf(snapshot.id, snapshot === news.at(-1))
      this.#tally.snapshots++
      this.#history.publish(snapshot, content, this.#atLeast.get(snapshot.id) ?? 0)
      this.#atLeast.delete(snapshot.id)
    }
  }

  /** What a snapshot holds; the newest is read as a reader meets it, others by their number. Undefined = it has expired. */
  async #contentOf(snapshot: number, newest: boolean): Promise<Content | undefined> {
    if (newest) {
      const content = await this.#read(snapshot, {})
      if (this.#published.length === 0) return content
    }
    return this.#read(snapshot, { snapshot })
  }

  async #read(snapshot: number, options: { readonly snapshot?: number }): Promise<Content | undefined> {
    const content = new Map<number, number>()
    try {
      let previous = -1
      for await (const row of this.#reader!.table.scan(options)) {
        const key = this.#rows.indexOf(row)
        if (key === undefined) throw new Error(`snapshot ${snapshot} has a row of a key never written: ${rowText(row)}`)
        const version = row.v as number
        const expected = rowText(this.#rows.row(key, version))
        if (rowText(row) !== expected)
          throw new Error(`snapshot ${snapshot} has row ${rowText(row)}, should be ${expected}`)
        if (this.#rows.place(key) <= previous)
          throw new Error(`snapshot ${snapshot} gives ${rowText(row)} out of order`)
        previous = this.#rows.place(key)
        content.set(key, version)
      }
    } catch (error) {
      if ((codeOf(error) === 'EXPIRED' || codeOf(error) === 'NOT_FOUND') && !(await this.#isLive(snapshot)))
        return undefined
      throw error
    }
    return content
  }

  async #checkFiles(when: string, expired: boolean): Promise<void> {
    // Files that somebody lets go of are removed in the background.
    await turns(20)
    const { fs, codecs } = this.#setting
    const { missing, unnamed, halfExpired } = await fileReport(fs, this.#random, codecs, this.#folder)
    if (missing.length > 0) throw new Error(`${when}, files are missing that a snapshot names: ${missing.join(', ')}`)
    if (unnamed.length > 0 && !this.#crashed) {
      throw new Error(`${when}, files are left that nobody names: ${unnamed.join(', ')}`)
    }
    if (halfExpired.length > 0 && (!this.#crashed || expired)) {
      throw new Error(`${when}, snapshots are left that are expired: ${halfExpired.join(', ')}`)
    }
  }

  async #tag(operation: Extract<Operation, { op: 'tag' | 'untag' }>): Promise<void> {
    const { name } = operation
    const store = this.#store()
    if (operation.op === 'tag') {
      const id = this.#snapshotId(operation.back)
      if (this.#tags.has(name) || id === undefined || !(await this.#isLive(id))) return
      await createTag(store, this.#setting.clock, name, { snapshot: id })
      this.#tags.set(name, id)
    } else {
      const id = this.#tags.get(name)
      if (id === undefined) return
      this.#tags.delete(name)
      const { Pins } = await import('../../engine/store/pins.ts')
      await deleteTag(store, new Pins(), name)
    }
  }

  // Opening and closing -----------------------------------------------------------------------------------------------

  async #reopen({ h, how }: Extract<Operation, { op: 'reopen' }>): Promise<void> {
    const handle = this.#handles[h]!
    const siblings = this.#handles.filter((other) => other.process === handle.process)
    if (how === 'crash') return this.#end({ h, how, turns: 0 }, [])
    if (how === 'discard') {
      for (const one of siblings) await this.#closeHandle(one, true)
      await this.#settle()
      this.#history.forget(handle.process)
      for (const one of siblings) Object.assign(one, await this.#openHandle(one.process, one.number))
      return
    }
    if (siblings.length === 1 && !(await this.#commit(handle, this.#history.logs[handle.process]!.length))) return
    await this.#closeHandle(handle, false)
    Object.assign(handle, await this.#openHandle(handle.process, handle.number))
  }

  /** Closes a process, or kills it, while its calls are under way, and opens it again when they have all ended. */
  async #end({ h, how, turns: wait }: End, calls: readonly Promise<unknown>[]): Promise<void> {
    const { process } = this.#handles[h]!
    const siblings = this.#handles.filter((other) => other.process === process)
    await turns(wait)
    this.#ending = process
    for (const slot of this.#slotsOf(siblings)) this.#slots.delete(slot)
    if (how === 'crash') {
      this.#processes[process]!.files.killed = true
      this.#crashed = true
    }
    const closed = await Promise.allSettled(siblings.map(({ warehouse }) => warehouse.close({ discard: true })))
    await Promise.allSettled(calls)
    this.#ending = undefined
    for (const outcome of closed) {
      if (outcome.status === 'rejected' && how !== 'crash' && !isInjected(outcome.reason)) throw outcome.reason
    }
    await turns(how === 'crash' ? this.#shape.latency * 2 + 5 : 0)
    await this.#settle()
    this.#history.forget(process)
    if (how === 'crash') this.#processes[process] = this.#newProcess(process)
    for (const one of siblings) Object.assign(one, await this.#openHandle(one.process, one.number))
  }

  async #reopenAll(): Promise<void> {
    for (const handle of this.#handles) Object.assign(handle, await this.#openHandle(handle.process, handle.number))
  }

  /** Closing with rows that nobody committed must be refused first. */
  async #closeHandle(handle: Handle, discard: boolean): Promise<void> {
    for (const slot of this.#slotsOf([handle])) await this.#closeScan(slot)
    const state = await [...this.#processes[handle.process]!.states.values()][0]
    if (discard && state?.handles === 1 && this.#shape.autoCommit === 0) {
      const dirty = this.#history.dirty(handle.process)
      const refusal = dirty === 'yes' ? await handle.table.close().then(() => undefined, codeOf) : 'INVALID'
      if (refusal !== 'INVALID') throw new Error(`close() with uncommitted rows gave ${refusal ?? 'no error'}`)
    }
    await this.#tolerate(handle.warehouse.close({ discard }), handle.process)
  }

  #slotsOf(handles: readonly Handle[]): readonly number[] {
    return [...this.#slots].flatMap(([slot, open]) => (handles.includes(open.handle) ? [slot] : []))
  }

  #newProcess(number: number): Process {
    const files = new ProcessFiles(
      this.#setting.fs,
      number,
      (snapshot) => this.#published.push(snapshot),
      () => this.#tally.retries++,
    )
    return { number, files, states: new Map() }
  }

  async #openHandle(process: number, number: number): Promise<{ warehouse: Warehouse; table: Table }> {
    const { files, states } = this.#processes[process]!
    const { path, codecs, clock, tempDirectory } = this.#setting
    const executor = unruly(this.#setting.executor(files), this.#random, {
      latency: this.#shape.latency,
      failures: () => (this.#calm ? 0 : this.#shape.failures),
    })
    const warehouse = new this.#setting.Warehouse(path, {
      fs: files,
      clock,
      random: this.#random,
      codecs,
      executor,
      readOnly: false,
      durable: false,
      // Flushes on this thread do not fail as those of the executor do: so every other process has them.
      smallTasks: this.#generation % 2 === 0,
      tempDirectory,
      cacheBytes: 1 << 20,
      states,
      logger: undefined,
    })
    const { autoCommit } = this.#shape
    const table = (await warehouse.createTable(TABLE, this.#rows.definition as never, {
      ifNotExists: true,
      commitUser: `writer-${process}-${number}-${this.#generation++}`,
      ...(autoCommit > 0 && { autoCommit: { rows: autoCommit } }),
    })) as unknown as Table
    this.#listen(process, table)
    return { warehouse, table }
  }

  async #openReader(): Promise<{ warehouse: Warehouse; table: Table }> {
    const { fs, path, codecs, clock, tempDirectory, executor } = this.#setting
    const warehouse = new this.#setting.Warehouse(path, {
      fs,
      clock,
      random: this.#random,
      codecs,
      executor: executor(fs),
      readOnly: true,
      durable: false,
      tempDirectory,
      cacheBytes: 1 << 20,
      states: new Map(),
      logger: undefined,
    })
    return { warehouse, table: await warehouse.table(TABLE) }
  }

  readonly #listening = new WeakSet<TableState>()

  /** Handles of one process share their events: one of them is heard. */
  #listen(process: number, table: Table): void {
    const { files, states } = this.#processes[process]!
    void [...states.values()][0]?.then((state) => {
      if (this.#listening.has(state)) return
      this.#listening.add(state)
      table.on('compaction', ({ outputLevel, rewritten, upgraded, spilledBytes }) => {
        this.#tally.levels.add(outputLevel)
        if (rewritten.length > 0) this.#tally.rewrites++
        if (upgraded.length > 0) this.#tally.upgrades++
        if (spilledBytes > 0) this.#tally.spills++
      })
      table.on('stall', () => this.#tally.stalls++)
      table.on('conflict', () => this.#tally.conflicts++)
      table.on('failure', ({ during, error }) => {
        if (files.killed || isInjected(error) || this.#isRace(error) || this.#isEnd(error, process)) return
        this.#fault ??= new Error(`${during} failed in the background`, { cause: error })
      })
    })
  }

  // Errors ------------------------------------------------------------------------------------------------------------

  /** The value, or undefined when the call failed for a reason the test gave it. */
  async #tolerate<T>(call: Promise<T>, process: number, onError?: () => void): Promise<T | undefined> {
    const { files } = this.#processes[process]!
    try {
      return await call
    } catch (error) {
      onError?.()
      if (isInjected(error) || files.killed || this.#isRace(error) || this.#isEnd(error, process)) return undefined
      throw error
    }
  }

  /** With a second process, files may vanish under a compaction that began before it caught up: it is tried again. */
  #isRace(error: unknown): boolean {
    if (this.#shape.processes === 1) return false
    const cause = error instanceof Error ? error.cause : undefined
    return (
      codeOf(error) === 'EXPIRED' ||
      codeOf(error) === 'CONFLICT' ||
      (codeOf(error) === 'CORRUPT' && codeOf(cause) === 'ENOENT')
    )
  }

  /** What is under way when a handle closes is cut off. */
  #isEnd(error: unknown, process: number): boolean {
    return process === this.#ending && (codeOf(error) === 'CLOSED' || codeOf(error) === 'ABORTED')
  }

  #log(h: number): readonly Write[] {
    return this.#history.logs[this.#handles[h]!.process]!
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

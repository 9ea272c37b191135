import { posix } from 'node:path'
import type { MemoryFileSystem } from '../../engine/ports/memory-fs.ts'
import type { TableView } from '../../engine/store/view.ts'
import { parseSnapshotName, parseTagName } from '../../formats/meta/names.ts'
import { History, type Write } from '../model/history.ts'
import { checkInvariants } from './checks.ts'
import type { DiskWatcher } from './disk.ts'
import { Observer, TABLE_FOLDER } from './observer.ts'
import { type Content, difference, ofLane, type TableShape } from './tables.ts'

/** Snapshots that are read again after each power cut, the newest ones; of all others too the files must be there. */
const REREAD = 8

/** Numbers of a run, to see that it tested what it should. */
export interface SimCounts {
  snapshots: number
  expired: number
  tags: number
  scans: number
}

/**
 * What the table must hold: every acknowledged call, what each snapshot was found to hold when it appeared, and the files that
 * must not go. Each snapshot is looked at in the moment of its link, before anything else happens.
 */
export class Ledger implements DiskWatcher {
  readonly #shape: TableShape
  readonly #lanes: readonly History[]
  readonly #shown = new Map<number, Content>()
  readonly #named = new Map<number, ReadonlySet<string>>()
  readonly #tags = new Map<string, { readonly files: ReadonlySet<string>; readonly content: Content; kept: boolean }>()
  readonly #news: { readonly id: number; readonly process: number }[] = []
  readonly #expiredBy: { readonly end: number; readonly process: number }[] = []
  readonly counts: SimCounts
  #disk: MemoryFileSystem
  #observer: Observer
  #view: TableView | undefined
  #acknowledged = 0
  #earliest = 1
  latest = 0
  #fault: Error | undefined

  constructor(shape: TableShape, processes: number, disk: MemoryFileSystem, counts: SimCounts) {
    this.#shape = shape
    this.#lanes = Array.from({ length: shape.lanes }, () => new History(processes))
    this.#disk = disk
    this.#observer = new Observer(disk)
    this.counts = counts
  }

  // What the processes say --------------------------------------------------------------------------------------------

  wrote(lane: number, process: number, changes: Write['changes']): void {
    this.#lanes[lane]!.add(process, changes)
  }

  /** Calls of a writer so far. */
  writes(lane: number, process: number): number {
    return this.#lanes[lane]!.logs[process]!.length
  }

  /** A commit resolved: so many writes of the writer are in snapshots, and the newest that it named is there to stay. */
  committed(lane: number, process: number, writes: number, snapshot: number | undefined): void {
    this.#lanes[lane]!.require(process, writes, `a commit of writer ${process}.${lane}`)
    if (snapshot !== undefined) this.#acknowledged = Math.max(this.#acknowledged, snapshot)
  }

  tagged(name: string): void {
    const tag = this.#tags.get(name)
    if (tag === undefined) throw new Error(`tag ${name} was acknowledged and is not there`)
    tag.kept = true
    this.counts.tags++
  }

  /** From here on nobody can rely on a tag. */
  untagging(name: string): void {
    const tag = this.#tags.get(name)
    if (tag !== undefined) tag.kept = false
  }

  /** What a scan that met these snapshots may give. */
  shown(id: number): Content | undefined {
    return this.#shown.get(id)
  }

  /** Whether a process may be told that a snapshot is gone. */
  mayBeGone(id: number, process: number): boolean {
    return this.#expiredBy.some((expiry) => expiry.end > id && expiry.process !== process)
  }

  isLive(id: number): boolean {
    return id >= this.#earliest && id <= this.latest
  }

  // What the disk shows -----------------------------------------------------------------------------------------------

  linked(path: string, process: number): void {
    const id = parseSnapshotName(posix.basename(path))
    if (id !== undefined && path === this.#observer.store.snapshots.path(id)) this.#news.push({ id, process })
    const tag = parseTagName(posix.basename(path))
    if (tag !== undefined && path === this.#observer.store.tags.path(tag)) this.#newTag = tag
  }

  #newTag: string | undefined

  unlinking(path: string): void {
    const tag = parseTagName(posix.basename(path))
    if (tag !== undefined && path === this.#observer.store.tags.path(tag)) {
      if (this.#tags.get(tag)?.kept === true) this.#fail(new Error(`tag ${tag} is removed, which nobody asked for`))
      this.#tags.delete(tag)
    }
    for (const [id, files] of this.#named) {
      if (this.isLive(id) && files.has(path)) this.#fail(new Error(`${path} is removed, snapshot ${id} needs it`))
    }
    for (const [name, { files, kept }] of this.#tags) {
      if (kept && files.has(path) && parseSnapshotName(posix.basename(path)) === undefined)
        this.#fail(new Error(`${path} is removed, tag ${name} needs it`))
    }
  }

  renamed(path: string, process: number): void {
    if (path !== `${TABLE_FOLDER}/snapshot/EARLIEST`) return
    const source = this.#disk.openSource(path)
    const end = Number(Buffer.from(source.read(0, source.bytes)).toString())
    source.close()
    this.counts.expired += Math.max(0, end - this.#earliest)
    this.#earliest = Math.max(this.#earliest, end)
    this.#expiredBy.push({ end, process })
    if (end > this.latest) this.#fail(new Error(`EARLIEST moved to ${end}, the latest snapshot is ${this.latest}`))
  }

  #fail(error: Error): void {
    this.#fault ??= error
  }

  /** Looks at what is new; between two steps of the scheduler. */
  async audit(): Promise<void> {
    if (this.#fault !== undefined) throw this.#fault
    for (const { id, process } of this.#news.splice(0)) {
      const view = await this.#observer.view(id)
      const [all, shown] = await this.#read(view)
      for (const [lane, history] of this.#lanes.entries()) {
        history.publish({ id, kind: view.snapshot.commitKind, process }, ofLane(all, lane), 0)
      }
      await checkInvariants(this.#observer, this.#view, view)
      this.#shown.set(id, shown)
      this.#named.set(id, await this.#observer.named(view))
      await this.#checkThere(id)
      this.#view = view
      this.latest = id
      this.counts.snapshots++
    }
    if (this.#newTag !== undefined) await this.#learnTag(this.#newTag, false)
    this.#newTag = undefined
  }

  /** The content of all files, and of those that reads look at, which must be what a scan gives. */
  async #read(view: TableView): Promise<readonly [Content, Content]> {
    const { id } = view.snapshot
    const all = await this.#observer.merged(view)
    const hidden = this.#shape.kind === 'vectors'
    const shown = hidden ? await this.#observer.merged(view, (file) => file.level > 0) : all
    const differs = difference(shown, await this.#observer.scanned(id))
    if (differs !== undefined) throw new Error(`a scan of snapshot ${id} is wrong: ${differs}`)
    return [all, shown]
  }

  async #checkThere(id: number): Promise<void> {
    for (const path of this.#named.get(id)!) {
      if ((await this.#disk.stat(path)) === undefined) throw new Error(`${path} is missing, snapshot ${id} needs it`)
    }
  }

  async #learnTag(name: string, kept: boolean): Promise<void> {
    const { snapshot } = await this.#observer.store.tags.read(name)
    const content = this.#shown.get(snapshot.id)
    if (content === undefined) throw new Error(`tag ${name} names snapshot ${snapshot.id}, which nobody has seen`)
    const files = await this.#observer.named({ snapshot, partitions: new Map(), indexes: [] })
    this.#tags.set(name, { files, content, kept })
  }

  // After a crash -----------------------------------------------------------------------------------------------------

  /** A process was killed: what it had not committed is gone. */
  killed(process: number): void {
    for (const history of this.#lanes) history.forget(process)
  }

  /**
   * All processes ended and this is what is on the disk. Every acknowledged commit must be there; each snapshot that is there must be whole
   * and hold what it held. The others are forgotten.
   */
  async restarted(disk: MemoryFileSystem): Promise<void> {
    await this.#observer.close()
    this.#disk = disk
    this.#observer = new Observer(disk)
    this.#news.length = 0
    this.#newTag = undefined
    const { snapshots, tags } = this.#observer.store
    // Of two processes that expire at once the slower one may have moved EARLIEST back when the power went.
    const ids = (await snapshots.allIds()).filter((id) => id >= this.#earliest)
    const latest = ids.at(-1) ?? 0
    if (latest < this.#acknowledged)
      throw new Error(`snapshot ${this.#acknowledged} was acknowledged, ${latest} is the latest`)
    for (const id of [...this.#shown.keys()]) if (id > latest) this.#forget(id)
    for (const history of this.#lanes) history.rewind(latest)
    this.latest = latest
    this.#view = undefined
    for (const id of ids) await this.#checkThere(id)
    for (const id of ids.slice(-REREAD)) await this.#recheck(id)
    const there = new Set(await tags.names())
    for (const [name, { kept }] of [...this.#tags]) {
      if (!there.has(name) && kept) throw new Error(`tag ${name} was acknowledged and is gone`)
      if (!there.has(name)) this.#tags.delete(name)
    }
    for (const name of there) {
      // Nobody knows yet whether its snapshot was there to be named: whoever made it would have removed it.
      if (this.#tags.get(name)?.kept === true) await this.#checkTag(name)
      else await tags.remove(name)
    }
  }

  async #recheck(id: number): Promise<void> {
    this.#view = await this.#observer.view(id)
    const [, shown] = await this.#read(this.#view)
    const differs = difference(this.#shown.get(id) ?? new Map(), shown)
    if (differs !== undefined) throw new Error(`snapshot ${id} is another one after a restart: ${differs}`)
    this.#named.set(id, await this.#observer.named(this.#view))
    await this.#checkThere(id)
  }

  async #checkTag(name: string): Promise<void> {
    await this.#learnTag(name, true)
    const { snapshot } = await this.#observer.store.tags.read(name)
    const entries = await this.#observer.store.manifests.liveEntries(snapshot)
    const { files, content } = this.#tags.get(name)!
    for (const path of files) {
      if (parseSnapshotName(posix.basename(path)) === undefined && (await this.#disk.stat(path)) === undefined) {
        throw new Error(`${path} is missing, tag ${name} needs it`)
      }
    }
    if (entries.length === 0 && content.size > 0) throw new Error(`tag ${name} names no files`)
  }

  #forget(id: number): void {
    this.#shown.delete(id)
    this.#named.delete(id)
  }

  // At the end --------------------------------------------------------------------------------------------------------

  /**
   * The changes of all snapshots that are left lead from the first of them to the last. They are told when rows leave level 0, so
   * that is what they are compared with.
   */
  async checkChanges(): Promise<void> {
    const { options } = this.#shape
    if (options['changelog-producer'] !== 'lookup') return
    const ids = await this.#observer.store.snapshots.ids()
    const [from, to] = [ids[0], ids.at(-1)]
    if (from === undefined || to === undefined) return
    const told = async (id: number) => this.#observer.merged(await this.#observer.view(id), (file) => file.level > 0)
    const differs = difference(await told(to), await this.#observer.changed(from, to, await told(from)))
    if (differs !== undefined) throw new Error(`changes from snapshot ${from} to ${to} lead elsewhere: ${differs}`)
  }

  /** What the newest snapshot holds. */
  get content(): Content {
    return new Map(this.#lanes.flatMap((history) => [...history.committed]))
  }

  async close(): Promise<void> {
    await this.#observer.close()
  }
}

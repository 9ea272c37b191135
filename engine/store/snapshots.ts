import { posix } from 'node:path'
import { parseSnapshotName, snapshotName } from '../../formats/meta/names.ts'
import { parseSnapshot, printSnapshot } from '../../formats/meta/snapshot.ts'
import type { Snapshot } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import type { FileStat } from '../ports/file-system.ts'
import { Cache } from './cache.ts'
import { ifPresent, isMissing, withPath } from './errors.ts'
import { readHint, writeHint } from './hints.ts'
import { listNumbers } from './listing.ts'
import { type PreparedFile, type Publisher, prepareOnce } from './publish.ts'

/** Parsed snapshots kept; one takes about 1 KB. */
const CACHED_SNAPSHOTS = 256

/**
 * The snapshots of one branch. Ids are consecutive when all goes well; a gap (a file removed by hand) is passed over.
 *
 * - The hints only save a listing: `latestId` tests that the next id is free, `earliestId` that the file is there.
 * - Snapshots below EARLIEST are leftovers of an expiry that did not end. Their files may be gone: nobody reads them.
 * - A snapshot file that cannot be read is an error, also the newest: to go on from an older one would publish over it.
 */
export class Snapshots {
  readonly #publisher: Publisher
  readonly #folder: string
  readonly #cache = new Cache<Snapshot>(CACHED_SNAPSHOTS)
  /** The id found last: a hint like LATEST, tested the same way, that costs no read. */
  #last: number | undefined

  constructor(publisher: Publisher, folder: string) {
    this.#publisher = publisher
    this.#folder = folder
  }

  /** Path of a snapshot's file. */
  path(id: number): string {
    return posix.join(this.#folder, snapshotName(id))
  }

  /**
   * Undefined when the branch has no snapshot. Two calls of `stat` when nothing came since the last look, one read more when
   * LATEST is right, else a listing.
   */
  async latestId(): Promise<number | undefined> {
    return (await this.#probeLatest())?.id
  }

  /** The first snapshot that may be read; undefined when the branch has none. */
  async earliestId(): Promise<number | undefined> {
    const hint = await readHint(this.#publisher, this.#folder, 'EARLIEST')
    if (hint !== undefined && (await this.#exists(hint))) return hint
    return (await this.#list()).at(0)
  }

  async latest(): Promise<Snapshot | undefined> {
    const probe = await this.#probeLatest()
    if (probe === undefined) return undefined
    const snapshot = probe.stat === undefined ? await this.#load(probe.id) : await this.#loadAs(probe.id, probe.stat)
    if (snapshot !== undefined) return snapshot
    // Gone between probe and read: another process rolled back or expired. Its hints are newer now.
    const again = await this.latestId()
    return again === undefined ? undefined : this.read(again)
  }

  async earliest(): Promise<Snapshot | undefined> {
    for (;;) {
      const id = await this.earliestId()
      if (id === undefined) return undefined
      const snapshot = await this.#load(id)
      if (snapshot !== undefined) return snapshot
      // Expired between probe and read. Each round sees a larger id, or the end.
    }
  }

  /** Ids from the earliest to the latest, ascending. */
  async ids(): Promise<readonly number[]> {
    const earliest = await this.earliestId()
    if (earliest === undefined) return []
    return (await this.#list()).filter((id) => id >= earliest)
  }

  /** Ids of all snapshot files, also those below the earliest: an expiry did not end. Ascending. */
  async allIds(): Promise<readonly number[]> {
    return this.#list()
  }

  /**
   * The snapshot with an id. `EXPIRED` below the earliest, `NOT_FOUND` outside the range or in a gap, `CORRUPT` when its file
   * cannot be right.
   */
  async read(id: number): Promise<Snapshot> {
    const earliest = await this.earliestId()
    if (earliest !== undefined && id < earliest && id > 0) throw this.#expired(id, earliest)
    const snapshot = await this.#load(id)
    if (snapshot !== undefined) return snapshot
    const [first, last] = [await this.earliestId(), await this.latestId()]
    if (first !== undefined && id < first && id > 0) throw this.#expired(id, first)
    const range = first === undefined ? 'the table has none yet' : `there are snapshots ${first} to ${last}`
    throw new TableError('NOT_FOUND', `There is no snapshot ${id}: ${range}. Choose one of them.`, {
      path: this.path(id),
      value: id,
      earliest: first,
      latest: last,
    })
  }

  /** Like `read`, whatever EARLIEST says; undefined when there is no such file. */
  async find(id: number): Promise<Snapshot | undefined> {
    return this.#load(id)
  }

  /** Whether the snapshot may be read now: it is there, and not below EARLIEST. */
  async isLive(id: number): Promise<boolean> {
    const earliest = await this.earliestId()
    return earliest !== undefined && id >= earliest && this.#exists(id)
  }

  /**
   * Runs a read of the files of a snapshot. A missing file is `EXPIRED` when the snapshot has gone meanwhile; when the
   * snapshot is still there it is the damage that it looks like.
   */
  async reading<T>(id: number, use: () => Promise<T>): Promise<T> {
    try {
      return await use()
    } catch (error) {
      if (!isMissing(error) || (await this.isLive(id))) throw error
      throw this.#expired(id, await this.earliestId(), error)
    }
  }

  /**
   * Writes a snapshot that can be published next, under its id: the moment in which all that it names becomes visible. Errors and
   * outcomes as `PreparedFile`.
   */
  async prepare(snapshot: Snapshot): Promise<PreparedFile> {
    const bytes = printSnapshot(snapshot)
    const file = await prepareOnce(this.#publisher, this.path(snapshot.id), bytes)
    return {
      sync: file.sync,
      drop: file.drop,
      publish: async () => {
        const outcome = await file.publish(() => this.#keep(snapshot, bytes.length))
        if (outcome === 'published') this.#last = snapshot.id
        return outcome
      },
    }
  }

  /** Keeps a snapshot just published, so that the next commit does not read it back. */
  async #keep(snapshot: Snapshot, bytes: number): Promise<void> {
    const stat = await this.#stat(snapshot.id).catch(() => undefined)
    if (stat?.bytes === bytes) this.#cache.set(cacheKey(snapshot.id, stat), snapshot, 1)
  }

  async writeLatestHint(id: number): Promise<void> {
    await writeHint(this.#publisher, this.#folder, 'LATEST', id)
  }

  async writeEarliestHint(id: number): Promise<void> {
    await writeHint(this.#publisher, this.#folder, 'EARLIEST', id)
  }

  /** What EARLIEST says, tested or not; undefined when it says nothing. */
  async earliestHint(): Promise<number | undefined> {
    return readHint(this.#publisher, this.#folder, 'EARLIEST')
  }

  /** Removes a snapshot's file; fine when absent. Only expiry and rollback may. */
  async remove(id: number): Promise<void> {
    const path = this.path(id)
    await ifPresent(() => withPath(path, () => this.#publisher.fs.unlink(path)))
  }

  /** Makes removals durable. */
  async sync(): Promise<void> {
    await withPath(this.#folder, () => this.#publisher.fs.syncDirectory(this.#folder))
  }

  /**
   * Ids name the same snapshot for ever, but for a rollback, which gives them out again: so a cached one is tested against
   * length and time of its file. A read is three hops to the thread pool, the test is one.
   */
  async #load(id: number): Promise<Snapshot | undefined> {
    const stat = await this.#stat(id)
    return stat === undefined ? undefined : this.#loadAs(id, stat)
  }

  async #loadAs(id: number, stat: FileStat): Promise<Snapshot | undefined> {
    const path = this.path(id)
    const load = async () => ({ value: await this.#parse(id, path), bytes: 1 })
    return ifPresent(() => this.#cache.getOrLoad(cacheKey(id, stat), load))
  }

  async #parse(id: number, path: string): Promise<Snapshot> {
    const snapshot = await withPath(path, async () => parseSnapshot(await this.#publisher.fs.readFile(path)))
    if (snapshot.id !== id) {
      throw new TableError(
        'CORRUPT',
        `${path} holds snapshot ${snapshot.id}, expected ${id}. Restore the file, or go back to an older snapshot.`,
        { path, value: snapshot.id },
      )
    }
    return snapshot
  }

  async #exists(id: number): Promise<boolean> {
    return (await this.#stat(id)) !== undefined
  }

  async #stat(id: number): Promise<FileStat | undefined> {
    const path = this.path(id)
    return withPath(path, () => this.#publisher.fs.stat(path))
  }

  /** The newest id, and the state of its file when that was looked at. */
  async #probeLatest(): Promise<{ readonly id: number; readonly stat: FileStat | undefined } | undefined> {
    const last = this.#last
    const stat = last === undefined ? undefined : await this.#statIfLatest(last)
    if (last !== undefined && stat !== undefined) return { id: last, stat }
    const hint = await readHint(this.#publisher, this.#folder, 'LATEST')
    const hinted = hint === undefined ? undefined : await this.#statIfLatest(hint)
    const id = hinted === undefined ? (await this.#list()).at(-1) : hint
    this.#last = id
    return id === undefined ? undefined : { id, stat: hinted }
  }

  /** Undefined unless the file is there and the next id is free. */
  async #statIfLatest(id: number): Promise<FileStat | undefined> {
    const [next, stat] = await Promise.all([this.#exists(id + 1), this.#stat(id)])
    return next ? undefined : stat
  }

  #list(): Promise<readonly number[]> {
    return listNumbers(this.#publisher.fs, this.#folder, parseSnapshotName)
  }

  #expired(id: number, earliest: number | undefined, cause?: unknown): TableError {
    const now = earliest === undefined ? 'none is left' : `the earliest is ${earliest}`
    return new TableError(
      'EXPIRED',
      `Snapshot ${id} has been expired: ${now}. Read a newer one, or raise snapshot.time-retained or snapshot.num-retained.min.`,
      { path: this.path(id), value: id, earliest },
      cause,
    )
  }
}

/** Tells a snapshot from another one that was given the same id after a rollback. */
function cacheKey(id: number, { bytes, modifiedMillis }: FileStat): string {
  return `${id} ${bytes} ${modifiedMillis}`
}

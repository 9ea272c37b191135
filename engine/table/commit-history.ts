import type { Snapshot } from '../../formats/meta/types.ts'
import type { Snapshots } from '../store/snapshots.ts'

/**
 * Which identifiers a commit user has used, as far as snapshots tell: those that expired are forgotten. Snapshots are looked at
 * once each, so a question costs one listing and a file for each snapshot that is new. Memory: an entry a commit of the user.
 */
export class CommitHistory {
  readonly user: string
  readonly #snapshots: Snapshots
  /** Snapshot ids by identifier. */
  readonly #ids = new Map<bigint, number>()
  #seen = 0

  constructor(snapshots: Snapshots, user: string) {
    this.#snapshots = snapshots
    this.user = user
  }

  /** The snapshot in which rows were committed under this identifier; undefined when there is none. */
  async find(identifier: bigint): Promise<Snapshot | undefined> {
    await this.#look()
    const id = this.#ids.get(identifier)
    const snapshot = id === undefined ? undefined : await this.#snapshots.find(id)
    // A rollback takes snapshots away and gives their ids out again.
    return snapshot !== undefined && this.#isCommit(snapshot) && snapshot.commitIdentifier === identifier
      ? snapshot
      : undefined
  }

  /** The largest identifier of the user; undefined when it has none. */
  async largest(): Promise<bigint | undefined> {
    await this.#look()
    let largest: bigint | undefined
    for (const identifier of this.#ids.keys()) {
      if (largest === undefined || identifier > largest) largest = identifier
    }
    return largest
  }

  async #look(): Promise<void> {
    const ids = await this.#snapshots.ids()
    for (const [identifier, id] of this.#ids) if (id < (ids[0] ?? 0)) this.#ids.delete(identifier)
    if ((ids.at(-1) ?? 0) < this.#seen) this.#seen = 0
    for (const id of ids) {
      if (id <= this.#seen) continue
      const snapshot = await this.#snapshots.find(id)
      if (snapshot !== undefined && this.#isCommit(snapshot)) this.#ids.set(snapshot.commitIdentifier, id)
    }
    this.#seen = ids.at(-1) ?? 0
  }

  /** A COMPACT snapshot goes under the identifier of the commit before it, and holds no rows of its own. */
  #isCommit(snapshot: Snapshot): boolean {
    return snapshot.commitUser === this.user && snapshot.commitKind !== 'COMPACT'
  }
}

import { posix } from 'node:path'
import { changelogName, parseChangelogName } from '../../formats/meta/names.ts'
import { parseSnapshot } from '../../formats/meta/snapshot.ts'
import type { Snapshot } from '../../formats/meta/types.ts'
import { ifPresent, withPath } from './errors.ts'
import { writeHint } from './hints.ts'
import { listNumbers } from './listing.ts'
import { type Publisher, publishOnce } from './publish.ts'

/** Long-lived changelogs of one branch: what is left of snapshots that expired while their changelog is kept, under the same ids. */
export class Changelogs {
  readonly #publisher: Publisher
  readonly #folder: string

  constructor(publisher: Publisher, folder: string) {
    this.#publisher = publisher
    this.#folder = folder
  }

  path(id: number): string {
    return posix.join(this.#folder, changelogName(id))
  }

  /** Ascending; none where there is no such folder. */
  async ids(): Promise<readonly number[]> {
    return listNumbers(this.#publisher.fs, this.#folder, parseChangelogName)
  }

  /** Keeps the changelog of a snapshot that is about to expire: its file as it is. Fine when that was done before. */
  async keep(id: number, snapshotFile: Uint8Array): Promise<void> {
    await publishOnce(this.#publisher, this.path(id), snapshotFile)
    await writeHint(this.#publisher, this.#folder, 'LATEST', id)
  }

  async writeEarliestHint(id: number): Promise<void> {
    await writeHint(this.#publisher, this.#folder, 'EARLIEST', id)
  }

  /** The snapshot as it was; only its changelog can be counted on. Undefined when there is no such file. */
  async find(id: number): Promise<Snapshot | undefined> {
    const path = this.path(id)
    return ifPresent(() => withPath(path, async () => parseSnapshot(await this.#publisher.fs.readFile(path))))
  }
}

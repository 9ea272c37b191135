import type { ManifestEntry, Snapshot } from '../../formats/meta/types.ts'
import { pathId } from '../plan/entry-id.ts'
import { expiredDataFiles, expiredMetadata, snapshotsToExpire } from '../plan/expire.ts'
import { mapLimited } from '../store/concurrent.ts'
import type { Consumer } from '../store/consumers.ts'
import type { Pins } from '../store/pins.ts'
import type { TableStore } from '../store/table-store.ts'
import type { ExpireRequest } from './expire-request.ts'
import type { Remover } from './remover.ts'
import { changelogFiles, changelogMetadata, metadataOf, otherUsers, tolerant } from './used-files.ts'

/**
 * Ends changelogs that outlived their snapshots, and removes what only they name; `earliest` is the earliest snapshot. In the order of
 * an expiry of snapshots: EARLIEST, data files, manifests, changelogs. Gives the ids of those that ended.
 */
export async function expireChangelogs(
  store: TableStore,
  pins: Pins,
  remover: Remover,
  request: ExpireRequest & {
    readonly earliest: number
    readonly latest: number
    readonly consumers: readonly Consumer[]
  },
): Promise<ReadonlySet<number>> {
  const { changelogs } = store
  const { earliest, latest, consumers, limit, dryRun } = request
  const ids = (await changelogs.ids()).filter((id) => id < earliest)
  const first = ids[0]
  if (first === undefined) return new Set()
  const found = (await mapLimited(ids, (id) => changelogs.find(id))).filter((snapshot) => snapshot !== undefined)
  const { retainMin, retainMax, olderThan } = request.changelogs
  const times = new Map(found.map(({ id, timeMillis }) => [id, timeMillis]))
  const { end } = snapshotsToExpire(
    {
      earliest: first,
      latest,
      nowMillis: olderThan,
      retainMin,
      retainMax,
      retainMillis: 0,
      limit,
      needed: [...consumers.map(({ nextSnapshot }) => nextSnapshot), ...pins.ids(), earliest],
    },
    (id) => times.get(id),
  )
  const ended = found.filter(({ id }) => id < end)
  const gone = new Set(ended.map(({ id }) => id))
  if (gone.size === 0) return gone
  if (!dryRun) await changelogs.writeEarliestHint(found.find(({ id }) => id >= end)?.id ?? earliest)
  await remover.remove(await planOf(store, ended, gone, earliest), [])
  await remover.removeChangelogs(ended)
  return gone
}

/** What only these changelogs name: no snapshot, no tag, no other branch, no later changelog. */
async function planOf(store: TableStore, ended: readonly Snapshot[], gone: ReadonlySet<number>, earliest: number) {
  const others = await otherUsers(store, [], gone)
  const users = [await store.snapshots.read(earliest), ...(await store.tags.list()).map(({ snapshot }) => snapshot)]
  const dataFiles = (await mapLimited(ended, (changelog) => keptFiles(store, changelog))).flat()
  // A file is in one unbroken range of snapshots: what the earliest lacks, the later ones lack too.
  const live = dataFiles.length === 0 ? [] : await mapLimited(users, (user) => store.manifests.liveEntries(user))
  const used = new Set([...others.dataFiles, ...live.flat().map(pathId)])
  return {
    dataFiles: dataFiles.filter((entry) => !used.has(pathId(entry))),
    metadata: expiredMetadata(await mapLimited(ended, (changelog) => changelogMetadata(store, changelog)), [
      ...(await mapLimited(users, (snapshot) => metadataOf(store, snapshot, 'must'))),
      ...others.metadata,
    ]),
  }
}

/** Files that a changelog kept: its own, or those of its flush, and what it took away itself from those before it. */
async function keptFiles(store: TableStore, changelog: Snapshot): Promise<readonly ManifestEntry[]> {
  if (changelog.changelogManifestList !== undefined) return changelogFiles(store, changelog)
  const delta = await tolerant<readonly ManifestEntry[]>('may', [], () => store.manifests.deltaEntries(changelog))
  return [...(await changelogFiles(store, changelog)), ...expiredDataFiles(delta, new Set())]
}

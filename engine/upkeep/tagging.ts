import type { Snapshot, Tag } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import { pathId } from '../plan/entry-id.ts'
import { expiredMetadata } from '../plan/expire.ts'
import type { Clock } from '../ports/clock.ts'
import type { Pins } from '../store/pins.ts'
import { dataPathsOf, type TableStore } from '../store/table-store.ts'
import { Remover } from './remover.ts'
import { metadataOf, otherUsers } from './used-files.ts'

/** What `createTag` may be told beside the name. */
export interface TagOptions {
  /** Default: the latest snapshot. */
  readonly snapshot?: number | undefined
  /** Other engines delete the tag after this time; this one never does by itself. */
  readonly retainMillis?: number | undefined
}

/**
 * Gives a snapshot a name that keeps its files. `EXISTS` for a taken name, `INVALID` for one that cannot be a file,
 * `NOT_FOUND` and `EXPIRED` as `Snapshots.read`; `EXPIRED` also when an expiry took the snapshot while it got its tag.
 */
export async function createTag(
  store: TableStore,
  clock: Clock,
  name: string,
  { snapshot: id, retainMillis }: TagOptions = {},
): Promise<Tag> {
  const { snapshots, tags } = store
  const snapshot = id === undefined ? await snapshots.latest() : await snapshots.read(id)
  if (snapshot === undefined) {
    throw new TableError('NOT_FOUND', 'The table has no snapshot to tag yet. Commit something first.', { value: name })
  }
  const tag: Tag = {
    name,
    snapshot,
    ...(retainMillis !== undefined && {
      createTime: localTime(clock),
      timeRetainedSeconds: retainMillis / 1000,
    }),
  }
  await tags.create(tag)
  // Expiry looks at the tags after it moved EARLIEST: either it saw this one, or the snapshot is found expired here.
  if (!(await snapshots.isLive(snapshot.id))) {
    await tags.remove(name)
    await snapshots.read(snapshot.id)
  }
  return tag
}

/** What `deleteTag` removed beside the tag. */
export interface DeleteTagResult {
  readonly files: readonly string[]
  readonly bytes: number
}

/**
 * Deletes a tag, then what only it kept: nothing while its snapshot is there or another tag names it. The tag's file goes
 * first, so a crash leaves orphans, never a tag without its files. `NOT_FOUND` when there is no such tag.
 *
 * A file lives in one unbroken range of snapshots: the neighbours of the tag, a tag or the earliest snapshot on each side,
 * tell whether anything else names it; other branches and long-lived changelogs are asked one by one. Files that a reader of
 * this process has open are left to the orphan cleaner.
 */
export async function deleteTag(store: TableStore, pins: Pins, name: string): Promise<DeleteTagResult> {
  const { tags, snapshots, manifests } = store
  const { snapshot } = await tags.read(name)
  const rest = (await tags.list()).filter((tag) => tag.name !== name).map((tag) => tag.snapshot)
  const shared = rest.some((other) => other.id === snapshot.id) || (await snapshots.find(snapshot.id)) !== undefined
  if (shared || pins.ids().includes(snapshot.id)) {
    await tags.remove(name)
    return { files: [], bytes: 0 }
  }
  const neighbours = neighboursOf(snapshot.id, rest, await snapshots.earliest())
  const others = await otherUsers(store)
  const used = new Set(others.dataFiles)
  const kept = [...others.metadata]
  for (const neighbour of neighbours) {
    for (const entry of await manifests.liveEntries(neighbour)) used.add(pathId(entry))
    kept.push(await metadataOf(store, neighbour, 'must'))
  }
  const dataFiles = (await manifests.liveEntries(snapshot)).filter((entry) => !used.has(pathId(entry)))
  const metadata = expiredMetadata([await metadataOf(store, snapshot, 'may')], kept)
  const remover = new Remover(store, dataPathsOf(store.paths, await store.schemas.latest()), {
    dryRun: false,
    cleanEmptyDirectories: false,
  })
  await tags.remove(name)
  await remover.remove({ dataFiles, metadata }, [])
  return { files: remover.files, bytes: remover.bytes }
}

/** The nearest snapshots that stay on both sides: tags, and above also the earliest snapshot. */
function neighboursOf(id: number, tagged: readonly Snapshot[], earliest: Snapshot | undefined): readonly Snapshot[] {
  const below = tagged.filter((other) => other.id < id)
  const above = [...tagged, ...(earliest === undefined ? [] : [earliest])].filter((other) => other.id > id)
  const left = below.reduce<Snapshot | undefined>((a, b) => (a === undefined || b.id > a.id ? b : a), undefined)
  const right = above.reduce<Snapshot | undefined>((a, b) => (a === undefined || b.id < a.id ? b : a), undefined)
  return [left, right].filter((neighbour) => neighbour !== undefined)
}

/** Year, month, day, hour, minute, second and nanosecond of the local wall clock, as tag files hold it. */
function localTime(clock: Clock): readonly number[] {
  const now = clock.now()
  const local = new Date(now + clock.offsetMinutes(now) * 60_000)
  return [
    local.getUTCFullYear(),
    local.getUTCMonth() + 1,
    local.getUTCDate(),
    local.getUTCHours(),
    local.getUTCMinutes(),
    local.getUTCSeconds(),
    local.getUTCMilliseconds() * 1_000_000,
  ]
}

import type { ManifestEntry, Snapshot } from '../../formats/meta/types.ts'
import { pathId } from '../plan/entry-id.ts'
import {
  type ExpirePlan,
  type ExpireRange,
  keptSnapshots,
  nearestTag,
  planExpire,
  snapshotsToExpire,
  taggedFiles,
} from '../plan/expire.ts'
import { mapLimited } from '../store/concurrent.ts'
import type { Consumer } from '../store/consumers.ts'
import { withPath } from '../store/errors.ts'
import type { Pins } from '../store/pins.ts'
import type { TableStore } from '../store/table-store.ts'
import { dataPathsOf } from '../store/table-store.ts'
import { expireChangelogs } from './expire-changelogs.ts'
import { expireConsumers } from './expire-consumers.ts'
import type { ExpireRequest } from './expire-request.ts'
import { Remover } from './remover.ts'
import { metadataOf, otherUsers, tolerant } from './used-files.ts'

/** What an expiry did, or would do. */
export interface ExpireResult {
  /** Ids of the snapshots that ended, ascending; also those that an earlier, broken-off run had left half removed. */
  readonly expired: readonly number[]
  /** Absolute paths of all files removed: data, metadata, snapshots. */
  readonly files: readonly string[]
  /** Bytes of those files. */
  readonly bytes: number
  /** Earliest snapshot afterwards; undefined for a table without snapshots. */
  readonly earliest: number | undefined
  /** Pinned snapshots that kept others from ending: worth another run when their readers are done. */
  readonly heldBack: readonly number[]
  /** Consumers without which more snapshots would end: one that never comes back keeps them for ever. The furthest behind first. */
  readonly consumers: readonly Consumer[]
}

/**
 * Ends snapshots and removes what only they name.
 *
 *   choose ─▶ plan ─▶ EARLIEST := end ─▶ data files ─▶ index, statistics ─▶ manifests ─▶ snapshot files
 *
 * EARLIEST moves first, so no reader starts on a snapshot that is half gone. A run that stops anywhere is finished by the
 * next one: all it has to do follows from the snapshot files below EARLIEST, which go last. Spared is what a tag, a consumer,
 * a pin of this process, another branch or a long-lived changelog needs. If any of these cannot be read, nothing is removed;
 * a damaged manifest of a snapshot that ends only leaves its data files to the orphan cleaner. Missing files are fine.
 */
export async function expireSnapshots(store: TableStore, pins: Pins, request: ExpireRequest): Promise<ExpireResult> {
  const { snapshots } = store
  const earliest = await snapshots.earliestId()
  const latest = await snapshots.latestId()
  if (earliest === undefined || latest === undefined) {
    return { expired: [], files: [], bytes: 0, earliest: undefined, heldBack: [], consumers: [] }
  }
  const marked = await expireConsumers(store, request)
  const { end, heldBack, consumers } = await chooseEnd(store, request, {
    earliest,
    latest,
    pinned: pins.ids(),
    consumers: request.consumersKeepSnapshots ? marked : [],
  })
  const remover = new Remover(store, dataPathsOf(store.paths, await store.schemas.latest()), request)
  // They go first: files that only they kept go with the snapshots that took them away.
  const gone = await expireChangelogs(store, pins, remover, { ...request, earliest, latest, consumers: marked })
  const changelogs = { outlive: request.changelogs.outlive, gone }
  let work = await loadWork(store, end, pins.ids(), changelogs)
  if (!request.dryRun) {
    if (changelogs.outlive) await keepChangelogs(store, work.ended)
    await moveEarliest(store, end)
    // A tag or a pin made before EARLIEST moved is seen here; one made after it finds its snapshot expired.
    if (await changedSince(store, pins, work)) {
      work = await loadWork(store, end, pins.ids(), changelogs)
      if (changelogs.outlive) await keepChangelogs(store, work.ended)
    }
  }
  if (work.plan !== undefined) {
    if (!request.dryRun) await moveEarliest(store, end)
    await remover.remove(work.plan, work.ended)
  }
  if (!request.dryRun) await moveEarliest(store, end)
  const { files, bytes } = remover
  const held = [...new Set([...heldBack, ...work.held])].sort((a, b) => a - b)
  return { expired: work.ended.map(({ id }) => id), files, bytes, earliest: end, heldBack: held, consumers }
}

/**
 * Moves EARLIEST up to `end`, never back: another process that expires at the same time may have chosen a later end, and removed what is
 * below it. What it wrote between our look and our rename is lost, so each looks again.
 */
async function moveEarliest({ snapshots }: TableStore, end: number): Promise<void> {
  const hint = await snapshots.earliestHint()
  if (hint === undefined || hint < end) await snapshots.writeEarliestHint(end)
}

/**
 * Whether a run would end nothing, `oldest` being a snapshot with none before it: then no later one is due either. `oldest` may
 * have been expired since by another process; that only makes the answer no.
 */
export function nothingEnds(oldest: Snapshot, latest: number, request: ExpireRequest): boolean {
  const kept = latest - oldest.id + 1
  if (kept <= request.retainMin) return true
  return kept <= request.retainMax && oldest.timeMillis >= request.olderThan
}

/** The earliest snapshot as EARLIEST has it, learnt without listing the folder; undefined when the hint says nothing. */
export async function hintedEarliest({ snapshots }: TableStore): Promise<Snapshot | undefined> {
  const earliest = await snapshots.earliestHint()
  return earliest === undefined ? undefined : snapshots.find(earliest)
}

/** Whether snapshots that end leave their changelogs behind, and which changelogs ended before them. */
interface Changelogs {
  readonly outlive: boolean
  readonly gone: ReadonlySet<number>
}

/** What one run removes, and what that was decided by. */
interface Work {
  readonly ended: readonly Snapshot[]
  /** Undefined when there is nothing to do. */
  readonly plan: ExpirePlan | undefined
  readonly tagNames: readonly string[]
  readonly pinned: readonly number[]
  /** Pinned snapshots below the end: the first stops the run. A reader may come between the choice of the end and the work. */
  readonly held: readonly number[]
}

/** All snapshots below `end` and below the first pin: those chosen now, and leftovers of a run that broke off. */
async function loadWork(
  store: TableStore,
  end: number,
  pinned: readonly number[],
  changelogs: Changelogs,
): Promise<Work> {
  const tagNames = await store.tags.names()
  const ids = await store.snapshots.allIds()
  const stop = ids.find((id) => id >= end || pinned.includes(id))
  const ended = (
    await mapLimited(
      ids.filter((id) => stop !== undefined && id < stop),
      (id) => store.snapshots.find(id),
    )
  ).filter((snapshot) => snapshot !== undefined)
  const kept = stop === undefined ? undefined : await store.snapshots.find(stop)
  const held = ids.filter((id) => id < end && pinned.includes(id))
  if (kept === undefined || ended.length === 0) return { ended: [], plan: undefined, tagNames, pinned, held }
  const plan = await loadPlan(store, ended, kept, changelogs)
  return { ended, plan, tagNames, pinned, held }
}

async function changedSince(store: TableStore, pins: Pins, work: Work): Promise<boolean> {
  const same = (a: readonly unknown[], b: readonly unknown[]) => a.length === b.length && a.every((x, i) => x === b[i])
  return !same(await store.tags.names(), work.tagNames) || !same(pins.ids(), work.pinned)
}

interface Situation {
  readonly earliest: number
  readonly latest: number
  readonly pinned: readonly number[]
  readonly consumers: readonly Consumer[]
}

async function chooseEnd(
  store: TableStore,
  request: ExpireRequest,
  { earliest, latest, pinned, consumers }: Situation,
): Promise<{ readonly end: number } & Pick<ExpireResult, 'heldBack' | 'consumers'>> {
  const wanted = consumers.map((consumer) => consumer.nextSnapshot)
  const input = { ...request, earliest, latest, nowMillis: request.olderThan, retainMillis: 0 }
  const times = await timesUntilYoung(store, request, earliest, latest)
  const timeOf = (id: number) => times.get(id)
  const free = snapshotsToExpire({ ...input, needed: wanted }, timeOf)
  // A pin below the earliest is a reader of a tag, which keeps its files itself, or of a leftover: see `loadWork`.
  const holding = pinned.filter((id) => id >= earliest)
  const chosen = snapshotsToExpire({ ...input, needed: [...wanted, ...holding] }, timeOf)
  const heldBack = holding.filter((id) => id < free.end)
  const due = snapshotsToExpire({ ...input, needed: [] }, timeOf)
  const behind = consumers.filter(({ nextSnapshot }) => nextSnapshot < due.end)
  // In a gap the first snapshot that stays is the next one there is.
  const ids = await store.snapshots.ids()
  const end = ids.find((id) => id >= chosen.end) ?? latest
  return { end, heldBack, consumers: behind.toSorted((a, b) => a.nextSnapshot - b.nextSnapshot) }
}

/** Times of snapshots from the first that is not surplus up to the first that is young enough to stay: more decide nothing. */
async function timesUntilYoung(
  store: TableStore,
  request: ExpireRequest,
  earliest: number,
  latest: number,
): Promise<ReadonlyMap<number, number>> {
  const times = new Map<number, number>()
  const first = Math.max(earliest, latest - request.retainMax + 1)
  const end = Math.min(latest - request.retainMin + 1, earliest + request.limit)
  for (let id = first; id < end; id++) {
    const time = (await store.snapshots.find(id))?.timeMillis
    if (time === undefined) continue
    times.set(id, time)
    if (time >= request.olderThan) break
  }
  return times
}

/** Before anything goes: whoever reads changes finds each of them in one place or the other. */
async function keepChangelogs({ fs, snapshots, changelogs }: TableStore, ended: readonly Snapshot[]): Promise<void> {
  const kept = new Set(ended.length === 0 ? [] : await changelogs.ids())
  for (const { id } of ended) {
    if (kept.has(id)) continue
    const path = snapshots.path(id)
    await changelogs.keep(id, await withPath(path, () => fs.readFile(path)))
  }
}

/** The plan for snapshots that end, `kept` being the first that stays. */
async function loadPlan(
  store: TableStore,
  ended: readonly Snapshot[],
  kept: Snapshot,
  { outlive, gone }: Changelogs,
): Promise<ExpirePlan> {
  const others = await otherUsers(store, outlive ? ended : [], gone)
  const range: ExpireRange = { begin: ended[0]!.id, end: kept.id }
  const later = [...ended.slice(1), kept]
  const tags = (await store.tags.list()).map((tag) => ({ ...tag, snapshotId: tag.snapshot.id }))
  const nearest = new Set(later.flatMap(({ id }) => nearestTag(tags, id) ?? []))
  const changelogs = await mapLimited(ended, (snapshot) =>
    tolerant<readonly ManifestEntry[]>('may', [], () => store.manifests.changelogEntries(snapshot)),
  )
  const plan = planExpire({
    range,
    deltas: await mapLimited(later, async (snapshot) => ({
      id: snapshot.id,
      entries: await tolerant<readonly ManifestEntry[] | null>('may', null, () =>
        store.manifests.deltaEntries(snapshot),
      ),
    })),
    tags: await mapLimited([...nearest], async (tag) => ({
      ...tag,
      files: taggedFiles(await store.manifests.liveEntries(tag.snapshot)),
    })),
    changelogFiles: changelogs.flat(),
    expiredMetadata: await mapLimited(ended, (snapshot) => metadataOf(store, snapshot, 'may')),
    keptMetadata: [
      await metadataOf(store, kept, 'must'),
      ...(await mapLimited(keptSnapshots(range, tags).tags, (tag) => metadataOf(store, tag.snapshot, 'must'))),
      ...others.metadata,
    ],
  })
  return { ...plan, dataFiles: plan.dataFiles.filter((entry) => !others.dataFiles.has(pathId(entry))) }
}

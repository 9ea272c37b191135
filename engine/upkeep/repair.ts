import { posix } from 'node:path'
import type { Tag } from '../../formats/meta/types.ts'
import { isTableError, TableError } from '../errors.ts'
import { planRepair } from '../plan/repair.ts'
import { withPath } from '../store/errors.ts'
import { readHint } from '../store/hints.ts'
import { listIfPresent } from '../store/listing.ts'
import type { TableStore } from '../store/table-store.ts'
import { type CheckLevel, checkStore, type TableCheck } from './check.ts'
import type { Pause } from './check-data.ts'

/** A snapshot that is younger than this may have a writer that goes on. */
const QUIET_MILLIS = 60_000

/** What a repair did, or would do. */
export interface RepairResult {
  readonly check: TableCheck
  /** The snapshot that is the newest afterwards. */
  readonly to: number
  /** Absolute paths of files that were put aside, and where they are now. Data files stay where they are. */
  readonly moved: readonly { readonly from: string; readonly to: string }[]
}

/**
 * Makes the newest whole snapshot the newest of the table. Nothing is deleted: the files of later snapshots and tags move to
 * `damaged/` in the table's folder, and what only they name becomes orphans. `CORRUPT` when no snapshot is whole, `NOT_FOUND` when there never was one, `CONFLICT`
 * when somebody wrote the table just now, or meanwhile.
 */
export async function repairStore(
  store: TableStore,
  options: {
    readonly level: CheckLevel
    readonly dryRun: boolean
    readonly force: boolean
    readonly nowMillis: number
    readonly pause?: Pause | undefined
  },
): Promise<RepairResult> {
  const check = await checkStore(store, options.level, options.pause)
  const plan = planRepair({
    snapshots: check.snapshots,
    tags: (await readableTags(store)).map(({ name, snapshot }) => ({ name, snapshotId: snapshot.id })),
  })
  if (plan.to === undefined && check.snapshots.length === 0 && check.problems.length === 0) {
    throw new TableError(
      'NOT_FOUND',
      `${store.paths.table} has no snapshot yet: there is nothing to go back to, and no need for it. Open the table and use it.`,
      {
        path: store.paths.table,
      },
    )
  }
  if (plan.to === undefined) {
    throw new TableError(
      'CORRUPT',
      `No snapshot of ${store.paths.table} is whole. Restore files from a copy: check the table to see which are damaged.`,
      { path: store.paths.table, problems: check.problems.length },
    )
  }
  const aside = posix.join(store.paths.table, 'damaged')
  const suffix = store.random.uuid()
  const moved = [
    ...plan.tags.map((name) => store.tags.path(name)),
    ...plan.snapshots.map((id) => store.snapshots.path(id)),
  ].map((from) => ({ from, to: posix.join(aside, `${posix.basename(from)}.${suffix}`) }))
  if (options.dryRun || (moved.length === 0 && !(await isAhead(store, plan.to)))) return { check, to: plan.to, moved }
  if (!options.force) await checkQuiet(store, options.nowMillis)
  const ids = check.snapshots.map(({ id }) => id)
  await checkIds(store, ids)
  if (moved.length > 0) {
    await withPath(aside, () => store.fs.makeDirectory(aside))
    for (const { from, to } of moved) await withPath(from, () => store.fs.rename(from, to))
    await withPath(aside, () => store.fs.syncDirectory(aside))
  }
  if (plan.tags.length > 0) await withPath(store.paths.tags, () => store.fs.syncDirectory(store.paths.tags))
  await store.snapshots.sync()
  const kept = ids.filter((id) => !plan.snapshots.includes(id))
  await checkIds(store, kept)
  await store.snapshots.writeLatestHint(plan.to)
  return { check, to: plan.to, moved }
}

/** LATEST names a newer snapshot: its file is lost, or a repair broke off behind the last rename. */
async function isAhead(store: TableStore, newest: number): Promise<boolean> {
  const latest = await readHint(store, store.paths.snapshots, 'LATEST')
  return latest !== undefined && latest > newest
}

async function readableTags(store: TableStore): Promise<readonly Tag[]> {
  const tags: Tag[] = []
  for (const name of await store.tags.names()) {
    const tag = await store.tags.find(name).catch((error) => {
      if (!isTableError(error, 'CORRUPT', 'UNSUPPORTED')) throw error
    })
    if (tag !== undefined) tags.push(tag)
  }
  return tags
}

/** A writer shows by what it left in the folder of snapshots, as far as it can be told from here. */
async function checkQuiet({ fs, paths }: TableStore, nowMillis: number): Promise<void> {
  for (const { name, kind } of await listIfPresent(fs, paths.snapshots)) {
    if (kind !== 'file' || name === 'EARLIEST' || name === 'LATEST') continue
    const path = posix.join(paths.snapshots, name)
    const stat = await withPath(path, () => fs.stat(path))
    if (stat === undefined || stat.modifiedMillis < nowMillis - QUIET_MILLIS) continue
    throw new TableError(
      'CONFLICT',
      `${path} was written less than a minute ago: stop every writer of the table, wait, and try again. Set force if there is none.`,
      { path },
    )
  }
}

/** A snapshot that came meanwhile stands on those that go: what is left of it then is for the next repair. */
async function checkIds({ snapshots, paths }: TableStore, expected: readonly number[]): Promise<void> {
  const ids = await snapshots.allIds()
  if (ids.length === expected.length && ids.every((id, i) => id === expected[i])) return
  throw new TableError(
    'CONFLICT',
    `The snapshots of ${paths.table} changed meanwhile: stop every writer of the table, and try again.`,
    { path: paths.snapshots },
  )
}

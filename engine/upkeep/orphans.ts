import { posix } from 'node:path'
import { TableError } from '../errors.ts'
import { checkCall, shown } from '../options/check-call.ts'
import { type FilesInUse, type ListedFile, orphansAmong } from '../plan/orphans.ts'
import { mapLimited } from '../store/concurrent.ts'
import { ifPresent, withPath } from '../store/errors.ts'
import type { TableStore } from '../store/table-store.ts'
import { namedFiles } from './named-files.ts'
import { branchesOf, bucketFolders, filesIn, metadataFolders } from './table-folders.ts'

const DAY_MILLIS = 86_400_000

/** What a caller may say of a clean-up. */
export interface OrphanOptions {
  /** Epoch ms: only files not changed since may go. Default: a day ago. */
  readonly olderThan?: number | undefined
  /** Remove nothing, list what would go. */
  readonly dryRun?: boolean | undefined
  /** Allow an `olderThan` of less than a day ago: nothing else may be writing the table, in any process. */
  readonly force?: boolean | undefined
}

/** What a clean-up removed, or would remove. */
export interface OrphanResult {
  /** Absolute paths, in order. */
  readonly files: readonly string[]
  /** Bytes of those files. */
  readonly bytes: number
  /** Absolute paths of bucket and partition folders that were empty; none in a dry run. */
  readonly folders: readonly string[]
}

/** The limit that a call asks for. `INVALID` for one that is no time, or too young. */
export function orphanLimit(options: OrphanOptions, nowMillis: number): number {
  checkCall('removeOrphans', options, { olderThan: 'any', dryRun: 'flag', force: 'flag' })
  const { olderThan = nowMillis - DAY_MILLIS, force = false } = options
  if (!Number.isFinite(olderThan)) {
    throw new TableError('INVALID', `olderThan is ${shown(olderThan)}: give a time in milliseconds since 1970.`, {
      option: 'olderThan',
      value: olderThan,
    })
  }
  if (olderThan > nowMillis - DAY_MILLIS && !force) {
    throw new TableError(
      'INVALID',
      'olderThan is less than a day ago: files that a writer has not committed yet would look like orphans. ' +
        'Give an earlier time, or set force if no other process writes the table.',
      { option: 'olderThan', value: olderThan },
    )
  }
  return olderThan
}

/**
 * Removes files that nothing in the table names: what crashed writers, broken-off publishes and expiries left.
 *
 *   list, old files only ─▶ read all that names files ─▶ look again at what is left ─▶ unlink ─▶ empty folders
 *
 * Candidates are listed first: a file that is named later than that is either young or named before, too. If a folder cannot be
 * listed, or a file that names others cannot be read, nothing is removed. `inUse` is asked last; the caller sees to it that
 * this process commits nothing meanwhile.
 */
export async function removeOrphans(
  store: TableStore,
  limit: number,
  dryRun: boolean,
  inUse: () => FilesInUse,
): Promise<OrphanResult> {
  const { partitionKeys } = await store.schemas.latest()
  const buckets = await bucketFolders(store, partitionKeys.length)
  const folders = [
    ...metadataFolders(store, await branchesOf(store)),
    ...buckets.map((path) => ({ path, kind: 'shared' as const })),
  ]
  const listed = (await mapLimited(folders, (folder) => filesIn(store, folder))).flat()
  const old = listed.filter(({ modifiedMillis }) => modifiedMillis < limit)
  const named = old.length === 0 ? new Set<string>() : await namedFiles(store, new Set(old.map(({ name }) => name)))
  const unnamed = old.filter(({ name }) => !named.has(name))
  const unchanged = (await mapLimited(unnamed, (file) => again(store, file))).flat()
  const orphans = orphansAmong(unchanged, named, inUse()).toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const result = { files: orphans.map(({ path }) => path), bytes: orphans.reduce((sum, { bytes }) => sum + bytes, 0) }
  if (dryRun) return { ...result, folders: [] }
  await mapLimited(orphans, ({ path }) => unlink(store, path))
  return {
    ...result,
    folders: await removeEmptyFolders(store, buckets, limit, new Set(result.files.map(posix.dirname))),
  }
}

/** The file, if it is there yet and as it was. */
async function again({ fs }: TableStore, file: ListedFile): Promise<readonly ListedFile[]> {
  const stat = await withPath(file.path, () => fs.stat(file.path))
  return stat?.bytes === file.bytes && stat.modifiedMillis === file.modifiedMillis ? [file] : []
}

async function unlink({ fs }: TableStore, path: string): Promise<void> {
  await ifPresent(() => withPath(path, () => fs.unlink(path)))
}

/** Bucket folders that are empty now and old, or emptied just now, and the partition folders that they leave empty. */
async function removeEmptyFolders(
  { fs, paths }: TableStore,
  buckets: readonly string[],
  limit: number,
  emptied: ReadonlySet<string>,
): Promise<readonly string[]> {
  const removed: string[] = []
  for (const bucket of buckets) {
    if (!emptied.has(bucket)) {
      const stat = await fs.stat(bucket).catch(() => undefined)
      if (stat === undefined || stat.modifiedMillis >= limit) continue
    }
    for (let folder = bucket; folder.startsWith(`${paths.table}/`); folder = posix.dirname(folder)) {
      try {
        await fs.removeDirectory(folder)
      } catch {
        // Not empty, or gone, or in use: an empty folder does no harm.
        break
      }
      removed.push(folder)
    }
  }
  return removed
}

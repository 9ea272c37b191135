import { parseTemporaryName } from '../../formats/meta/names.ts'

/**
 * What may be in a folder of a table beside files that snapshots name.
 *
 * - `shared`: files with unique names; each must be named by a snapshot, or be on its way to one.
 * - `snapshots`, `changelogs`: files that name others and are never orphans, and hints.
 * - `kept`: schemas, tags, consumers: whatever stands there was meant to.
 */
export type FolderKind = 'shared' | 'snapshots' | 'changelogs' | 'kept'

/** A file that lies in a folder of the table. */
export interface ListedFile {
  readonly path: string
  readonly name: string
  readonly bytes: number
  readonly modifiedMillis: number
}

const HINTS: ReadonlySet<string> = new Set(['LATEST', 'EARLIEST'])

/**
 * Whether a file of this name could be an orphan, as Paimon's `remove_orphan_files` has it: any file among those that snapshots
 * name, what is neither a snapshot nor a hint beside them; elsewhere only what a publish left that broke off.
 */
export function mayBeOrphan(folder: FolderKind, name: string): boolean {
  switch (folder) {
    case 'shared':
      return true
    case 'snapshots':
      return !name.startsWith('snapshot-') && !HINTS.has(name)
    case 'changelogs':
      return !name.startsWith('changelog-') && !HINTS.has(name)
    case 'kept':
      return parseTemporaryName(name) !== undefined
  }
}

/** Who is at work on the table in this process. */
export interface FilesInUse {
  /** Names of files that no snapshot holds yet, or no more. */
  readonly names: ReadonlySet<string>
  /** Running tasks: names of their files hold one of these. */
  readonly fileUuids: ReadonlySet<string>
}

/** The candidates that nobody uses. Names hold UUIDs, so one that is named anywhere in the table spares every file of that name. */
export function orphansAmong(
  candidates: readonly ListedFile[],
  named: ReadonlySet<string>,
  inUse: FilesInUse,
): readonly ListedFile[] {
  const uuids = [...inUse.fileUuids]
  return candidates.filter(
    ({ name }) => !named.has(name) && !inUse.names.has(name) && !uuids.some((uuid) => name.includes(uuid)),
  )
}

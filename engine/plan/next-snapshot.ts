import type { CommitKind, ManifestEntry, Snapshot } from '../../formats/meta/types.ts'

/** A manifest list just written: file name in `manifest/` and its exact size. */
export interface WrittenList {
  readonly name: string
  readonly bytes: number
}

/** All that a commit decides about its snapshot; what is not here follows from the snapshot before. */
export interface SnapshotInput {
  readonly kind: CommitKind
  /** The latest schema, also when no file uses it yet. */
  readonly schemaId: number
  readonly user: string
  readonly identifier: bigint
  readonly nowMillis: number
  readonly base: WrittenList
  readonly delta: WrittenList
  /** See `rowDelta`; may be negative. */
  readonly deltaRows: bigint
  readonly changelog?: (WrittenList & { readonly rows: bigint }) | undefined
  /** Name of the complete index manifest; null = the table has no index files any more; undefined = as before. */
  readonly indexManifest?: string | null | undefined
  readonly watermark?: bigint | undefined
  /** Name of a statistics file just written; undefined = as before, while the schema stays the same. */
  readonly statistics?: string | undefined
  readonly properties?: Readonly<Record<string, string>> | undefined
}

const SNAPSHOT_VERSION = 3
const FIRST_ID = 1

/** Rows of added files minus rows of removed files: rows in files, deletes included, not rows of the table. */
export function rowDelta(entries: readonly ManifestEntry[]): bigint {
  let rows = 0n
  for (const { kind, file } of entries) rows += kind === 'add' ? BigInt(file.rows) : -BigInt(file.rows)
  return rows
}

/**
 * The snapshot after `previous` (null = the first of the table). Its time never lies before that of the snapshot before,
 * whatever the clock says, so time travel can search by halves; the watermark never falls either. Keys of other versions
 * that `previous` carries in `extra` describe that commit and are not handed on.
 */
export function nextSnapshot(previous: Snapshot | null, input: SnapshotInput): Snapshot {
  const { changelog, properties } = input
  const indexManifest = input.indexManifest === undefined ? previous?.indexManifest : (input.indexManifest ?? undefined)
  const watermark = largest(previous?.watermark, input.watermark)
  const inherited = previous?.schemaId === input.schemaId ? previous.statistics : undefined
  const statistics = input.statistics ?? inherited
  return {
    version: SNAPSHOT_VERSION,
    id: previous === null ? FIRST_ID : previous.id + 1,
    schemaId: input.schemaId,
    baseManifestList: input.base.name,
    baseManifestListSize: input.base.bytes,
    deltaManifestList: input.delta.name,
    deltaManifestListSize: input.delta.bytes,
    ...(changelog && {
      changelogManifestList: changelog.name,
      changelogManifestListSize: changelog.bytes,
    }),
    ...(indexManifest !== undefined && { indexManifest }),
    commitUser: input.user,
    commitIdentifier: input.identifier,
    commitKind: input.kind,
    timeMillis: Math.max(input.nowMillis, previous?.timeMillis ?? input.nowMillis),
    totalRecordCount: (previous?.totalRecordCount ?? 0n) + input.deltaRows,
    deltaRecordCount: input.deltaRows,
    ...(changelog && { changelogRecordCount: changelog.rows }),
    ...(watermark !== undefined && { watermark }),
    ...(statistics !== undefined && { statistics }),
    ...(properties !== undefined && Object.keys(properties).length > 0 && { properties }),
    // Row tracking is for append tables, yet Paimon writes 0 for tables with a primary key too.
    nextRowId: previous?.nextRowId ?? 0n,
  }
}

function largest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a > b ? a : b
}

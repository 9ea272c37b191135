import { corrupt, unsupported } from '../bytes/format-error.ts'
import { type JsonObject, parseJsonObject } from './json.ts'
import { JsonFields } from './json-fields.ts'
import { printJson } from './json-print.ts'
import type { CommitKind, Snapshot } from './types.ts'

/** The version that is written; newer ones are refused, since what they mean is not known. */
const SNAPSHOT_VERSION = 3
/** Files without a version are of the first one. */
const FIRST_VERSION = 1

const commitKinds: ReadonlySet<string> = new Set<CommitKind>(['APPEND', 'COMPACT', 'OVERWRITE', 'ANALYZE'])

/** The keys of a snapshot file in Paimon's order. */
const keyOrder = [
  'version',
  'id',
  'schemaId',
  'baseManifestList',
  'baseManifestListSize',
  'deltaManifestList',
  'deltaManifestListSize',
  'changelogManifestList',
  'changelogManifestListSize',
  'indexManifest',
  'commitUser',
  'commitIdentifier',
  'commitKind',
  'timeMillis',
  'totalRecordCount',
  'deltaRecordCount',
  'changelogRecordCount',
  'watermark',
  'statistics',
  'properties',
  'nextRowId',
] as const satisfies readonly (keyof Snapshot)[]

const known: ReadonlySet<string> = new Set(keyOrder)

/**
 * Reads a snapshot file, or a long-lived changelog file: they are alike (docs/format/snapshot.md). 64-bit numbers are exact. Keys not known are kept in `extra`.
 * Throws CORRUPT naming the key that is missing or wrong, UNSUPPORTED for a newer version or another commit kind.
 */
export function parseSnapshot(bytes: Uint8Array): Snapshot {
  return snapshotOf(parseJsonObject(bytes, 'snapshot'), 'snapshot', known)
}

/** The snapshot in a JSON object; keys outside `knownKeys` go to `extra`. Tags are snapshots with two keys more. */
export function snapshotOf(json: JsonObject, what: string, knownKeys: ReadonlySet<string>): Snapshot {
  const fields = new JsonFields(json, what)
  const version = fields.integer('version') ?? FIRST_VERSION
  if (version > SNAPSHOT_VERSION)
    throw unsupported(`${what}: version ${version}, the newest known is ${SNAPSHOT_VERSION}`)
  const id = fields.required('id', fields.count)
  if (id === 0) throw corrupt(`${what}: key "id" must be an integer from 1 on, found 0`)
  const commitKind = fields.required('commitKind', fields.string)
  if (!isCommitKind(commitKind)) throw unsupported(`${what}: commitKind ${JSON.stringify(commitKind)} is not known`)
  return withoutUndefined({
    version,
    id,
    schemaId: fields.required('schemaId', fields.count),
    baseManifestList: fields.required('baseManifestList', fields.string),
    baseManifestListSize: fields.count('baseManifestListSize'),
    deltaManifestList: fields.required('deltaManifestList', fields.string),
    deltaManifestListSize: fields.count('deltaManifestListSize'),
    changelogManifestList: fields.string('changelogManifestList'),
    changelogManifestListSize: fields.count('changelogManifestListSize'),
    indexManifest: fields.string('indexManifest'),
    commitUser: fields.required('commitUser', fields.string),
    commitIdentifier: fields.required('commitIdentifier', fields.long),
    commitKind,
    timeMillis: fields.required('timeMillis', fields.integer),
    totalRecordCount: fields.required('totalRecordCount', fields.long),
    deltaRecordCount: fields.required('deltaRecordCount', fields.long),
    changelogRecordCount: fields.long('changelogRecordCount'),
    watermark: fields.long('watermark'),
    statistics: fields.string('statistics'),
    properties: fields.stringMap('properties'),
    nextRowId: fields.long('nextRowId'),
    extra: fields.others(knownKeys),
  })
}

/** The bytes of a snapshot file, exactly as Paimon prints it; keys of `extra` come last. */
export function printSnapshot(snapshot: Snapshot): Uint8Array {
  return printJson(snapshotJson(snapshot))
}

/** The keys of a snapshot file in their order, absent ones left out. */
export function snapshotJson(snapshot: Snapshot): Record<string, unknown> {
  const json: Record<string, unknown> = {}
  for (const key of keyOrder) {
    if (snapshot[key] !== undefined) json[key] = snapshot[key]
  }
  return { ...json, ...snapshot.extra }
}

/** The keys of a snapshot file, for files that add some. */
export const snapshotKeys: ReadonlySet<string> = known

function isCommitKind(text: string): text is CommitKind {
  return commitKinds.has(text)
}

/** Absent keys are no properties at all, so that a snapshot read equals the one that was written. */
function withoutUndefined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T
}

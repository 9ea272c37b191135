import type { CommitKind, IndexEntry, ManifestEntry, Snapshot } from '../../formats/meta/types.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { type ErrorDetails, isTableError, TableError } from '../errors.ts'
import type { ResolvedOptions } from '../options/resolve.ts'
import { nextSnapshot, rowDelta } from '../plan/next-snapshot.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import { allEnded } from '../store/concurrent.ts'
import { isMissing } from '../store/errors.ts'
import type { ManifestWriter } from '../store/manifest-writer.ts'
import type { Manifests } from '../store/manifests.ts'
import type { PreparedFile } from '../store/publish.ts'
import type { Snapshots } from '../store/snapshots.ts'
import { mergeBaseManifests } from './base-manifests.ts'

/** The files that a commit works on. */
export interface CommitStore {
  readonly snapshots: Snapshots
  /** The newest schema, which the snapshot goes under; rejects when nothing may be committed under it. */
  readonly newestSchema: () => Promise<{ readonly id: number }>
  readonly manifests: Manifests
  readonly newManifestWriter: () => ManifestWriter
  /** Makes the data files of changes durable that are not yet. */
  readonly settle: (changes: SnapshotChanges) => Promise<void>
  readonly partitionFields: readonly Field[]
  readonly options: ResolvedOptions
  readonly clock: Clock
  readonly random: Random
}

/** What one snapshot holds that the one before does not. */
export interface SnapshotChanges {
  readonly files: readonly ManifestEntry[]
  readonly changelog: readonly ManifestEntry[]
  /** All index files, where they are not those of the snapshot before. */
  readonly indexes?: readonly IndexEntry[] | undefined
}

/** One snapshot to be. */
export interface SnapshotDraft {
  readonly kind: CommitKind
  readonly user: string
  readonly identifier: bigint
  readonly properties?: Readonly<Record<string, string>> | undefined
  /**
   * What to commit on top of `latest`, asked again for each try: conflicts are found here, in the state the snapshot
   * will follow. Undefined = nothing is left to commit.
   */
  readonly prepare: (latest: Snapshot | undefined) => Promise<SnapshotChanges | undefined>
}

/**
 * Writes the manifests of a draft and publishes its snapshot, again after each lost race.
 *
 *   latest L ─▶ prepare ─▶ manifests, lists, file of the snapshot ─▶ sync these and data files ─▶ link snapshot L+1 ─▶ sync, LATEST
 *       ▲                                                                      │ taken by another writer
 *       └─────────────────────────────── wait ◀────────────────────────────────┘
 *
 * All files are there before the first is synced: a journal of the file system then takes them in one go.
 *
 * Throws `CONFLICT` when the tries or `commit.timeout` run out, `POISONED` when it cannot be learnt whether the snapshot is
 * there, and what `prepare` throws. Unless it throws `POISONED`, either the snapshot is durable or nothing is visible.
 */
export async function publishSnapshot(
  store: CommitStore,
  draft: SnapshotDraft,
  signal?: AbortSignal,
): Promise<Snapshot | undefined> {
  const { options, clock, random, snapshots } = store
  const started = clock.now()
  for (let attempt = 0; ; attempt++) {
    if (signal?.aborted)
      throw new TableError(
        'ABORTED',
        'The commit was aborted and its rows are kept. Commit again, or drop them with discard().',
        {},
        signal.reason,
      )
    const latest = await snapshots.latest()
    const built = await tryBuild(store, draft, latest)
    if (built === undefined) return undefined
    if (built !== 'overtaken') {
      if ((await publish(store, built)) === 'published') return built.snapshot
      await built.writer.abort()
    }
    const timeout = options['commit.timeout']
    if (attempt >= options['commit.max-retries'] || (timeout !== undefined && clock.now() - started > timeout)) {
      throw new TableError(
        'CONFLICT',
        `Other writers took snapshot ${(latest?.id ?? 0) + 1} and ${attempt} before it. Nothing was committed and the rows are kept: commit again, or raise commit.max-retries.`,
        { value: (latest?.id ?? 0) + 1, attempts: attempt + 1 },
      )
    }
    const wait = Math.min(options['commit.min-retry-wait'] * 2 ** attempt, options['commit.max-retry-wait'])
    await clock.sleep(wait * (1 + random.fraction() / 5), { signal, ref: true }).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error
    })
  }
}

/** A snapshot of which everything is durable but its name. */
interface Built {
  readonly snapshot: Snapshot
  readonly file: PreparedFile
  /** Names of the data files that it adds. */
  readonly dataFiles: readonly string[]
  readonly writer: ManifestWriter
}

/**
 * The next snapshot; undefined when there is nothing to commit. 'overtaken' when files of `latest` were missing because it has been
 * expired meanwhile: others have published newer ones, so this race is lost, too.
 */
async function tryBuild(
  store: CommitStore,
  draft: SnapshotDraft,
  latest: Snapshot | undefined,
): Promise<Built | 'overtaken' | undefined> {
  let writer: ManifestWriter | undefined
  try {
    const changes = await draft.prepare(latest)
    if (changes === undefined) return undefined
    writer = store.newManifestWriter()
    return { ...(await build(store, draft, latest, changes, writer)), writer }
  } catch (error) {
    await writer?.abort()
    const gone = isMissing(error) || isTableError(error, 'EXPIRED')
    if (gone && latest !== undefined && !(await store.snapshots.isLive(latest.id))) return 'overtaken'
    throw error
  }
}

async function build(
  store: CommitStore,
  draft: SnapshotDraft,
  latest: Snapshot | undefined,
  all: SnapshotChanges,
  writer: ManifestWriter,
): Promise<Omit<Built, 'writer'>> {
  const { files, changelog, indexes } = all
  const { options, manifests, partitionFields, snapshots } = store
  const lists = latest === undefined ? undefined : await manifests.listsOf(latest)
  const previous = lists === undefined ? [] : [...lists.base, ...lists.delta]
  const mergeOptions = {
    targetBytes: options['manifest.target-file-size'],
    fullThresholdBytes: options['manifest.full-compaction-threshold-size'],
    minCount: options['manifest.merge-min-count'],
  }
  const kept = await mergeBaseManifests(previous, mergeOptions, partitionFields, manifests, writer)
  const base = await writer.writeList(kept)
  const added = await writer.writeManifests(files)
  const delta = await writer.writeList(added)
  const told = changelog.length === 0 ? undefined : await writer.writeManifests(changelog)
  const changes = told && { ...(await writer.writeList(told)), rows: rowDelta(changelog) }
  const index = indexes?.length ? await writer.writeIndexManifest(indexes) : undefined
  const { id: schemaId } = await store.newestSchema()
  const snapshot = nextSnapshot(latest ?? null, {
    kind: draft.kind,
    schemaId,
    user: draft.user,
    identifier: draft.identifier,
    nowMillis: store.clock.now(),
    base,
    delta,
    deltaRows: rowDelta(files),
    changelog: changes,
    indexManifest: indexes && (index?.name ?? null),
    properties: draft.properties,
  })
  const file = await snapshots.prepare(snapshot)
  try {
    await allEnded([file.sync(), writer.sync(), store.settle(all)])
  } catch (error) {
    await file.drop()
    throw error
  }
  manifests.keepList(base.name, base.bytes, kept)
  manifests.keepList(delta.name, delta.bytes, added)
  const [only] = added
  if (only !== undefined && added.length === 1) manifests.keep(only, files)
  return { snapshot, file, dataFiles: files.flatMap((entry) => (entry.kind === 'add' ? entry.file.name : [])) }
}

async function publish(store: CommitStore, built: Built): Promise<'published' | 'taken'> {
  const { snapshots } = store
  const { snapshot, file, writer } = built
  try {
    if ((await file.publish()) === 'taken') return 'taken'
  } catch (error) {
    if (!isTableError(error) || error.details.outcome !== 'unknown') {
      await writer.abort()
      throw error
    }
    return await learnOutcome(snapshots, snapshot, writer, error)
  }
  await checkName(store, built)
  // Readers of other engines take the hint at its word, so it must not outrun the name. A commit does not fail for it.
  await snapshots.writeLatestHint(snapshot.id).catch(() => undefined)
  return 'published'
}

/**
 * `POISONED` when it may be that the name was only free because others had used it and expired that snapshot: then ours is no part of
 * the table. Or ours is, and has been expired since. Expiry takes snapshots away in ascending order, so as long as the one before is
 * there neither has happened: one look, as a rule.
 */
async function checkName({ snapshots, manifests }: CommitStore, { snapshot, dataFiles }: Built): Promise<void> {
  const { id } = snapshot
  try {
    if (id > 1 && (await snapshots.find(id - 1)) !== undefined) return
    if (await snapshots.isLive(id)) return
    // Of a snapshot that has been expired the files are live in the earliest one, unless compactions took them since.
    const earliest = await snapshots.earliest()
    const live = new Set(earliest && (await manifests.liveEntries(earliest)).map(({ file }) => file.name))
    if (dataFiles.some((name) => live.has(name))) return
    await snapshots.remove(id)
  } catch (cause) {
    throw unknownOutcome(snapshot, `was published, but cannot be looked at again: ${String(cause)}.`, {}, cause)
  }
  throw unknownOutcome(snapshot, 'was expired by another writer, as it was published or before.')
}

function unknownOutcome({ id }: Snapshot, why: string, details: ErrorDetails = {}, cause?: unknown): TableError {
  return new TableError(
    'POISONED',
    `Snapshot ${id} ${why} Reads go on; reopen the table to write, and look whether the commit is there.`,
    { ...details, value: id },
    cause,
  )
}

/** After an error that may have published: what stands under the name decides. Nothing is deleted while that is open. */
async function learnOutcome(
  snapshots: Snapshots,
  snapshot: Snapshot,
  writer: ManifestWriter,
  cause: TableError,
): Promise<'taken'> {
  const poisoned = (why: string) => unknownOutcome(snapshot, `${why}: ${cause.message}`, cause.details, cause)
  let found: Snapshot | undefined
  try {
    found = await snapshots.find(snapshot.id)
  } catch (error) {
    throw poisoned(`cannot be read back (${error instanceof Error ? error.message : String(error)})`)
  }
  if (found === undefined) {
    await writer.abort()
    throw cause
  }
  const ours =
    found.commitUser === snapshot.commitUser &&
    found.commitIdentifier === snapshot.commitIdentifier &&
    found.commitKind === snapshot.commitKind &&
    found.deltaManifestList === snapshot.deltaManifestList
  if (ours) throw poisoned('was published but may not be durable')
  return 'taken'
}

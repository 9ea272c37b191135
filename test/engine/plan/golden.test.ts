import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { keyBounds } from '../../../engine/plan/bounds.ts'
import { findConflict } from '../../../engine/plan/conflicts.ts'
import { bucketId } from '../../../engine/plan/entry-id.ts'
import { trimmedPrimaryKey } from '../../../engine/plan/kv-layout.ts'
import { buildLevels } from '../../../engine/plan/levels.ts'
import { deletedIds, liveEntries, mergeEntries } from '../../../engine/plan/manifest-merge.ts'
import { nextSnapshot, rowDelta } from '../../../engine/plan/next-snapshot.ts'
import { type PickOptions, pickCompaction, pickFull } from '../../../engine/plan/pick.ts'
import { inputsOf, minFileSize, planSteps } from '../../../engine/plan/steps.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { decodeManifest } from '../../../formats/meta/manifest.ts'
import { decodeManifestList } from '../../../formats/meta/manifest-list.ts'
import { parseSnapshotName } from '../../../formats/meta/names.ts'
import { parseSchema } from '../../../formats/meta/schema.ts'
import { parseSnapshot } from '../../../formats/meta/snapshot.ts'
import type { DataFile, ManifestEntry, Snapshot, TableSchema } from '../../../formats/meta/types.ts'
import { rowCompare } from '../../../formats/row/key-compare.ts'

const tables = 'test/golden/warehouse/golden.db'
const codecs = loadCodecs()

interface Table {
  readonly name: string
  readonly schema: TableSchema
  readonly snapshots: readonly Snapshot[]
  entries(list: string): readonly ManifestEntry[]
}

function openTable(name: string): Table {
  const folder = join(tables, name)
  const read = (...path: string[]) => readFileSync(join(folder, ...path))
  const schemas = readdirSync(join(folder, 'schema')).filter((file) => file.startsWith('schema-'))
  const latest = Math.max(...schemas.map((file) => Number(file.slice('schema-'.length))))
  const ids = readdirSync(join(folder, 'snapshot')).flatMap((file) => parseSnapshotName(file) ?? [])
  return {
    name,
    schema: parseSchema(read('schema', `schema-${latest}`)),
    snapshots: ids.sort((a, b) => a - b).map((id) => parseSnapshot(read('snapshot', `snapshot-${id}`))),
    entries: (list) =>
      decodeManifestList(read('manifest', list), codecs).flatMap((m) =>
        decodeManifest(read('manifest', m.name), codecs),
      ),
  }
}

const stateOf = (table: Table, snapshot: Snapshot) => {
  const all = [...table.entries(snapshot.baseManifestList), ...table.entries(snapshot.deltaManifestList)]
  return liveEntries(all, deletedIds(all))
}

function byBucket(entries: readonly ManifestEntry[]): readonly (readonly DataFile[])[] {
  const buckets = new Map<string, DataFile[]>()
  for (const entry of entries) {
    const id = bucketId(entry)
    buckets.set(id, [...(buckets.get(id) ?? []), entry.file])
  }
  return [...buckets.values()]
}

const names = readdirSync(tables).filter((name) => existsSync(join(tables, name, 'snapshot')))

t.test('the history of every golden table passes the rules', async (t) => {
  let commits = 0
  for (const name of names) {
    const table = openTable(name)
    const keys = trimmedPrimaryKey(table.schema)
    const compareKeys = rowCompare(keys.map((field) => field.type))
    let previous: Snapshot | null = null
    for (const snapshot of table.snapshots) {
      const at = `${name} snapshot ${snapshot.id}`
      const base = table.entries(snapshot.baseManifestList)
      const delta = table.entries(snapshot.deltaManifestList)
      const before = liveEntries(base, deletedIds(base))
      const conflict = findConflict(before, delta, snapshot.commitKind, compareKeys)
      t.equal(conflict, null, `${at} does not conflict with what was before`)
      const live = stateOf(table, snapshot)
      t.same(new Set(mergeEntries([...base, ...delta])), new Set(live), `${at}: cancelling and reading agree`)
      if (previous !== null && previous.id + 1 === snapshot.id) {
        const next = nextSnapshot(previous, {
          kind: snapshot.commitKind,
          schemaId: snapshot.schemaId,
          user: snapshot.commitUser,
          identifier: snapshot.commitIdentifier,
          nowMillis: snapshot.timeMillis,
          base: { name: snapshot.baseManifestList, bytes: snapshot.baseManifestListSize ?? 0 },
          delta: { name: snapshot.deltaManifestList, bytes: snapshot.deltaManifestListSize ?? 0 },
          deltaRows: rowDelta(delta),
          changelog:
            snapshot.changelogManifestList === undefined
              ? undefined
              : {
                  name: snapshot.changelogManifestList,
                  bytes: snapshot.changelogManifestListSize ?? 0,
                  rows: rowDelta(table.entries(snapshot.changelogManifestList)),
                },
          indexManifest: snapshot.indexManifest ?? null,
          watermark: snapshot.watermark,
        })
        t.strictSame(JSON.parse(print(next)), JSON.parse(print(snapshot)), `${at} is what we would have written`)
        commits++
      }
      for (const files of byBucket(live)) {
        const levels = buildLevels(files, 6, compareKeys)
        t.equal(levels.runs.flatMap((run) => run.files).length, files.length, `${at}: I3`)
        for (const file of files) for (const key of keys) t.ok(keyBounds(file, keys)(key.name), `${at}: key statistics`)
      }
      previous = snapshot
    }
  }
  t.ok(commits > 200, `${commits} commits`)
})

t.test('live entries of the latest snapshot are those that the engine lists', async (t) => {
  for (const name of names) {
    const table = openTable(name)
    const path = join('test/golden/expect', name, 'entries.json')
    const latest = table.snapshots.at(-1)
    if (latest === undefined || !existsSync(path)) continue
    const expected: { fileName: string; level: number; bucket: number }[] = JSON.parse(readFileSync(path, 'utf8'))
    t.same(
      stateOf(table, latest)
        .map((entry) => `${entry.bucket}/${entry.file.name}@${entry.file.level}`)
        .sort(),
      expected.map((entry) => `${entry.bucket}/${entry.fileName}@${entry.level}`).sort(),
      name,
    )
  }
})

t.test('each compaction of the universal cases took the files that we would take', async (t) => {
  const defaults: PickOptions = {
    trigger: 5,
    numLevels: 6,
    sizeRatio: 1,
    maxSizeAmp: 200,
    offPeakRatio: 0,
    optimizationIntervalMillis: null,
    lastFullMillis: null,
    nowMillis: 0,
    totalSizeThreshold: null,
    incrementalSizeThreshold: null,
    forceUpLevel0: false,
  }
  for (const name of ['uc', 'uc_amp', 'uc_num', 'uc_num_wide', 'uc_num_orc', 'uc_long', 'uc_trigger3']) {
    const table = openTable(name)
    const options = name === 'uc_trigger3' ? { ...defaults, trigger: 3, maxSizeAmp: 50, numLevels: 4 } : defaults
    const compareKeys = rowCompare(trimmedPrimaryKey(table.schema).map((field) => field.type))
    const said = (file: DataFile) => `${file.name}@${file.level}`
    let compactions = 0
    for (const [i, snapshot] of table.snapshots.entries()) {
      const next = table.snapshots.at(i + 1)
      if (snapshot.commitKind !== 'APPEND' || next === undefined) continue
      const levels = buildLevels(
        stateOf(table, snapshot).map((entry) => entry.file),
        options.numLevels,
        compareKeys,
      )
      const pick = pickCompaction(levels.runs, options)
      const at = `${name} after snapshot ${snapshot.id}`
      if (next.commitKind !== 'COMPACT') {
        t.equal(pick, null, `${at}: nothing`)
        continue
      }
      // The base of a case is made by a full compaction on request.
      const taken = pick ?? pickFull(levels, { forceRewriteAllFiles: false })
      const delta = table.entries(next.deltaManifestList)
      const steps = planSteps(
        taken?.files ?? [],
        {
          outputLevel: taken?.outputLevel ?? 0,
          maxLevel: options.numLevels - 1,
          minFileSize: minFileSize(128 * 1024 ** 2),
          forceRewriteAllFiles: false,
        },
        compareKeys,
      )
      const removed = delta.filter((entry) => entry.kind === 'delete').map((entry) => said(entry.file))
      t.same(inputsOf(steps).map(said).sort(), removed.sort(), `${at}: the same files`)
      const added = delta.filter((entry) => entry.kind === 'add')
      t.ok(
        added.every((entry) => entry.file.level === taken?.outputLevel),
        `${at}: the same level`,
      )
      compactions++
    }
    t.ok(compactions > 0, name)
  }
})

function print(snapshot: Snapshot): string {
  return JSON.stringify(snapshot, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
}

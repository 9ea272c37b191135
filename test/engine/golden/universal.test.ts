import tap, { type Test } from 'tap'
import type { FieldType } from '../../../engine/api/fields.ts'
import { openWarehouse, type Table, t } from '../../../engine/index.ts'
import { buildLevels } from '../../../engine/plan/levels.ts'
import { type PickOptions, pickCompaction } from '../../../engine/plan/pick.ts'
import type { TableStore } from '../../../engine/store/table-store.ts'
import type { DataFile, Snapshot } from '../../../formats/meta/types.ts'
import { rowCompare } from '../../../formats/row/key-compare.ts'
import { goldenExpect } from '../../support/golden.ts'
import { goldenRows, sameRows, scanJson } from '../../support/golden-warehouse.ts'
import { storeOf } from '../../support/warehouses.ts'

/** What the golden tables were made with. */
interface Step {
  readonly cmd: 'create' | 'write'
  readonly schema?: {
    readonly fields: readonly { readonly name: string }[]
    readonly options: Readonly<Record<string, string>>
  }
  readonly compact?: boolean
  readonly lines?: readonly ({ readonly row: Record<string, unknown> } | { readonly commit: true })[]
}

interface HistoryFile {
  readonly level: number
  readonly rowCount: number
  readonly fileSize: number
}

interface Replay {
  readonly table: Table
  readonly store: TableStore
  readonly close: () => Promise<void>
}

/** Gives the recorded rows to a table of ours, commit by commit. */
async function replay(test: Test, name: string): Promise<Replay> {
  const folder = test.testdir()
  const warehouse = await openWarehouse(folder, { workers: 0, durability: 'none' })
  const [create, ...writes] = goldenExpect<Step>(name, 'steps')
  const { fields, options } = create!.schema!
  const { 'file.format': _, ...kept } = options
  const table = await warehouse.createTable('golden.replay', {
    fields: Object.fromEntries(
      fields.map((field): [string, FieldType<unknown, unknown, boolean>] =>
        field.name === 'id' ? ['id', t.int()] : [field.name, t.string().nullable()],
      ),
    ),
    primaryKey: ['id'],
    options: { ...kept, 'commit.force-compact': 'true' },
  })
  for (const { lines = [], compact = false } of writes) {
    let rows: Record<string, unknown>[] = []
    for (const line of lines) {
      if ('row' in line) rows.push(line.row)
      else {
        await table.put(rows)
        await table.commit()
        rows = []
      }
    }
    await table.put(rows)
    await table.commit()
    if (compact) await table.compact({ full: true })
  }
  return {
    table: table as unknown as Table,
    store: await storeOf(folder, 'golden', 'replay'),
    close: () => warehouse.close(),
  }
}

/** Files of each snapshot, highest level first, within a level as they were added. */
async function historyOf(store: TableStore): Promise<readonly { snapshot: Snapshot; files: readonly DataFile[] }[]> {
  const history = []
  for (const id of await store.snapshots.ids()) {
    const snapshot = await store.snapshots.read(id)
    history.push({ snapshot, files: (await store.manifests.liveEntries(snapshot)).map(({ file }) => file) })
  }
  return history
}

const shape = (files: readonly (readonly [level: number, rows: number])[]) =>
  files.map(([level, rows]) => `L${level} ${rows} rows`).sort()

for (const name of ['uc', 'uc_amp', 'uc_trigger3']) {
  tap.test(`${name}: the same rows and commits give the same files per level after every commit`, async (t) => {
    const { table, store, close } = await replay(t, name)
    const ours = await historyOf(store)
    const theirs = goldenExpect<{ snapshot: number; kind: string; files: HistoryFile[] }>(name, 'history')
    t.ok(theirs.length >= 7)
    t.strictSame(
      ours.map(({ snapshot, files }) => ({
        snapshot: snapshot.id,
        kind: snapshot.commitKind,
        files: shape(files.map(({ level, rows }) => [level, rows])),
      })),
      theirs.map(({ snapshot, kind, files }) => ({
        snapshot,
        kind,
        files: shape(files.map(({ level, rowCount }) => [level, rowCount])),
      })),
    )
    sameRows(t, await scanJson(table, await store.schemas.latest()), goldenRows(name), 'rows')
    await close()
  })
}

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

// What the planner does with Paimon's sizes: test/engine/plan/golden.test.ts.
for (const name of ['uc_num', 'uc_num_wide', 'uc_num_orc', 'uc_long']) {
  tap.test(`${name}: with our file sizes the planner gives our levels`, async (t) => {
    const { table, store, close } = await replay(t, name)
    const ours = await historyOf(store)
    const theirs = goldenExpect<{ kind: string; files: HistoryFile[] }>(name, 'history')
    const sizes = (files: readonly (readonly [level: number, rows: number, bytes: number])[]) =>
      files.map(([level, rows, bytes]) => `L${level} ${rows} rows ${bytes} bytes`).join(', ')
    const ends = (kinds: readonly string[]) => kinds.flatMap((kind, index) => (kind === 'COMPACT' ? [index] : []))
    const atCompactions = {
      ours: ends(ours.map(({ snapshot }) => snapshot.commitKind)).map((index) => ours[index]!.files),
      paimon: ends(theirs.map(({ kind }) => kind)).map((index) => theirs[index]!.files),
    }
    for (const files of atCompactions.ours) t.comment(`ours   ${sizes(files.map((f) => [f.level, f.rows, f.bytes]))}`)
    for (const files of atCompactions.paimon) {
      t.comment(`Paimon ${sizes(files.map((f) => [f.level, f.rowCount, f.fileSize]))}`)
    }

    const compareKeys = rowCompare([{ kind: 'int', nullable: false }])
    let picked = 0
    for (const [index, { snapshot, files }] of ours.entries()) {
      if (index < 2 || snapshot.commitKind === 'COMPACT') continue
      const levels = buildLevels(files, defaults.numLevels, compareKeys)
      const pick = pickCompaction(levels.runs, defaults)
      const next = ours[index + 1]
      const at = `snapshot ${snapshot.id}`
      if (pick === null) {
        t.not(next?.snapshot.commitKind, 'COMPACT', `${at}: nothing to do`)
        continue
      }
      t.equal(next?.snapshot.commitKind, 'COMPACT', `${at}: ${pick.reason}`)
      const taken = new Set(pick.files.map((file) => file.name))
      const left = new Set(files.filter((file) => !taken.has(file.name)).map((file) => file.name))
      const after = next!.files
      t.ok(
        [...left].every((file) => after.some(({ name }) => name === file)),
        `${at}: other files stay`,
      )
      const fresh = after.filter((file) => !left.has(file.name))
      t.ok(
        fresh.length > 0 && fresh.every((file) => file.level === pick.outputLevel),
        `${at}: to level ${pick.outputLevel}`,
      )
      picked++
    }
    t.ok(picked > 0, `${picked} compactions`)
    sameRows(t, await scanJson(table, await store.schemas.latest()), goldenRows(name), 'rows')
    await close()
  })
}

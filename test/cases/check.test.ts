import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { t as types } from '../../engine/index.ts'
import { planRepair } from '../../engine/plan/repair.ts'
import { createNodeFileSystem } from '../../engine/ports/node-fs.ts'
import { checkStore } from '../../engine/upkeep/check.ts'
import { goldenCases } from '../support/golden.ts'
import { goldenStore } from '../support/golden-store.ts'
import { collect, listing, openAlone, refused, storeOf } from '../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int() }, primaryKey: ['k'] } as const

/** A table of so many commits, each its key, closed; looks a day old. */
async function made(path: string, commits: number, options: Record<string, string> = { 'write-only': 'true' }) {
  const warehouse = openAlone(path)
  const table = await warehouse.createTable('db.t', { ...definition, options })
  for (let k = 1; k <= commits; k++) {
    await table.put({ k, v: k })
    await table.commit()
  }
  await table.close()
  const folder = join(path, 'db.db', 't')
  const then = new Date(Date.now() - 86_400_000)
  for (const name of readdirSync(join(folder, 'snapshot'))) utimesSync(join(folder, 'snapshot', name), then, then)
  return { warehouse, folder, store: await storeOf(path, 'db', 't') }
}

t.test('golden: nothing is wrong with tables of other engines', async (t) => {
  for (const name of goldenCases) {
    const { store } = goldenStore(name)
    const { problems, newestWhole, files } = await checkStore(store, 'data')
    const damaged = problems.filter(({ kind }) => kind !== 'unsupported')
    t.same(damaged, [], `${name}: ${files} files`)
    t.equal(newestWhole, await store.snapshots.latestId(), name)
  }
})

t.test('each kind of file that is missing or cut is named, with what needs it', async (t) => {
  const root = t.testdir({ a: {}, b: {} })
  const { warehouse, folder, store } = await made(join(root, 'a'), 3)
  t.match(await warehouse.checkTable('db.t'), {
    problems: [],
    newestWhole: 3,
    snapshots: [{ id: 1, whole: true }, {}, {}],
  })
  const latest = await store.snapshots.read(3)
  const [manifest] = await store.manifests.deltaListOf(latest)
  const [entry] = await store.manifests.deltaEntries(latest)
  const files: Record<string, string> = {
    'data file': join(folder, 'bucket-0', entry!.file.name),
    manifest: store.manifests.path(manifest!.name),
    'manifest list': store.manifests.path(latest.deltaManifestList),
    snapshot: store.snapshots.path(3),
  }
  for (const [kind, path] of Object.entries(files)) {
    const whole = readFileSync(path)
    for (const level of ['metadata', 'data'] as const) {
      truncateSync(path, whole.length - 1)
      const cut = await warehouse.checkTable('db.t', { level })
      t.match(cut.problems, [{ kind: 'damaged', path, usedBy: ['snapshot 3'] }], `${kind} cut, ${level}`)
      t.equal(cut.newestWhole, 2, kind)
      rmSync(path)
      const gone = await warehouse.checkTable('db.t', { level })
      t.match(gone.problems, [{ kind: 'missing', path, usedBy: ['snapshot 3'] }], `${kind} gone, ${level}`)
      t.equal(gone.newestWhole, 2, kind)
      if (kind !== 'snapshot') {
        symlinkSync(path, path)
        const circle = await warehouse.checkTable('db.t', { level })
        t.match(circle, { problems: [{ path, usedBy: ['snapshot 3'] }], newestWhole: 2 }, `${kind} links to itself`)
        rmSync(path)
        mkdirSync(path)
        const dir = await warehouse.checkTable('db.t', { level })
        t.match(dir, { problems: [{ path, usedBy: ['snapshot 3'] }], newestWhole: 2 }, `${kind} is a folder`)
        rmdirSync(path)
      }
      writeFileSync(path, whole)
    }
  }
  const data = readFileSync(files['data file']!)
  const flipped = Buffer.from(data)
  flipped[60]! ^= 1
  writeFileSync(files['data file']!, flipped)
  t.match((await warehouse.checkTable('db.t', { level: 'metadata' })).problems, [], 'metadata reads no pages')
  t.match((await warehouse.checkTable('db.t')).problems, [{ kind: 'damaged', path: files['data file'] }])
  writeFileSync(files['data file']!, data)
  rmSync(join(folder, 'snapshot', 'snapshot-2'))
  t.match((await warehouse.checkTable('db.t')).problems, [{ kind: 'missing', usedBy: ['snapshot 2'] }], 'a gap')
  await warehouse.close()
})

t.test('what others commit and expire during a check, or left half expired, is no damage', async (t) => {
  const path = t.testdir()
  const { warehouse, folder } = await made(path, 3)
  const theirs = await warehouse.table('db.t')
  const fs = createNodeFileSystem({ sync: false })
  const first = readFileSync(join(folder, 'snapshot', 'snapshot-1'))
  let met = false
  const checking = openAlone(path, {
    fs: {
      ...fs,
      readFile: async (file) => {
        const bytes = await fs.readFile(file)
        if (!met && file.endsWith('snapshot-1')) {
          met = true
          await theirs.compact({ full: true })
          await theirs.expireSnapshots({ retainMax: 1, retainMin: 1 })
        }
        return bytes
      },
    },
  })
  const { problems, snapshots } = await checking.checkTable('db.t')
  t.ok(met, 'they came in between')
  t.same(problems, [])
  t.same(
    snapshots,
    [1, 2, 3].map((id) => ({ id, whole: false })),
    'and expired',
  )
  await theirs.close()
  writeFileSync(join(folder, 'snapshot', 'snapshot-1'), first)
  t.match(await checking.checkTable('db.t'), {
    problems: [],
    snapshots: [
      { id: 1, whole: false },
      { id: 4, whole: true },
    ],
  })
  await checking.close()
  await warehouse.close()
})

t.test('a check pauses after each batch of rows', async (t) => {
  const path = t.testdir()
  let pauses = 0
  const warehouse = openAlone(path, { pause: async () => void pauses++ })
  const table = await warehouse.createTable('db.t', definition)
  await table.put(Array.from({ length: 10_000 }, (_, k) => ({ k, v: k })))
  await table.commit()
  t.same((await warehouse.checkTable('db.t')).problems, [])
  t.ok(pauses >= 3, `${pauses} pauses`)
  await warehouse.close()
})

t.test('a repair says so when a snapshot comes while it moves others away; the next one moves it, too', async (t) => {
  const path = t.testdir()
  const { warehouse, folder, store } = await made(path, 3)
  const [entry] = await store.manifests.deltaEntries(await store.snapshots.read(2))
  truncateSync(join(folder, 'bucket-0', entry!.file.name), 10)
  const fs = createNodeFileSystem({ sync: false })
  const place = (id: number) => join(folder, 'snapshot', `snapshot-${id}`)
  const repairing = openAlone(path, {
    fs: {
      ...fs,
      rename: async (from, to) => {
        const text = readFileSync(from, 'utf8')
        if (from === place(3)) writeFileSync(place(4), text.replace('"id" : 3', '"id" : 4'))
        return fs.rename(from, to)
      },
    },
  })
  const how = { dryRun: false, force: true }
  await refused(t, repairing.repairTable('db.t', how), 'CONFLICT', { path: join(folder, 'snapshot') }, 'meanwhile')
  t.match(await warehouse.repairTable('db.t', how), { to: 1, moved: [{ from: place(4) }] })
  t.match(await warehouse.checkTable('db.t'), { problems: [], newestWhole: 1 })
  await repairing.close()
  await warehouse.close()
})

t.test('a table that cannot be opened is checked', async (t) => {
  const { warehouse, folder } = await made(t.testdir(), 2)
  writeFileSync(join(folder, 'schema', 'schema-0'), '{')
  await refused(t, warehouse.table('db.t'), 'CORRUPT', {})
  const { problems, newestWhole } = await warehouse.checkTable('db.t')
  t.match(problems, [{ kind: 'damaged', path: join(folder, 'schema', 'schema-0') }])
  t.equal(newestWhole, undefined)
  await refused(t, warehouse.repairTable('db.t'), 'CORRUPT', {}, 'No snapshot')
  await refused(t, warehouse.checkTable('db.other'), 'NOT_FOUND', { table: 'db.other' })
  await refused(t, warehouse.checkTable('db.t', { level: 'all' as 'data' }), 'INVALID', { option: 'level' })
  await warehouse.close()
})

t.test(
  'a repair that broke off behind its last rename is ended by the next, and LATEST of a lost snapshot is set back',
  async (t) => {
    const root = t.testdir({ a: {} })
    const { warehouse, folder } = await made(join(root, 'a'), 3)
    const latest = join(folder, 'snapshot', 'LATEST')
    rmSync(join(folder, 'snapshot', 'snapshot-3'))
    t.match((await warehouse.checkTable('db.t')).problems, [{ kind: 'missing', usedBy: ['snapshot 3'] }])
    t.match(await warehouse.repairTable('db.t'), { to: 2, moved: [] })
    t.equal(readFileSync(latest, 'utf8'), '3', 'a dry run changes nothing')
    t.match(await warehouse.repairTable('db.t', { dryRun: false, force: true }), { to: 2, moved: [] })
    t.equal(readFileSync(latest, 'utf8'), '2')
    t.notOk(existsSync(join(folder, 'damaged')), 'no folder was made')
    t.match(await warehouse.checkTable('db.t'), { problems: [], newestWhole: 2 })
    await warehouse.close()
  },
)

t.test('a table that never had a snapshot is whole, one that lost all is not', async (t) => {
  const root = t.testdir({ a: {}, b: {} })
  const warehouse = openAlone(join(root, 'a'))
  await (await warehouse.createTable('db.t', definition)).close()
  t.match(await warehouse.checkTable('db.t'), { problems: [], newestWhole: undefined })
  await refused(t, warehouse.repairTable('db.t', { dryRun: false, force: true }), 'NOT_FOUND', {})
  await warehouse.close()
  const lost = await made(join(root, 'b'), 2)
  for (const id of [1, 2]) rmSync(join(lost.folder, 'snapshot', `snapshot-${id}`))
  t.match((await lost.warehouse.checkTable('db.t')).problems, [{ kind: 'missing', usedBy: ['snapshot 2'] }])
  await refused(t, lost.warehouse.repairTable('db.t', { dryRun: false, force: true }), 'CORRUPT', {})
  await lost.warehouse.close()
})

t.test('a repair goes back to the newest whole snapshot, shows it first, and deletes nothing', async (t) => {
  const { warehouse, folder, store } = await made(t.testdir(), 4)
  const latest = await store.snapshots.read(3)
  const [entry] = await store.manifests.deltaEntries(latest)
  const damaged = join(folder, 'bucket-0', entry!.file.name)
  truncateSync(damaged, 10)
  const before = listing(folder)
  const dry = await warehouse.repairTable('db.t')
  t.match(dry, { to: 2, moved: { length: 2 } })
  t.same(listing(folder), before, 'a dry run changes nothing')

  const table = await warehouse.table('db.t')
  await refused(t, warehouse.repairTable('db.t', { dryRun: false }), 'INVALID', { table: 'db.t' }, 'open')
  await table.close()
  const now = new Date()
  utimesSync(join(folder, 'snapshot', 'snapshot-4'), now, now)
  await refused(t, warehouse.repairTable('db.t', { dryRun: false }), 'CONFLICT', {}, 'snapshot-4', 'force')
  t.same(listing(folder), before)

  const done = await warehouse.repairTable('db.t', { dryRun: false, force: true })
  t.equal(done.to, 2)
  t.same(
    done.moved.map(({ from }) => from),
    dry.moved.map(({ from }) => from),
  )
  for (const { from, to } of done.moved) t.ok(existsSync(to) && !existsSync(from), to)
  t.ok(existsSync(damaged), 'data files stay')
  t.match(await warehouse.checkTable('db.t'), { problems: [], newestWhole: 2 })
  t.match(await warehouse.repairTable('db.t'), { to: 2, moved: [] }, 'nothing more to do')
  const again = await warehouse.table('db.t')
  t.same(await collect(again.scan()), [
    { k: 1, v: 1 },
    { k: 2, v: 2 },
  ])
  await again.put({ k: 9, v: 9 })
  t.match(await again.commit(), { id: 3 })
  t.equal((await collect(again.scan())).length, 3)
  await warehouse.close()
})

t.test('what a repair plans: later snapshots and tags of them, the newest first', async (t) => {
  const snapshots = [
    [1, true],
    [2, true],
    [3, false],
    [4, false],
  ].map(([id, whole]) => ({ id: id as number, whole: whole as boolean }))
  const tags = [
    { name: 'a', snapshotId: 2 },
    { name: 'b', snapshotId: 4 },
  ]
  t.same(planRepair({ snapshots, tags }), { to: 2, tags: ['b'], snapshots: [4, 3] })
  t.same(planRepair({ snapshots: snapshots.slice(0, 2), tags }), { to: 2, tags: [], snapshots: [] })
  t.same(planRepair({ snapshots: snapshots.slice(2), tags }), { to: undefined, tags: [], snapshots: [] })
})

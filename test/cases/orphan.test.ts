import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { t as types } from '../../engine/index.ts'
import { nodeClock } from '../../engine/ports/node-clock.ts'
import { branchStore } from '../../engine/store/table-store.ts'
import { createTag } from '../../engine/upkeep/tagging.ts'
import { unnamedFiles } from '../support/table-files.ts'
import { collect, liveFiles, openAlone, refused, storeOf } from '../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const
const DAY = 86_400_000

async function create(path: string, options: Record<string, string> = { 'write-only': 'true' }) {
  const warehouse = openAlone(path)
  const table = await warehouse.createTable('db.t', { ...definition, options }, { ifNotExists: true })
  const put = async (k: number, v: number) => {
    await table.put({ k, v })
    await table.commit()
  }
  const pairs = async () => (await collect(table.scan())).map(({ k, v }) => [k, v])
  return { warehouse, table, put, pairs, folder: join(path, 'db.db', 't'), store: await storeOf(path, 'db', 't') }
}

/** Makes every file and folder below a folder look so many days old. */
function age(folder: string, days: number): void {
  const then = new Date(Date.now() - days * DAY)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    utimesSync(join(entry.parentPath, entry.name), then, then)
  }
}

t.test('C093 files of a commit in flight stay, a stray file goes', async (t) => {
  const { warehouse, table, put, pairs, folder } = await create(t.testdir())
  await put(1, 1)
  const stray = join(folder, 'bucket-0', 'data-stray-0.parquet')
  writeFileSync(stray, 'stray')
  const then = new Date(Date.now() - 3 * DAY)
  utimesSync(stray, then, then)
  // Another process, as far as the table knows, is on its way to a snapshot.
  const other = openAlone(join(folder, '..', '..'))
  const writer = await other.table('db.t')
  await writer.put({ k: 2, v: 2 })
  const committed = writer.commit()
  const { files, bytes } = await table.removeOrphans({ olderThan: Date.now() - DAY })
  t.same(files, [stray])
  t.equal(bytes, 5)
  await committed
  t.notOk(existsSync(stray))
  await table.refresh()
  t.same(await pairs(), [
    [1, 1],
    [2, 2],
  ])
  await other.close()
  await warehouse.close()
})

t.test('C093 files that this process has not committed stay however old, and forced', async (t) => {
  const path = t.testdir()
  const { warehouse, table, put, pairs, folder, store } = await create(path, { 'write-buffer-size': '1 kb' })
  await put(1, 1)
  // Far more than the buffer: all but the last rows are in files that no snapshot names.
  for (let i = 0; i < 30; i++) {
    await table.put(Array.from({ length: 50 }, (_, j) => ({ k: i * 50 + j, v: i })))
  }
  const unnamed = await unnamedFiles(store)
  t.ok(unnamed.length > 0, `${unnamed.length} files wait`)
  age(folder, 3)
  const scan = table.scan()
  const rows = scan[Symbol.asyncIterator]()
  await rows.next()
  const { files } = await table.removeOrphans({ olderThan: Date.now() + 1000, force: true })
  t.same(files, [])
  let seen = 1
  while (!(await rows.next()).done) seen++
  t.equal(seen, 1500)
  await table.commit()
  t.equal((await pairs()).length, 1500)
  await table.compact({ full: true })
  t.equal((await pairs()).length, 1500)
  await warehouse.close()
})

t.test('C093 a writer that commits in a loop during clean-ups loses no file', async (t) => {
  const path = t.testdir()
  const { warehouse, table, pairs, store } = await create(path, { 'num-sorted-run.compaction-trigger': '2' })
  let running = true
  const cleaning = (async () => {
    let removed = 0
    while (running) {
      removed += (await table.removeOrphans({ olderThan: Date.now() + 60_000, force: true })).files.length
      await new Promise((done) => setImmediate(done))
    }
    return removed
  })()
  for (let i = 0; i < 20; i++) {
    await table.put({ k: i % 7, v: i })
    await table.commit()
  }
  running = false
  await cleaning
  t.same(
    await pairs(),
    Array.from({ length: 7 }, (_, k) => [k, k < 6 ? 14 + k : 7 + k]),
  )
  await warehouse.close()
  const again = openAlone(path)
  const reopened = await again.table('db.t')
  for (const id of await store.snapshots.ids()) await collect(reopened.scan({ snapshot: id }))
  await reopened.removeOrphans({ olderThan: Date.now() + 60_000, force: true })
  t.same(await unnamedFiles(store), [], 'nothing is left that nobody names')
  await again.close()
})

t.test('C095 files of branches and tags are not orphans', async (t) => {
  const { warehouse, table, put, pairs, folder, store } = await create(t.testdir())
  await put(1, 1)
  await createTag(store, nodeClock, 'one')
  // A branch as Paimon makes it: schema and snapshot of the tag under a folder of its own, files shared.
  const branch = join(folder, 'branch', 'branch-dev')
  mkdirSync(join(branch, 'snapshot'), { recursive: true })
  cpSync(join(folder, 'schema'), join(branch, 'schema'), { recursive: true })
  await put(1, 2)
  // The branch's own commit: snapshot 2 of main, whose files main gives up below.
  cpSync(join(folder, 'snapshot', 'snapshot-1'), join(branch, 'snapshot', 'snapshot-1'))
  cpSync(join(folder, 'snapshot', 'snapshot-2'), join(branch, 'snapshot', 'snapshot-2'))
  const tagFiles = await liveFiles(store, 1)
  await put(1, 3)
  await table.compact({ full: true })
  await table.expireSnapshots({ retainMax: 1 })
  age(folder, 3)
  t.same((await table.removeOrphans()).files, [], 'none')
  const dev = branchStore(store, 'dev')
  for (const { partition, bucket, file } of [...(await liveFiles(dev)), ...tagFiles]) {
    t.equal(partition.length, 12)
    t.ok(existsSync(join(folder, `bucket-${bucket}`, file.name)), file.name)
  }
  t.equal((await store.tags.read('one')).snapshot.id, 1)
  t.same(await pairs(), [[1, 3]])
  await warehouse.close()
})

t.test('a limit that is too young, a handle that only reads, options that are none', async (t) => {
  const path = t.testdir()
  const { warehouse, table, put } = await create(path)
  await put(1, 1)
  await refused(t, table.removeOrphans({ olderThan: Date.now() }), 'INVALID', { option: 'olderThan' }, 'force')
  await refused(t, table.removeOrphans({ older: 5 } as object), 'INVALID', { option: 'older' })
  await warehouse.close()
  const reader = openAlone(path, { readOnly: true })
  const read = await reader.table('db.t')
  await refused(t, read.removeOrphans(), 'INVALID', { table: 'db.t' }, 'readOnly')
  await reader.close()
})

t.test('tables that were dropped half way are removed', async (t) => {
  const path = t.testdir()
  const { warehouse, table, put, folder } = await create(path)
  await put(1, 1)
  await table.close()
  const dropped = join(folder, '..', '.dropped-0dead0f0-c607-4ee6-b879-12d8d75d3368')
  renameSync(folder, dropped)
  mkdirSync(join(folder, '..', '.dropped-other'))
  t.same(await warehouse.tables(), [])
  const dry = await warehouse.removeDropped({ dryRun: true })
  t.equal(dry.length, readdirSync(dropped, { recursive: true, withFileTypes: true }).filter((e) => e.isFile()).length)
  t.same(await warehouse.removeDropped(), dry)
  t.same(readdirSync(join(folder, '..')), ['.dropped-other'])
  t.same(await warehouse.removeDropped(), [])
  await refused(t, warehouse.removeDropped({ dry: true } as object), 'INVALID', { option: 'dry' })
  const reader = openAlone(path, { readOnly: true })
  await refused(t, reader.removeDropped(), 'INVALID', {}, 'readOnly')
  t.same(await reader.removeDropped({ dryRun: true }), [])
  await reader.close()
  await warehouse.close()
})

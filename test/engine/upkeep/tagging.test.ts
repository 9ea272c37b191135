import t from 'tap'
import { Pins } from '../../../engine/store/pins.ts'
import type { TableStore } from '../../../engine/store/table-store.ts'
import { expireSnapshots } from '../../../engine/upkeep/expire.ts'
import { createTag, deleteTag } from '../../../engine/upkeep/tagging.ts'
import { goldenStore, storeOver } from '../../support/golden-store.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { allFiles, filesOfSnapshot, unnamedFiles } from '../../support/table-files.ts'

const clock = manualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 678), 60)

const keepLast = (store: TableStore, n: number, pins = new Pins()) =>
  expireSnapshots(store, pins, {
    retainMin: n,
    retainMax: n,
    olderThan: 4e12,
    limit: 1000,
    cleanEmptyDirectories: false,
    dryRun: false,
    changelogs: { retainMin: 1, retainMax: 1, olderThan: 4e12, outlive: false },
    consumersOlderThan: undefined,
    consumersKeepSnapshots: true,
  })

t.test('a tag without retention is the snapshot byte for byte, with retention it tells when it was made', async (t) => {
  const { fs, store } = goldenStore('uc')
  await createTag(store, clock, 'plain', { snapshot: 2 })
  t.same(await fs.readFile(store.tags.path('plain')), await fs.readFile(store.snapshots.path(2)))
  await createTag(store, clock, 'timed', { retainMillis: 90_000 })
  const timed = await store.tags.read('timed')
  t.equal(timed.snapshot.id, await store.snapshots.latestId())
  t.same(timed.createTime, [2026, 1, 2, 4, 4, 5, 678_000_000])
  t.equal(timed.timeRetainedSeconds, 90)
})

t.test('what cannot be tagged', async (t) => {
  const { fs, store } = goldenStore('uc')
  await createTag(store, clock, 'a')
  await t.rejects(createTag(store, clock, 'a'), { code: 'EXISTS' })
  await t.rejects(createTag(store, clock, 'b', { snapshot: 999 }), { code: 'NOT_FOUND' })
  await keepLast(store, 1)
  await t.rejects(createTag(store, clock, 'b', { snapshot: 1 }), { code: 'EXPIRED' })
  t.same(await store.tags.names(), ['a'])
  for (const id of await store.snapshots.ids()) await fs.unlink(store.snapshots.path(id))
  await t.rejects(createTag(store, clock, 'b'), { code: 'NOT_FOUND' })
})

t.test('C083: the last tag takes its files along, and nothing that others name', async (t) => {
  const { fs, store } = goldenStore('uc')
  await createTag(store, clock, 'four', { snapshot: 4 })
  await createTag(store, clock, 'six', { snapshot: 6 })
  await keepLast(store, 1)
  t.same(await unnamedFiles(storeOver(fs, store.paths.table)), [])
  for (const name of ['four', 'six']) {
    const before = await allFiles(fs, store.paths.table)
    const { files, bytes } = await deleteTag(store, new Pins(), name)
    t.ok(files.length > 0 && bytes > 0)
    const after = await allFiles(fs, store.paths.table)
    t.same(
      before.filter((path) => !after.includes(path)),
      [...files, store.tags.path(name)].sort(),
    )
    const fresh = storeOver(fs, store.paths.table)
    t.same(await unnamedFiles(fresh), [], name)
    const roots = [(await fresh.snapshots.latest())!, ...(await fresh.tags.list()).map((tag) => tag.snapshot)]
    for (const root of roots) for (const path of await filesOfSnapshot(fresh, root)) t.ok(after.includes(path), path)
  }
})

t.test('C085: a tag whose snapshot is there, or has another tag, takes nothing along', async (t) => {
  const { fs, store } = goldenStore('uc')
  await createTag(store, clock, 'x', { snapshot: 4 })
  await createTag(store, clock, 'y', { snapshot: 4 })
  await createTag(store, clock, 'z')
  const before = await allFiles(fs, store.paths.table)
  t.same((await deleteTag(store, new Pins(), 'z')).files, [])
  await keepLast(store, 1)
  t.same((await deleteTag(store, new Pins(), 'x')).files, [])
  const left = await allFiles(fs, store.paths.table)
  for (const path of await filesOfSnapshot(store, (await store.tags.read('y')).snapshot))
    t.ok(left.includes(path), path)
  t.ok(before.length > left.length)
  await t.rejects(deleteTag(store, new Pins(), 'x'), { code: 'NOT_FOUND' })
})

t.test('C086: a branch that starts from a tag keeps its files when the tag goes', async (t) => {
  const { fs, store } = goldenStore('uc')
  await createTag(store, clock, 'g', { snapshot: 3 })
  const branch = `${store.paths.branches}/branch-dev`
  fs.plant(`${branch}/snapshot/snapshot-3`, await fs.readFile(store.snapshots.path(3)))
  const needed = await filesOfSnapshot(store, await store.snapshots.read(3))
  await keepLast(store, 1)
  await deleteTag(store, new Pins(), 'g')
  const left = await allFiles(fs, store.paths.table)
  for (const path of needed) t.ok(left.includes(path), path)
})

t.test('files that a reader has open stay when their tag goes', async (t) => {
  const { fs, store } = goldenStore('uc')
  await createTag(store, clock, 'four', { snapshot: 4 })
  await keepLast(store, 1)
  const needed = await filesOfSnapshot(store, (await store.tags.read('four')).snapshot)
  const pins = new Pins()
  pins.pin(4)
  t.same((await deleteTag(store, pins, 'four')).files, [])
  const left = await allFiles(fs, store.paths.table)
  for (const path of needed) t.ok(left.includes(path), path)
})

t.test('C087: tag names are refused or stay inside the folder of tags', async (t) => {
  const { fs, store } = goldenStore('uc')
  for (const name of ['', '  ', 'a/b', '..', '.', 'a\0b', 'a\\b', 'x'.repeat(201), '\ud800']) {
    await t.rejects(createTag(store, clock, name), { code: 'INVALID' }, JSON.stringify(name))
    await t.rejects(store.tags.read(name), { code: 'INVALID' })
  }
  const outside = (await allFiles(fs, '/')).filter((path) => !path.startsWith(`${store.paths.tags}/`))
  const names = ['é x', '1', 'A', 'a', 'a.b', '#%20', '雪'.repeat(60)]
  for (const name of names) await createTag(store, clock, name)
  t.same([...(await store.tags.names())].sort(), [...names].sort())
  for (const name of names) t.equal((await store.tags.read(name)).name, name)
  t.same(
    (await allFiles(fs, '/')).filter((path) => !path.startsWith(`${store.paths.tags}/`)),
    outside,
  )
})

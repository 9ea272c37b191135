import { unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { t as types } from '../../engine/index.ts'
import { nodeClock } from '../../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../../engine/ports/node-fs.ts'
import { Pins } from '../../engine/store/pins.ts'
import { loadView } from '../../engine/store/view.ts'
import { createTag, deleteTag } from '../../engine/upkeep/tagging.ts'
import type { WarehouseContext } from '../../engine/warehouse.ts'
import { manualClock } from '../support/manual-clock.ts'
import { unnamedFiles } from '../support/table-files.ts'
import { collect, dataFilesOnDisk, liveFiles, openAlone, refused, storeOf } from '../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const
const HOUR = 3_600_000

async function create(
  path: string,
  options: Record<string, string | number> = {},
  context: Partial<WarehouseContext> = {},
) {
  const warehouse = openAlone(path, context)
  const table = await warehouse.createTable(
    'db.t',
    { ...definition, options: { 'write-only': 'true', ...options } },
    { ifNotExists: true },
  )
  const put = async (...rows: readonly (readonly [k: number, v: number])[]) => {
    await table.put(rows.map(([k, v]) => ({ k, v })))
    await table.commit()
  }
  const pairs = async (snapshot?: number) =>
    (await collect(table.scan(snapshot === undefined ? {} : { snapshot }))).map(({ k, v }) => [k, v])
  const ids = async () => (await table.snapshots()).map(({ id }) => id)
  return {
    path,
    warehouse,
    table,
    put,
    pairs,
    ids,
    folder: join(path, 'db.db', 't'),
    store: await storeOf(path, 'db', 't'),
  }
}

/** Keys and values that a tag keeps: its files, read without the engine's idea of what is newest. */
async function tagged(store: Awaited<ReturnType<typeof storeOf>>, name: string): Promise<string[]> {
  const { snapshot } = await store.tags.read(name)
  await loadView(store, snapshot)
  return (await store.manifests.liveEntries(snapshot)).map(({ file }) => file.name)
}

t.test('C082 expiry leaves a file that an upgrade both removed and added', async (t) => {
  const { warehouse, table, folder, store } = await create(t.testdir(), { 'target-file-size': '1 kb' })
  await table.put(Array.from({ length: 2000 }, (_, k) => ({ k, v: k })))
  await table.commit()
  const before = dataFilesOnDisk(folder)
  t.ok(before.length >= 1)
  await table.compact({ full: true })
  t.ok((await liveFiles(store)).every(({ file }) => file.level === 5))
  t.same((await liveFiles(store)).map(({ file }) => file.name).sort(), before)
  const { expired } = await table.expireSnapshots({ retainMax: 1 })
  t.same(expired, [1])
  t.same(dataFilesOnDisk(folder), before, 'the same names')
  t.equal((await collect(table.scan())).length, 2000)
  await warehouse.close()
})

t.test(
  'C083 C085 a tag keeps its files through expiry; deleting it removes only what nothing else names',
  async (t) => {
    const { warehouse, table, put, pairs, folder, store } = await create(t.testdir())
    await put([1, 1], [2, 2])
    await table.compact({ full: true })
    await createTag(store, nodeClock, 'one')
    await put([1, 100])
    await table.compact({ full: true })
    await table.expireSnapshots({ retainMax: 1 })
    const onDisk = dataFilesOnDisk(folder)
    for (const name of await tagged(store, 'one')) t.ok(onDisk.includes(name), 'a file of the tag')
    t.same(await pairs(), [
      [1, 100],
      [2, 2],
    ])
    await deleteTag(store, new Pins(), 'one')
    t.same(await pairs(), [
      [1, 100],
      [2, 2],
    ])
    t.equal(dataFilesOnDisk(folder).length, 1)
    t.same(await unnamedFiles(store), [])
    await warehouse.close()
  },
)

t.test('C085 deleting a tag of the newest snapshot removes nothing that is in use', async (t) => {
  const { warehouse, table, put, pairs, folder, store } = await create(t.testdir())
  await put([1, 1])
  await table.compact({ full: true })
  await put([2, 2])
  await createTag(store, nodeClock, 'x')
  await createTag(store, nodeClock, 'y', { snapshot: 1 })
  await deleteTag(store, new Pins(), 'x')
  t.same(await pairs(), [
    [1, 1],
    [2, 2],
  ])
  await table.expireSnapshots({ retainMax: 1 })
  t.same(await pairs(), [
    [1, 1],
    [2, 2],
  ])
  t.equal(
    (await tagged(store, 'y')).every((name) => dataFilesOnDisk(folder).includes(name)),
    true,
  )
  await deleteTag(store, new Pins(), 'y')
  t.same(await pairs(), [
    [1, 1],
    [2, 2],
  ])
  await warehouse.close()
})

t.test('C087 two tags of one snapshot, and names', async (t) => {
  const { warehouse, table, put, store, folder } = await create(t.testdir())
  await put([1, 1])
  await createTag(store, nodeClock, 'x')
  await createTag(store, nodeClock, 'y')
  await put([1, 2])
  await put([1, 3])
  await table.compact({ full: true })
  await table.expireSnapshots({ retainMax: 1 })
  await deleteTag(store, new Pins(), 'x')
  t.ok((await tagged(store, 'y')).every((name) => dataFilesOnDisk(folder).includes(name)))
  await createTag(store, nodeClock, 'a')
  await refused(t, createTag(store, nodeClock, 'a'), 'EXISTS', { value: 'a' }, '"a"')
  for (const name of ['', '  ', 'a/b', '..', '.', 'nul\0', 'x'.repeat(300)]) {
    await refused(t, createTag(store, nodeClock, name), 'INVALID', { value: name })
  }
  for (const name of ['é x', '1', 'A']) await createTag(store, nodeClock, name)
  t.same(await store.tags.names(), ['1', 'A', 'a', 'y', 'é x'])
  await warehouse.close()
})

t.test(
  'C088 a reader that comes while expiry has removed data files but no snapshot yet is told it is expired',
  async (t) => {
    const path = t.testdir()
    const real = createNodeFileSystem({ sync: false })
    let pause: (() => Promise<void>) | undefined
    const fs: typeof real = {
      ...real,
      async unlink(file) {
        if (/snapshot-\d+$/.test(file)) await pause?.()
        await real.unlink(file)
      },
    }
    const { warehouse, table, put } = await create(path, {}, { fs })
    for (let v = 1; v <= 10; v++) await put([1, v])
    await table.compact({ full: true })
    const other = await create(path)
    let checked = 0
    pause = async () => {
      if (checked++ > 0) return
      await refused(t, other.pairs(1), 'EXPIRED', { value: 1 }, '1')
      const [earliest] = await other.ids()
      t.ok((earliest ?? 0) > 1, `earliest is ${earliest}`)
      t.same(await other.pairs(earliest), [[1, 10]])
    }
    await table.expireSnapshots({ retainMax: 1 })
    t.ok(checked > 0)
    await other.warehouse.close()
    await warehouse.close()
  },
)

t.test('C089 files of a scan that another process expires: all rows, or EXPIRED', async (t) => {
  const path = t.testdir()
  const { warehouse, table } = await create(path)
  for (let i = 0; i < 10; i++) {
    await table.put(Array.from({ length: 200 }, (_, k) => ({ k: i * 200 + k, v: 1 })))
    await table.commit()
  }
  const other = await create(path)
  const begun = other.table.scan()
  const unbegun = other.table.scan()
  await begun.next()
  await table.put(Array.from({ length: 2000 }, (_, k) => ({ k, v: 2 })))
  await table.commit()
  await table.compact({ full: true })
  await table.expireSnapshots({ retainMax: 1 })
  for (const scan of [begun, unbegun]) {
    const outcome = await collect(scan).then(
      (rows) => rows.length + (scan === begun ? 1 : 0),
      (error: { code: string }) => error.code,
    )
    t.ok(outcome === 2000 || outcome === 'EXPIRED', `${outcome}`)
  }
  await other.table.refresh()
  t.same([...new Set((await other.pairs()).map(([, v]) => v))], [2])
  await other.warehouse.close()
  await warehouse.close()
})

t.test('C090 limits of retention', async (t) => {
  const clock = manualClock()
  const { warehouse, table, put, ids } = await create(t.testdir(), {}, { clock })
  for (let v = 1; v <= 15; v++) await put([1, v])
  t.equal((await table.expireSnapshots({ retainMin: 10, olderThan: clock.now() + 1 })).expired.length, 5)
  t.equal((await ids())[0], 6)
  t.equal(
    (await table.expireSnapshots({ retainMax: 4, retainMin: 1, olderThan: clock.now() - HOUR })).expired.length,
    6,
  )
  t.equal((await ids())[0], 12)
  await warehouse.close()
})

t.test('C090 a consumer holds back the snapshots that it has not read', async (t) => {
  const { warehouse, table, put, ids, folder } = await create(t.testdir())
  for (let v = 1; v <= 5; v++) await put([1, v])
  const { mkdirSync } = await import('node:fs')
  mkdirSync(join(folder, 'consumer'))
  writeFileSync(join(folder, 'consumer', 'consumer-c'), '{"nextSnapshot":3}')
  t.same(
    (await table.expireSnapshots({ retainMax: 100, retainMin: 1, olderThan: Number.MAX_SAFE_INTEGER })).expired,
    [1, 2],
  )
  t.equal((await ids())[0], 3)
  t.same((await table.expireSnapshots({ retainMax: 1 })).expired, [])
  await warehouse.close()
})

t.test('C091 a gap in the snapshots blocks neither reads nor expiry', async (t) => {
  const { path, warehouse, put, folder } = await create(t.testdir())
  for (let v = 1; v <= 4; v++) await put([v, v])
  await warehouse.close()
  for (const id of [1, 3]) unlinkSync(join(folder, 'snapshot', `snapshot-${id}`))
  writeFileSync(join(folder, 'snapshot', 'EARLIEST'), '1')
  const again = await create(path)
  t.same(await again.ids(), [2, 4])
  t.same(await again.pairs(), [
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
  ])
  await again.table.expireSnapshots({ retainMax: 1 })
  t.same(await again.ids(), [4])
  t.same(await again.pairs(), [
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
  ])
  await again.warehouse.close()
})

t.test('C091 an expiry that was killed at any call is finished by the next', async (t) => {
  const root = t.testdir()
  const real = createNodeFileSystem({ sync: false })
  for (const stop of [1, 3, 7, 15, 30, 60]) {
    const path = join(root, String(stop))
    await real.makeDirectory(path)
    let left = Number.POSITIVE_INFINITY
    const gone = () => Promise.reject(Object.assign(new Error('killed'), { code: 'EIO' }))
    const fs: typeof real = {
      ...real,
      unlink: (file) => (left-- > 0 ? real.unlink(file) : gone()),
      rename: (from, to) => (left > 0 ? real.rename(from, to) : gone()),
    }
    const dying = await create(path, {}, { fs })
    for (let v = 1; v <= 12; v++) await dying.put([v % 3, v])
    await dying.table.compact({ full: true })
    left = stop
    await dying.table.expireSnapshots({ retainMax: 1 }).catch(() => undefined)
    const again = await create(path)
    await again.table.expireSnapshots({ retainMax: 1 })
    t.same(
      await again.pairs(),
      [
        [0, 12],
        [1, 10],
        [2, 11],
      ],
      `killed after ${stop} removals`,
    )
    t.same(await again.ids(), [13])
    await again.warehouse.close()
  }
})

t.test('C092 clocks that jump: times never go back, and the newest snapshots stay', async (t) => {
  const clock = manualClock(1_700_000_000_000)
  const { warehouse, table, put, pairs } = await create(t.testdir(), {}, { clock })
  await put([1, 1])
  clock.advance(1000)
  await put([1, 2])
  clock.set(clock.now() - HOUR)
  await put([1, 3])
  await put([1, 4])
  const times = (await table.snapshots()).map(({ timeMillis }) => timeMillis)
  for (let i = 1; i < times.length; i++) t.ok(times[i]! >= times[i - 1]!, times.join())
  clock.advance(10 * 365 * 24 * HOUR)
  t.same((await table.expireSnapshots({ olderThan: clock.now() - HOUR, retainMin: 10 })).expired, [])
  t.same((await table.expireSnapshots({ olderThan: clock.now() - HOUR, retainMin: 1 })).expired, [1, 2, 3])
  t.same(await pairs(), [[1, 4]])
  await warehouse.close()
})

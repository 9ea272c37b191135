import { join } from 'node:path'
import t from 'tap'
import { t as types } from '../../engine/index.ts'
import { dataPathsOf, type TableStore } from '../../engine/store/table-store.ts'
import type { ManifestEntry } from '../../formats/meta/types.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { collect, dataFilesOnDisk, liveFiles, open, openAlone, storeOf } from '../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const

async function create(path: string, options: Record<string, string | number> = {}) {
  const warehouse = await open(path)
  const table = await warehouse.createTable('db.t', { ...definition, options: { 'write-only': 'true', ...options } })
  const put = async (...rows: readonly (readonly [k: number, v: number | null])[]) => {
    await table.put(rows.map(([k, v]) => ({ k, v })))
    await table.commit()
  }
  const del = async (...keys: number[]) => {
    await table.delete(keys)
    await table.commit()
  }
  const pairs = async () => (await collect(table.scan())).map(({ k, v }) => [k, v])
  return { warehouse, table, put, del, pairs, folder: join(path, 'db.db', 't'), store: await storeOf(path, 'db', 't') }
}

const shapeOf = ({ file }: ManifestEntry) => ({
  level: file.level,
  rows: file.rows,
  deletes: file.deleteRows,
  seq: `${file.minSequence}..${file.maxSequence}`,
})
const shapes = async (store: TableStore) => (await liveFiles(store)).map(shapeOf).sort((a, b) => a.level - b.level)

t.test('C006 a bucket that is compacted is not compacted again', async (t) => {
  const { warehouse, table, put, store } = await create(t.testdir(), { 'num-sorted-run.compaction-trigger': 1 })
  await put([1, 1], [2, 2])
  await table.compact({ full: true })
  const before = (await liveFiles(store)).map(({ file }) => `${file.name} ${file.bytes}`)
  const snapshots = (await table.snapshots()).length
  await table.compact({ full: true })
  await table.compact()
  t.same(
    (await liveFiles(store)).map(({ file }) => `${file.name} ${file.bytes}`),
    before,
  )
  t.ok((await table.snapshots()).length <= snapshots + 1)
  await warehouse.close()
})

t.test('C007 two level-0 files that compare equal are both kept and both compacted', async (t) => {
  const path = t.testdir()
  const { warehouse, table, store, pairs } = await create(path)
  const other = openAlone(path)
  const second = await other.createTable('db.t', definition, { ifNotExists: true })
  await table.put({ k: 1, v: 8 })
  await second.put({ k: 2, v: 9 })
  await table.commit()
  await second.commit()
  await table.refresh()
  t.same(
    (await shapes(store)).map(({ level, rows }) => [level, rows]),
    [
      [0, 1],
      [0, 1],
    ],
  )
  t.same(await pairs(), [
    [1, 8],
    [2, 9],
  ])
  await table.compact({ full: true })
  t.match(await shapes(store), [{ level: 5, rows: 2, deletes: 0 }])
  t.same(await pairs(), [
    [1, 8],
    [2, 9],
  ])
  await other.close()
  await warehouse.close()
})

t.test('C009 files of a level above 0 never overlap, and the rows are those of a map', async (t) => {
  const { warehouse, table, store, pairs } = await create(t.testdir(), {
    'write-only': 'false',
    'target-file-size': '2 kb',
    'num-sorted-run.compaction-trigger': 3,
  })
  const random = seededRandom(1)
  const model = new Map<number, number>()
  let levelsSeen = 0
  for (let commit = 0; commit < 40; commit++) {
    const mutations = Array.from({ length: 200 }, () => {
      const k = Math.floor(random.fraction() * 2000)
      const v = Math.floor(random.fraction() * 1000)
      if (random.fraction() < 0.2) {
        model.delete(k)
        return { delete: k }
      }
      model.set(k, v)
      return { put: { k, v } }
    })
    await table.write(mutations)
    await table.commit()
    const live = await liveFiles(store)
    for (const level of new Set(live.map(({ file }) => file.level))) {
      levelsSeen |= 1 << level
      if (level === 0) continue
      const files = live.filter(({ file }) => file.level === level).map(({ file }) => file)
      const bounds = files
        .map(({ minKey, maxKey }) => [keyOf(minKey), keyOf(maxKey)] as const)
        .sort((a, b) => a[0] - b[0])
      bounds.forEach(([min], i) => {
        if (i > 0 && bounds[i - 1]![1] >= min) t.fail(`commit ${commit}, level ${level}: ${JSON.stringify(bounds)}`)
      })
    }
  }
  t.ok(levelsSeen > 1, `levels seen: ${levelsSeen.toString(2)}`)
  t.same(
    await pairs(),
    [...model].sort(([a], [b]) => a - b),
  )
  await table.compact({ full: true })
  t.same(
    await pairs(),
    [...model].sort(([a], [b]) => a - b),
  )
  await warehouse.close()
})

/** The INT of a serialised BinaryRow of one column: arity 4 bytes, header 8, then the value, little endian. */
function keyOf(key: Uint8Array): number {
  return Buffer.from(key).readInt32LE(12)
}

t.test('C010 a delete survives a compaction below the top level, and ends in a full one', async (t) => {
  const warehouse = await open(t.testdir())
  const wide = await warehouse.createTable('db.w', {
    fields: { k: types.int(), v: types.string() },
    primaryKey: ['k'],
    options: { 'write-only': 'true', 'num-sorted-run.compaction-trigger': 5 },
  })
  const files = await storeOf(warehouse.path, 'db', 'w')
  await wide.put(Array.from({ length: 5000 }, (_, k) => ({ k, v: `value of the key ${k}` })))
  await wide.commit()
  await wide.compact({ full: true })
  const [top] = await liveFiles(files)
  for (const k of [7, 8, 9, 10]) {
    if (k === 7) await wide.delete(7)
    else await wide.put({ k, v: 'new' })
    await wide.commit()
  }
  await wide.compact()
  const after = await liveFiles(files)
  t.same(
    after
      .map(shapeOf)
      .map(({ level, rows, deletes }) => ({ level, rows, deletes }))
      .sort((a, b) => a.level - b.level),
    [
      { level: 4, rows: 4, deletes: 1 },
      { level: 5, rows: 5000, deletes: 0 },
    ],
  )
  t.ok(
    after.some(({ file }) => file.name === top!.file.name),
    'the file of level 5 is untouched',
  )
  const keys = async () => (await collect(wide.scan({ columns: ['k'] }))).map(({ k }) => k)
  t.equal((await keys()).length, 4999)
  t.notOk((await keys()).includes(7))
  t.equal(await wide.get(7), undefined)
  await wide.put({ k: 7, v: 'again' })
  await wide.commit()
  await wide.delete(7)
  await wide.commit()
  t.equal((await keys()).length, 4999)
  await wide.compact({ full: true })
  t.same(
    (await liveFiles(files)).map(shapeOf).map(({ level, rows, deletes }) => [level, rows, deletes]),
    [[5, 4999, 0]],
  )
  t.equal(await wide.get(7), undefined)
  await warehouse.close()
})

t.test('C012 a file with deletes is rewritten, not upgraded, into the top level', async (t) => {
  const { warehouse, table, store } = await create(t.testdir(), { 'target-file-size': '1 kb' })
  await table.write(Array.from({ length: 900 }, (_, k) => (k % 9 === 0 ? { delete: k } : { put: { k, v: k } })))
  await table.commit()
  const before = await liveFiles(store)
  t.equal(
    before.reduce((sum, { file }) => sum + (file.deleteRows ?? 0), 0),
    100,
  )
  t.equal(
    before.reduce((sum, { file }) => sum + file.rows, 0),
    900,
  )
  t.equal((await collect(table.scan())).length, 800)
  await table.compact({ full: true })
  const after = await liveFiles(store)
  t.equal(
    after.reduce((sum, { file }) => sum + file.rows, 0),
    800,
  )
  for (const { file } of after) {
    t.match(file, { level: 5, deleteRows: 0 })
    t.notOk(
      before.some((old) => old.file.name === file.name),
      'a new name',
    )
  }
  t.equal((await collect(table.scan())).length, 800)
  await warehouse.close()
})

t.test('C013 an upgraded file keeps its statistics, so that a filter opens no file', async (t) => {
  const { warehouse, table, store } = await create(t.testdir(), {
    'metadata.stats-mode': 'full',
    'manifest.delete-file-drop-stats': 'true',
    'target-file-size': '1 kb',
  })
  await table.put(Array.from({ length: 1000 }, (_, k) => ({ k, v: k })))
  await table.commit()
  const before = await liveFiles(store)
  await table.compact({ full: true })
  const after = await liveFiles(store)
  t.same(
    after.map(({ file }) => [file.name, file.level]),
    before.map(({ file }) => [file.name, 5]),
  )
  t.same(
    after.map(({ file }) => file.valueStats),
    before.map(({ file }) => file.valueStats),
  )
  t.same(
    after.map(({ file }) => file.keyStats),
    before.map(({ file }) => file.keyStats),
  )
  t.ok(after.every(({ file }) => file.valueStats.nullCounts?.length === 2 && file.valueStats.min.length > 12))
  for (const { file, partition, bucket } of after) {
    const [path] = dataPathsOf(store.paths, await store.schemas.latest()).filesOf(partition, bucket, file)
    await store.fs.rename(path!, `${path}.away`)
  }
  t.same(await collect(table.scan({ where: { v: { gt: 2000 } } })), [], 'without one file there')
  await warehouse.close()
})

t.test('C014 a compaction never puts newer rows under older ones', async (t) => {
  const { warehouse, table, put, pairs, store } = await create(t.testdir(), {
    'num-sorted-run.compaction-trigger': 2,
  })
  const check = async (v: number) => {
    t.same(await pairs(), [[1, v], ...Array.from({ length: 2000 }, (_, i) => [i + 10, 0])])
    const files = (await liveFiles(store))
      .map(({ file }) => file)
      .sort((a, b) => a.level - b.level || Number(b.maxSequence - a.maxSequence))
    for (let i = 1; i < files.length; i++) {
      const [upper, lower] = [files[i - 1]!, files[i]!]
      t.ok(upper.minSequence > lower.maxSequence, `level ${upper.level} is newer than level ${lower.level}`)
    }
  }
  await put([1, 1], ...Array.from({ length: 2000 }, (_, i) => [i + 10, 0] as const))
  await table.compact({ full: true })
  await check(1)
  for (const v of [2, 3]) {
    await put([1, v])
    await check(v)
    await table.compact()
    await check(v)
  }
  await warehouse.close()
})

t.test('C015 a compaction that removes everything leaves no file', async (t) => {
  const { warehouse, table, put, del, pairs, store, folder } = await create(t.testdir())
  await del(1, 2)
  t.match(await shapes(store), [{ level: 0, rows: 2, deletes: 2 }])
  t.same(await pairs(), [])
  await table.compact({ full: true })
  t.same(await shapes(store), [])
  t.match((await table.snapshots()).at(-1), { kind: 'COMPACT', totalRecords: 0n })
  t.equal(dataFilesOnDisk(folder).length, 1, 'no file without rows was written')
  await put([3, 3])
  t.same(await pairs(), [[3, 3]])
  await warehouse.close()
})

t.test('C054 a scan gives one row a key, whatever the split options say', async (t) => {
  const { warehouse, put, pairs } = await create(t.testdir(), {
    'source.split.target-size': '1b',
    'source.split.open-file-cost': '1b',
  })
  for (const v of [10, 20, 30]) await put([1, v])
  t.same(await pairs(), [[1, 30]])
  await warehouse.close()
})

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { publishSnapshot } from '../../engine/commit/publish-snapshot.ts'
import { t as types } from '../../engine/index.ts'
import { resolve } from '../../engine/options/resolve.ts'
import { createNodeFileSystem } from '../../engine/ports/node-fs.ts'
import { manifestWriter, openTableStore } from '../../engine/store/table-store.ts'
import { decodeManifestList, encodeManifestList } from '../../formats/meta/manifest-list.ts'
import { printSnapshot } from '../../formats/meta/snapshot.ts'
import { manualClock } from '../support/manual-clock.ts'
import { alter, collect, dataFilesOnDisk, liveFiles, open, openAlone, refused, storeOf } from '../support/warehouses.ts'

const definition = {
  fields: { k: types.int(), v: types.int().nullable() },
  primaryKey: ['k'],
  options: { 'write-only': 'true' },
} as const

/** Independent writers of one table, as in processes of their own, and its files. */
async function writers(path: string, count: number, options: Record<string, string | number> = {}) {
  const opened = Array.from({ length: count }, () => openAlone(path))
  const tables = []
  for (const warehouse of opened) {
    const table = await warehouse.createTable(
      'db.t',
      { ...definition, options: { ...definition.options, ...options } },
      { ifNotExists: true },
    )
    tables.push(
      Object.assign(table, {
        set: async (...rows: readonly (readonly [k: number, v: number])[]) => {
          await table.put(rows.map(([k, v]) => ({ k, v })))
          return table.commit()
        },
        pairs: async () => {
          await table.refresh()
          return (await collect(table.scan())).map(({ k, v }) => [k, v])
        },
      }),
    )
  }
  const close = async () => {
    for (const warehouse of opened) await warehouse.close()
  }
  return { tables, close, store: await storeOf(path, 'db', 't') }
}

const sequences = async (store: Awaited<ReturnType<typeof storeOf>>) =>
  (await liveFiles(store)).map(({ file }) => [file.level, `${file.minSequence}..${file.maxSequence}`])

t.test('C034 sequence numbers go on after a full compaction and a reopen', async (t) => {
  const path = t.testdir()
  const once = async (use: (table: Awaited<ReturnType<typeof writers>>['tables'][number]) => Promise<unknown>) => {
    const { tables, close, store } = await writers(path, 1)
    await use(tables[0]!)
    await close()
    return store
  }
  const store = await once(async (table) => {
    for (let v = 0; v < 5; v++) await table.set([1, v])
    await table.compact({ full: true })
  })
  t.same(await sequences(store), [[5, '4..4']])
  await once((table) => table.set([1, 77]))
  t.same((await sequences(store)).sort(), [
    [0, '5..5'],
    [5, '4..4'],
  ])
  await once(async (table) => {
    t.same(await table.pairs(), [[1, 77]])
    await table.delete(1)
    await table.commit()
    t.same(await table.pairs(), [])
  })
})

t.test('C035 rows written while an earlier commit is under way are the newer ones', async (t) => {
  const { tables, close } = await writers(t.testdir(), 1)
  const [table] = tables
  await table!.put({ k: 1, v: 1 })
  const first = table!.commit()
  await table!.put({ k: 1, v: 2 })
  const second = table!.commit()
  await Promise.all([first, second])
  t.same(await table!.pairs(), [[1, 2]])
  await table!.compact({ full: true })
  t.same(await table!.pairs(), [[1, 2]])
  await close()
})

t.test('C037 the later commit wins in scan, get and compaction, however long its writer was open', async (t) => {
  const path = t.testdir()
  const { tables, close } = await writers(path, 2)
  const [a, b] = tables
  await a!.set([0, 0])
  await a!.put({ k: 5, v: 5 })
  for (let v = 100; v < 105; v++) await b!.set([1, v])
  await a!.put({ k: 1, v: 999 })
  await a!.commit()
  const wanted = [
    [0, 0],
    [1, 999],
    [5, 5],
  ]
  for (const table of tables) {
    t.same(await table.pairs(), wanted)
    t.same(await table.get(1), { k: 1, v: 999 })
  }
  await b!.compact({ full: true })
  for (const table of tables) {
    t.same(await table.pairs(), wanted)
    t.same(await table.get(1), { k: 1, v: 999 })
  }
  await close()
  const third = await writers(path, 1)
  await third.tables[0]!.set([1, 1000])
  t.same(await third.tables[0]!.pairs(), [
    [0, 0],
    [1, 1000],
    [5, 5],
  ])
  await third.close()
})

t.test('C070 of two full compactions of one state the second changes nothing', async (t) => {
  const { tables, close, store } = await writers(t.testdir(), 2)
  const [a, b] = tables
  for (const v of [0, 1, 2]) await a!.set([1, v])
  await b!.refresh()
  const conflicts: unknown[] = []
  b!.on('conflict', (event) => conflicts.push(event))
  // Both plan on the same snapshot; the second finds the files of its plan gone when it publishes.
  const started = new Promise((done) => b!.on('compactionStart', done))
  const losing = b!.compact({ full: true })
  await started
  await a!.compact({ full: true })
  await losing.catch(() => undefined)
  await b!.refresh()
  t.same(await sequences(store), [[5, '2..2']])
  t.same(await a!.pairs(), [[1, 2]])
  t.same(await b!.pairs(), [[1, 2]])
  t.equal((await a!.snapshots()).filter(({ kind }) => kind === 'COMPACT').length, 1)
  await close()
})

t.test('C072 rows that another writer commits during a compaction are kept', async (t) => {
  const path = t.testdir()
  const { tables, close, store } = await writers(path, 2)
  const [a, b] = tables
  for (const v of [0, 1, 2]) await a!.set([1, v])
  const started = new Promise((done) => a!.on('compactionStart', done))
  const compacting = a!.compact({ full: true })
  await started
  await b!.set([1, 666], [2, 7])
  await compacting
  t.same(await a!.pairs(), [
    [1, 666],
    [2, 7],
  ])
  const files = (await liveFiles(store)).map(({ file }) => [file.level, file.rows]).sort()
  t.same(files, [
    [0, 2],
    [5, 1],
  ])
  await a!.compact({ full: true })
  t.same(await a!.pairs(), [
    [1, 666],
    [2, 7],
  ])
  await close()
})

t.test('C074 two writers at full speed lose nothing and share no snapshot id', async (t) => {
  const { tables, close, store } = await writers(t.testdir(), 2)
  const ids: number[] = []
  await Promise.all(
    tables.map(async (table, writer) => {
      for (let i = 0; i < 25; i++) ids.push((await table.set([writer * 100 + i, i])).snapshots[0]!.id)
    }),
  )
  t.equal((await tables[0]!.pairs()).length, 50)
  const all = await store.snapshots.allIds()
  t.same(
    all,
    Array.from({ length: 50 }, (_, i) => i + 1),
  )
  t.equal(new Set(ids).size, 50)
  await close()
})

t.test(
  'C079 a bucket count that was changed without rewriting is refused for writing, both counts named',
  async (t) => {
    const path = t.testdir()
    const first = await writers(path, 1)
    await first.tables[0]!.set([1, 1], [2, 2])
    await first.close()
    await alter(first.store, ({ options }) => ({ options: { ...options, bucket: '2' } }))
    const warehouse = await open(path)
    const table = await warehouse.table('db.t')
    t.same(await collect(table.scan()), [
      { k: 1, v: 1 },
      { k: 2, v: 2 },
    ])
    t.same(await table.getMany([2, 1]), [
      { k: 2, v: 2 },
      { k: 1, v: 1 },
    ])
    const before = dataFilesOnDisk(path)
    await refused(
      t,
      async () => {
        await table.put([
          { k: 1, v: 10 },
          { k: 2, v: 20 },
        ])
        await table.commit()
      },
      'CONFLICT',
      { option: 'bucket', expected: 1, actual: 2 },
      '1',
      '2',
    )
    t.same(dataFilesOnDisk(path), before)
    t.same(await collect(table.scan()), [
      { k: 1, v: 1 },
      { k: 2, v: 2 },
    ])
    await warehouse.close({ discard: true })
  },
)

t.test('C081 a table opened with other tuning options, also fewer levels, is read and written on', async (t) => {
  const path = t.testdir()
  const first = await writers(path, 1)
  for (const v of [1, 2, 3]) await first.tables[0]!.set([v, v], [100, v])
  await first.tables[0]!.compact({ full: true })
  await first.tables[0]!.set([4, 4])
  await first.close()
  await alter(first.store, ({ options }) => ({
    options: {
      ...options,
      'num-levels': '3',
      'target-file-size': '1 mb',
      'num-sorted-run.compaction-trigger': '2',
      'write-only': 'false',
    },
  }))
  const second = await writers(path, 1)
  const [table] = second.tables
  t.same(
    table!.levels()[0]?.levels.map(({ level }) => level),
    [0, 5],
  )
  t.same(await table!.pairs(), [
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
    [100, 3],
  ])
  for (const v of [5, 6, 7]) await table!.set([v, v])
  await table!.compact({ full: true })
  t.same((await table!.pairs()).length, 8)
  t.match(table!.levels(), [{ runs: 1, levels: [{ level: 5 }] }])
  await second.close()
})

t.test('C081 options that change what a table means are refused by name when the table is opened', async (t) => {
  const path = t.testdir()
  const { tables, close, store } = await writers(path, 1)
  await tables[0]!.set([1, 1])
  await close()
  for (const [option, value] of [
    ['bucket', '-1'],
    ['file.format', 'orc'],
  ] as const) {
    await alter(store, ({ options }) => ({
      options: { ...definition.options, bucket: options.bucket ?? '1', [option]: value },
    }))
    const warehouse = await open(path)
    await refused(
      t,
      async () => {
        const table = await warehouse.table('db.t')
        await table.put({ k: 1, v: 2 })
        await table.commit()
      },
      'UNSUPPORTED',
      { option, value },
      option,
      value,
    )
    await warehouse.close({ discard: true })
    await alter(store, () => ({ options: { ...definition.options, bucket: '1' } }))
  }
  const last = await writers(path, 1)
  t.same(await last.tables[0]!.pairs(), [[1, 1]])
  await last.close()
})

t.test('C109 a compaction whose snapshot was published by a process that died then is not applied twice', async (t) => {
  const path = t.testdir()
  // The process "dies" in the call that links the COMPACT snapshot: done on disk, never answered, nothing after it happens.
  let dead = false
  const real = createNodeFileSystem({ sync: false })
  const fs: typeof real = {
    ...real,
    async link(from, to) {
      await real.link(from, to)
      if (to.endsWith('snapshot-4')) {
        dead = true
        throw Object.assign(new Error('gone'), { code: 'EIO' })
      }
    },
    readFile: (file) =>
      dead ? Promise.reject(Object.assign(new Error('gone'), { code: 'EIO' })) : real.readFile(file),
    unlink: (file) => (dead ? Promise.reject(Object.assign(new Error('gone'), { code: 'EIO' })) : real.unlink(file)),
  }
  const dying = openAlone(path, { fs })
  const table = await dying.createTable('db.t', definition)
  for (const v of [0, 1, 2]) {
    await table.put({ k: v, v })
    await table.commit()
  }
  await table.compact({ full: true }).catch(() => undefined)
  t.ok(dead)
  const { tables, close, store } = await writers(path, 1)
  const [reopened] = tables
  t.same(
    (await reopened!.snapshots()).map(({ kind }) => kind),
    ['APPEND', 'APPEND', 'APPEND', 'COMPACT'],
  )
  t.same(await reopened!.pairs(), [
    [0, 0],
    [1, 1],
    [2, 2],
  ])
  await reopened!.compact({ full: true })
  const names = (await liveFiles(store)).map(({ file }) => file.name)
  t.equal(new Set(names).size, names.length)
  t.equal(names.length, 1)
  t.same(await reopened!.pairs(), [
    [0, 0],
    [1, 1],
    [2, 2],
  ])
  await close()
})

t.test('C066 manifest merging loses and doubles nothing', async (t) => {
  const path = t.testdir()
  const { tables, close, store } = await writers(path, 1, {
    'write-only': 'false',
    'manifest.merge-min-count': 2,
    'num-sorted-run.compaction-trigger': 3,
    'snapshot.num-retained.min': 100,
    'snapshot.num-retained.max': 100,
  })
  const [table] = tables
  for (let i = 0; i < 60; i++) await table!.set([i % 7, i])
  await table!.refresh()
  for (const id of await store.snapshots.allIds()) {
    const snapshot = await store.snapshots.read(id)
    const { base, delta } = await store.manifests.listsOf(snapshot)
    const live = new Set<string>()
    const faults: string[] = []
    for (const { kind, file } of await store.manifests.readAll([...base, ...delta])) {
      const name = `${file.level}/${file.name}`
      if (kind === 'add' ? live.has(name) : !live.delete(name)) faults.push(`${kind} ${name}`)
      if (kind === 'add') live.add(name)
    }
    if (faults.length > 0) t.same(faults, [], `snapshot ${id}`)
    const read = (await store.manifests.liveEntries(snapshot)).map(({ file }) => `${file.level}/${file.name}`)
    if ([...live].sort().join() !== read.sort().join()) t.same(read, [...live], `snapshot ${id}`)
  }
  t.same(await table!.pairs(), [
    [0, 56],
    [1, 57],
    [2, 58],
    [3, 59],
    [4, 53],
    [5, 54],
    [6, 55],
  ])
  const newest = await store.manifests.listsOf((await store.snapshots.latest())!)
  t.ok(newest.base.length + newest.delta.length < 30, 'manifests were merged')
  await close()
})

t.test('C067 manifest lists of older writers, without bounds, are read, pruned and written on', async (t) => {
  const path = t.testdir()
  const first = await writers(path, 1, { bucket: 4 })
  await first.tables[0]!.set([1, 1], [2, 2], [3, 3])
  await first.tables[0]!.set([1, 4])
  await first.close()
  const snapshot = (await first.store.snapshots.latest())!
  const sizes: number[] = []
  for (const name of [snapshot.baseManifestList, snapshot.deltaManifestList]) {
    const file = first.store.manifests.path(name)
    const old = decodeManifestList(readFileSync(file), first.store.codecs, name).map((manifest) => ({
      ...manifest,
      minBucket: null,
      maxBucket: null,
      minLevel: null,
      maxLevel: null,
    }))
    const bytes = encodeManifestList(old, first.store.codecs, 'none', name)
    writeFileSync(file, bytes)
    sizes.push(bytes.length)
  }
  const [baseManifestListSize, deltaManifestListSize] = sizes
  writeFileSync(
    first.store.snapshots.path(snapshot.id),
    printSnapshot({ ...snapshot, baseManifestListSize, deltaManifestListSize }),
  )
  const second = await writers(path, 1)
  const [table] = second.tables
  t.same(await table!.get(1), { k: 1, v: 4 })
  await table!.set([2, 5])
  await table!.compact({ full: true })
  t.same((await table!.pairs()).sort(), [
    [1, 4],
    [2, 5],
    [3, 3],
  ])
  await second.close()
})

t.test('C075 a batch that comes again is added up once, by its identifier', async (t) => {
  const path = t.testdir()
  const once = async (v: number, identifier: number) => {
    const warehouse = openAlone(path)
    const table = await warehouse.createTable(
      'db.t',
      {
        ...definition,
        options: { 'merge-engine': 'aggregation', 'fields.v.aggregate-function': 'sum' },
      },
      { ifNotExists: true, commitUser: 'U' },
    )
    await table.put({ k: 1, v })
    const { created } = await table.commit({ identifier })
    await table.compact({ full: true })
    const row = await table.get(1)
    await warehouse.close()
    return { created, v: row?.v }
  }
  t.same(await once(10, 5), { created: true, v: 10 })
  t.same(await once(10, 5), { created: false, v: 10 })
  t.same(await once(1, 6), { created: true, v: 11 })
  t.same(await once(10, 5), { created: false, v: 11 })
})

t.test('C068 manifests of several codecs are read in one table', async (t) => {
  const path = t.testdir()
  let store = await storeOf(path, 'db', 't')
  for (const [i, codec] of ['zstd', 'snappy', 'none'].entries()) {
    const { tables, close } = await writers(path, 1, { 'manifest.compression': 'zstd' })
    if (i === 0) store = openTableStore(store, store.codecs, store.paths.table)
    await close()
    await alter(store, ({ options }) => ({ options: { ...options, 'manifest.compression': codec } }))
    const next = await writers(path, 1)
    await next.tables[0]!.set([i, i])
    t.equal((await next.tables[0]!.pairs()).length, i + 1)
    const snapshot = (await store.snapshots.latest())!
    const header = (await store.fs.readFile(store.manifests.path(snapshot.deltaManifestList))).subarray(0, 4096)
    const name = { zstd: 'zstandard', snappy: 'snappy', none: 'null' }[codec]
    t.match(Buffer.from(header).toString('latin1'), new RegExp(`avro.codec.{1,2}${name}`, 's'))
    await next.close()
    t.equal(tables.length, 1)
  }
})

t.test('C073 a compaction does not bring back a partition that another writer dropped meanwhile', async (t) => {
  const path = t.testdir()
  const real = createNodeFileSystem({ sync: false })
  let drop: (() => Promise<unknown>) | undefined
  const fs: typeof real = {
    ...real,
    // The other writer comes between the last look of the compaction's commit and its publishing.
    async link(from, to) {
      const now = drop
      drop = undefined
      await now?.()
      await real.link(from, to)
    },
  }
  const [warehouse, other] = [openAlone(path, { fs }), openAlone(path)]
  const partitioned = {
    fields: { p: types.int(), k: types.int(), v: types.int() },
    primaryKey: ['p', 'k'],
    partitionBy: ['p'],
    options: { 'write-only': 'true' },
  } as const
  const table = await warehouse.createTable('db.t', partitioned)
  for (const [p, v] of [
    [1, 1],
    [1, 2],
    [2, 1],
  ] as const) {
    await table.put({ p, k: 1, v })
    await table.commit()
  }
  const store = await storeOf(path, 'db', 't')
  const conflicts: unknown[] = []
  table.on('conflict', (event) => conflicts.push(event))
  const entries = (await liveFiles(store)).filter(({ partition }) => Buffer.from(partition).readInt32LE(12) === 1)
  t.equal(entries.length, 2)
  const schema = await store.schemas.latest()
  drop = () =>
    publishSnapshot(
      {
        ...store,
        newestSchema: () => store.schemas.latest(),
        newManifestWriter: () => manifestWriter(store, schema),
        settle: async () => undefined,
        partitionFields: schema.fields.slice(0, 1),
        options: resolve(schema.options),
        clock: manualClock(),
      },
      {
        kind: 'OVERWRITE',
        user: 'dropper',
        identifier: 1n,
        prepare: async () => ({
          files: entries.map((entry) => ({ ...entry, kind: 'delete' as const })),
          changelog: [],
        }),
      },
    )
  await table.compact({ full: true, partition: 'p=1' }).catch(() => undefined)
  t.equal(drop, undefined)
  await table.refresh()
  t.same(await collect(table.scan()), [{ p: 2, k: 1, v: 1 }])
  const reader = await other.table('db.t')
  t.same(await collect(reader.scan()), [{ p: 2, k: 1, v: 1 }])
  t.same(
    (await table.snapshots()).map(({ kind }) => kind),
    ['APPEND', 'APPEND', 'APPEND', 'OVERWRITE'],
  )
  t.ok(conflicts.length > 0, 'the event tells')
  await warehouse.close()
  await other.close()
})

t.test('get and scan agree where another writer took the same sequence numbers', async (t) => {
  const path = t.testdir({ a: {}, b: {} })
  const ours = await writers(`${path}/a`, 1)
  const foreign = await writers(`${path}/b`, 1)
  // Numbers 0 to 5; and 0 to 3, the last of them for the key that has 0 in the other file.
  await ours.tables[0]!.set([1, 10], [2, 20], [3, 30], [4, 40], [5, 50], [6, 60])
  for (const v of [0, 1, 2, 3]) await foreign.tables[0]!.set([1, v])
  const entry = (await liveFiles(foreign.store)).find(({ file }) => file.maxSequence === 3n)!
  const place = `db.db/t/bucket-0/${entry.file.name}`
  copyFileSync(`${path}/b/${place}`, `${path}/a/${place}`)
  const { store } = ours
  const schema = await store.schemas.latest()
  await publishSnapshot(
    {
      ...store,
      newestSchema: () => store.schemas.latest(),
      newManifestWriter: () => manifestWriter(store, schema),
      settle: async () => undefined,
      partitionFields: [],
      options: resolve(schema.options),
      clock: manualClock(),
    },
    { kind: 'APPEND', user: 'stale', identifier: 1n, prepare: async () => ({ files: [entry], changelog: [] }) },
  )
  const [table] = ours.tables
  t.same((await table!.pairs())[0], [1, 3])
  t.same(await table!.get(1), { k: 1, v: 3 })
  t.same(await table!.get(2), { k: 2, v: 20 })
  await ours.close()
  await foreign.close()
})

t.test('a row put after discard() was called stays, though nobody waited for it', async (t) => {
  const { tables, close } = await writers(t.testdir(), 1)
  const [table] = tables
  await table!.put({ k: 1, v: 1 })
  const dropped = table!.discard()
  const put = table!.put({ k: 2, v: 2 })
  await Promise.all([dropped, put])
  await table!.commit()
  t.same(await table!.pairs(), [[2, 2]])
  await close()
})

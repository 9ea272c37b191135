import { join } from 'node:path'
import t from 'tap'
import { type CommitEvent, type CompactionEvent, renderExplanation, t as types } from '../../engine/index.ts'
import { collect, dataFilesOnDisk, liveFiles, open, refused, storeOf } from '../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const

async function create(path: string, options: Record<string, string | number> = {}) {
  const warehouse = await open(path)
  const table = await warehouse.createTable('db.t', { ...definition, options })
  return { warehouse, table, folder: join(path, 'db.db', 't'), store: await storeOf(path, 'db', 't') }
}

t.test('levels shows the tree of each bucket, with flushed rows that are not committed', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { bucket: 2, 'write-only': 'true' })
  t.same(table.levels(), [])
  for (let i = 0; i < 2; i++) {
    await table.put([1, 2, 3, 4].map((k) => ({ k, v: i })))
    await table.commit()
  }
  await table.compact({ full: true, bucket: 0 })
  const [first, second] = table.levels()
  t.match(first, { partition: '', bucket: 0, runs: 1, levels: [{ level: 5, runs: 1, files: 1 }] })
  t.match(second, { partition: '', bucket: 1, runs: 2, levels: [{ level: 0, runs: 2, files: 2 }] })
  t.equal((first?.levels[0]?.rows ?? 0) + (second?.levels[0]?.rows ?? 0) / 2, 4)
  t.ok((first?.levels[0]?.bytes ?? 0) > 0)
  await warehouse.close()
})

t.test('snapshots lists what can be read, oldest first', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { 'write-only': 'true' })
  for (const v of [1, 2, 3]) {
    await table.put({ k: v, v })
    await table.commit()
  }
  await table.compact({ full: true })
  const snapshots = await table.snapshots()
  t.match(snapshots, [
    { id: 1, kind: 'APPEND', schemaId: 0, totalRecords: 1n, deltaRecords: 1n, properties: {} },
    { id: 2, kind: 'APPEND', totalRecords: 2n, deltaRecords: 1n },
    { id: 3, kind: 'APPEND', totalRecords: 3n },
    { id: 4, kind: 'COMPACT', totalRecords: 3n, deltaRecords: 0n },
  ])
  for (const [i, { timeMillis }] of snapshots.entries()) t.ok(timeMillis >= (snapshots[i - 1]?.timeMillis ?? 1))
  await table.expireSnapshots({ retainMax: 2 })
  t.same(
    (await table.snapshots()).map(({ id }) => id),
    [3, 4],
  )
  await warehouse.close()
})

t.test('compact takes what the picker asks for, full takes all runs', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { 'write-only': 'true' })
  for (const v of [1, 2]) {
    await table.put({ k: v, v })
    await table.commit()
  }
  await table.compact()
  t.match(table.levels(), [{ runs: 2 }], 'two runs are below the trigger')
  await table.compact({ full: true })
  t.match(table.levels(), [{ runs: 1, levels: [{ level: 5, rows: 2 }] }])
  await warehouse.close()
})

t.test('compact by partition and bucket, with progress', async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { p: types.string(), k: types.int() },
    primaryKey: ['p', 'k'],
    partitionBy: ['p'],
    options: { bucket: 2, 'write-only': 'true' },
  })
  for (const p of ['a', 'b b']) await table.put([1, 2, 3, 4, 5, 6].map((k) => ({ p, k })))
  await table.commit()
  const compacted = () =>
    table
      .levels()
      .filter(({ levels }) => levels[0]?.level === 5)
      .map(({ partition, bucket }) => `${partition}/${bucket}`)
  t.same(
    table.levels().map(({ partition, bucket }) => [partition, bucket]),
    [
      ['p=a', 0],
      ['p=a', 1],
      ['p=b b', 0],
      ['p=b b', 1],
    ],
  )
  const progress: object[] = []
  await table.compact({ full: true, partition: 'p=b b', bucket: 1, onProgress: (event) => progress.push({ ...event }) })
  t.same(compacted(), ['p=b b/1'])
  t.same(progress, [
    { buckets: 1, done: 0 },
    { buckets: 1, done: 1 },
  ])
  await table.compact({ full: true, partition: 'p=a' })
  t.same(compacted(), ['p=a/0', 'p=a/1', 'p=b b/1'])
  await refused(t, table.compact({ partition: 'p=none' }), 'NOT_FOUND', { value: 'p=none' }, 'p=none')
  await refused(t, table.compact({ bucket: 7 }), 'INVALID', { value: 7 }, '7')
  await warehouse.close()
})

t.test('a compaction that is aborted rejects and leaves the bucket as it was', async (t) => {
  const { warehouse, table, folder, store } = await create(t.testdir(), { 'write-only': 'true' })
  for (const v of [1, 2, 3]) {
    await table.put(Array.from({ length: 1000 }, (_, k) => ({ k, v })))
    await table.commit()
  }
  const error = await refused(t, table.compact({ full: true, signal: AbortSignal.abort() }), 'ABORTED', {})
  t.equal(error.name, 'AbortError')
  const controller = new AbortController()
  table.on('compactionStart', () => controller.abort())
  await refused(t, table.compact({ full: true, signal: controller.signal }), 'ABORTED', {})
  t.match(table.levels(), [{ runs: 3 }])
  t.same(dataFilesOnDisk(folder), (await liveFiles(store)).map(({ file }) => file.name).sort(), 'no half written file')
  await table.compact({ full: true })
  t.match(table.levels(), [{ runs: 1 }])
  t.equal((await collect(table.scan())).length, 1000)
  await warehouse.close()
})

t.test('explainCompaction tells each rule with its numbers, and changes nothing', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { 'write-only': 'true' })
  for (let v = 0; v < 6; v++) {
    await table.put({ k: v, v })
    await table.commit()
  }
  const [bucket] = await table.explainCompaction()
  t.match(bucket, { partition: '', bucket: 0 })
  const { explanation } = bucket!
  t.equal(explanation.runs.length, 6)
  t.not(explanation.unit, null)
  const text = renderExplanation(explanation)
  t.match(text, /^6 runs, trigger 5\. Levels: /)
  t.match(text, /Size amplification: /)
  t.match(text, /Levels after: /)
  t.match(table.levels(), [{ runs: 6 }])
  t.same(JSON.parse(JSON.stringify(explanation)), explanation, 'plain data')
  t.same(await table.explainCompaction({ bucket: 3 }), [])
  await table.compact({ full: true })
  const [after] = await table.explainCompaction()
  t.equal(after?.explanation.unit, null)
  t.match(renderExplanation(after!.explanation), /Nothing to compact\.$/)
  await warehouse.close()
})

t.test('events tell of commits, compactions and expiries, until off', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { 'write-only': 'true' })
  const commits: CommitEvent[] = []
  const compactions: CompactionEvent[] = []
  const starts: unknown[] = []
  const expiries: unknown[] = []
  const onCommit = (event: CommitEvent) => void commits.push(event)
  table
    .on('commit', onCommit)
    .on('compactionStart', (event) => starts.push(event))
    .on('compaction', (event) => compactions.push(event))
    .on('expiry', (event) => expiries.push(event))
  for (const v of [1, 2]) {
    await table.put({ k: 1, v })
    await table.commit()
  }
  const [old] = table.levels()
  await table.compact({ full: true })
  await table.expireSnapshots({ retainMax: 1 })
  t.match(commits, [
    { snapshot: 1, kind: 'APPEND', addedFiles: 1, removedFiles: 0 },
    { snapshot: 2, kind: 'APPEND', addedFiles: 1, removedFiles: 0 },
    { snapshot: 3, kind: 'COMPACT', addedFiles: 1, removedFiles: 2 },
  ])
  t.match(starts, [{ partition: '', bucket: 0, outputLevel: 5, inputBytes: old?.levels[0]?.bytes }])
  t.match(compactions, [{ partition: '', bucket: 0, outputLevel: 5, upgraded: [], inputRows: 2, outputRows: 1 }])
  const [event] = compactions
  t.equal(event?.rewritten.length, 2)
  t.equal(event?.written.length, 1)
  t.equal(event?.inputBytes, old?.levels[0]?.bytes)
  t.equal(event?.outputBytes, table.levels()[0]?.levels[0]?.bytes)
  t.match(renderExplanation(event!.explanation), /Full compaction on request/)
  t.match(expiries, [{ snapshots: [1, 2] }])
  table.off('commit', onCommit)
  await table.put({ k: 2 })
  await table.commit()
  t.equal(commits.length, 3)
  await warehouse.close()
})

t.test(
  'expireSnapshots: dryRun lists what goes and removes nothing; without arguments the options of the table hold',
  async (t) => {
    const { warehouse, table, folder } = await create(t.testdir(), {
      'write-only': 'true',
      'snapshot.num-retained.min': 2,
      'snapshot.num-retained.max': 3,
    })
    for (const v of [1, 2, 3, 4, 5]) {
      await table.put({ k: 1, v })
      await table.commit()
    }
    await table.compact({ full: true })
    const before = dataFilesOnDisk(folder)
    const dry = await table.expireSnapshots({ retainMax: 1, dryRun: true })
    t.same(dry.expired, [1, 2, 3, 4, 5])
    t.ok(dry.bytes > 0)
    t.same(dataFilesOnDisk(folder), before)
    t.equal((await table.snapshots()).length, 6)
    const own = await table.expireSnapshots()
    t.same(own.expired, [1, 2, 3], 'num-retained.max is 3')
    const wet = await table.expireSnapshots({ retainMax: 1 })
    t.same(wet.expired, [4, 5])
    t.equal(dataFilesOnDisk(folder).length, 1)
    t.same(await collect(table.scan()), [{ k: 1, v: 5 }])
    await warehouse.close()
  },
)

t.test('expireSnapshots by age, and wishes that make no sense', async (t) => {
  const { warehouse, table } = await create(t.testdir(), { 'write-only': 'true' })
  for (const v of [1, 2, 3]) {
    await table.put({ k: 1, v })
    await table.commit()
  }
  t.same((await table.expireSnapshots({ olderThan: 0, retainMin: 1 })).expired, [], 'none is that old')
  t.same((await table.expireSnapshots({ olderThan: Number.MAX_SAFE_INTEGER })).expired, [], 'num-retained.min is 10')
  t.same((await table.expireSnapshots({ olderThan: Number.MAX_SAFE_INTEGER, retainMin: 1 })).expired, [1, 2])
  for (const [option, value] of [
    ['retainMax', 0],
    ['retainMin', 1.5],
    ['retainMax', '1'],
    ['olderThan', Number.NaN],
    ['olderThan', new Date(0)],
  ] as const) {
    await refused(t, table.expireSnapshots({ [option]: value }), 'INVALID', { value }, option)
  }
  await refused(t, table.expireSnapshots({ retainMin: 5, retainMax: 2 }), 'INVALID', { value: 5 }, 'retainMin')
  await warehouse.close()
})

t.test('after a commit expiry runs by itself, unless write-only', async (t) => {
  for (const [writeOnly, left] of [
    ['false', 2],
    ['true', 4],
  ] as const) {
    const { warehouse, table } = await create(t.testdir(), {
      'write-only': writeOnly,
      'snapshot.num-retained.min': 1,
      'snapshot.num-retained.max': 2,
    })
    for (const v of [1, 2, 3, 4]) {
      await table.put({ k: 1, v })
      await table.commit()
    }
    await table.refresh()
    t.equal((await table.snapshots()).length, left, `write-only = ${writeOnly}`)
    await warehouse.close()
    await (await open(t.testdirName)).dropTable('db.t')
  }
})

t.test('commit.force-compact waits for compaction', async (t) => {
  const { warehouse, table } = await create(t.testdir(), {
    'commit.force-compact': 'true',
    'num-sorted-run.compaction-trigger': 2,
  })
  const kinds: string[][] = []
  for (const v of [1, 2, 3]) {
    await table.put({ k: 1, v })
    kinds.push((await table.commit()).snapshots.map(({ kind }) => kind))
  }
  t.same(kinds, [['APPEND'], ['APPEND', 'COMPACT'], ['APPEND', 'COMPACT']])
  t.match(table.levels(), [{ runs: 1 }])
  t.same(await collect(table.scan()), [{ k: 1, v: 3 }])
  await warehouse.close()
})

t.test('no snapshot shows a row of an uncommitted call, whatever compaction does', async (t) => {
  const { warehouse, table } = await create(t.testdir(), {
    'num-sorted-run.compaction-trigger': 2,
    'write-buffer-size': '16 kb',
  })
  const batch = (v: number) => Array.from({ length: 3000 }, (_, k) => ({ k, v }))
  await table.put(batch(1))
  await table.commit()
  await table.put(batch(2))
  await table.put(batch(3))
  await table.compact({ full: true })
  for (const { id } of await table.snapshots()) {
    const values = new Set((await collect(table.scan({ snapshot: id }))).map(({ v }) => v))
    t.same([...values], [1], `snapshot ${id}`)
  }
  await table.commit()
  t.same([...new Set((await collect(table.scan())).map(({ v }) => v))], [3])
  await warehouse.close()
})

t.test('a closed handle lets the process end and leaves no file that nobody names', async (t) => {
  const { warehouse, table, folder, store } = await create(t.testdir(), {
    'num-sorted-run.compaction-trigger': 2,
    'write-buffer-size': '16 kb',
  })
  for (const v of [1, 2, 3]) {
    await table.put(Array.from({ length: 3000 }, (_, k) => ({ k, v })))
    await table.commit()
  }
  await table.put(Array.from({ length: 3000 }, (_, k) => ({ k, v: 9 })))
  await table.close({ discard: true })
  await warehouse.close()
  const named = new Set<string>()
  for (const id of await store.snapshots.allIds())
    for (const { file } of await liveFiles(store, id)) named.add(file.name)
  t.same(
    dataFilesOnDisk(folder).filter((name) => !named.has(name)),
    [],
  )
})

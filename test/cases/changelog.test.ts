import t from 'tap'
import { type Table, t as types } from '../../engine/index.ts'
import { changesOf, recordsOf, replay, shortly } from '../support/changes.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { unnamedFiles } from '../support/table-files.ts'
import { collect, open, storeOf } from '../support/warehouses.ts'

const columns = { k: types.int(), v: types.string().nullable() }

async function create(path: string, options: Record<string, string | number>) {
  const warehouse = await open(path)
  const definition = { fields: columns, primaryKey: ['k'], options: { bucket: 1, ...options } } as const
  const table = (await warehouse.createTable('db.t', definition)) as Table
  const commit = async (...changes: readonly (readonly [number, string | null])[]) => {
    await table.write(changes.map(([k, v]) => (v === null ? { delete: k } : { put: { k, v } })))
    await table.commit()
  }
  return { warehouse, table, commit, full: () => table.compact({ full: true }) }
}

/** Records without their snapshots, a list a snapshot. */
async function bySnapshot(table: Table): Promise<string[][]> {
  const lists = new Map<number, string[]>()
  for (const change of await changesOf(table)) {
    const list = lists.get(change.snapshot) ?? []
    list.push(shortly(change).replace(/^\d+ /, ''))
    lists.set(change.snapshot, list)
  }
  return [...lists.values()]
}

t.test('C024 a full compaction tells the net change since the last one', async (t) => {
  const { warehouse, table, commit, full } = await create(t.testdir(), { 'changelog-producer': 'full-compaction' })
  await commit([1, 'a'], [2, 'x'])
  await full()
  await commit([1, 'b'])
  await commit([1, 'c'], [2, null], [3, 'n'])
  await commit([3, null])
  await full()
  t.same(await bySnapshot(table), [
    ['+I 1 a', '+I 2 x'],
    ['-U 1 a', '+U 1 c', '-D 2 x'],
  ])
  await warehouse.close()
})

t.test('C025 lookup tells each change once; with row-deduplicate an update to the same row is none', async (t) => {
  for (const deduplicates of [false, true]) {
    const path = `${t.testdir({ [`${deduplicates}`]: {} })}/${deduplicates}`
    const { warehouse, table, commit } = await create(path, {
      'changelog-producer': 'lookup',
      'changelog-producer.row-deduplicate': `${deduplicates}`,
    })
    await commit([1, 'a'], [2, 'x'])
    await commit([1, 'b'])
    await commit([1, 'b'])
    await commit([2, null])
    await commit([2, 'x'])
    t.same(await bySnapshot(table), [
      ['+I 1 a', '+I 2 x'],
      ['-U 1 a', '+U 1 b'],
      ...(deduplicates ? [] : [['-U 1 b', '+U 1 b']]),
      ['-D 2 x'],
      ['+I 2 x'],
    ])
    await warehouse.close()
  }
})

t.test('C028 write-only writers tell nothing by lookup: a warning says so, a compaction tells it', async (t) => {
  const warnings: object[] = []
  const nothing = () => undefined
  const warn = (details: object, message: string) => void warnings.push({ ...details, message })
  const warehouse = await open(t.testdir(), { logger: { debug: nothing, info: nothing, error: nothing, warn } })
  const lookup = { fields: columns, primaryKey: ['k'], options: { 'changelog-producer': 'lookup' } } as const
  await warehouse.createTable('db.compacts', lookup)
  t.same(warnings, [])
  const options = { ...lookup.options, 'write-only': true }
  const table = (await warehouse.createTable('db.t', { ...lookup, options })) as Table
  const other = await warehouse.table('db.t')
  await table.put({ k: 1, v: 'a' })
  await table.commit()
  await other.put({ k: 2, v: 'b' })
  await other.commit()
  t.match(warnings, [{ table: 'db.t', message: /told once another process compacts/ }], 'once')
  t.equal(warnings.length, 1)
  t.same(await collect(table.scan({ where: { k: 1 } })), [{ k: 1, v: 'a' }])
  t.same(await changesOf(table), [])
  await table.compact({ full: true })
  t.same(await bySnapshot(table), [['+I 1 a', '+I 2 b']])
  await warehouse.close()
})

t.test('C027 the producer input hands on what was put, in order', async (t) => {
  const { warehouse, table, commit, full } = await create(t.testdir(), { 'changelog-producer': 'input' })
  await commit([1, 'a'])
  await commit([2, 'x'], [1, 'b'], [1, 'c'])
  await commit([1, null], [2, null])
  await full()
  t.same(await bySnapshot(table), [['+I 1 a'], ['+I 1 b', '+I 1 c', '+I 2 x'], ['-D 1 ', '-D 2 ']])
  t.same(await collect(table.scan()), [])
  await warehouse.close()
})

t.test('with row-deduplicate an update to the same row is no change; ignored columns make none', async (t) => {
  for (const [ignored, expected] of [
    [
      undefined,
      [
        ['+I 1 a', '+I 2 x'],
        ['-U 2 x', '+U 2 y'],
      ],
    ],
    ['v', [['+I 1 a', '+I 2 x']]],
  ] as const) {
    const { warehouse, table, commit, full } = await create(`${t.testdir({ [`${ignored}`]: {} })}/${ignored}`, {
      'changelog-producer': 'full-compaction',
      'changelog-producer.row-deduplicate': 'true',
      ...(ignored !== undefined && { 'changelog-producer.row-deduplicate-ignore-fields': ignored }),
    })
    await commit([1, 'a'], [2, 'x'])
    await full()
    await commit([1, 'a'], [2, 'y'])
    await full()
    t.same(await bySnapshot(table), expected, `${ignored}`)
    await warehouse.close()
  }
})

t.test('a large file that moves up without being rewritten tells its rows', async (t) => {
  const { warehouse, table, commit, full } = await create(t.testdir(), {
    'changelog-producer': 'full-compaction',
    // A file of a few hundred bytes is large.
    'target-file-size': '1 kb',
  })
  const rows = Array.from({ length: 300 }, (_, k) => [k, `v${k}`] as const)
  await commit(...rows)
  const upgraded: string[] = []
  table.on('compaction', (event) => upgraded.push(...event.upgraded))
  await full()
  t.ok(upgraded.length > 0, 'moved as it is')
  t.same(await bySnapshot(table), [rows.map(([k, v]) => `+I ${k} ${v}`)])
  await warehouse.close()
})

t.test('changes replayed give the table, whenever compactions ran', async (t) => {
  const random = seededRandom(42)
  const pick = (below: number) => Math.floor(random.fraction() * below)
  for (let round = 0; round < 24; round++) {
    const producer = ['none', 'input', 'full-compaction', 'lookup'][round % 4]!
    const path = t.testdir({ [`${round}`]: {} })
    const { warehouse, table, commit, full } = await create(`${path}/${round}`, {
      bucket: 1 + pick(2),
      'changelog-producer': producer,
      'changelog-producer.row-deduplicate': String(pick(2) === 1),
      'num-sorted-run.compaction-trigger': 2 + pick(3),
      'sort-spill-threshold': 2 + pick(4),
      'target-file-size': ['1 kb', '128 mb'][pick(2)]!,
    })
    const stop = new AbortController()
    let followed: Promise<Awaited<ReturnType<typeof changesOf>>> | undefined
    for (let step = 0; step < 12; step++) {
      const count = 1 + pick(30)
      await commit(...Array.from({ length: count }, () => [pick(40), pick(4) === 0 ? null : `v${pick(5)}`] as const))
      if (pick(4) === 0) await table.compact({})
      if (pick(4) === 0) await full()
      if (step === 5) followed = recordsOf(table.follow({ initial: true, signal: stop.signal, pollMillis: 5 }))
    }
    await full()
    const rows = await collect(table.scan())
    const byKey = (map: ReadonlyMap<unknown, unknown>) => [...map].sort(([a], [b]) => (a as number) - (b as number))
    t.same(
      byKey(replay(await changesOf(table), 'k')),
      rows.map((row) => [row.k, row]),
      `${producer}, round ${round}`,
    )
    await new Promise((done) => setTimeout(done, 60))
    stop.abort()
    t.same(
      byKey(replay(await followed!, 'k')),
      rows.map((row) => [row.k, row]),
      `followed: ${producer}, round ${round}`,
    )
    await warehouse.close()
  }
})

t.test(
  'changelogs outlive their snapshots, are read as before, and end in their turn with all that only they name',
  async (t) => {
    for (const producer of ['none', 'input', 'lookup', 'full-compaction']) {
      const path = `${t.testdir({ [producer]: {} })}/${producer}`
      const { warehouse, table, commit, full } = await create(path, {
        'changelog-producer': producer,
        'write-only': producer === 'none' ? 'true' : 'false',
        'snapshot.num-retained.min': 1,
        'snapshot.num-retained.max': 2,
        'changelog.num-retained.max': 8,
      })
      let all: string[] = []
      for (let v = 0; v < 12; v++) {
        await commit([v % 3, `v${v}`], [9, `w${v}`])
        if (producer === 'full-compaction' || v === 5) await full()
        const before = (await table.snapshots())[0]!.id
        all = [...new Set([...all, ...(await changesOf(table)).map(shortly)])]
        await table.expireSnapshots()
        t.ok((await table.snapshots())[0]!.id >= before)
        const left = (await changesOf(table)).map(shortly)
        t.same(left, all.slice(all.length - left.length), `${producer} ${v}: the last of them, unbroken`)
      }
      const snapshots = await table.snapshots()
      const kept = await table.expireSnapshots({ dryRun: true })
      t.ok(snapshots.length <= 2 && kept.expired.length === 0, `${producer}: ${snapshots.length} snapshots`)
      const latest = snapshots.at(-1)!.id
      const told = new Set((await changesOf(table)).map(({ snapshot }) => snapshot))
      t.ok(Math.min(...told) < snapshots[0]!.id, `${producer}: changes of snapshots that are gone`)
      t.ok(Math.min(...told) > latest - 9, `${producer}: but not of more than 8`)
      await table.close()
      t.same(await unnamedFiles(await storeOf(path, 'db', 't')), [], `${producer}: nothing is left that nobody names`)
      await warehouse.close()
    }
  },
)

import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Table, t as types } from '../../engine/index.ts'
import { changesOf, recordsOf, shortly } from '../support/changes.ts'
import { collect, open, openAlone, refused } from '../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const

async function create(path: string, options: Record<string, string | number> = {}) {
  const warehouse = await open(path)
  const table = (await warehouse.createTable('db.t', { ...definition, options: { bucket: 1, ...options } })) as Table
  const put = async (...rows: readonly (readonly [number, number | null])[]) => {
    for (const [k, v] of rows) await (v === null ? table.delete(k) : table.put({ k, v }))
    await table.commit()
  }
  return { warehouse, table, put, folder: join(path, 'db.db', 't') }
}

t.test('changes lie between two snapshots, the first excluded and the last included', async (t) => {
  const { warehouse, table, put } = await create(t.testdir())
  t.same(await collect(table.changes()), [], 'a table without snapshots')
  await put([1, 10], [2, 20])
  await put([1, 11])
  await put([2, null])
  const all = ['1 +I 1 10', '1 +I 2 20', '2 +I 1 11', '3 -D 2 ']
  const between = async (from?: number, to?: number) =>
    (await changesOf(table, { ...(from !== undefined && { from }), ...(to !== undefined && { to }) })).map(shortly)
  t.same(await between(), all)
  t.same(await between(0), all)
  t.same(await between(1), all.slice(2))
  t.same(await between(1, 2), all.slice(2, 3))
  t.same(await between(undefined, 1), all.slice(0, 2))
  t.same(await between(3, 3), [])
  const [first] = await collect(table.changes({ columns: ['v'], to: 1 }))
  t.same(first, { snapshot: 1, kinds: ['+I', '+I'], rows: [{ v: 10 }, { v: 20 }] })
  await warehouse.close()
})

t.test('what cannot be read is refused', async (t) => {
  const { warehouse, table, put } = await create(t.testdir())
  for (const v of [1, 2, 3, 4]) await put([v, v])
  await refused(t, () => table.changes({ from: -1 }), 'INVALID', { option: 'from', value: -1 }, 'from')
  await refused(t, () => table.changes({ to: 1.5 }), 'INVALID', { option: 'to' }, 'to')
  await refused(t, () => table.changes({ since: 1 } as never), 'INVALID', { option: 'since' }, 'since')
  await refused(t, () => table.changes({ columns: ['w'] as never }), 'INVALID', { column: 'w' }, 'w')
  await refused(t, collect(table.changes({ from: 3, to: 2 })), 'INVALID', { value: 3 }, '3', '2')
  await refused(t, collect(table.changes({ from: 999 })), 'NOT_FOUND', { value: 999, latest: 4 }, '999', '4')
  await refused(t, collect(table.changes({ to: 5 })), 'NOT_FOUND', { value: 5, latest: 4 }, '5', '4')
  await refused(t, () => table.follow({ from: 1, initial: true } as never), 'INVALID', { option: 'initial' }, 'initial')
  await refused(t, () => table.follow({ pollMillis: 0 }), 'INVALID', { option: 'pollMillis' }, 'pollMillis')
  await refused(t, () => table.follow({ consumer: 'a/b' }), 'INVALID', { value: 'a/b' }, 'a/b')
  await refused(t, collect(table.follow({ from: 9 })), 'NOT_FOUND', { value: 9, latest: 4 }, '9', '4')
  await table.expireSnapshots({ retainMax: 2 })
  await refused(t, collect(table.changes({ from: 1 })), 'EXPIRED', { value: 2, earliest: 3 }, '2', '3')
  await refused(t, collect(table.follow({ from: 0 })), 'EXPIRED', { value: 1, earliest: 3 }, '1', '3')
  t.same((await changesOf(table, { from: 2 })).map(shortly), ['3 +I 3 3', '4 +I 4 4'], 'from the last that is gone on')
  t.same((await changesOf(table)).map(shortly), ['3 +I 3 3', '4 +I 4 4'], 'all that there are')
  const stopped = AbortSignal.abort()
  await refused(t, collect(table.changes({ signal: stopped })), 'ABORTED', {})
  await warehouse.close()
})

t.test('follow goes on with new snapshots until its signal fires', async (t) => {
  const { warehouse, table, put } = await create(t.testdir())
  await put([1, 10])
  const stop = new AbortController()
  const onlyNew = recordsOf(table.follow({ signal: stop.signal }))
  const fromStart = recordsOf(table.follow({ from: 0, signal: stop.signal }))
  const withState = recordsOf(table.follow({ initial: true, signal: stop.signal }))
  // Each has to have looked where it begins.
  await new Promise((done) => setTimeout(done, 50))
  await put([2, 20])
  await table.compact({ full: true })
  await put([1, 11])
  await new Promise((done) => setTimeout(done, 100))
  stop.abort()
  const coming = ['2 +I 2 20', '4 +I 1 11']
  t.same((await onlyNew).map(shortly), coming)
  t.same((await fromStart).map(shortly), ['1 +I 1 10', ...coming])
  t.same((await withState).map(shortly), ['1 +I 1 10', ...coming])
  t.same(await collect(table.follow({ signal: stop.signal })), [], 'a signal that has fired before')
  await warehouse.close()
})

t.test('initial has the rows of level 0 where scans hide them, merged with what lies above', async (t) => {
  const hiding = [
    { 'deletion-vectors.enabled': 'true', 'write-only': 'true' },
    { 'deletion-vectors.enabled': 'true', 'write-only': 'true', 'changelog-producer': 'input' },
    { 'deletion-vectors.enabled': 'true', 'lookup-wait': 'false', 'lookup-compact': 'gentle' },
    { 'deletion-vectors.enabled': 'true', 'write-only': 'true', 'merge-engine': 'partial-update' },
    { 'merge-engine': 'first-row', 'write-only': 'true' },
  ]
  for (const [index, options] of hiding.entries()) {
    const name = JSON.stringify(options)
    const { warehouse, table, put } = await create(join(t.testdir({ [`${index}`]: {} }), `${index}`), options)
    await put([1, 10], [2, 20], [5, 50])
    await table.compact({ full: true })
    await put([2, 21], [3, 30])
    await table.delete(5).catch(() => undefined)
    await table.commit()
    const isFirstRow = options['merge-engine'] === 'first-row'
    const isPartial = options['merge-engine'] === 'partial-update'
    t.equal((await collect(table.scan())).length, 3, `${name}: level 0 is hidden`)
    const latest = (await table.snapshots()).at(-1)!.id
    const stop = new AbortController()
    const seen = recordsOf(table.follow({ initial: true, signal: stop.signal }))
    await new Promise((done) => setTimeout(done, 50))
    await put([4, 40])
    await table.compact({ full: true })
    await new Promise((done) => setTimeout(done, 50))
    stop.abort()
    const state = ['+I 1 10', isFirstRow ? '+I 2 20' : '+I 2 21', '+I 3 30']
    if (isFirstRow || isPartial) state.push('+I 5 50')
    t.same((await seen).map(shortly), [...state.map((row) => `${latest} ${row}`), `${latest + 1} +I 4 40`], name)
    await warehouse.close()
  }
})

t.test('follow sees commits of other processes, and starts in a table without snapshots', async (t) => {
  const path = t.testdir()
  const { warehouse, put } = await create(path)
  const reader = await openAlone(path, { readOnly: true })
  const table = await reader.table('db.t')
  const stop = new AbortController()
  const seen = recordsOf(table.follow({ signal: stop.signal, pollMillis: 5 }))
  await new Promise((done) => setTimeout(done, 30))
  await put([1, 10])
  await put([1, 11])
  await new Promise((done) => setTimeout(done, 150))
  stop.abort()
  t.same((await seen).map(shortly), ['1 +I 1 10', '2 +I 1 11'])
  await refused(t, () => table.follow({ consumer: 'x' }), 'INVALID', { option: 'consumer' }, 'readOnly')
  await reader.close()
  await warehouse.close()
})

t.test('break and close end a follow that waits', async (t) => {
  const { warehouse, table, put } = await create(t.testdir())
  await put([1, 10])
  for await (const { snapshot } of table.follow({ from: 0 })) {
    t.equal(snapshot, 1)
    break
  }
  const left = table.follow()
  const waiting = left.next()
  await left.return()
  t.same(await waiting, { done: true, value: undefined })
  const open = recordsOf(table.follow())
  await new Promise((done) => setTimeout(done, 20))
  const failed = refused(t, open, 'CLOSED', {}, 'db.t')
  await warehouse.close()
  await failed
})

t.test('a consumer goes on where it came to, and keeps what it has not read from expiry', async (t) => {
  const { warehouse, table, put, folder } = await create(t.testdir(), { 'snapshot.num-retained.min': 1 })
  const mark = () => JSON.parse(readFileSync(join(folder, 'consumer', 'consumer-c'), 'utf8'))
  await put([1, 10])
  await put([2, 20])
  for await (const { snapshot } of table.follow({ consumer: 'c', from: 0 })) if (snapshot === 2) break
  t.same(mark(), { nextSnapshot: 2 }, 'the batch in which it left may not have been done with')
  await put([3, 30])
  await table.expireSnapshots({ retainMax: 1 })
  t.equal((await table.snapshots())[0]!.id, 2)
  const stop = new AbortController()
  const seen = recordsOf(table.follow({ consumer: 'c', signal: stop.signal }))
  await new Promise((done) => setTimeout(done, 100))
  t.same(mark(), { nextSnapshot: 4 })
  stop.abort()
  t.same((await seen).map(shortly), ['2 +I 2 20', '3 +I 3 30'])
  await table.expireSnapshots({ retainMax: 1 })
  t.equal((await table.snapshots())[0]!.id, 3)
  t.same(readdirSync(join(folder, 'consumer')), ['consumer-c'])
  await warehouse.close()
})

t.test('changes that are being read are not expired by this process', async (t) => {
  const { warehouse, table, put } = await create(t.testdir())
  for (const v of [1, 2, 3]) await put([1, v])
  const changes = table.changes()
  t.equal((await changes.next()).value?.snapshot, 1)
  await table.expireSnapshots({ retainMax: 1 })
  t.same((await recordsOf(changes)).map(shortly), ['2 +I 1 2', '3 +I 1 3'])
  await warehouse.close()
})

t.test(
  'the snapshot whose rows come first is marked before they are read, and they come again until all are taken',
  async (t) => {
    const path = t.testdir()
    const { warehouse, table, put, folder } = await create(path)
    const mark = () => JSON.parse(readFileSync(join(folder, 'consumer', 'consumer-c'), 'utf8'))
    await put(...Array.from({ length: 3000 }, (_, k) => [k, 1] as const))
    const other = openAlone(path)
    const expire = async () => (await other.table('db.t')).expireSnapshots({ retainMax: 1 })
    const count = async (stop: number) => {
      let rows = 0
      for await (const batch of table.follow({ consumer: 'c', initial: true })) {
        t.equal(batch.snapshot, 1)
        rows += batch.rows.length
        if (rows >= stop) break
      }
      return rows
    }
    t.ok((await count(1)) < 3000, 'left before the end')
    t.same(mark(), { nextSnapshot: 1, initialSnapshot: 1 })
    await put([0, 2])
    t.same((await expire()).consumers, [{ name: 'c', nextSnapshot: 1 }])
    t.equal((await table.snapshots())[0]!.id, 1)
    t.equal(await count(3000), 3000, 'the same rows from the first on')
    const stop = new AbortController()
    const rest: string[] = []
    let last = 0
    for await (const { snapshot, rows } of table.follow({ consumer: 'c', signal: stop.signal })) {
      last = snapshot
      if (snapshot === 2) {
        rest.push(...rows.map((row) => Object.values(row).join(' ')))
        stop.abort()
      }
    }
    t.same([last, rest], [2, ['0 2']])
    t.same(mark(), { nextSnapshot: 2 })
    t.same((await expire()).expired, [1])
    await other.close()
    await warehouse.close()
  },
)

t.test('two readers of one process need two names', async (t) => {
  const { warehouse, table, put } = await create(t.testdir())
  await put([1, 1])
  const first = table.follow({ consumer: 'c', from: 0 })
  await first.next()
  const again = await warehouse.table('db.t')
  await refused(t, again.follow({ consumer: 'c' }).next(), 'LOCKED', { value: 'c', option: 'consumer' }, 'c', 'db.t')
  t.equal((await again.follow({ consumer: 'd', from: 0 }).next()).value?.snapshot, 1)
  await first.return()
  t.equal((await again.follow({ consumer: 'c' }).next()).value?.snapshot, 1, 'the name is free again')
  await warehouse.close()
  await refused(t, () => table.follow(), 'CLOSED', {}, 'db.t')
})

t.test('a reader of a table that was dropped hears of it', async (t) => {
  const path = t.testdir()
  const { warehouse, table, folder } = await create(path)
  const waiting = table.follow({ pollMillis: 5 }).next()
  await refused(t, () => other().then(() => waiting), 'NOT_FOUND', { table: 'db.t' }, 'db.t', 'dropped')
  await refused(t, collect(table.changes()), 'NOT_FOUND', { table: 'db.t' }, 'dropped')
  async function other() {
    const alone = openAlone(path)
    await alone.dropTable('db.t')
    await alone.close()
  }
  await warehouse.close()
  const next = await create(path)
  await next.put([1, 1])
  const marked = next.table.follow({ consumer: 'c', from: 0, pollMillis: 5 })
  await marked.next()
  await other()
  await refused(t, marked.next(), 'NOT_FOUND', { table: 'db.t' }, 'dropped')
  t.notOk(existsSync(join(folder, 'consumer')), 'no mark is left in its place')
  await next.warehouse.close()
})

t.test('a mark that nobody writes expires, that of a reader that waits does not', async (t) => {
  const { warehouse, table, put, folder } = await create(t.testdir(), { 'consumer.expiration-time': '1 h' })
  for (const v of [1, 2, 3]) await put([1, v])
  for (const consumer of ['dead', 'alive']) await table.follow({ consumer, from: 0 }).next()
  await warehouse.close()
  const old = (name: string) => {
    const past = Date.now() / 1000 - 3700
    utimesSync(join(folder, 'consumer', `consumer-${name}`), past, past)
  }
  old('dead')
  old('alive')
  const next = await open(join(folder, '..', '..'))
  const again = await next.table('db.t')
  const stop = new AbortController()
  const seen = recordsOf(again.follow({ consumer: 'alive', signal: stop.signal }))
  await new Promise((done) => setTimeout(done, 100))
  t.same((await again.expireSnapshots({ retainMax: 1, dryRun: true })).consumers, [])
  t.same(readdirSync(join(folder, 'consumer')).sort(), ['consumer-alive', 'consumer-dead'], 'a dry run removes nothing')
  await again.expireSnapshots({ retainMax: 1 })
  t.same(readdirSync(join(folder, 'consumer')), ['consumer-alive'])
  stop.abort()
  await seen
  await next.close()
})

t.test('consumers that keep changelogs only let snapshots go', async (t) => {
  const options = { 'consumer.changelog-only': 'true', 'snapshot.num-retained.min': 1, 'snapshot.num-retained.max': 1 }
  for (const outlive of [true, false]) {
    const path = join(t.testdir({ [`${outlive}`]: {} }), `${outlive}`)
    const { warehouse, table, put } = await create(path, {
      ...options,
      'changelog-producer': 'input',
      'write-only': 'true',
      ...(outlive && { 'changelog.num-retained.min': 2, 'changelog.num-retained.max': 2 }),
    })
    await put([1, 1])
    for await (const _ of table.follow({ consumer: 'c', from: 0 })) break
    for (const v of [2, 3, 4, 5]) await put([1, v])
    for (let run = 0; run < 2; run++) t.same((await table.expireSnapshots()).consumers.length, outlive ? 0 : 1)
    t.equal((await table.snapshots())[0]!.id, outlive ? 5 : 1)
    t.same(
      (await changesOf(table)).map(({ snapshot }) => snapshot),
      [1, 2, 3, 4, 5],
      'its changes are there',
    )
    await warehouse.close()
  }
})

import { readdirSync, readFileSync } from 'node:fs'
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
  await refused(t, collect(table.changes({ to: 5 })), 'NOT_FOUND', { value: 5, latest: 4 }, '5', '4')
  await refused(t, () => table.follow({ from: 1, initial: true }), 'INVALID', { option: 'initial' }, 'initial')
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

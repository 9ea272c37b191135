import t from 'tap'
import { t as fields, openWarehouse } from '../../dist/engine/index.js'
import type { SortResult, Task } from '../../engine/tasks/task.ts'
import { type GuestAnswer, Guests } from '../../workers/guests.ts'
import { guestsOf } from '../../workers/hosted.ts'
import { toWire } from '../../workers/wire.ts'
import { collect } from '../support/warehouses.ts'
import { openFaulty, placeIn } from './threads.ts'

const definition = {
  fields: { k: fields.int(), v: fields.string() },
  primaryKey: ['k'],
  options: { bucket: 1, 'num-sorted-run.compaction-trigger': 100 },
} as const

const rows = (from: number, to: number, v: string) =>
  Array.from({ length: to - from }, (_, index) => ({ k: from + index, v: `${v} ${from + index}` }))

t.test('on one thread, commits and scans end while a compaction runs', async (t) => {
  const warehouse = await openWarehouse(t.testdir(), { workers: 1, durability: 'none' })
  const table = await warehouse.createTable('db.t', definition)
  for (let i = 0; i < 5; i++) {
    await table.put(rows(i * 30_000, i * 30_000 + 60_000, `round ${i}`))
    await table.commit()
  }
  const ended: string[] = []
  const compacted = table.compact({ full: true }).then(() => ended.push('compaction'))
  await new Promise<void>((resolve) => table.on('compactionStart', () => resolve()))
  await table.put(rows(0, 50, 'during'))
  const committed = await table.commit()
  ended.push('commit')
  const [row] = await collect(table.scan({ range: { gte: { k: 7 }, lt: { k: 8 } } }))
  ended.push('scan')
  await compacted
  t.same(row, { k: 7, v: 'during 7' })
  t.equal(committed.records, 50)
  t.strictSame(ended, ['commit', 'scan', 'compaction'])
  const found = await collect(table.scan())
  t.equal(found.length, 180_000)
  t.same(found[100_000], { k: 100_000, v: 'round 3 100000' })
  t.equal(found.filter(({ v }) => v.startsWith('during')).length, 50)
  await warehouse.close()
})

t.test('what a compaction does not come to runs after it, whatever becomes of it', async (t) => {
  for (const fault of ['exit', 'crash', 'deaf'] as const) {
    const place = placeIn(`${t.testdir({ [fault]: {} })}/${fault}`)
    const warehouse = openFaulty(place, { threads: 1 })
    const table = await warehouse.createTable('db.t', definition)
    for (let i = 0; i < 3; i++) {
      await table.put(rows(i * 100, i * 100 + 200, `round ${i}`))
      await table.commit()
    }
    place.plant('compact', fault)
    const abort = new AbortController()
    const compacted = table.compact({ full: true, signal: abort.signal })
    compacted.catch(() => undefined)
    await table.put(rows(0, 10, 'during'))
    const committed = table.commit()
    if (fault === 'deaf') abort.abort()
    await t.rejects(compacted, { code: fault === 'deaf' ? 'ABORTED' : 'IO' })
    t.equal((await committed).records, 10, fault)
    t.equal((await collect(table.scan())).filter(({ v }) => v.startsWith('during')).length, 10)
    await warehouse.close()
  }
})

// In the pool the compaction keeps the process alive, not the port of its guests.
const alive = setInterval(() => undefined, 1000)
t.teardown(() => clearInterval(alive))

const task = (kind: string) => ({ kind }) as unknown as Task
const answer: GuestAnswer['answer'] = { ok: true, value: { kind: 'sort' } as unknown as SortResult }

t.test('a guest gets the answer to its own task', async (t) => {
  const guests = new Guests()
  const [first, second] = [guests.run(task('flush')), guests.run(task('read'))]
  t.equal(guests.guests, 2)
  const seen: string[] = []
  const host = guestsOf(guests.door, async ({ kind }) => {
    seen.push(kind)
    t.ok(guests.busy)
    return { answer: kind === 'flush' ? answer : { ok: false, error: toWire(new Error(kind)) }, buffers: [] }
  })
  await host.pause()
  t.notOk(guests.busy)
  t.strictSame(seen, ['flush', 'read'])
  t.same(await first, answer)
  t.match(await second, { ok: false, error: { message: 'read' } })
  const late = guests.run(task('sort'))
  host.end()
  guests.answered()
  t.equal(await late, undefined, 'the host ended before it came to it')
  t.equal(await guests.run(task('sort')), undefined)
  t.notOk(guests.open)
})

t.test('a host gets on between two tasks of guests', async (t) => {
  const guests = new Guests()
  const calls = Array.from({ length: 10 }, () => guests.run(task('read')))
  let ran = 0
  const host = guestsOf(guests.door, async () => {
    ran++
    return { answer, buffers: [] }
  })
  await host.pause()
  t.ok(ran > 0 && ran < 10, `${ran} of 10`)
  for (let i = 0; i < 10; i++) await host.pause()
  await Promise.all(calls)
  t.equal(ran, 10)
  host.end()
  guests.answered()
})

t.test('with its thread a host loses the task of the guest it was at, and no other', async (t) => {
  const guests = new Guests()
  const [first, second] = [guests.run(task('flush')), guests.run(task('flush'))]
  Atomics.store(guests.door.busy, 0, 1)
  guests.lost(new Error('thread ended'))
  await t.rejects(first, { message: 'thread ended' })
  t.equal(await second, undefined)

  const idle = new Guests()
  const call = idle.run(task('flush'))
  idle.lost(new Error('thread ended'))
  t.equal(await call, undefined, 'it had not begun')
})

import t from 'tap'
import { type Lane, Lanes } from '../../workers/lanes.ts'

/** Asks for slots and notes who got one, in order; `next` ends the work that got one first. */
function recorder(lanes: Lanes) {
  const order: string[] = []
  const held: (() => void)[] = []
  return {
    order,
    ask: async (name: string, lane: Lane, signal?: AbortSignal) => {
      const give = await lanes.acquire(lane, signal)
      order.push(name)
      held.push(give)
    },
    next: async () => {
      held.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

t.test('urgent work overtakes background work that waits, and each lane keeps its order', async (t) => {
  const lanes = new Lanes(1)
  const { order, ask, next } = recorder(lanes)
  const asked = [
    ask('merge 1', 'background'),
    ask('merge 2', 'background'),
    ask('flush 1', 'urgent'),
    ask('merge 3', 'background'),
    ask('flush 2', 'urgent'),
  ]
  t.equal(lanes.waiting, 4)
  for (let i = 0; i < 5; i++) await next()
  await Promise.all(asked)
  t.strictSame(order, ['merge 1', 'flush 1', 'flush 2', 'merge 2', 'merge 3'])
  await next()
  t.equal(lanes.running, 0)
})

t.test('as many run as there are slots', async (t) => {
  const lanes = new Lanes(3)
  const { order, ask, next } = recorder(lanes)
  const asked = ['a', 'b', 'c', 'd'].map((name) => ask(name, 'urgent'))
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(order, ['a', 'b', 'c'])
  t.equal(lanes.running, 3)
  await next()
  await Promise.all(asked)
  t.strictSame(order, ['a', 'b', 'c', 'd'])
})

t.test('urgent work without end does not starve background work', async (t) => {
  const lanes = new Lanes(1)
  const { order, ask, next } = recorder(lanes)
  const asked = [ask('first', 'urgent'), ask('merge', 'background')]
  for (let i = 0; i < 100; i++) asked.push(ask(`read ${i}`, 'urgent'))
  for (let i = 0; i < 102; i++) await next()
  await Promise.all(asked)
  const place = order.indexOf('merge')
  t.ok(place > 1 && place < 20, `after ${place - 1} reads`)
  t.equal(order.length, 102)
})

t.test('who waits leaves when its signal fires, and takes no slot', async (t) => {
  const lanes = new Lanes(1)
  const { order, ask, next } = recorder(lanes)
  await ask('running', 'urgent')
  const abort = new AbortController()
  const left = ask('left', 'background', abort.signal)
  const stayed = ask('stayed', 'background')
  abort.abort(new Error('enough'))
  await t.rejects(left, { message: 'enough' })
  await next()
  await stayed
  t.strictSame(order, ['running', 'stayed'])
  await t.rejects(lanes.acquire('urgent', AbortSignal.abort(new Error('before'))), { message: 'before' })
})

t.test('refuse turns all away that wait, idle waits for those that run', async (t) => {
  const lanes = new Lanes(1)
  await lanes.idle()
  const give = await lanes.acquire('urgent')
  const waiting = [lanes.acquire('urgent'), lanes.acquire('background')]
  lanes.refuse(new Error('closed'))
  for (const one of waiting) await t.rejects(one, { message: 'closed' })
  let idle = false
  const done = lanes.idle().then(() => {
    idle = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(idle)
  give()
  give()
  await done
  t.equal(lanes.running, 0, 'a slot given back twice counts once')
})

import t from 'tap'
import { type Host, type Lane, Lanes } from '../../workers/lanes.ts'

/** Takes nobody along. */
const alone = (): Host => ({ open: false, guests: 0 })

/** Asks for slots and notes who got one, in order; `next` ends the work that got one first. */
function recorder(lanes: Lanes<Host>) {
  const order: string[] = []
  const held: (() => void)[] = []
  return {
    order,
    ask: async (name: string, lane: Lane, signal?: AbortSignal) => {
      const { release, kind } = await lanes.acquire(lane, signal)
      order.push(kind === 'guest' ? `${name} as a guest` : name)
      held.push(release)
    },
    next: async () => {
      held.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

t.test('urgent work overtakes background work that waits, and each lane keeps its order', async (t) => {
  const lanes = new Lanes(1, alone)
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
  const lanes = new Lanes(3, alone)
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
  const lanes = new Lanes(1, alone)
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
  const lanes = new Lanes(1, alone)
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
  const lanes = new Lanes(1, alone)
  await lanes.idle()
  const { release } = await lanes.acquire('urgent')
  const waiting = [lanes.acquire('urgent'), lanes.acquire('background')]
  lanes.refuse(new Error('closed'))
  for (const one of waiting) await t.rejects(one, { message: 'closed' })
  let idle = false
  const done = lanes.idle().then(() => {
    idle = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(idle)
  release()
  release()
  await done
  t.equal(lanes.running, 0, 'a slot given back twice counts once')
})

t.test('where background work holds the slots, urgent work is its guest, with the host that has fewest', async (t) => {
  const hosts: { open: boolean; guests: number }[] = []
  const lanes = new Lanes<Host>(2, () => {
    hosts.push({ open: true, guests: 0 })
    return hosts.at(-1)!
  })
  const { order, ask, next } = recorder(lanes)
  const [first, second] = [await lanes.acquire('background'), await lanes.acquire('background')]
  hosts[0]!.guests = 3
  const guest = await lanes.acquire('urgent')
  t.equal(guest.host, hosts[1])
  hosts[1]!.open = false
  t.equal((await lanes.acquire('urgent')).host, hosts[0], 'one that is being stopped takes none')
  t.equal(lanes.running, 4)
  hosts[0]!.open = false
  const waiting = [ask('flush', 'urgent'), ask('merge', 'background'), ask('read', 'urgent')]
  t.equal(lanes.waiting, 3)
  guest.release()
  t.equal(lanes.waiting, 3, 'the end of a guest frees no slot')
  first.release()
  second.release()
  await next()
  await next()
  await Promise.all(waiting)
  t.strictSame(order, ['flush', 'read', 'merge'])
})

t.test('urgent work that waits becomes the guest of background work that takes the slot before it', async (t) => {
  const lanes = new Lanes<Host>(1, () => ({ open: true, guests: 0 }))
  const { order, ask, next } = recorder(lanes)
  const asked = [ask('first', 'urgent'), ask('merge', 'background')]
  for (let i = 0; i < 20; i++) asked.push(ask(`read ${i}`, 'urgent'))
  for (let i = 0; i < 18; i++) await next()
  await Promise.all(asked)
  t.strictSame(order.slice(16, 22), ['read 15', 'merge', ...[16, 17, 18, 19].map((i) => `read ${i} as a guest`)])
})

import t from 'tap'
import { nodeClock } from '../../../engine/ports/node-clock.ts'
import { nodeRandom } from '../../../engine/ports/node-random.ts'

t.test('a sleep ends after its time, or rejects with the reason of its signal', async (t) => {
  const before = nodeClock.now()
  await nodeClock.sleep(5, { ref: true })
  t.ok(nodeClock.now() - before >= 4)
  const reason = new Error('stop')
  await t.rejects(nodeClock.sleep(60_000, { signal: AbortSignal.abort(reason) }), reason)
  const controller = new AbortController()
  const sleeping = nodeClock.sleep(60_000, { signal: controller.signal })
  controller.abort(reason)
  await t.rejects(sleeping, reason)
})

t.test('the offset is what local time is ahead of UTC', (t) => {
  const now = nodeClock.now()
  const local = new Date(now + nodeClock.offsetMinutes(now) * 60_000)
  t.equal(local.getUTCHours(), new Date(now).getHours())
  t.end()
})

t.test('uuids are version 4 in lower case, fractions below one', (t) => {
  t.match(nodeRandom.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const fraction = nodeRandom.fraction()
  t.ok(fraction >= 0 && fraction < 1)
  t.end()
})

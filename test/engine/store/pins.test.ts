import t from 'tap'
import { mapLimited } from '../../../engine/store/concurrent.ts'
import { Pins } from '../../../engine/store/pins.ts'

t.test('a snapshot is pinned until its last reader is done', (t) => {
  const pins = new Pins()
  let released = 0
  const stop = pins.onRelease(() => released++)
  const first = pins.pin(7)
  const second = pins.pin(7)
  const third = pins.pin(3)
  t.same(pins.ids(), [3, 7])
  first()
  first()
  t.same(pins.ids(), [3, 7], 'releasing twice counts once')
  t.equal(released, 0)
  second()
  t.same(pins.ids(), [3])
  t.equal(released, 1)
  stop()
  third()
  t.same(pins.ids(), [])
  t.equal(released, 1, 'who stopped listening hears nothing')
  t.end()
})

t.test('limited work keeps order, limit and the first error', async (t) => {
  let running = 0
  let most = 0
  const run = async (item: number) => {
    running++
    most = Math.max(most, running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
    if (item === 13) throw new Error('unlucky')
    return item * 2
  }
  const items = Array.from({ length: 10 }, (_, index) => index)
  t.same(
    await mapLimited(items, run, 3),
    items.map((item) => item * 2),
  )
  t.equal(most, 3)
  t.same(await mapLimited([], run), [])
  await t.rejects(mapLimited([1, 13, 2, 3, 4, 5, 6, 7, 8, 9], run, 2), /unlucky/)
  t.equal(running, 0, 'nothing runs on after the error')
})

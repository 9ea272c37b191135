import t from 'tap'
import { Cache } from '../../../engine/store/cache.ts'

t.test('the least recently used go first, and the sum of sizes stays within the limit', (t) => {
  const cache = new Cache<string>(10)
  cache.set('a', 'A', 4)
  cache.set('b', 'B', 4)
  t.equal(cache.get('a'), 'A')
  cache.set('c', 'C', 4)
  t.equal(cache.get('b'), undefined, 'b was used least recently')
  t.equal(cache.get('a'), 'A')
  t.equal(cache.get('c'), 'C')
  t.equal(cache.bytes, 8)
  cache.set('a', 'AA', 1)
  t.equal(cache.bytes, 5)
  cache.set('huge', 'H', 11)
  t.equal(cache.get('huge'), undefined)
  t.equal(cache.size, 2, 'what does not fit drives nothing out')
  cache.delete('a')
  cache.delete('a')
  t.equal(cache.bytes, 4)
  cache.clear()
  t.equal(cache.bytes + cache.size, 0)
  t.end()
})

t.test('two loads of a key at the same time are one', async (t) => {
  const cache = new Cache<number>(10)
  let loads = 0
  const load = async () => ({ value: ++loads, bytes: 1 })
  t.same(await Promise.all([cache.getOrLoad('a', load), cache.getOrLoad('a', load)]), [1, 1])
  t.equal(await cache.getOrLoad('a', load), 1)
  t.equal(loads, 1)
})

t.test('a failed load is tried again', async (t) => {
  const cache = new Cache<number>(10)
  await t.rejects(
    cache.getOrLoad('a', async () => {
      throw new Error('no')
    }),
    /no/,
  )
  t.equal(await cache.getOrLoad('a', async () => ({ value: 2, bytes: 1 })), 2)
})

t.test('what is deleted while it loads is not kept', async (t) => {
  const cache = new Cache<number>(10)
  const loading = cache.getOrLoad('a', async () => ({ value: 1, bytes: 1 }))
  cache.delete('a')
  t.equal(await loading, 1)
  t.equal(cache.get('a'), undefined)
})

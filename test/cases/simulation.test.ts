import t from 'tap'
import { loadEverything, simulate } from '../sim/run.ts'

// What the simulation finds is found by `npm run sim`; here is what it promises of itself.

t.test('a seed of the simulation is a whole run: the same one takes the same steps', async (t) => {
  await loadEverything()
  const seeds = [11, 12]
  const first = []
  for (const seed of seeds) first.push(await simulate(seed, { generations: 2 }))
  const again = []
  for (const seed of seeds.toReversed()) again.unshift(await simulate(seed, { generations: 2 }))
  t.same(again, first)
  t.equal(new Set(first.map(({ hash }) => hash)).size, seeds.length)
  t.ok(first.every(({ snapshots, steps }) => snapshots > 0 && steps > 500))
})

t.test('the simulation finds a disk that says it has synced a folder and has not', async (t) => {
  await loadEverything()
  for (let seed = 1; seed <= 10; seed++) {
    const error = await simulate(seed, { liar: true }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (error === undefined) continue
    t.match(error, { message: /acknowledged|missing|whole|another one/ })
    return
  }
  t.fail('ten seeds have noticed nothing')
})

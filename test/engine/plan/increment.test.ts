import t from 'tap'
import {
  buildIncrement,
  type CompactionChange,
  foldCompactions,
  isEmptyIncrement,
} from '../../../engine/plan/increment.ts'
import type { DataFile } from '../../../formats/meta/types.ts'
import { file, noPartition } from '../../support/plan-files.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const at = (name: string, level: number) => file({ name, level })
const places = (files: readonly DataFile[]) => files.map((f) => `${f.name}@${f.level}`)
const fold = (...changes: CompactionChange[]) => {
  const { before, after, obsolete } = foldCompactions(changes)
  return { before: places(before), after: places(after), obsolete: places(obsolete as readonly DataFile[]) }
}

t.test('one compaction is itself', async (t) => {
  const change = { before: [at('a', 0), at('b', 0)], after: [at('m', 4)] }
  t.same(fold(change), { before: ['a@0', 'b@0'], after: ['m@4'], obsolete: [] })
  t.same(fold(), { before: [], after: [], obsolete: [] })
})

t.test('a file made and consumed before the commit appears nowhere and can go', async (t) => {
  t.same(
    fold(
      { before: [at('a', 0), at('b', 0)], after: [at('m', 4)] },
      { before: [at('m', 4), at('c', 0)], after: [at('n', 5)] },
    ),
    { before: ['a@0', 'b@0', 'c@0'], after: ['n@5'], obsolete: ['m@4'] },
  )
})

t.test('an upgraded file that is consumed later stays on disk: a snapshot names it at its old level', async (t) => {
  t.same(
    fold({ before: [at('a', 0)], after: [at('a', 4)] }, { before: [at('a', 4), at('b', 0)], after: [at('m', 5)] }),
    { before: ['a@0', 'b@0'], after: ['m@5'], obsolete: [] },
  )
})

t.test('a new file that is upgraded once more stays on disk at its last level', async (t) => {
  t.same(fold({ before: [at('a', 0)], after: [at('m', 3)] }, { before: [at('m', 3)], after: [at('m', 5)] }), {
    before: ['a@0'],
    after: ['m@5'],
    obsolete: [],
  })
})

t.test('an upgrade of an upgrade keeps the first level as input and the last as output', async (t) => {
  t.same(fold({ before: [at('a', 0)], after: [at('a', 3)] }, { before: [at('a', 3)], after: [at('a', 5)] }), {
    before: ['a@0'],
    after: ['a@5'],
    obsolete: [],
  })
})

t.test('a new file upgraded and then consumed can go, at the level it had last', async (t) => {
  t.same(
    fold(
      { before: [at('a', 0)], after: [at('m', 3)] },
      { before: [at('m', 3)], after: [at('m', 4)] },
      { before: [at('m', 4)], after: [] },
    ),
    { before: ['a@0'], after: [], obsolete: ['m@4'] },
  )
})

t.test('I8: one input for two compactions is a bug', async (t) => {
  const take = { before: [at('a', 0)], after: [] }
  t.throws(() => fold(take, take), { code: 'INTERNAL', message: /I8: a was consumed by two/ })
  t.throws(() => fold({ before: [], after: [at('m', 3)] }, { before: [at('m', 4)], after: [] }), {
    message: /made at 3/,
  })
  t.throws(() => fold({ before: [], after: [at('m', 3)] }, { before: [], after: [at('m', 3)] }), {
    message: /made by two/,
  })
})

t.test('folding gives the same files as playing the changes one by one', async (t) => {
  const { fraction } = seededRandom(21)
  for (let round = 0; round < 500; round++) {
    const start = Array.from({ length: 1 + Math.floor(fraction() * 6) }, (_, i) => at(`s${i}`, 0))
    let live = [...start]
    const disk = new Set(start.map((f) => f.name))
    const changes: CompactionChange[] = []
    for (let i = 0; i < 5; i++) {
      const before = live.filter(() => fraction() < 0.5)
      const after = before.flatMap((f) => (fraction() < 0.4 ? [{ ...f, level: f.level + 1 }] : []))
      if (fraction() < 0.7) after.push(at(`m${i}`, 1 + i))
      changes.push({ before, after })
      live = [...live.filter((f) => !before.includes(f)), ...after]
      for (const f of after) disk.add(f.name)
    }
    const { before, after, obsolete } = foldCompactions(changes)
    const folded = [...start.filter((f) => !places(before).includes(`${f.name}@${f.level}`)), ...after]
    if (places(folded).sort().join() !== places(live).sort().join()) t.fail(`round ${round}: other files live`)
    for (const f of obsolete) {
      if (start.some((s) => s.name === f.name)) t.fail('a committed file is called obsolete')
      if (live.some((l) => l.name === f.name)) t.fail('a live file is called obsolete')
    }
    const named = new Set([...start, ...live, ...obsolete].map((f) => f.name))
    if ([...disk].some((name) => !named.has(name))) t.fail('a file is left on disk that nobody names')
  }
  t.pass('500 rounds')
})

t.test('an increment holds flushes beside the fold', async (t) => {
  const place = { partition: noPartition, bucket: 2, totalBuckets: 4 }
  const flushed = at('a', 0)
  const [flush, compaction] = [
    { before: [], after: [flushed], changelog: [at('c1', 0)] },
    { before: [flushed], after: [at('m', 5)], changelog: [at('c2', 5)] },
  ]
  const { increment, obsolete } = buildIncrement(place, [flush], [compaction])
  t.same(
    {
      ...increment,
      added: places(increment.added),
      compactBefore: places(increment.compactBefore),
      compactAfter: places(increment.compactAfter),
      changelog: places(increment.changelog),
    },
    {
      ...place,
      added: ['a@0'],
      compactBefore: ['a@0'],
      compactAfter: ['m@5'],
      changelog: ['c1@0', 'c2@5'],
    },
  )
  t.same(obsolete, [])
  t.equal(isEmptyIncrement(increment), false)
  t.equal(isEmptyIncrement(buildIncrement(place, [], []).increment), true)
})

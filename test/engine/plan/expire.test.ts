import t from 'tap'
import { pathId } from '../../../engine/plan/entry-id.ts'
import {
  expiredDataFiles,
  expiredMetadata,
  keptSnapshots,
  type MetadataFiles,
  namedManifests,
  nearestTag,
  planExpire,
  protectorsOfTag,
  type RetentionInput,
  snapshotsToExpire,
  taggedFiles,
  unusedFiles,
} from '../../../engine/plan/expire.ts'
import type { ManifestEntry, Snapshot } from '../../../formats/meta/types.ts'
import { entry, file, partition } from '../../support/plan-files.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const HOUR = 3600000
const NONE = 2147483647

const retention: RetentionInput = {
  earliest: 1,
  latest: 15,
  nowMillis: 1_000_000,
  retainMin: 10,
  retainMax: NONE,
  retainMillis: 0,
  limit: 50,
  needed: [],
}

const expire = (input: Partial<RetentionInput>, timeOf: (id: number) => number | undefined = () => 0) => {
  const { begin, end } = snapshotsToExpire({ ...retention, ...input }, timeOf)
  return [begin, end]
}

t.test('C090: minimum, maximum, age and consumers', async (t) => {
  t.same(expire({}), [1, 6], 'a: 15 commits, min 10, age 0: five end')
  const young = () => retention.nowMillis - 1
  t.same(expire({ earliest: 6, retainMin: 1, retainMax: 4, retainMillis: HOUR }, young), [6, 12], 'b: max beats age')
  t.same(expire({ latest: 5, retainMin: 1, retainMax: 100, needed: [3] }), [1, 3], 'c: a consumer at 3')
  t.same(expire({ earliest: 3, latest: 5, retainMin: 1, retainMax: 1, needed: [3] }), [3, 3], 'd: beats the maximum')
})

t.test('age: the first snapshot young enough ends the range', async (t) => {
  const timeOf = (id: number) => id * 1000
  const age = (nowMillis: number) => expire({ retainMin: 1, retainMillis: HOUR, nowMillis }, timeOf)
  t.same(age(HOUR + 1000), [1, 1], 'exactly as old as the limit stays')
  t.same(age(HOUR + 1001), [1, 2])
  t.same(age(HOUR + 7500), [1, 8])
})

t.test('C091, C092: gaps are passed over, a clock ten years ahead leaves the minimum', async (t) => {
  const gap = (id: number) => (id === 1 || id === 3 ? undefined : 0)
  t.same(expire({ earliest: 2, latest: 4, retainMin: 1 }, gap), [2, 4])
  const ahead = { nowMillis: 10 * 365 * 24 * HOUR, retainMillis: HOUR }
  t.same(expire({ ...ahead, latest: 4, retainMin: 1 }), [1, 4])
  t.same(expire({ ...ahead, latest: 4, retainMin: 10 }), [1, 1])
})

t.test('at most the limit of one run', async (t) => {
  t.same(expire({ latest: 500, retainMin: 1 }), [1, 51])
  t.same(expire({ latest: 500, retainMin: 1, retainMax: 2, limit: 7 }), [1, 8])
})

t.test('the latest snapshot always stays, and asking for none is a bug', async (t) => {
  t.same(expire({ retainMin: 1, retainMax: 1 }), [1, 15])
  t.throws(() => expire({ retainMin: 0 }), { code: 'INTERNAL' })
})

const a = file({ name: 'a' })
const removed = (delta: readonly ManifestEntry[], tagged: readonly ManifestEntry[] = []) =>
  expiredDataFiles(delta, taggedFiles(tagged)).map((e) => `${e.file.name}@${e.file.level}`)

t.test('C082: a file that an upgrade removes and adds stays, in whichever order', async (t) => {
  const up = { ...a, level: 5 }
  t.same(removed([entry('delete', a)]), ['a@0'])
  t.same(removed([entry('delete', a), entry('add', up)]), [])
  t.same(removed([entry('add', up), entry('delete', a)]), [])
  t.same(removed([entry('delete', a), entry('add', up, { bucket: 1 })]), ['a@0'], 'the same name in another bucket')
  t.same(removed([entry('delete', a), entry('add', up, { partition: partition(1) })]), ['a@0'])
  t.same(removed([entry('delete', { ...a, externalPath: '/x' }), entry('add', { ...a, externalPath: '/y' })]), ['a@0'])
  t.same(removed([entry('add', a)]), [])
  t.same(removed([entry('delete', a), entry('add', up), entry('delete', up)]), ['a@5'], 'added and removed again')
})

t.test('C083: a file of the tag before stays', async (t) => {
  const up = { ...a, level: 5 }
  t.same(removed([entry('delete', up)], [entry('add', up)]), [])
  t.same(removed([entry('delete', up)], [entry('add', a)]), [], 'at whatever level the tag names it')
  t.same(removed([entry('delete', a)], [entry('add', a, { bucket: 1 })]), ['a@0'])
})

t.test('the nearest tag before a snapshot', async (t) => {
  const tags = [{ snapshotId: 3 }, { snapshotId: 9 }, { snapshotId: 5 }]
  t.equal(nearestTag(tags, 3), undefined)
  t.equal(nearestTag(tags, 4)?.snapshotId, 3)
  t.equal(nearestTag(tags, 9)?.snapshotId, 5)
  t.equal(nearestTag(tags, 100)?.snapshotId, 9)
  const kept = (begin: number, end: number) => keptSnapshots({ begin, end }, [...tags, { snapshotId: 3 }])
  t.same(kept(4, 9), { firstKept: 9, tags: [{ snapshotId: 3 }, { snapshotId: 3 }, { snapshotId: 5 }] })
  t.same(kept(1, 3), { firstKept: 3, tags: [] })
})

t.test('C085, C087: a tag frees files only when its snapshot has ended and no other tag names it', async (t) => {
  const others = [{ snapshotId: 2 }, { snapshotId: 8 }]
  t.same(protectorsOfTag(5, others, 10), [2, 8])
  t.same(protectorsOfTag(9, others, 10), [8, 10])
  t.same(protectorsOfTag(1, [], 10), [10])
  t.equal(protectorsOfTag(8, others, 10), null, 'shared')
  t.equal(protectorsOfTag(10, others, 10), null, 'the snapshot is still there')
})

t.test('metadata that a kept snapshot shares stays', async (t) => {
  const files = (manifests: string[], indexes: string[] = [], statistics: string[] = []): MetadataFiles => ({
    manifests,
    indexes,
    statistics,
  })
  const ended = [files(['l1', 'm1', 'm2'], ['i1'], ['s1']), files(['l2', 'm2', 'm3'], ['i1', 'i2'], ['s1'])]
  t.same(expiredMetadata(ended, [files(['l3', 'm3'], ['i2'])]), files(['l1', 'm1', 'm2', 'l2'], ['i1'], ['s1']))
  t.same(expiredMetadata(ended, ended), files([]))
  const snapshot = { baseManifestList: 'b', deltaManifestList: 'd', indexManifest: 'i' } as Snapshot
  t.same(namedManifests(snapshot), ['b', 'd', 'i'])
  t.same(namedManifests({ ...snapshot, changelogManifestList: 'c' }), ['b', 'd', 'c', 'i'])
})

t.test('the plan of a run, with an unreadable delta and changelog files', async (t) => {
  const noFiles: MetadataFiles = { manifests: [], indexes: [], statistics: [] }
  const plan = planExpire({
    range: { begin: 1, end: 3 },
    deltas: [
      { id: 2, entries: null },
      { id: 3, entries: [entry('delete', a)] },
    ],
    tags: [],
    changelogFiles: [entry('add', file({ name: 'changelog-1' }))],
    expiredMetadata: [{ ...noFiles, manifests: ['m'] }],
    keptMetadata: [noFiles],
  })
  t.equal(plan.earliest, 3)
  t.same(plan.snapshots, [1, 2])
  t.same(
    plan.dataFiles.map((e) => e.file.name),
    ['a', 'changelog-1'],
  )
  t.same(plan.metadata.manifests, ['m'])
  const outside = { ...plan, range: { begin: 1, end: 3 }, deltas: [{ id: 1, entries: [] }] }
  t.throws(() => planExpire({ ...outside, tags: [], changelogFiles: [], expiredMetadata: [], keptMetadata: [] }), {
    code: 'INTERNAL',
  })
})

t.test('expiry and the deletion of tags remove exactly what no kept snapshot and no tag names', async (t) => {
  const { fraction } = seededRandom(41)
  let removedFiles = 0
  let tagFiles = 0
  for (let round = 0; round < 300; round++) {
    const deltas: ManifestEntry[][] = [[]]
    const states: ManifestEntry[][] = [[]]
    const count = 3 + Math.floor(fraction() * 12)
    for (let id = 1; id <= count; id++) {
      const live = states[id - 1]
      const delta: ManifestEntry[] = []
      if (fraction() < 0.5) {
        for (const e of live.filter(() => fraction() < 0.5)) {
          delta.push({ ...e, kind: 'delete' })
          if (fraction() < 0.4) delta.push({ ...e, file: { ...e.file, level: e.file.level + 1 } })
        }
        if (fraction() < 0.3) delta.reverse()
      }
      delta.push(entry('add', file({ name: `f${id}` }), { bucket: Math.floor(fraction() * 2) }))
      const gone = new Set(delta.filter((e) => e.kind === 'delete').map((e) => `${e.file.level} ${pathId(e)}`))
      deltas.push(delta)
      states.push([
        ...live.filter((e) => !gone.has(`${e.file.level} ${pathId(e)}`)),
        ...delta.filter((e) => e.kind === 'add'),
      ])
    }
    const disk = new Set(states.flat().map(pathId))
    const tags = Array.from({ length: Math.floor(fraction() * 4) }, () => 1 + Math.floor(fraction() * count)).map(
      (snapshotId) => ({ snapshotId, files: taggedFiles(states[snapshotId]) }),
    )
    let begin = 1
    // Two runs in a row: the second must find what the first left, and nothing twice.
    for (const end of [1 + Math.floor(fraction() * count), count]) {
      if (end <= begin) continue
      const ids = Array.from({ length: end - begin }, (_, i) => begin + 1 + i)
      const { dataFiles } = planExpire({
        range: { begin, end },
        deltas: ids.map((id) => ({ id, entries: deltas[id] })),
        tags,
        changelogFiles: [],
        expiredMetadata: [],
        keptMetadata: [],
      })
      for (const e of dataFiles) {
        if (!disk.delete(pathId(e))) t.fail(`round ${round}: ${e.file.name} removed twice`)
        removedFiles++
      }
      const used = new Set([...states.slice(end).flat().map(pathId), ...tags.flatMap((tag) => [...tag.files])])
      if ([...used].some((path) => !disk.has(path))) t.fail(`round ${round}: a used file is gone`)
      if ([...disk].some((path) => !used.has(path))) t.fail(`round ${round}: an unused file is left`)
      begin = end
    }
    const left = [...tags]
    while (left.length > 0) {
      const [tag] = left.splice(Math.floor(fraction() * left.length), 1)
      const protectors = protectorsOfTag(tag.snapshotId, left, begin)
      if (protectors !== null) {
        const used = protectors.map((id) => taggedFiles(states[id]))
        for (const e of unusedFiles(states[tag.snapshotId], used)) {
          if (!disk.delete(pathId(e))) t.fail(`round ${round}: ${e.file.name} of a tag removed twice`)
          tagFiles++
        }
      }
      const used = new Set([...states.slice(begin).flat().map(pathId), ...left.flatMap((other) => [...other.files])])
      if ([...used].some((path) => !disk.has(path))) t.fail(`round ${round}: a used file went with a tag`)
      if ([...disk].some((path) => !used.has(path))) t.fail(`round ${round}: a file outlives its tag`)
    }
  }
  t.ok(tagFiles > 50)
  t.ok(removedFiles > 300)
})

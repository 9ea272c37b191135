import t from 'tap'
import {
  compactManifestOptions,
  deletedIds,
  fullRewrite,
  type LoadedManifest,
  liveEntries,
  type ManifestMergeOptions,
  mergeEntries,
  planFullRewrite,
  planMinorMerge,
  wantsFullRewrite,
} from '../../../engine/plan/manifest-merge.ts'
import type { ManifestEntry, ManifestFile } from '../../../formats/meta/types.ts'
import { entry, file, partition } from '../../support/plan-files.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const options: ManifestMergeOptions = { targetBytes: 100, fullThresholdBytes: 200, minCount: 3 }
const noStats = { min: new Uint8Array(), max: new Uint8Array(), nullCounts: [] }

function manifest(name: string, bytes: number, deletedFiles = 0): ManifestFile {
  return {
    name,
    bytes,
    addedFiles: 1,
    deletedFiles,
    partitionStats: noStats,
    schemaId: 0,
    minBucket: null,
    maxBucket: null,
    minLevel: null,
    maxLevel: null,
    minRowId: null,
    maxRowId: null,
  }
}

const place = (e: ManifestEntry) => `${e.kind === 'add' ? '+' : '-'}${e.file.name}@${e.file.level}`
const places = (entries: readonly ManifestEntry[]) => entries.map(place)
const add = (name: string, level = 0) => entry('add', file({ name, level }))
const del = (name: string, level = 0) => entry('delete', file({ name, level }))

t.test('entries cancel in order, a delete of something older stays', async (t) => {
  t.same(places(mergeEntries([add('a'), add('b'), del('a'), del('old')])), ['+b@0', '-old@0'])
  t.same(places(mergeEntries([add('a'), del('a'), add('a')])), ['+a@0'])
  t.same(places(mergeEntries([])), [])
})

t.test('an upgrade does not cancel itself', async (t) => {
  t.same(places(mergeEntries([add('a'), del('a'), add('a', 5)])), ['+a@5'])
  t.same(places(mergeEntries([del('a'), add('a', 5)])), ['-a@0', '+a@5'])
})

t.test('the whole identifier counts: bucket, partition, extra files, embedded index, external path', async (t) => {
  const a = file({ name: 'a' })
  const variants = [
    entry('add', a),
    entry('add', a, { bucket: 1 }),
    entry('add', a, { partition: partition(1) }),
    entry('add', { ...a, extraFiles: ['a.index'] }),
    entry('add', { ...a, embeddedIndex: Uint8Array.of(1) }),
    entry('add', { ...a, embeddedIndex: Uint8Array.of(2) }),
    entry('add', { ...a, externalPath: '/elsewhere/a' }),
  ]
  t.equal(mergeEntries(variants).length, variants.length)
  for (const variant of variants) {
    t.equal(mergeEntries([...variants, { ...variant, kind: 'delete' }]).length, variants.length - 1)
  }
})

t.test('adding a file twice is damage', async (t) => {
  t.throws(() => mergeEntries([add('a'), add('a')]), { code: 'CORRUPT', details: { file: 'a' } })
  t.throws(() => mergeEntries([del('a'), del('a')]), { code: 'CORRUPT' })
})

t.test('live entries of a snapshot, manifests in any order', async (t) => {
  const entries = [del('a'), add('b'), add('a'), add('a', 5)]
  t.same(places(liveEntries(entries, deletedIds(entries))), ['+b@0', '+a@5'])
})

t.test('minor merge: neighbours up to the target size, a rest only from the minimal count', async (t) => {
  const said = (sizes: readonly number[]) =>
    planMinorMerge(
      sizes.map((bytes, i) => manifest(`${i}`, bytes)),
      options,
    ).map((group) => `${group.merge ? 'merge' : 'keep'} ${group.manifests.map((m) => m.name).join(' ')}`)
  t.same(said([]), [])
  t.same(said([10, 10]), ['keep 0 1'])
  t.same(said([10, 10, 10]), ['merge 0 1 2'])
  t.same(said([60, 40, 10]), ['merge 0 1', 'keep 2'], 'reaching the target exactly closes a group')
  t.same(said([60, 39, 10]), ['merge 0 1 2'])
  t.same(said([100, 150, 10, 10]), ['keep 0', 'keep 1', 'keep 2 3'], 'a large one alone stays as it is')
  t.same(said([10, 100, 1]), ['merge 0 1', 'keep 2'])
})

t.test('a full rewrite is wanted by the bytes of small manifests and of those with deletes', async (t) => {
  t.equal(wantsFullRewrite([manifest('a', 99), manifest('b', 100), manifest('c', 100)], options), false)
  t.equal(wantsFullRewrite([manifest('a', 99), manifest('b', 101, 1)], options), true, 'exactly the threshold')
  t.equal(wantsFullRewrite([manifest('a', 99), manifest('b', 100, 1)], options), false)
  t.equal(wantsFullRewrite([manifest('a', 1)], compactManifestOptions(100)), true, 'on request')
})

t.test('a full rewrite keeps manifests out of reach of all deletes', async (t) => {
  const manifests = [manifest('big', 150), manifest('near', 150), manifest('deletes', 150, 1), manifest('small', 10)]
  const deletes = [entry('delete', file({ name: 'x' }), { partition: partition(7) })]
  const plan = planFullRewrite(manifests, deletes, options, (m, p) => m.name === 'near' && p[4] === 7)
  t.same(
    plan?.keep.map((m) => m.name),
    ['big'],
  )
  t.same(
    plan?.rewrite.map((m) => m.name),
    ['near', 'deletes', 'small'],
  )
  t.equal(
    planFullRewrite(manifests.slice(0, 1), [], options, () => false),
    null,
  )
  t.equal(
    planFullRewrite([manifests[0], manifests[3]], [], options, () => false),
    null,
    'one alone is not worth it',
  )
})

t.test('a loaded manifest that loses nothing stays; the others give their survivors', async (t) => {
  const loaded = [
    { manifest: manifest('whole', 150), entries: [add('a')] },
    { manifest: manifest('loses', 150), entries: [add('b'), add('c')] },
    { manifest: manifest('deletes', 150, 1), entries: [del('b'), add('b', 5)] },
    { manifest: manifest('small', 10), entries: [add('d')] },
  ]
  const { keep, entries } = fullRewrite(loaded, deletedIds(loaded.flatMap((l) => l.entries)), options)
  t.same(
    keep.map((m) => m.name),
    ['whole'],
  )
  t.same(places(entries), ['+c@0', '+b@5', '+d@0'])
})

t.test('C066: through 60 commits of flushes and compactions, merging loses and doubles nothing', async (t) => {
  for (const [seed, merging] of [
    [1, { targetBytes: 60, fullThresholdBytes: 1e9, minCount: 2 }],
    [2, { targetBytes: 60, fullThresholdBytes: 100, minCount: 2 }],
    [3, { targetBytes: 500, fullThresholdBytes: 300, minCount: 30 }],
  ] as const) {
    const { fraction } = seededRandom(seed)
    const bytesOf = (entries: readonly ManifestEntry[]) => 10 * entries.length
    let written = 0
    const write = (entries: readonly ManifestEntry[]): LoadedManifest => ({
      manifest: manifest(`m${written++}`, bytesOf(entries), entries.filter((e) => e.kind === 'delete').length),
      entries,
    })
    let live: ManifestEntry[] = []
    let manifests: readonly LoadedManifest[] = []
    let merges = 0
    for (let commit = 0; commit < 60; commit++) {
      const loadedOf = new Map(manifests.map((m) => [m.manifest, m]))
      const load = (m: ManifestFile) => loadedOf.get(m) as LoadedManifest
      const files = manifests.map((m) => m.manifest)
      const all = manifests.flatMap((m) => m.entries)
      const deletes = all.filter((e) => e.kind === 'delete')
      const full = wantsFullRewrite(files, merging) ? planFullRewrite(files, deletes, merging, () => true) : null
      if (full !== null) {
        const { keep, entries } = fullRewrite(full.rewrite.map(load), deletedIds(deletes), merging)
        manifests = [...full.keep.map(load), ...keep.map(load), ...(entries.length > 0 ? [write(entries)] : [])]
        merges++
      } else {
        manifests = planMinorMerge(files, merging).flatMap((group) => {
          if (!group.merge) return group.manifests.map(load)
          merges++
          const entries = mergeEntries(group.manifests.flatMap((m) => load(m).entries))
          return entries.length > 0 ? [write(entries)] : []
        })
      }
      const delta: ManifestEntry[] = []
      if (commit % 3 === 2) {
        for (const e of live.filter(() => fraction() < 0.7)) delta.push({ ...e, kind: 'delete' })
        const upgraded = delta.filter((e) => e.file.level === 0 && fraction() < 0.3)
        for (const e of upgraded) delta.push(entry('add', { ...e.file, level: 5 }))
      }
      delta.push(add(`f${commit}`))
      manifests = [...manifests, write(delta)]
      const gone = deletedIds(delta)
      live = [...liveEntries(live, gone), ...delta.filter((e) => e.kind === 'add')]
      // Throws when a file is added twice; a DELETE left over has lost its ADD.
      const folded = mergeEntries(manifests.flatMap((m) => m.entries))
      if (folded.some((e) => e.kind === 'delete')) t.fail(`commit ${commit}: a delete without its add`)
      const expected = places(live).sort().join()
      if (places(folded).sort().join() !== expected) t.fail(`commit ${commit}: other files`)
      const entries = manifests.flatMap((m) => m.entries)
      if (
        places(liveEntries(entries, deletedIds(entries)))
          .sort()
          .join() !== expected
      )
        t.fail(`commit ${commit}: read`)
    }
    t.ok(merges > 1, 'merges happened')
    t.ok(manifests.length < 60, 'and shortened the list')
  }
})

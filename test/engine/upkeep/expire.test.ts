import t, { type Test } from 'tap'
import { resolve } from '../../../engine/options/resolve.ts'
import type { MemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { Pins } from '../../../engine/store/pins.ts'
import type { TableStore } from '../../../engine/store/table-store.ts'
import { expireSnapshots } from '../../../engine/upkeep/expire.ts'
import { type ExpireOverrides, expireRequest } from '../../../engine/upkeep/expire-request.ts'
import { failAt, failFrom, faultyFileSystem } from '../../support/faulty-fs.ts'
import { goldenCases } from '../../support/golden.ts'
import { goldenStore, storeOver } from '../../support/golden-store.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { allFiles, changelogFilesOf, filesOfSnapshot, unnamedFiles } from '../../support/table-files.ts'

/** Later than any golden snapshot. */
const NOW = 4_000_000_000_000

/** Keeps the last n snapshots whatever their age. */
async function keepLast(store: TableStore, n: number, pins = new Pins(), overrides: ExpireOverrides = {}) {
  const request = expireRequest(resolve({}), NOW, { retainMin: n, retainMax: n, ...overrides })
  return expireSnapshots(store, pins, request)
}

/** Every file that a snapshot or tag still there names is on disk. */
async function checkWhole(t: Test, fs: MemoryFileSystem, table: string, label: string): Promise<void> {
  const store = storeOver(fs, table)
  const present = new Set(await allFiles(fs, table))
  const missing: string[] = []
  const check = (files: Iterable<string>, of: string) => {
    for (const path of files) if (!present.has(path)) missing.push(`${path} of ${of}`)
  }
  for (const id of await store.snapshots.ids()) {
    const snapshot = await store.snapshots.read(id)
    check(await filesOfSnapshot(store, snapshot), `snapshot ${id}`)
    check(await changelogFilesOf(store, snapshot), `changelog of ${id}`)
  }
  for (const { name, snapshot } of await store.tags.list()) {
    check(await filesOfSnapshot(store, snapshot), `tag ${name}`)
  }
  t.same(missing, [], label)
}

t.test('golden: what stays is whole and nothing unnamed is left, however many snapshots end', async (t) => {
  for (const name of goldenCases) {
    const { fs: original } = goldenStore(name)
    const before = storeOver(original, `/warehouse/golden.db/${name}`)
    const ids = await before.snapshots.ids()
    const unnamedBefore = new Set(await unnamedFiles(before))
    for (const keep of new Set([1, Math.ceil(ids.length / 2)])) {
      const { fs, store } = goldenStore(name)
      const listed = await allFiles(fs, store.paths.table)
      const label = `${name} keep ${keep}`
      const dry = await keepLast(store, keep, new Pins(), { dryRun: true })
      t.same(await allFiles(fs, store.paths.table), listed, `${label}: a dry run changes nothing`)
      const result = await keepLast(store, keep)
      t.same(result.expired, ids.slice(0, Math.max(0, ids.length - keep)), label)
      t.same(dry.expired, result.expired, label)
      t.same([...dry.files].sort(), [...result.files].sort(), `${label}: a dry run tells what goes`)
      t.equal(dry.bytes, result.bytes)
      const left = new Set(await allFiles(fs, store.paths.table))
      t.same(
        [...result.files].sort(),
        listed.filter((path) => !left.has(path)),
        `${label}: the files reported are those that vanished`,
      )
      t.same(await storeOver(fs, store.paths.table).snapshots.ids(), ids.slice(-keep), label)
      await checkWhole(t, fs, store.paths.table, label)
      const unnamed = (await unnamedFiles(storeOver(fs, store.paths.table))).filter((path) => !unnamedBefore.has(path))
      t.same(unnamed, [], `${label}: nothing unnamed`)
    }
  }
})

t.test('C082: a file that a compaction only moved to another level stays', async (t) => {
  const { fs, store } = goldenStore('uc')
  const data = 'data-edd5a5e8-3be1-4d85-8809-595563ad031b-0.parquet'
  t.same((await keepLast(store, 1)).heldBack, [])
  t.ok((await fs.stat(`${store.paths.table}/bucket-0/${data}`)) !== undefined, 'removed at level 0, added at level 5')
})

t.test('C083: files of tags stay when their snapshots end, and only those', async (t) => {
  const { fs, store } = goldenStore('uc')
  const tagged = await store.snapshots.read(4)
  await store.tags.create({ name: 'four', snapshot: tagged })
  const needed = await filesOfSnapshot(store, tagged)
  const result = await keepLast(store, 1)
  t.ok(result.expired.includes(4))
  for (const path of needed) t.ok((await fs.stat(path)) !== undefined, path)
  await checkWhole(t, fs, store.paths.table, 'tagged')
  t.same(await unnamedFiles(storeOver(fs, store.paths.table)), [])
})

t.test('C090: consumers keep what they have not read', async (t) => {
  const { fs, store } = goldenStore('uc')
  fs.plant(`${store.paths.consumers}/consumer-a`, new TextEncoder().encode('{"nextSnapshot" : 3}'))
  fs.plant(`${store.paths.consumers}/consumer-b`, new TextEncoder().encode('{ "nextSnapshot" : 5 }'))
  const result = await keepLast(store, 1)
  t.same(result.expired, [1, 2])
  t.equal(result.earliest, 3)
  const [a, b] = [
    { name: 'a', nextSnapshot: 3 },
    { name: 'b', nextSnapshot: 5 },
  ]
  t.same(result.consumers, [a, b], 'who holds snapshots back')
  t.same((await keepLast(store, 1, new Pins(), { dryRun: true })).consumers, [a, b])
  const latest = (await store.snapshots.latestId())!
  t.same((await keepLast(store, latest - 3)).consumers, [a], 'only those without which more would end')
  t.same((await keepLast(store, latest - 2)).consumers, [])
  const pins = new Pins()
  pins.pin(3)
  t.same((await keepLast(store, 1, pins)).consumers, [a, b], 'a pin beside them does not hide them')
  fs.plant(`${store.paths.consumers}/consumer-a`, new TextEncoder().encode('{'))
  const files = await allFiles(fs, store.paths.table)
  await t.rejects(keepLast(store, 1), { code: 'CORRUPT' }, 'what a damaged mark needs cannot be known')
  t.same(await allFiles(fs, store.paths.table), files)
})

t.test('C089: a pinned snapshot and all later ones stay until the pin goes', async (t) => {
  const { fs, store } = goldenStore('uc')
  const pins = new Pins()
  const release = pins.pin(3)
  const held = await keepLast(store, 1, pins)
  t.same(held.expired, [1, 2])
  t.same(held.heldBack, [3])
  await checkWhole(t, fs, store.paths.table, 'pinned')
  const releaseTag = pins.pin(1)
  t.same((await keepLast(store, 1, pins)).expired, [], 'a pin on what has gone holds nothing back')
  releaseTag()
  release()
  const free = await keepLast(store, 1, pins)
  t.ok(free.expired.includes(3))
  t.same(free.heldBack, [])
})

t.test('C091: a gap made by hand does not stop expiry', async (t) => {
  const { fs, store } = goldenStore('uc')
  const ids = await store.snapshots.ids()
  await fs.unlink(store.snapshots.path(1))
  await fs.unlink(store.snapshots.path(3))
  const result = await keepLast(store, 1)
  t.same(
    result.expired,
    ids.filter((id) => id !== 1 && id !== 3 && id !== ids.at(-1)),
  )
  await checkWhole(t, fs, store.paths.table, 'gap')
  // The first snapshot that should stay is missing: the next one there is becomes the earliest.
  const second = goldenStore('uc')
  await second.fs.unlink(second.store.snapshots.path(ids.length - 2))
  t.equal((await keepLast(second.store, 3)).earliest, ids.length - 1)
  await checkWhole(t, second.fs, second.store.paths.table, 'gap at the end')
})

t.test('C091: an expiry that stops at any call is finished by the next one', async (t) => {
  for (const name of ['tags_expired', 'overwritten', 'dv', 'cl_input']) {
    const whole = goldenStore(name)
    const unnamedBefore = new Set(await unnamedFiles(storeOver(whole.fs, whole.store.paths.table)))
    const counting = faultyFileSystem(whole.fs, () => 'pass')
    const { table } = whole.store.paths
    await keepLast(storeOver(counting, table), 1)
    const calls = counting.calls.length
    const changes = counting.calls.flatMap((call, index) =>
      /^(create|rename|unlink|rmdir|fsync|link|mkdir)/.test(call) ? [index] : [],
    )
    const expected = await allFiles(whole.fs, table)
    for (const call of new Set([...changes, 0, Math.floor(calls / 3), Math.floor(calls / 2), calls - 1])) {
      for (const [verdict, decide] of [
        ['one call fails', failAt(call)],
        ['the process dies', failFrom(call)],
        ['an answer is lost', failAt(call, 'fail after')],
      ] as const) {
        const { fs } = goldenStore(name)
        const label = `${name}: ${verdict} at ${call} ${counting.calls[call]}`
        await keepLast(storeOver(faultyFileSystem(fs, decide), table), 1).catch(() => undefined)
        await checkWhole(t, fs, table, label)
        await keepLast(storeOver(fs, table), 1)
        await checkWhole(t, fs, table, `${label}, finished`)
        const left = (await allFiles(fs, table)).filter((path) => !path.endsWith('.tmp'))
        t.same(left, expected, label)
        const unnamed = (await unnamedFiles(storeOver(fs, table))).filter((path) => !unnamedBefore.has(path))
        t.same(
          unnamed.filter((path) => !path.endsWith('.tmp')),
          [],
          label,
        )
      }
    }
  }
})

t.test('C088: a snapshot whose files are going is never the earliest, after a power cut neither', async (t) => {
  const { table } = goldenStore('uc').store.paths
  const counting = faultyFileSystem(goldenStore('uc').fs, () => 'pass')
  await keepLast(storeOver(counting, table), 1)
  for (let call = 0; call < counting.calls.length; call += 7) {
    const { fs } = goldenStore('uc')
    await keepLast(storeOver(faultyFileSystem(fs, failFrom(call)), table), 1).catch(() => undefined)
    for (let seed = 0; seed < 3; seed++) {
      const cut = fs.crash(seededRandom(call * 10 + seed))
      await checkWhole(t, cut, table, `cut at ${call} ${counting.calls[call]}`)
      await keepLast(storeOver(cut, table), 1)
      await checkWhole(t, cut, table, `cut at ${call}, finished`)
    }
  }
})

t.test('a tag made while expiry is on its way is spared, or finds its snapshot expired', async (t) => {
  const { fs, store } = goldenStore('uc')
  const snapshot = await store.snapshots.read(2)
  let made = false
  const racing = faultyFileSystem(fs, (_, call) => {
    if (!made && call === `create ${store.paths.snapshots}/EARLIEST`) t.fail('hints are replaced, not created')
    return 'pass'
  })
  const rename = racing.rename
  racing.rename = async (from, to) => {
    if (to.endsWith('EARLIEST')) {
      made = true
      await store.tags.create({ name: 'late', snapshot })
    }
    await rename(from, to)
  }
  await keepLast(storeOver(racing, store.paths.table), 1)
  t.ok(made)
  await checkWhole(t, fs, store.paths.table, 'tag in a race')
})

t.test('EARLIEST does not move back when another process has expired more meanwhile', async (t) => {
  const { fs, store } = goldenStore('uc_long')
  const ids = await store.snapshots.ids()
  let met = false
  const ours = storeOver(
    faultyFileSystem(fs, (_, text) => {
      met ||= text.includes('/tag')
      return 'pass'
    }),
    store.paths.table,
  )
  const readHint = ours.snapshots.earliestHint.bind(ours.snapshots)
  // Ours has chosen its end; theirs comes in between and is done before ours looks at EARLIEST again.
  ours.snapshots.earliestHint = async () => {
    if (met) await store.snapshots.writeEarliestHint(ids.at(-1)!)
    return readHint()
  }
  await keepLast(ours, ids.length - 1)
  t.ok(met)
  t.equal(await store.snapshots.earliestHint(), ids.at(-1))
})

t.test('damage of a snapshot that ends does not stop expiry, damage of one that stays does', async (t) => {
  const first = goldenStore('uc')
  const third = await first.store.snapshots.read(3)
  first.fs.plant(first.store.manifests.path(third.deltaManifestList), new Uint8Array(10))
  const result = await keepLast(first.store, 2)
  t.ok(result.expired.includes(3))

  const second = goldenStore('uc')
  await second.store.tags.create({ name: 'three', snapshot: third })
  second.fs.plant(second.store.manifests.path(third.deltaManifestList), new Uint8Array(10))
  const files = await allFiles(second.fs, second.store.paths.table)
  await t.rejects(keepLast(second.store, 1), { code: 'CORRUPT' })
  t.same(await allFiles(second.fs, second.store.paths.table), files, 'nothing was removed')
})

t.test('the state of the table is spared where an entry on disk cannot be removed', async (t) => {
  const { fs, store } = goldenStore('uc')
  const faulty = faultyFileSystem(fs, (_, call) => (/^unlink .*\.parquet/.test(call) ? 'fail' : 'pass'), 'EACCES')
  await t.rejects(keepLast(storeOver(faulty, store.paths.table), 1), { code: 'IO', details: { errno: 'EACCES' } })
  await checkWhole(t, fs, store.paths.table, 'refused')
})

t.test('other branches keep their files', async (t) => {
  const { fs, store } = goldenStore('uc')
  const branch = `${store.paths.branches}/branch-dev`
  const start = await store.snapshots.read(3)
  fs.plant(`${branch}/snapshot/snapshot-3`, await fs.readFile(store.snapshots.path(3)))
  fs.plant(`${branch}/schema/schema-0`, await fs.readFile(store.schemas.path(0)))
  const needed = await filesOfSnapshot(store, start)
  const result = await keepLast(store, 1)
  t.ok(result.expired.includes(3))
  for (const path of needed) t.ok((await fs.stat(path)) !== undefined, path)
})

t.test('folders left empty go when asked for, and only those', async (t) => {
  for (const asked of [true, false]) {
    const { fs, store } = goldenStore('delete_all')
    const { table } = store.paths
    const options = resolve({ 'snapshot.clean-empty-directories': String(asked) })
    await expireSnapshots(store, new Pins(), expireRequest(options, NOW, { retainMin: 1, retainMax: 1 }))
    await checkWhole(t, fs, table, 'cleaned')
    t.equal((await fs.stat(`${table}/bucket-0`)) === undefined, asked)
    t.ok((await fs.stat(`${table}/manifest`)) !== undefined)
  }
  const { fs, store } = goldenStore('delete_all')
  fs.plant(`${store.paths.table}/bucket-0/data-of-a-commit-on-its-way`, new Uint8Array(1))
  const options = resolve({ 'snapshot.clean-empty-directories': 'true' })
  await expireSnapshots(store, new Pins(), expireRequest(options, NOW, { retainMin: 1, retainMax: 1 }))
  t.same(await fs.list(`${store.paths.table}/bucket-0`), [{ name: 'data-of-a-commit-on-its-way', kind: 'file' }])
})

t.test('a table without snapshots has nothing to expire', async (t) => {
  const { fs, store } = goldenStore('uc')
  for (const id of await store.snapshots.ids()) await fs.unlink(store.snapshots.path(id))
  t.same(await keepLast(store, 1), {
    expired: [],
    files: [],
    bytes: 0,
    earliest: undefined,
    heldBack: [],
    consumers: [],
  })
})

t.test('EARLIEST is written when it is missing, though nothing ends', async (t) => {
  const { fs, store } = goldenStore('uc')
  await fs.unlink(`${store.paths.snapshots}/EARLIEST`)
  t.same((await keepLast(store, 100)).expired, [])
  t.same(await fs.readFile(`${store.paths.snapshots}/EARLIEST`), new TextEncoder().encode('1'))
})

t.test('requests: options, wishes, and what cannot be', (t) => {
  const request = (stored: Record<string, string>, overrides: ExpireOverrides = {}) =>
    expireRequest(resolve(stored), NOW, overrides)
  t.match(request({}), { retainMin: 10, retainMax: 2147483647, olderThan: NOW - 3_600_000, limit: 50, dryRun: false })
  t.match(request({}, { retainMax: 1 }), { retainMin: 1, retainMax: 1, limit: Number.MAX_SAFE_INTEGER })
  t.match(request({ 'snapshot.num-retained.max': '12' }, { retainMin: 20 }), { retainMin: 20, retainMax: 20 })
  t.match(request({}, { olderThan: NOW - 5000 }), { olderThan: NOW - 5000, retainMin: 10 })
  t.throws(() => request({}, { retainMax: 0 }), { code: 'INVALID' })
  t.throws(() => request({}, { retainMin: 1.5 }), { code: 'INVALID' })
  t.throws(() => request({}, { olderThan: Number.NaN }), { code: 'INVALID' })
  t.throws(() => request({}, { retainMin: 5, retainMax: 3 }), { code: 'INVALID' })
  const { outlive, ...limits } = request({ 'changelog.time-retained': '2 h' }).changelogs
  t.same([outlive, limits], [true, { retainMin: 10, retainMax: 2147483647, olderThan: NOW - 7_200_000 }])
  t.equal(request({ 'changelog.time-retained': '1 h' }).changelogs.outlive, false)
  t.equal(request({ 'changelog.num-retained.min': '11' }).changelogs.outlive, true)
  t.equal(request({ 'changelog.num-retained.max': '11' }).changelogs.outlive, false)
  t.equal(request({ 'changelog.num-retained.max': '11' }, { retainMax: 5 }).changelogs.outlive, true)
  t.end()
})

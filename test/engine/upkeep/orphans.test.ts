import { posix } from 'node:path'
import t, { type Test } from 'tap'
import { resolve } from '../../../engine/options/resolve.ts'
import { mayBeOrphan, orphansAmong } from '../../../engine/plan/orphans.ts'
import type { MemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { Pins } from '../../../engine/store/pins.ts'
import type { TableStore } from '../../../engine/store/table-store.ts'
import { expireSnapshots } from '../../../engine/upkeep/expire.ts'
import { expireRequest } from '../../../engine/upkeep/expire-request.ts'
import { orphanLimit, removeOrphans } from '../../../engine/upkeep/orphans.ts'
import { failAt, failFrom, faultyFileSystem } from '../../support/faulty-fs.ts'
import { goldenCases } from '../../support/golden.ts'
import { goldenStore, storeOver } from '../../support/golden-store.ts'
import { allFiles } from '../../support/table-files.ts'
import { refused } from '../../support/warehouses.ts'

const UUID = '0dead0f0-c607-4ee6-b879-12d8d75d3368'
const DAY = 86_400_000
/** Golden files in memory are all of time 0. */
const LATER = 1

const nobody = () => ({ names: new Set<string>(), fileUuids: new Set<string>() })

function clean(store: TableStore, limit = LATER, dryRun = false) {
  return removeOrphans(store, limit, dryRun, nobody)
}

/** Plants what crashes leave, one file a kind; gives the paths. */
function litter(fs: MemoryFileSystem, table: string, bucket: string): string[] {
  const paths = [
    `${bucket}/data-${UUID}-0.parquet`,
    `${bucket}/data-stray-0.parquet`,
    `${bucket}/changelog-${UUID}-0.parquet`,
    `${bucket}/data-${UUID}-0.parquet.index`,
    `manifest/manifest-${UUID}-0`,
    `manifest/manifest-list-${UUID}-0`,
    `manifest/index-manifest-${UUID}-0`,
    `manifest/.manifest-${UUID}-0.${UUID}.tmp`,
    `index/index-${UUID}-0`,
    `statistics/stat-${UUID}-0`,
    `snapshot/.snapshot-99.${UUID}.tmp`,
    `snapshot/.LATEST.${UUID}.tmp`,
    `changelog/.changelog-1.${UUID}.tmp`,
    `schema/.schema-9.${UUID}.tmp`,
    `tag/.tag-a.${UUID}.tmp`,
    `consumer/.consumer-a.${UUID}.tmp`,
  ].map((path) => posix.join(table, path))
  for (const path of paths) fs.plant(path, new Uint8Array(10))
  return paths.sort()
}

async function bucketOf(fs: MemoryFileSystem, table: string): Promise<string> {
  const data = (await allFiles(fs, table)).find((path) => posix.basename(posix.dirname(path)).startsWith('bucket-'))
  return posix.relative(table, posix.dirname(data!))
}

t.test('which names may be orphans', async (t) => {
  t.ok(mayBeOrphan('shared', 'anything'))
  for (const name of ['snapshot-7', 'snapshot-7.bak', 'EARLIEST', 'LATEST'])
    t.notOk(mayBeOrphan('snapshots', name), name)
  t.ok(mayBeOrphan('snapshots', `.snapshot-7.${UUID}.tmp`))
  t.ok(mayBeOrphan('snapshots', 'foreign'), 'as Paimon')
  t.notOk(mayBeOrphan('changelogs', 'changelog-7'))
  t.ok(mayBeOrphan('changelogs', 'x'))
  for (const name of ['schema-0', 'tag-a', 'notes.txt', '.schema-0.tmp']) t.notOk(mayBeOrphan('kept', name), name)
  t.ok(mayBeOrphan('kept', `.schema-0.${UUID}.tmp`))
})

t.test('named files, files in use and those of running tasks are no orphans', async (t) => {
  const files = ['a', 'b', `data-${UUID}-0.parquet`, 'd'].map((name) => ({
    path: `/t/${name}`,
    name,
    bytes: 1,
    modifiedMillis: 0,
  }))
  const inUse = { names: new Set(['b']), fileUuids: new Set([UUID]) }
  t.same(
    orphansAmong(files, new Set(['a']), inUse).map(({ name }) => name),
    ['d'],
  )
})

t.test('golden: no table of another engine has orphans, and what crashes leave goes', async (t) => {
  for (const name of goldenCases) {
    const { fs, store } = goldenStore(name)
    const { table } = store.paths
    const first = await clean(store)
    const before = await allFiles(fs, table)
    const planted = litter(fs, table, await bucketOf(fs, table))
    t.same((await clean(store, 0)).files, [], `${name}: too young`)
    const dry = await clean(store, LATER, true)
    t.equal((await allFiles(fs, table)).length, before.length + planted.length, `${name}: a dry run removes nothing`)
    const result = await clean(store)
    t.same([...result.files], planted, name)
    t.same(dry.files, result.files)
    t.equal(result.bytes, planted.length * 10)
    t.same(await allFiles(fs, table), before, `${name}: all else stays`)
    // Paimon's own engine leaves a few files behind when it rolls back or drops partitions.
    if (first.files.length > 0) t.comment(`${name}: ${first.files.length} orphans by Java`)
  }
})

t.test('what can be unnamed after an expiry that broke off is found, or named yet', async (t) => {
  for (const name of ['tags_expired', 'overwritten', 'dv', 'cl_input']) {
    const request = expireRequest(resolve({}), 4_000_000_000_000, { retainMin: 1, retainMax: 1 })
    const whole = goldenStore(name)
    await clean(whole.store)
    const counting = faultyFileSystem(whole.fs, () => 'pass')
    const { table } = whole.store.paths
    await expireSnapshots(storeOver(counting, table), new Pins(), request)
    const expected = await allFiles(whole.fs, table)
    for (let call = 0; call < counting.calls.length; call += 11) {
      const { fs, store } = goldenStore(name)
      await clean(store)
      await expireSnapshots(storeOver(faultyFileSystem(fs, failFrom(call)), table), new Pins(), request).catch(() => 0)
      await clean(storeOver(fs, table))
      await expireSnapshots(storeOver(fs, table), new Pins(), request)
      await clean(storeOver(fs, table))
      t.same(await allFiles(fs, table), expected, `${name}: broken off at ${call}`)
    }
  }
})

/** Where a clean-up fails, it has removed nothing that is named; before its first removal nothing at all. */
async function safe(t: Test, name: string, decide: (fs: MemoryFileSystem, table: string) => TableStore, label: string) {
  const { fs, store } = goldenStore(name)
  const { table } = store.paths
  await clean(store)
  const before = await allFiles(fs, table)
  const planted = litter(fs, table, await bucketOf(fs, table))
  let failed = false
  await clean(decide(fs, table)).catch(() => {
    failed = true
  })
  const left = await allFiles(fs, table)
  t.same(
    before.filter((path) => !left.includes(path)),
    [],
    `${label}: nothing that is named goes`,
  )
  return { failed, removed: planted.filter((path) => !left.includes(path)).length }
}

t.test(
  'a call that fails never leads to the removal of a named file, nor of any file before removals began',
  async (t) => {
    for (const name of ['tags_expired', 'dv_partitioned', 'cl_expired']) {
      const { fs, store } = goldenStore(name)
      await clean(store)
      litter(fs, store.paths.table, await bucketOf(fs, store.paths.table))
      const counting = faultyFileSystem(fs, () => 'pass')
      await clean(storeOver(counting, store.paths.table))
      const firstRemoval = counting.calls.findIndex((call) => call.startsWith('unlink'))
      t.ok(firstRemoval > 20)
      for (let call = 0; call < counting.calls.length; call++) {
        for (const code of call < firstRemoval ? ['EIO', 'EACCES'] : ['EIO']) {
          const label = `${name}: ${code} at ${call} ${counting.calls[call]}`
          const decide = (fs: MemoryFileSystem, table: string) =>
            storeOver(faultyFileSystem(fs, failAt(call), code), table)
          const { failed, removed } = await safe(t, name, decide, label)
          if (call >= firstRemoval) continue
          t.ok(failed || /^(stat|rmdir)/.test(counting.calls[call]!), `${label}: is an error`)
          if (failed) t.equal(removed, 0, `${label}: nothing is removed`)
        }
      }
    }
  },
)

t.test('what cannot be read stops a clean-up, with the name of the file', async (t) => {
  for (const name of ['tags_expired', 'dv', 'cl_expired']) {
    const { fs: original, store } = goldenStore(name)
    const { table } = store.paths
    const naming = (await allFiles(original, table)).filter((path) =>
      /\/(manifest|snapshot|tag|changelog)\/[^.LE]/.test(path),
    )
    t.ok(naming.length > 3)
    for (const path of naming) {
      const { fs, store } = goldenStore(name)
      await clean(store)
      litter(fs, table, await bucketOf(fs, table))
      fs.plant(path, (await fs.readFile(path)).slice(0, 20))
      const before = await allFiles(fs, table)
      const used = await clean(storeOver(fs, table)).then(
        () => true,
        async (error) => {
          await refused(
            t,
            () => {
              throw error
            },
            'CORRUPT',
            { path },
          )
          return false
        },
      )
      if (used) t.ok(name === 'cl_expired' || name === 'dv', `${path}: was read by nobody`)
      else t.same(await allFiles(fs, table), before, `${path}: nothing is removed`)
    }
  }
})

t.test('a branch without a schema stops a clean-up', async (t) => {
  const { fs, store } = goldenStore('uc')
  await fs.makeDirectory(`${store.paths.branches}/branch-dev`)
  const before = await allFiles(fs, store.paths.table)
  litter(fs, store.paths.table, 'bucket-0')
  await refused(t, clean(store), 'CORRUPT', { path: `${store.paths.branches}/branch-dev/schema` }, 'dev')
  t.ok(before.length < (await allFiles(fs, store.paths.table)).length)
})

t.test('empty folders of buckets and partitions go, others stay', async (t) => {
  const { fs, store } = goldenStore('partitioned')
  const { table } = store.paths
  await clean(store)
  for (const folder of ['dt=x/hr=1/bucket-0', 'dt=y/hr=1/bucket-0', 'dt=y/other', 'bucket-9', 'other/bucket-0']) {
    await fs.makeDirectory(`${table}/${folder}`)
  }
  fs.plant(`${table}/dt=y/hr=1/bucket-0/stray`, new Uint8Array(3))
  const { files, folders } = await clean(store)
  t.same(files, [`${table}/dt=y/hr=1/bucket-0/stray`])
  t.same(
    [...folders].sort(),
    ['dt=x', 'dt=x/hr=1', 'dt=x/hr=1/bucket-0', 'dt=y/hr=1', 'dt=y/hr=1/bucket-0'].map((f) => `${table}/${f}`),
  )
})

t.test('the limit is a day unless forced', async (t) => {
  const now = 1000 * DAY
  t.equal(orphanLimit({}, now), now - DAY)
  t.equal(orphanLimit({ olderThan: 5 }, now), 5)
  t.equal(orphanLimit({ olderThan: now, force: true }, now), now)
  await refused(t, () => orphanLimit({ olderThan: now - DAY + 1 }, now), 'INVALID', { option: 'olderThan' }, 'force')
  for (const olderThan of [Number.NaN, Infinity, -Infinity, 'x', null]) {
    await refused(t, () => orphanLimit({ olderThan: olderThan as number, force: true }, now), 'INVALID', {
      option: 'olderThan',
    })
  }
})

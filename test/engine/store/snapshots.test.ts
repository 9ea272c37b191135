import t from 'tap'
import { createMemoryFileSystem, type MemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { Snapshots } from '../../../engine/store/snapshots.ts'
import { printSnapshot } from '../../../formats/meta/snapshot.ts'
import type { Snapshot } from '../../../formats/meta/types.ts'
import { goldenCases, goldenExpect, goldenInMemory } from '../../support/golden.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const folder = '/t/snapshot'
const text = (value: string) => new TextEncoder().encode(value)

function snapshot(id: number, timeMillis = id * 1000): Snapshot {
  return {
    version: 3,
    id,
    schemaId: 0,
    baseManifestList: `manifest-list-base-${id}`,
    deltaManifestList: `manifest-list-delta-${id}`,
    commitUser: 'user',
    commitIdentifier: BigInt(id),
    commitKind: 'APPEND',
    timeMillis,
    totalRecordCount: 1n,
    deltaRecordCount: 1n,
  }
}

function open(fs: MemoryFileSystem): Snapshots {
  return new Snapshots({ fs, random: seededRandom(7) }, folder)
}

async function publish(snapshots: Snapshots, snapshot: Snapshot): Promise<'published' | 'taken'> {
  return (await snapshots.prepare(snapshot)).publish()
}

async function withSnapshots(...ids: number[]): Promise<{ fs: MemoryFileSystem; snapshots: Snapshots }> {
  let now = 0
  const fs = createMemoryFileSystem({ now: () => now++ })
  const snapshots = open(fs)
  for (const id of ids) await publish(snapshots, snapshot(id))
  return { fs, snapshots }
}

t.test('a table without snapshots has no latest and no earliest', async (t) => {
  const snapshots = open(createMemoryFileSystem())
  t.equal(await snapshots.latestId(), undefined)
  t.equal(await snapshots.earliestId(), undefined)
  t.equal(await snapshots.latest(), undefined)
  t.equal(await snapshots.earliest(), undefined)
  t.same(await snapshots.ids(), [])
  await t.rejects(snapshots.read(1), { code: 'NOT_FOUND', message: /no snapshot 1/ })
})

t.test('C106: no hint, right or wrong, hides the latest snapshot', async (t) => {
  for (const hint of [undefined, '', 'abc', '1', '3', '-5', '9999999999999999999999', '99', '3\n', '03', '1e1']) {
    const { fs, snapshots } = await withSnapshots(1, 2, 3)
    if (hint !== undefined) {
      fs.plant(`${folder}/LATEST`, text(hint))
      fs.plant(`${folder}/EARLIEST`, text(hint))
    }
    const label = JSON.stringify(hint)
    t.equal(await snapshots.latestId(), 3, label)
    t.equal((await snapshots.latest())?.id, 3, label)
    t.equal(await snapshots.earliestId(), hint === '3' ? 3 : 1, label)
    t.equal(await publish(snapshots, snapshot(4)), 'published')
    await snapshots.writeLatestHint(4)
    t.equal(await snapshots.latestId(), 4, label)
    t.same(await fs.readFile(`${folder}/LATEST`), text('4'))
  }
})

t.test('C107: left-over and foreign files are not snapshots', async (t) => {
  const { fs, snapshots } = await withSnapshots(1)
  for (const name of [
    '.snapshot-2.01234567-89ab-4cde-8f01-23456789abcd.tmp',
    'snapshot-2.bak',
    'snapshot-2.tmp',
    'snapshot-02',
    'snapshot-x',
    'notes.txt',
  ]) {
    fs.plant(`${folder}/${name}`, text('not a snapshot'))
  }
  await fs.makeDirectory(`${folder}/snapshot-9`)
  t.equal(await snapshots.latestId(), 1)
  t.same(await snapshots.ids(), [1])
  t.equal(await publish(snapshots, snapshot(2)), 'published')
  t.equal(await snapshots.latestId(), 2)
})

t.test('C091: a gap is passed over', async (t) => {
  const { fs, snapshots } = await withSnapshots(1, 2, 3, 4)
  await snapshots.writeEarliestHint(1)
  await fs.unlink(`${folder}/snapshot-1`)
  await fs.unlink(`${folder}/snapshot-3`)
  t.equal(await snapshots.earliestId(), 2)
  t.equal(await snapshots.latestId(), 4)
  t.same(await snapshots.ids(), [2, 4])
  await t.rejects(snapshots.read(1), { code: 'EXPIRED' })
  await t.rejects(snapshots.read(3), { code: 'NOT_FOUND', details: { earliest: 2, latest: 4 } })
  await t.rejects(snapshots.read(5), { code: 'NOT_FOUND' })
  await t.rejects(snapshots.read(0), { code: 'NOT_FOUND' })
})

t.test('C088: what lies below EARLIEST has expired, though its file is still there', async (t) => {
  const { snapshots } = await withSnapshots(1, 2, 3)
  await snapshots.writeEarliestHint(3)
  await t.rejects(snapshots.read(2), { code: 'EXPIRED', details: { earliest: 3 } })
  t.equal(await snapshots.isLive(2), false)
  t.equal(await snapshots.isLive(3), true)
  t.same(await snapshots.ids(), [3])
  t.same(await snapshots.allIds(), [1, 2, 3])
  t.equal((await snapshots.find(2))?.id, 2)
})

t.test('C105: a damaged newest snapshot is an error that names it, and nothing is published over it', async (t) => {
  const whole = printSnapshot(snapshot(2))
  for (const damage of [
    new Uint8Array(0),
    new Uint8Array(300),
    whole.subarray(0, whole.length / 2),
    printSnapshot(snapshot(7)),
  ]) {
    const { fs, snapshots } = await withSnapshots(1, 2)
    await snapshots.writeLatestHint(2)
    fs.plant(`${folder}/snapshot-2`, damage)
    await t.rejects(open(fs).latest(), { code: 'CORRUPT', details: { path: `${folder}/snapshot-2` } })
    await t.rejects(snapshots.latest(), { code: 'CORRUPT' }, 'the copy in the cache is not believed either')
    t.equal(await publish(snapshots, snapshot(2)), 'taken')
    t.equal((await snapshots.read(1)).id, 1, 'the snapshot before it can still be read')
  }
})

t.test('an id given out again after a rollback is read anew', async (t) => {
  const { fs, snapshots } = await withSnapshots(1, 2)
  t.equal((await snapshots.read(2)).commitIdentifier, 2n)
  await fs.unlink(`${folder}/snapshot-2`)
  fs.plant(`${folder}/snapshot-2`, printSnapshot({ ...snapshot(2), commitIdentifier: 77n }))
  t.equal((await snapshots.read(2)).commitIdentifier, 77n)
})

t.test('golden: ids, latest and earliest are those that Paimon lists', async (t) => {
  for (const name of goldenCases) {
    const { fs, table } = goldenInMemory(name)
    const snapshots = new Snapshots({ fs, random: seededRandom(1) }, `${table}/snapshot`)
    const expected = goldenExpect<{ readonly snapshot_id: number | string }>(name, 'snapshots').map((row) =>
      Number(row.snapshot_id),
    )
    t.same(await snapshots.ids(), expected, name)
    t.equal((await snapshots.latest())?.id, expected.at(-1), name)
    t.equal((await snapshots.earliest())?.id, expected.at(0), name)
  }
})

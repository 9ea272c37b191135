import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { t as types } from '../../../engine/index.ts'
import { createNodeFileSystem } from '../../../engine/ports/node-fs.ts'
import { faultyFileSystem } from '../../support/faulty-fs.ts'
import { open, openAlone } from '../../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int() }, primaryKey: ['k'] } as const
const writeOnly = { ...definition, options: { 'write-only': true } }

/** A warehouse that notes its calls: `take` gives those since the last time, uuids and numbers of names left out. */
function noting(path: string) {
  const fs = faultyFileSystem(createNodeFileSystem({ sync: false }), () => 'pass')
  const take = () =>
    (fs.calls as string[])
      .splice(0)
      .map((call) => call.replace(`${path}/db.db/t/`, '').replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'U'))
  return { warehouse: openAlone(path, { fs }), take }
}

/** Copies the last snapshot under the ids that follow it. */
function copySnapshots(path: string, last: number, count: number): void {
  const folder = join(path, 'db.db/t/snapshot')
  const text = readFileSync(join(folder, `snapshot-${last}`), 'utf8')
  for (let id = last + 1; id <= last + count; id++) {
    writeFileSync(join(folder, `snapshot-${id}`), text.replace(`"id" : ${last}`, `"id" : ${id}`))
  }
  writeFileSync(join(folder, 'LATEST'), String(last + count))
}

t.test('opening reads the newest state and lists nothing but schemas, however many snapshots there are', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  const table = await warehouse.createTable('db.t', writeOnly)
  for (let k = 0; k < 3; k++) {
    await table.put({ k, v: k })
    await table.commit()
  }
  await warehouse.close()
  const opening = async () => {
    const { warehouse, take } = noting(path)
    await warehouse.createTable('db.t', definition, { ifNotExists: true })
    const calls = take()
    await warehouse.close()
    return calls.filter((call) => !call.startsWith('realpath'))
  }
  const few = await opening()
  t.strictSame(few.slice(0, 6).sort(), [
    'list schema',
    'read schema/schema-0',
    'read snapshot/LATEST',
    'read snapshot/snapshot-3',
    'stat snapshot/snapshot-3',
    'stat snapshot/snapshot-4',
  ])
  t.ok(
    few.slice(6).every((call) => /^read manifest\/manifest-/.test(call)),
    few.slice(6).join(', '),
  )
  copySnapshots(path, 3, 1000)
  const many = await opening()
  t.strictSame(
    many,
    few.map((call) => call.replace('snapshot-3', 'snapshot-1003').replace('snapshot-4', 'snapshot-1004')),
  )
  t.test('a hint that is behind costs one listing', async (t) => {
    writeFileSync(join(path, 'db.db/t/snapshot/LATEST'), '2')
    const calls = await opening()
    t.equal(calls.filter((call) => call === 'list snapshot').length, 1)
    t.ok(calls.includes('read snapshot/snapshot-1003'))
  })
})

t.test('a commit lists no folder and reads no manifest back, and so does what follows it', async (t) => {
  const path = t.testdir()
  const { warehouse, take } = noting(path)
  const table = await warehouse.createTable('db.t', definition)
  const commit = async (k: number) => {
    await table.put({ k, v: k })
    await table.commit()
  }
  // The first looks for what an earlier process left to expire, the second for the earliest snapshot.
  for (let k = 0; k < 3; k++) await commit(k)
  take()
  await commit(3)
  const all = take()
  t.strictSame(
    all.filter((call) => call.includes('bucket-0')),
    ['create bucket-0/data-U-0.parquet', 'fsync bucket-0/data-U-0.parquet', 'fsync bucket-0'],
  )
  const calls = all.filter((call) => !call.includes('bucket-0'))
  t.strictSame(
    calls.filter((call) => /^(list|read) /.test(call)),
    [],
  )
  const counts = (kind: string) => calls.filter((call) => call.startsWith(`${kind} `)).length
  t.equal(counts('create'), 5, 'a manifest, two lists, the snapshot, LATEST')
  t.equal(counts('fsync'), 6, 'each but LATEST, and the folders of manifests and of snapshots')
  t.equal(counts('link'), 1)
  await warehouse.close()
})

t.test('nothing has its name before all that it names is durable', async (t) => {
  const path = t.testdir()
  const { warehouse, take } = noting(path)
  const table = await warehouse.createTable('db.t', definition)
  await table.put({ k: 1, v: 1 })
  take()
  await table.commit()
  const calls = take()
  const linked = calls.indexOf('link snapshot/snapshot-1')
  const at = (pattern: RegExp) => calls.findLastIndex((call) => pattern.test(call))
  t.ok(at(/^fsync bucket-0\/data-U-0\.parquet$/) < linked)
  t.ok(at(/^fsync bucket-0$/) < linked)
  t.ok(at(/^create manifest/) < calls.indexOf('fsync manifest'))
  t.ok(at(/^fsync manifest/) < linked)
  for (const call of calls.filter((call) => call.startsWith('create manifest/'))) {
    t.ok(calls.includes(call.replace('create', 'fsync')), call)
  }
  t.ok(at(/^create snapshot\/\.snapshot-1/) < at(/^fsync snapshot\/\.snapshot-1/))
  t.ok(at(/^fsync snapshot\/\.snapshot-1/) < linked)
  t.ok(linked < calls.indexOf('fsync snapshot', linked))
  // The folders are there now: nothing waits for one.
  await table.put({ k: 2, v: 2 })
  take()
  await table.commit()
  const next = take()
  const created = next.findLastIndex((call) => /^create (bucket-0|manifest|snapshot\/\.snapshot-2)/.test(call))
  const firstSync = next.findIndex((call) => /^fsync (bucket-0|manifest|snapshot\/\.snapshot-2)/.test(call))
  t.ok(created >= 0 && created < firstSync, 'all are there before one is synced')
  t.ok(linked < at(/^rename snapshot\/LATEST/), 'the hint never runs ahead')
  await warehouse.close()
})

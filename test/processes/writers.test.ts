import t from 'tap'
import { openWarehouse } from '../../engine/index.ts'
import { unnamedFiles } from '../support/table-files.ts'
import { collect, open, refused, storeOf } from '../support/warehouses.ts'
import { replay, start, type Told } from './processes.ts'

const commits = Number(process.env.PROCESS_COMMITS ?? 40)

t.test('C074 two processes write one table while others read it: nothing is lost, the later commit wins', async (t) => {
  const path = t.testdir()
  const first = start('write', path, 1, 1)
  await first.ended
  const readers = [start('read', path), start('read', path)]
  await Promise.all(readers.map((reader) => reader.next()))
  const writers = [start('write', path, 1, commits), start('write', path, 2, commits)]
  await Promise.all(writers.map((writer) => writer.ended))
  for (const reader of readers) reader.child.stdin!.end()
  await Promise.all(readers.map((reader) => reader.ended))

  const told = [first, ...writers].flatMap((writer) => writer.told as Told[])
  t.equal(told.length, 1 + 2 * commits, 'each commit resolved')
  t.equal(new Set(told.map(({ id }) => id)).size, told.length, 'no snapshot id was given twice')
  const warehouse = await open(path)
  const table = await warehouse.table('db.t')
  const rows = await collect(table.scan())
  t.same(new Map(rows.map(({ k, v }) => [k, v])), replay(told))
  const store = await storeOf(path, 'db', 't')
  const ids = await store.snapshots.allIds()
  t.same(
    ids,
    ids.map((_, i) => ids[0]! + i),
    'ids without gaps',
  )
  for (const reader of readers) {
    const { scans, torn, commits: seen } = reader.told.at(-1) as { scans: number; torn: number; commits: number }
    t.ok(scans > 0 && seen > 0, `${scans} scans, ${seen} commits seen`)
    t.equal(torn, 0, 'a reader saw whole snapshots, and never an older one after a newer one')
  }
  await table.compact({ full: true })
  t.same(new Map((await collect(table.scan())).map(({ k, v }) => [k, v])), replay(told))
  t.strictSame(await unnamedFiles(store), [], 'no file is left that no snapshot names')
  await warehouse.close()
})

t.test(
  'C077 a lock keeps out who asks for it, and goes with its process',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const path = t.testdir()
    const holder = start('lock', path)
    await holder.next()
    await refused(t, openWarehouse(path, { exclusive: true, workers: 0 }), 'LOCKED', { path }, path)
    await (await openWarehouse(path, { workers: 0 })).close()
    holder.child.kill('SIGKILL')
    await holder.ended
    const first = await openWarehouse(path, { exclusive: true, workers: 0 })
    await refused(t, openWarehouse(path, { exclusive: true, workers: 0 }), 'LOCKED', { path })
    await first.close()
    await first.close()
    const second = await openWarehouse(path, { exclusive: true, workers: 0 })
    await second.close()
    await refused(t, openWarehouse(path, { exclusive: true, readOnly: true }), 'INVALID', { option: 'exclusive' })
  },
)

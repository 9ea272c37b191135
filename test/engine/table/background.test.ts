import { join } from 'node:path'
import t from 'tap'
import { t as fields } from '../../../engine/index.ts'
import { createNodeFileSystem } from '../../../engine/ports/node-fs.ts'
import { faultyFileSystem } from '../../support/faulty-fs.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { collect, dataFilesOnDisk, open, openAlone } from '../../support/warehouses.ts'

const definition = (options: Record<string, string | number>) =>
  ({ fields: { k: fields.int(), v: fields.int() }, primaryKey: ['k'], options: { bucket: 1, ...options } }) as const

const rows = (v: number) => Array.from({ length: 100 }, (_, k) => ({ k, v }))

t.test('C089 files of an expired snapshot stay while a scan reads them, and go once it is closed', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  const table = await warehouse.createTable('db.t', definition({}))
  for (let v = 0; v < 3; v++) {
    await table.put(rows(v))
    await table.commit()
  }
  const scan = table.scan()
  t.same((await scan.next()).value, { k: 0, v: 2 })
  await table.put(rows(9))
  await table.commit()
  await table.compact({ full: true })
  const freed: number[] = []
  table.on('expiry', ({ snapshots }) => freed.push(...snapshots))
  await table.expireSnapshots({ retainMax: 1, retainMin: 1 })
  t.ok(dataFilesOnDisk(join(path, 'db.db/t')).length > 1)
  t.equal((await collect(scan)).filter(({ v }) => v === 2).length, 99, 'the scan goes on over the old rows')
  await table.close()
  t.equal(dataFilesOnDisk(join(path, 'db.db/t')).length, 1, 'only what the last snapshot names is left')
  t.ok(freed.includes(3), 'the listener hears of it')
  await warehouse.close()
})

t.test('C123 a compaction that fails keeps no writer waiting, and is tried again by itself', async (t) => {
  const path = t.testdir({ warehouse: {} })
  const clock = manualClock()
  let broken = true
  let failing = 0
  // Level-0 files and metadata are written, what a compaction writes is not: it alone reads data files.
  let compacting = false
  const fs = faultyFileSystem(createNodeFileSystem({ sync: false }), (_, text) => {
    if (text.startsWith('open ') && text.includes('data-')) compacting = true
    if (broken && compacting && text.startsWith('create') && text.includes('data-')) {
      compacting = false
      failing++
      return 'fail'
    }
    return 'pass'
  })
  const warehouse = openAlone(join(path, 'warehouse'), { fs, clock })
  const table = await warehouse.createTable(
    'db.t',
    definition({ 'num-sorted-run.compaction-trigger': 2, 'num-sorted-run.stop-trigger': 2 }),
  )
  const failures: unknown[] = []
  table.on('failure', ({ error }) => failures.push(error))
  for (let v = 0; v < 6; v++) {
    await table.put(rows(v))
    await table.commit()
  }
  t.ok(failing >= 1)
  t.ok(failures.length >= 1)
  t.ok(table.levels()[0]!.runs > 3, 'runs pile up, rows are safe')
  broken = false
  const done = new Promise<void>((resolve) => table.on('compaction', () => resolve()))
  clock.advance(60_000)
  await done
  await table.close()
  const again = await open(join(path, 'warehouse'))
  const reopened = await again.table('db.t')
  t.ok(reopened.levels()[0]!.runs <= 2)
  t.equal((await collect(reopened.scan())).length, 100)
  await again.close()
  await warehouse.close()
})

import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { t as fields } from '../../../engine/index.ts'
import { createNodeFileSystem } from '../../../engine/ports/node-fs.ts'
import { faultyFileSystem, type Verdict } from '../../support/faulty-fs.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { collect, dataFilesOnDisk, openAlone } from '../../support/warehouses.ts'

const definition = {
  fields: { k: fields.int(), v: fields.string() },
  primaryKey: ['k'],
  options: { bucket: 1, 'write-only': true, 'sort-spill-threshold': 2 },
} as const

/** A table of 9 runs over the same keys, its spill folder, and what the file system was asked for. */
async function setting(t: Test, decide: (text: string) => Verdict = () => 'pass') {
  const [path, temp] = [join(t.testdir(), 'warehouse'), join(t.testdirName, 'temp')]
  for (const folder of [path, temp]) mkdirSync(folder)
  const fs = faultyFileSystem(createNodeFileSystem({ sync: false }), (_, text) => decide(text))
  const warehouse = openAlone(path, { fs, tempDirectory: temp })
  const table = await warehouse.createTable('db.t', definition)
  const random = seededRandom(7).fraction
  const model = new Map<number, string>()
  for (let run = 0; run < 9; run++) {
    const rows = Array.from({ length: 2000 }, () => {
      const k = Math.floor(random() * 5000)
      return { k, v: `run ${run} key ${k}` }
    })
    await table.put(rows)
    await table.commit()
    for (const { k, v } of rows) model.set(k, v)
  }
  const spills = () => fs.calls.filter((call) => call.startsWith('create') && call.includes('lakelet-spill-'))
  const left = () => (existsSync(temp) ? readdirSync(temp, { recursive: true }) : [])
  return { warehouse, table, model, spills, left, folder: join(path, 'db.db/t') }
}

t.test(
  'C117 with a fan-in of two every run but the last pair goes through spill files, and none is left',
  async (t) => {
    const { warehouse, table, model, spills, left } = await setting(t)
    let spilled = 0
    let input = 0
    table.on('compaction', (event) => {
      spilled = event.spilledBytes
      input = event.inputBytes
    })
    await table.compact({ full: true })
    t.equal(spills().length, 7, '9 runs become 2 in steps of one')
    t.strictSame(left(), [])
    t.same(
      await collect(table.scan()),
      [...model].sort(([a], [b]) => a - b).map(([k, v]) => ({ k, v })),
    )
    t.ok(spilled > 0)
    t.ok(spilled <= 2 * input * (1 + Math.log2(9)), `${spilled} bytes spilled of ${input}`)
    await warehouse.close()
  },
)

t.test('C117 a task that fails half-way leaves neither spill files nor data files', async (t) => {
  for (const failing of [0, 1, 5]) {
    let seen = -1
    let armed = false
    const { warehouse, table, model, left, folder } = await setting(t, (text) =>
      armed && text.includes('lakelet-spill-') && text.startsWith('write') && ++seen === failing ? 'fail' : 'pass',
    )
    const before = dataFilesOnDisk(folder)
    armed = true
    await t.rejects(table.compact({ full: true }), { code: 'IO' })
    t.strictSame(left(), [], `write ${failing} fails`)
    t.strictSame(dataFilesOnDisk(folder), before)
    await table.compact({ full: true })
    t.equal((await collect(table.scan())).length, model.size, 'the next one succeeds')
    await warehouse.close()
  }
})

t.test('C117 a merge that ends with no rows leaves nothing', async (t) => {
  const { warehouse, table, model, spills, left, folder } = await setting(t)
  await table.delete([...model.keys()])
  await table.commit()
  await table.compact({ full: true })
  t.ok(spills().length > 0)
  t.strictSame(left(), [])
  t.strictSame(await collect(table.scan()), [])
  await table.expireSnapshots({ retainMax: 1, retainMin: 1 })
  await table.close()
  t.strictSame(dataFilesOnDisk(folder), [])
  await warehouse.close()
})

t.test('a cancelled merge leaves nothing', async (t) => {
  const abort = new AbortController()
  let spilled = 0
  const { warehouse, table, left, folder } = await setting(t, (text) => {
    if (text.startsWith('create') && text.includes('lakelet-spill-') && ++spilled === 3) abort.abort()
    return 'pass'
  })
  const before = dataFilesOnDisk(folder)
  await t.rejects(table.compact({ full: true, signal: abort.signal }), { code: 'ABORTED' })
  t.strictSame(left(), [])
  t.strictSame(dataFilesOnDisk(folder), before)
  await warehouse.close()
})

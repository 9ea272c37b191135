import t, { type Test } from 'tap'
import { t as fields } from '../../../engine/index.ts'
import { nodeClock } from '../../../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../../../engine/ports/node-fs.ts'
import { inlineExecutor, type TaskExecutor } from '../../../engine/tasks/submit.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { collect, openAlone } from '../../support/warehouses.ts'

const text = 'x'.repeat(1000)
const rows = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ k: from + i, v: text }))

/** A table with a write buffer of 1 MB whose tasks wait at a gate, as they would for a busy thread. */
async function setting(t: Test) {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const started: string[] = []
  const inline = inlineExecutor(async () => ({
    fs: createNodeFileSystem({ sync: false }),
    clock: nodeClock,
    codecs: loadCodecs(),
  }))
  const executor: TaskExecutor = {
    ...inline,
    async run(task, options) {
      started.push(task.kind)
      if (task.kind === 'flush') await gate
      return inline.run(task, options)
    },
  }
  const warehouse = openAlone(t.testdir(), { executor })
  const table = await warehouse.createTable('db.t', {
    fields: { k: fields.int(), v: fields.string() },
    primaryKey: ['k'],
    options: { bucket: 1, 'write-buffer-size': '1 mb' },
  })
  return { warehouse, table, started, open }
}

t.test('rows are taken while the rows before them are being written', async (t) => {
  const { warehouse, table, started, open } = await setting(t)
  await table.put(rows(0, 600))
  t.strictSame(started, ['flush'], 'half of the buffer is full: its flush has begun')
  await table.put(rows(600, 300))
  t.same(await table.get(0), { k: 0, v: text }, 'rows of the flush can be read')
  t.same(await table.get(899), { k: 899, v: text }, 'and rows behind them')
  t.equal((await collect(table.scan())).length, 900)
  open()
  await table.commit()
  t.equal((await collect(table.scan())).length, 900)
  await warehouse.close()
})

t.test('a put that finds the buffer full waits, and can be aborted: then nothing of it is kept', async (t) => {
  const { warehouse, table, open } = await setting(t)
  await table.put(rows(0, 600))
  await table.put(rows(600, 600))
  const abort = new AbortController()
  const refused = table.put(rows(5000, 10), { signal: abort.signal })
  let settled = false
  const waiting = table.put(rows(6000, 10)).then(() => {
    settled = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  abort.abort()
  await t.rejects(refused, { code: 'ABORTED' })
  t.equal(await table.get(5000), undefined)
  t.notOk(settled, 'the next one still waits')
  open()
  await waiting
  t.same(await table.get(6000), { k: 6000, v: text })
  await table.commit()
  t.equal((await collect(table.scan())).length, 1210)
  await warehouse.close()
})

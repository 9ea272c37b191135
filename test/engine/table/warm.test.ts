import t from 'tap'
import { t as fields } from '../../../engine/index.ts'
import { nodeClock } from '../../../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../../../engine/ports/node-fs.ts'
import { inlineExecutor } from '../../../engine/tasks/submit.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { collect, openAlone } from '../../support/warehouses.ts'

t.test('threads are asked for by the first write, not by opening and reading', async (t) => {
  const fs = createNodeFileSystem({ sync: false })
  const inline = inlineExecutor(async () => ({ fs, clock: nodeClock, codecs: loadCodecs() }))
  let warmed = 0
  const executor = { ...inline, warm: () => void warmed++ }
  const warehouse = openAlone(t.testdir(), { executor })
  const definition = { fields: { k: fields.int() }, primaryKey: ['k'] } as const
  const table = await warehouse.createTable('db.t', definition)
  t.equal(await table.get(1), undefined)
  t.same(await collect(table.scan()), [])
  t.equal(warmed, 0)
  const put = table.put({ k: 1 })
  t.equal(warmed, 1, 'before the rows are in the buffer')
  await put
  await table.commit()
  t.same(await table.get(1), { k: 1 })
  await warehouse.close()
})

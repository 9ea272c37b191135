import t from 'tap'
import { t as type } from '../../../engine/index.ts'
import { openAlone } from '../../support/warehouses.ts'

const ROWS = 4000
const fields = { id: type.int(), n: type.int(), text: type.string() }

t.test('what a scan does not ask for is not read, and pages that cannot match are not decoded', async (t) => {
  const warehouse = openAlone(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields,
    primaryKey: ['id'],
    options: { bucket: 1, 'parquet.page.row.count.limit': 500 },
  })
  await table.put(
    Array.from({ length: ROWS }, (_, id) => ({ id, n: id * 7, text: `row ${(id * 7919) % ROWS} `.repeat(10) })),
  )
  await table.commit()
  await table.compact({ full: true })

  const cost = async (options: Parameters<typeof table.scan>[0]) => {
    const sum = { rows: 0, bytes: 0, pages: 0 }
    const onStats = (stats: { bytesRead: number; pagesDecoded: number }) => {
      sum.bytes += stats.bytesRead
      sum.pages += stats.pagesDecoded
    }
    for await (const _ of table.scan({ ...options, onStats })) sum.rows++
    return sum
  }
  const all = await cost({})
  const one = await cost({ columns: ['n'] })
  t.equal(all.rows, ROWS)
  t.equal(one.rows, ROWS)
  t.ok(one.bytes < all.bytes / 2, `${one.bytes} of ${all.bytes} bytes for one column`)
  t.ok(one.pages < all.pages / 2, `${one.pages} of ${all.pages} pages for one column`)

  const range = await cost({ range: { gte: { id: 1000 }, lt: { id: 1010 } } })
  t.equal(range.rows, 10)
  t.ok(range.pages <= all.pages / 4, `${range.pages} of ${all.pages} pages for a range`)

  const where = await cost({ where: { n: { gte: 7000, lt: 7070 } } })
  t.equal(where.rows, 10)
  t.ok(where.pages <= all.pages / 4, `${where.pages} of ${all.pages} pages for a condition on a value`)

  t.same(await cost({ where: { n: { gt: ROWS * 7 } } }), { rows: 0, bytes: 0, pages: 0 }, 'no file may match')
  await warehouse.close()
})

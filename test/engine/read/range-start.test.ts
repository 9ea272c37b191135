import t from 'tap'
import { openWarehouse, t as type } from '../../../engine/index.ts'

/** All rows have the same first key column, so that files and pages cannot be left out: the range begins deep inside. */
const ROWS = 70_000
const START = 68_000

async function tableOf(path: string, options: { readonly runs: 1 | 2; readonly compact: boolean }) {
  const warehouse = await openWarehouse(path, { workers: 0, durability: 'none' })
  const table = await warehouse.createTable('db.t', {
    fields: { a: type.string(), b: type.int(), v: type.int() },
    primaryKey: ['a', 'b'],
    options: { 'write-only': true },
  })
  for (let run = 0; run < options.runs; run++) {
    await table.put(
      Array.from({ length: ROWS / options.runs }, (_, i) => ({ a: 'x', b: i * options.runs + run, v: i })),
    )
    await table.commit()
  }
  if (options.compact) await table.compact({ full: true })
  return { warehouse, table }
}

for (const [name, options] of [
  ['a single run', { runs: 1, compact: true }],
  ['runs that are merged', { runs: 2, compact: false }],
] as const) {
  t.test(`a limited scan begins where its range begins, however far inside a file: ${name}`, async (t) => {
    const { warehouse, table } = await tableOf(t.testdir(), options)
    const found: number[] = []
    let stretches = 0
    const range = { gte: { a: 'x', b: START }, lt: { a: 'x', b: START + 1000 } }
    for await (const { b } of table.scan({ range, limit: 3, onStats: () => stretches++ })) found.push(b)
    t.strictSame(found, [START, START + 1, START + 2])
    t.ok(stretches <= 2, `${stretches} stretches: rows in front of the range do not end one`)
    await warehouse.close()
  })
}

t.test('a limited scan for rare rows reads few stretches', async (t) => {
  const { warehouse, table } = await tableOf(t.testdir(), { runs: 1, compact: true })
  const found: number[] = []
  let stretches = 0
  for await (const { v } of table.scan({ where: { v: { gte: START } }, limit: 1, onStats: () => stretches++ }))
    found.push(v)
  t.strictSame(found, [START])
  t.ok(stretches <= 2, `${stretches} stretches`)
  await warehouse.close()
})

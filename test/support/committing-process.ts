import { openWarehouse, t as types } from '../../engine/index.ts'

/**
 * A process that commits batches of keys until somebody kills it, and prints the number of each batch once its commit has
 * resolved: `committing-process.ts <path> <first batch> [batches] [durability]`. Batch b holds the keys b * 100 to b * 100 + 99,
 * all with the value b.
 */
const [path, first, batches = '1000000', durability = 'none'] = process.argv.slice(2)

const warehouse = await openWarehouse(path!, { workers: 0, durability: durability as 'none' | 'fsync' })
const table = await warehouse.createTable(
  'db.t',
  {
    fields: { k: types.int(), v: types.int() },
    primaryKey: ['k'],
    options: { bucket: 2, 'num-sorted-run.compaction-trigger': 3 },
  },
  { ifNotExists: true },
)
for (let batch = Number(first), left = Number(batches); left > 0; batch++, left--) {
  await table.put(Array.from({ length: 100 }, (_, i) => ({ k: batch * 100 + i, v: batch })))
  await table.commit()
  process.stdout.write(`${batch}\n`)
}
await warehouse.close()

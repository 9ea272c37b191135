import { isTableError, openWarehouse } from '../../engine/index.ts'

/** A process of its own that reads `db.t`, or tries to write it, and prints as JSON what came of it. */
const [path, mode] = process.argv.slice(2)

const warehouse = await openWarehouse(path!, { readOnly: mode === 'read', workers: 0 })
const table = await warehouse.table('db.t')
if (mode === 'read') {
  const scan: unknown[] = []
  for await (const row of table.scan()) scan.push(row)
  const get = await table.get(1)
  const old = await table.get(1, { snapshot: 1 })
  const changes: unknown[] = []
  for await (const { snapshot, kinds } of table.changes()) changes.push([snapshot, ...kinds])
  console.log(JSON.stringify({ tables: await warehouse.tables(), scan, get, old, changes }))
} else {
  try {
    await table.put({ k: 2, v: 2 })
    await table.commit()
    console.log(JSON.stringify({ code: 'none' }))
  } catch (error) {
    if (!isTableError(error)) throw error
    console.log(JSON.stringify({ code: error.code, errno: error.details.errno, message: error.message }))
  }
}
await warehouse.close({ discard: true })

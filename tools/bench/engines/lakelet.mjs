import { mkdirSync, readFileSync } from 'node:fs'
import { openWarehouse, t } from '../../../dist/engine/index.js'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))

export const info = {
  name: 'lakelet',
  version,
  value: 'Parquet columns, zstd',
  durability: { default: 'fsync of files and snapshot', fsync: 'fsync of files and snapshot' },
}

const number = () => t.bigint({ mode: 'number' })
const fields = { id: number(), a: number(), b: t.double(), name: t.string(), payload: t.string(), ts: number() }
const PUT_ROWS = 10_000

/** Two 32-bit reads make the number of an int64 without a BigInt for each. All values here are below 2^53. */
function numbersOf(batch, name) {
  const { buffer, byteOffset, length } = batch.getChild(name).toArray()
  const halves = new Int32Array(buffer, byteOffset, length * 2)
  return (row) => halves[2 * row + 1] * 4294967296 + (halves[2 * row] >>> 0)
}

export async function open(dir, { durability }) {
  mkdirSync(dir, { recursive: true })
  const warehouse = await openWarehouse(dir, durability === 'default' ? {} : { durability })
  const definition = { fields, primaryKey: ['id'], options: { bucket: 1 } }
  const table = await warehouse.createTable('bench.t', definition, { ifNotExists: true })
  return {
    async ingest(rows) {
      for (let from = 0; from < rows.length; from += PUT_ROWS) await table.put(rows.slice(from, from + PUT_ROWS))
      await table.commit()
    },
    async delete(ids) {
      await table.delete(ids)
      await table.commit()
    },
    compact: () => table.compact({ full: true }),
    async scan(onPair) {
      for await (const batch of table.scanArrow({ columns: ['id', 'a'] })) {
        const id = numbersOf(batch, 'id')
        const a = numbersOf(batch, 'a')
        for (let row = 0; row < batch.numRows; row++) onPair(id(row), a(row))
      }
    },
    async range(lo, hi, onRow) {
      for await (const row of table.scan({ range: { gte: { id: lo }, lt: { id: hi } } })) onRow(row)
    },
    get: (id) => table.get(id),
    close: () => warehouse.close(),
  }
}

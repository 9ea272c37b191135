import { mkdirSync, readFileSync } from 'node:fs'
import { openWarehouse, t } from '../../../dist/bundle/index.js'
import { scanLines } from '../lib/scan-lines.mjs'

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
    warehouse,
    table,
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

/** Lines of our own: row objects, Arrow batches, `getSync` where the table has it, and an ingest of Arrow batches. */
export async function extras({ warehouse, table }, { plan, job, timed, check, batchesOf }) {
  const lines = await scanLines(
    { pairs: () => table.scan({ columns: ['id', 'a'] }), rows: () => table.scan() },
    { plan, timed, check },
  )
  const arrow = async (columns, onBatch) => {
    let rows = 0
    for await (const batch of table.scanArrow(columns === undefined ? {} : { columns })) {
      rows += batch.numRows
      onBatch(batch)
    }
    check(rows === plan.count, `${rows} rows, expected ${plan.count}`)
  }
  const sumOfA = (columns) => async () => {
    let sum = 0
    await arrow(columns, (batch) => {
      const a = numbersOf(batch, 'a')
      for (let row = 0; row < batch.numRows; row++) sum += a(row)
    })
    check(sum === plan.sum, `sum ${sum}, expected ${plan.sum}`)
  }
  ;[lines['sum of a, s']] = await timed(sumOfA(['a']))
  ;[lines['sum of a, all columns read, s']] = await timed(sumOfA(undefined))
  const groups = new Array(10).fill(0)
  ;[lines['group-by sum, s']] = await timed(() =>
    arrow(['id', 'a'], (batch) => {
      const id = numbersOf(batch, 'id')
      const a = numbersOf(batch, 'a')
      for (let row = 0; row < batch.numRows; row++) groups[id(row) % 10] += a(row)
    }),
  )
  check(
    groups.every((sum, k) => sum === plan.groups[k]),
    `group-by sum: ${groups}`,
  )
  if (table.getSync !== undefined) lines['getSync, us'] = await getSyncMicros(table, { plan, timed, check })
  lines['ingest of Arrow batches, s'] = await arrowIngest(warehouse, { plan, job, timed, check, batchesOf })
  return lines
}

async function getSyncMicros(table, { plan: { getIds, getA }, timed, check }) {
  let wrong = 0
  const pass = () => {
    for (let g = 0; g < getIds.length; g++) if ((table.getSync(getIds[g])?.a ?? -1) !== getA[g]) wrong++
  }
  pass()
  const [seconds] = await timed(pass)
  check(wrong === 0, `getSync: ${wrong} wrong`)
  return (seconds / getIds.length) * 1e6
}

async function arrowIngest(warehouse, { plan, job, timed, check, batchesOf }) {
  const arrow = await import('apache-arrow')
  const table = await warehouse.createTable('bench.arrow', { fields, primaryKey: ['id'], options: { bucket: 1 } })
  const int64 = (rows, name) => BigInt64Array.from(rows, (row) => BigInt(row[name]))
  let total = 0
  for (const rows of batchesOf(plan.order, job.batches, 1)) {
    const list = (name, type) =>
      arrow.vectorFromArray(
        rows.map((row) => row[name]),
        type,
      )
    const { batches } = new arrow.Table({
      id: arrow.makeVector(int64(rows, 'id')),
      a: arrow.makeVector(int64(rows, 'a')),
      b: list('b', new arrow.Float64()),
      name: list('name', new arrow.Utf8()),
      payload: list('payload', new arrow.Utf8()),
      ts: arrow.makeVector(int64(rows, 'ts')),
    })
    const [seconds] = await timed(async () => {
      for (const batch of batches) await table.putArrow(batch)
      await table.commit()
    })
    total += seconds
  }
  let count = 0
  for await (const batch of table.scanArrow({ columns: ['id'] })) count += batch.numRows
  check(count === plan.order.length, `Arrow ingest: ${count} rows`)
  return total
}

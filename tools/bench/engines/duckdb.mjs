import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { BIGINT, DOUBLE, DuckDBDataChunk, DuckDBInstance, VARCHAR } from '@duckdb/node-api'
import { versionOf } from '../lib/util.mjs'

export const info = {
  name: 'duckdb',
  version: versionOf('@duckdb/node-api'),
  value: 'typed columns',
  durability: { default: 'fsync of the WAL per commit', fsync: 'fsync of the WAL per commit' },
  limits: { gets: 10000 },
}

const TYPES = [BIGINT, BIGINT, DOUBLE, VARCHAR, VARCHAR, BIGINT]
const COLUMNS = 'id BIGINT, a BIGINT, b DOUBLE, name VARCHAR, payload VARCHAR, ts BIGINT'
const CHUNK = 2048

export async function open(dir) {
  mkdirSync(dir, { recursive: true })
  const instance = await DuckDBInstance.create(path.join(dir, 'table.duckdb'))
  const db = await instance.connect()
  await db.run(`CREATE TABLE IF NOT EXISTS t (${COLUMNS}, PRIMARY KEY (id))`)
  await db.run(`CREATE TEMP TABLE stage (${COLUMNS})`)
  await db.run('CREATE TEMP TABLE stage_ids (id BIGINT)')
  const one = await db.prepare('SELECT * FROM t WHERE id = $1')
  const slice = await db.prepare('SELECT * FROM t WHERE id >= $1 AND id < $2 ORDER BY id')

  async function append(table, catalog, types, columnsOf, items) {
    const appender = await db.createAppender(table, undefined, catalog)
    for (let from = 0; from < items.length; from += CHUNK) {
      const part = items.slice(from, from + CHUNK)
      const chunk = DuckDBDataChunk.create(types, part.length)
      chunk.setColumns(columnsOf(part))
      appender.appendDataChunk(chunk)
    }
    appender.closeSync()
  }
  const rowColumns = (rows) => [
    rows.map((r) => BigInt(r.id)),
    rows.map((r) => BigInt(r.a)),
    rows.map((r) => r.b),
    rows.map((r) => r.name),
    rows.map((r) => r.payload),
    rows.map((r) => BigInt(r.ts)),
  ]
  async function transaction(work) {
    await db.run('BEGIN')
    await work()
    await db.run('COMMIT')
  }
  function emit(chunk, onRow) {
    const [id, a, b, name, payload, ts] = chunk.getColumns()
    for (let k = 0; k < chunk.rowCount; k++) {
      onRow({ id: Number(id[k]), a: Number(a[k]), b: b[k], name: name[k], payload: payload[k], ts: Number(ts[k]) })
    }
  }
  return {
    db,
    ingest: (rows) => transaction(() => append('t', undefined, TYPES, rowColumns, rows)),
    overwrite: (rows) =>
      transaction(async () => {
        await append('stage', 'temp', TYPES, rowColumns, rows)
        await db.run('INSERT OR REPLACE INTO t SELECT * FROM stage')
        await db.run('DELETE FROM stage')
      }),
    delete: (ids) =>
      transaction(async () => {
        await append('stage_ids', 'temp', [BIGINT], (part) => [part.map(BigInt)], ids)
        await db.run('DELETE FROM t WHERE id IN (SELECT id FROM stage_ids)')
        await db.run('DELETE FROM stage_ids')
      }),
    async compact() {
      await db.run('FORCE CHECKPOINT')
    },
    async scan(onPair) {
      const result = await db.stream('SELECT id, a FROM t ORDER BY id')
      for (;;) {
        const chunk = await result.fetchChunk()
        if (chunk === null || chunk.rowCount === 0) break
        const ids = chunk.getColumnVector(0)
        const as = chunk.getColumnVector(1)
        for (let k = 0; k < chunk.rowCount; k++) onPair(Number(ids.getItem(k)), Number(as.getItem(k)))
      }
    },
    async range(lo, hi, onRow) {
      slice.bindBigInt(1, BigInt(lo))
      slice.bindBigInt(2, BigInt(hi))
      const result = await slice.run()
      for (const chunk of await result.fetchAllChunks()) emit(chunk, onRow)
    },
    async get(id) {
      one.bindBigInt(1, BigInt(id))
      const chunk = await (await one.run()).fetchChunk()
      let row
      if (chunk !== null) emit(chunk, (r) => (row = r))
      return row
    },
    async aggregate() {
      const rows = await (await db.run('SELECT id % 10, sum(a) FROM t GROUP BY 1')).getRows()
      return rows.map(([k, s]) => [Number(k), Number(s)])
    },
    close() {
      db.closeSync()
      instance.closeSync()
    },
  }
}

export async function extras({ db }, { timed, plan, check }) {
  const [seconds, rows] = await timed(async () => (await db.run('SELECT sum(a) FROM t')).getRows())
  check(Number(rows[0][0]) === plan.sum, `sum ${rows[0][0]}`)
  return { 'sum of a, s': seconds }
}

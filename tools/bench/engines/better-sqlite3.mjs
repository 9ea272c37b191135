import { mkdirSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { scanLines } from '../lib/scan-lines.mjs'
import { versionOf } from '../lib/util.mjs'

export const info = {
  name: 'better-sqlite3',
  version: versionOf('better-sqlite3'),
  value: 'typed columns',
  durability: {
    default: 'WAL, synchronous = NORMAL: fsync at checkpoints only',
    fsync: 'WAL, synchronous = FULL: fsync per commit',
  },
}

export async function open(dir, { durability }) {
  mkdirSync(dir, { recursive: true })
  const db = new Database(path.join(dir, 'table.sqlite'))
  db.pragma('journal_mode = WAL')
  db.pragma(`synchronous = ${durability === 'fsync' ? 'FULL' : 'NORMAL'}`)
  db.exec(
    'CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, a INTEGER, b REAL, name TEXT, payload TEXT, ts INTEGER)',
  )
  const insert = db.prepare('INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)')
  const upsert = db.prepare(
    `INSERT INTO t VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
       a = excluded.a, b = excluded.b, name = excluded.name, payload = excluded.payload, ts = excluded.ts`,
  )
  const remove = db.prepare('DELETE FROM t WHERE id = ?')
  const pairs = db.prepare('SELECT id, a FROM t ORDER BY id').raw()
  const slice = db.prepare('SELECT * FROM t WHERE id >= ? AND id < ? ORDER BY id')
  const one = db.prepare('SELECT * FROM t WHERE id = ?')
  const groups = db.prepare('SELECT id % 10 AS k, sum(a) AS s FROM t GROUP BY 1').raw()
  const writer = (stmt) =>
    db.transaction((rows) => {
      for (const r of rows) stmt.run(r.id, r.a, r.b, r.name, r.payload, r.ts)
    })
  return {
    db,
    ingest: writer(insert),
    overwrite: writer(upsert),
    delete: db.transaction((ids) => {
      for (const id of ids) remove.run(id)
    }),
    compact() {
      db.exec('VACUUM')
      db.pragma('wal_checkpoint(TRUNCATE)')
    },
    scan(onPair) {
      for (const [id, a] of pairs.iterate()) onPair(id, a)
    },
    range(lo, hi, onRow) {
      for (const row of slice.iterate(lo, hi)) onRow(row)
    },
    get: (id) => one.get(id),
    aggregate: () => groups.all(),
    close: () => db.close(),
  }
}

export async function extras({ db }, kit) {
  const ways = {
    pairs: () => db.prepare('SELECT id, a FROM t ORDER BY id').iterate(),
    rows: () => db.prepare('SELECT * FROM t ORDER BY id').iterate(),
  }
  const lines = await scanLines(ways, kit)
  const sum = db.prepare('SELECT sum(a) FROM t').pluck()
  lines['sum of a, s'] = (await kit.timed(() => sum.get()))[0]
  return lines
}

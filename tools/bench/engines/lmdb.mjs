// lmdb-js with its own defaults: numeric keys, msgpack values with shared record structures.
import { mkdir, rename, rm } from 'node:fs/promises'
import { open as openLmdb } from 'lmdb'
import { versionOf } from '../lib/util.mjs'

export const info = {
  name: 'lmdb',
  version: versionOf('lmdb'),
  value: 'msgpack record (built in)',
  durability: {
    default: 'commit, then flush overlapped with later work (overlappingSync)',
    fsync: 'waits for `flushed` after each batch',
  },
}

export async function open(dir, { durability }) {
  const options = { path: dir, noSubdir: false, sharedStructuresKey: Symbol.for('structures') }
  let db = openLmdb(options)

  async function settle(last) {
    await last
    if (durability === 'fsync') await db.flushed
  }
  const write = (rows) => {
    let last
    for (const r of rows) last = db.put(r.id, { a: r.a, b: r.b, name: r.name, payload: r.payload, ts: r.ts })
    return settle(last)
  }
  return {
    ingest: write,
    overwrite: write,
    delete(ids) {
      let last
      for (const id of ids) last = db.remove(id)
      return settle(last)
    },
    // LMDB has no in-place compaction: the documented way is a compacting copy that takes its place.
    async compact() {
      const copy = `${dir}.compact`
      await rm(copy, { recursive: true, force: true })
      await mkdir(copy)
      await db.backup(copy, true)
      await db.close()
      await rm(dir, { recursive: true, force: true })
      await rename(copy, dir)
      db = openLmdb(options)
    },
    scan(onPair) {
      for (const { key, value } of db.getRange({ start: 0 })) onPair(key, value.a)
    },
    range(lo, hi, onRow) {
      for (const { key, value } of db.getRange({ start: lo, end: hi })) {
        onRow({ id: key, a: value.a, b: value.b, name: value.name, payload: value.payload, ts: value.ts })
      }
    },
    get(id) {
      const v = db.get(id)
      return v === undefined ? undefined : { id, a: v.a, b: v.b, name: v.name, payload: v.payload, ts: v.ts }
    },
    close: () => db.close(),
  }
}

import { ClassicLevel } from 'classic-level'
import { decodeA, decodeKey, decodeRow, encodeKey, encodeValue } from '../lib/codec.mjs'
import { versionOf } from '../lib/util.mjs'

export const info = {
  name: 'classic-level',
  version: versionOf('classic-level'),
  value: 'msgpack array',
  durability: { default: 'log write, no fsync (sync: false)', fsync: 'fsync of the log per batch (sync: true)' },
}

export async function open(dir, { durability }) {
  const db = new ClassicLevel(dir, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  await db.open()
  const sync = { sync: durability === 'fsync' }

  async function iterate(options, onEntry) {
    const it = db.iterator(options)
    for (;;) {
      const entries = await it.nextv(1000)
      if (entries.length === 0) break
      for (const [key, value] of entries) onEntry(key, value)
    }
    await it.close()
  }
  const write = (rows) =>
    db.batch(
      rows.map((r) => ({ type: 'put', key: encodeKey(r.id), value: encodeValue(r) })),
      sync,
    )

  return {
    ingest: write,
    overwrite: write,
    delete: (ids) =>
      db.batch(
        ids.map((id) => ({ type: 'del', key: encodeKey(id) })),
        sync,
      ),
    compact: () => db.compactRange(Buffer.alloc(8, 0), Buffer.alloc(8, 255)),
    scan: (onPair) => iterate({}, (key, value) => onPair(decodeKey(key), decodeA(value))),
    range: (lo, hi, onRow) =>
      iterate({ gte: encodeKey(lo), lt: encodeKey(hi) }, (key, value) => onRow(decodeRow(decodeKey(key), value))),
    get(id) {
      const value = db.getSync(encodeKey(id))
      return value === undefined ? undefined : decodeRow(id, value)
    },
    close: () => db.close(),
  }
}

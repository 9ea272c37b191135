// The `rocksdb` npm package (abstract-leveldown API, callbacks), wrapped in promises.
import { createRequire } from 'node:module'
import { decodeA, decodeKey, decodeRow, encodeKey, encodeValue } from '../lib/codec.mjs'
import { versionOf } from '../lib/util.mjs'

const rocksdb = createRequire(import.meta.url)('rocksdb')

export const info = {
  name: 'rocksdb',
  version: versionOf('rocksdb'),
  value: 'msgpack array',
  durability: { default: 'log write, no fsync (sync: false)', fsync: 'fsync of the log per batch (sync: true)' },
}

const call = (fn) => new Promise((resolve, reject) => fn((err, value) => (err ? reject(err) : resolve(value))))

export async function open(dir, { durability }) {
  const db = rocksdb(dir)
  await call((cb) => db.open({}, cb))
  const sync = { sync: durability === 'fsync' }

  function iterate(options, onEntry) {
    const it = db.iterator({ keyAsBuffer: true, valueAsBuffer: true, ...options })
    return call((cb) => {
      const step = () =>
        it.next((err, key, value) => {
          if (err) return it.end(() => cb(err))
          if (key === undefined) return it.end(cb)
          onEntry(key, value)
          step()
        })
      step()
    })
  }
  const write = (rows) =>
    call((cb) =>
      db.batch(
        rows.map((r) => ({ type: 'put', key: encodeKey(r.id), value: encodeValue(r) })),
        sync,
        cb,
      ),
    )

  return {
    ingest: write,
    overwrite: write,
    delete: (ids) =>
      call((cb) =>
        db.batch(
          ids.map((id) => ({ type: 'del', key: encodeKey(id) })),
          sync,
          cb,
        ),
      ),
    compact: () => call((cb) => db.compactRange(Buffer.alloc(8, 0), Buffer.alloc(8, 255), cb)),
    scan: (onPair) => iterate({}, (key, value) => onPair(decodeKey(key), decodeA(value))),
    range: (lo, hi, onRow) =>
      iterate({ gte: encodeKey(lo), lt: encodeKey(hi) }, (key, value) => onRow(decodeRow(decodeKey(key), value))),
    get: (id) =>
      new Promise((resolve, reject) =>
        db.get(encodeKey(id), (err, value) => {
          if (!err) resolve(decodeRow(id, value))
          else if (/notfound/i.test(err.message)) resolve(undefined)
          else reject(err)
        }),
      ),
    close: () => call((cb) => db.close(cb)),
  }
}

// Plain JavaScript baseline: a Map in memory and an append-only file of JSON lines.

import { createReadStream, existsSync } from 'node:fs'
import { mkdir, open as openFile, rename } from 'node:fs/promises'
import path from 'node:path'

export const info = {
  name: 'json-log',
  version: '-',
  value: 'JSON line',
  durability: { default: 'fsync per batch', fsync: 'fsync per batch' },
}

export async function open(dir) {
  await mkdir(dir, { recursive: true })
  const file = path.join(dir, 'table.ndjson')
  const map = new Map()
  if (existsSync(file)) {
    let tail = ''
    for await (const text of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
      const lines = (tail + text).split('\n')
      tail = lines.pop()
      for (const line of lines) {
        const row = JSON.parse(line)
        if (row.del) map.delete(row.id)
        else map.set(row.id, row)
      }
    }
  }
  let log = await openFile(file, 'a')

  async function append(handle, items) {
    for (let from = 0; from < items.length; from += 5000) {
      let text = ''
      for (const item of items.slice(from, from + 5000)) text += `${JSON.stringify(item)}\n`
      await handle.write(text)
    }
    await handle.datasync()
  }
  async function write(rows) {
    await append(log, rows)
    for (const row of rows) map.set(row.id, row)
  }
  const keys = () => Float64Array.from(map.keys()).sort()
  let sorted = null // rebuilt after a write
  const touch = (fn) => async (items) => {
    sorted = null
    await fn(items)
  }
  return {
    ingest: touch(write),
    overwrite: touch(write),
    delete: touch(async (ids) => {
      await append(
        log,
        ids.map((id) => ({ id, del: true })),
      )
      for (const id of ids) map.delete(id)
    }),
    async compact() {
      const next = await openFile(`${file}.new`, 'w')
      await append(next, [...map.values()])
      await next.close()
      await log.close()
      await rename(`${file}.new`, file)
      log = await openFile(file, 'a')
    },
    scan(onPair) {
      sorted ??= keys()
      for (const id of sorted) onPair(id, map.get(id).a)
    },
    range(lo, hi, onRow) {
      sorted ??= keys()
      let from = 0
      let to = sorted.length
      while (from < to) {
        const mid = (from + to) >>> 1
        if (sorted[mid] < lo) from = mid + 1
        else to = mid
      }
      for (; from < sorted.length && sorted[from] < hi; from++) onRow(map.get(sorted[from]))
    },
    get: (id) => map.get(id),
    close: () => log.close(),
  }
}

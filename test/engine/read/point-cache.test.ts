import t from 'tap'
import { t as type } from '../../../engine/index.ts'
import { createNodeFileSystem } from '../../../engine/ports/node-fs.ts'
import { openAlone } from '../../support/warehouses.ts'

const ROWS = 30_000

/** A file system that counts how often data files are opened. */
function countingFs() {
  const inner = createNodeFileSystem({ sync: false })
  const opened = { count: 0 }
  const fs: typeof inner = {
    ...inner,
    openSource(path) {
      opened.count++
      return inner.openSource(path)
    },
  }
  return { fs, opened }
}

async function tableOf(path: string, cacheBytes: number) {
  const { fs, opened } = countingFs()
  const warehouse = openAlone(path, { fs, cacheBytes })
  const table = await warehouse.createTable('db.t', {
    fields: { id: type.bigint({ mode: 'number' }), text: type.string() },
    primaryKey: ['id'],
    options: { bucket: 1, 'write-only': true, 'parquet.page.row.count.limit': 4096 },
  })
  // Even ids only: the odd ones lie between rows, inside blocks and between them.
  await table.put(Array.from({ length: ROWS }, (_, i) => ({ id: i * 2, text: `row ${i}` })))
  await table.commit()
  return { warehouse, table, opened }
}

t.test('a block that was decoded answers hits and misses without the file', async (t) => {
  const { warehouse, table, opened } = await tableOf(t.testdir(), 64 << 20)
  for (let i = 0; i < ROWS; i += 1000) await table.get(i * 2)
  opened.count = 0
  for (let i = 0; i < ROWS; i += 7) {
    const row = await table.get(i * 2)
    if (row?.text !== `row ${i}`) t.fail(`row ${i}: ${JSON.stringify(row)}`)
    const missing = i + 1 < ROWS ? await table.get(i * 2 + 1) : undefined
    if (missing !== undefined) t.fail(`${i * 2 + 1} was found`)
  }
  t.equal(opened.count, 0)
  await warehouse.close()
})

t.test('a cache smaller than a file keeps some of its blocks, and answers stay right', async (t) => {
  const { warehouse, table, opened } = await tableOf(t.testdir(), 600_000)
  for (let i = 0; i < ROWS; i += 500) {
    const row = await table.get(i * 2)
    if (row?.text !== `row ${i}`) t.fail(`row ${i}: ${JSON.stringify(row)}`)
  }
  await table.get(0)
  opened.count = 0
  for (let i = 0; i < 100; i++) t.equal((await table.get(i * 2))?.text, `row ${i}`)
  t.equal(opened.count, 0, 'the block in use is in the cache, though the file is larger')
  await warehouse.close()
})

t.test('getMany and get agree, uncommitted rows and deletes included', async (t) => {
  const { warehouse, table } = await tableOf(t.testdir(), 64 << 20)
  await table.put([{ id: 10, text: 'new' }])
  await table.delete([12])
  const keys = [10, 11, 12, 14, -1, ROWS * 2]
  const many = await table.getMany(keys)
  t.same(many, [{ id: 10, text: 'new' }, undefined, undefined, { id: 14, text: 'row 7' }, undefined, undefined])
  for (const [i, key] of keys.entries()) t.same(await table.get(key), many[i])
  await table.discard()
  t.equal((await table.get(10))?.text, 'row 5')
  await warehouse.close()
})

t.test('a miss decodes keys only, a warm get nothing, and getMany each page once', async (t) => {
  const inner = createNodeFileSystem({ sync: false })
  const read = { count: 0 }
  const fs: typeof inner = {
    ...inner,
    openSource(path) {
      const source = inner.openSource(path)
      return {
        bytes: source.bytes,
        close: () => source.close(),
        read(offset, length) {
          read.count += length
          return source.read(offset, length)
        },
      }
    },
  }
  const warehouse = openAlone(t.testdir(), { fs, cacheBytes: 64 << 20 })
  const table = await warehouse.createTable('db.t', {
    fields: { id: type.bigint({ mode: 'number' }), text: type.string() },
    primaryKey: ['id'],
    options: { bucket: 1, 'write-only': true, 'parquet.page.row.count.limit': 4096, 'file.compression': 'none' },
  })
  const WIDE = 'x'.repeat(100)
  await table.put(Array.from({ length: ROWS }, (_, i) => ({ id: i * 2, text: `${i}${WIDE}` })))
  await table.commit()

  const bytesOf = async (action: () => Promise<unknown>) => {
    const before = read.count
    await action()
    return read.count - before
  }
  await table.get(0)
  const page = 4096 * WIDE.length
  t.ok((await bytesOf(() => table.get(20_001))) < page, 'a miss reads no page of text')
  t.ok((await bytesOf(() => table.get(20_000))) > page, 'a hit reads one')
  t.equal(await bytesOf(() => table.get(20_002)), 0, 'its neighbour nothing')
  t.equal(await bytesOf(() => table.get(20_003)), 0, 'nor does a miss there')

  const keys = Array.from({ length: ROWS }, (_, i) => ((i * 7919) % ROWS) * 2)
  const many = await bytesOf(() => table.getMany(keys))
  t.ok(many < ROWS * (WIDE.length + 30), `${many} bytes: each page once`)
  t.equal(await bytesOf(() => table.getMany(keys)), 0)
  await warehouse.close()
})

t.test('a block that was grown meanwhile is not replaced by the shorter one that a row was found in', async (t) => {
  await using warehouse = openAlone(t.testdir())
  await using table = await warehouse.createTable('db.t', {
    fields: { name: type.string(), n: type.int(), v: type.int() },
    primaryKey: ['name', 'n'],
    options: { 'parquet.page.row.count.limit': '2' },
  })
  // Pages of two rows: (a, 3) may be in the first only, (b, 2) by its columns in the first two.
  const keys = [
    { name: 'a', n: 3 },
    { name: 'b', n: 1 },
    { name: 'b', n: 2 },
    { name: 'b', n: 3 },
    { name: 'c', n: 1 },
  ]
  await table.put(keys.map((key, v) => ({ ...key, v })))
  await table.commit()
  t.strictSame(
    (await table.getMany([keys[2]!, keys[0]!])).map((row) => row?.v),
    [2, 0],
  )
  for (const [v, key] of keys.entries()) t.strictSame(await table.get(key), { ...key, v })
})

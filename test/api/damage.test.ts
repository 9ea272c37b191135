import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { TableError, t as types } from '../../engine/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { alter, collect, listing, liveFiles, open, refused, storeOf } from '../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int().nullable() }, primaryKey: ['k'] } as const

/** A table of so many commits of one row each, closed, and functions that open it afresh. */
async function made(path: string, commits: number) {
  const warehouse = await open(path)
  const table = await warehouse.createTable('db.t', { ...definition, options: { 'write-only': 'true' } })
  for (let k = 1; k <= commits; k++) {
    await table.put({ k, v: k })
    await table.commit()
  }
  await warehouse.close()
  const folder = join(path, 'db.db', 't')
  const use = async <T>(action: (table: Awaited<ReturnType<typeof warehouse.table>>) => Promise<T>): Promise<T> => {
    const again = await open(path)
    try {
      const opened = await again.table('db.t')
      return await action(opened)
    } finally {
      await again.close({ discard: true }).catch(() => undefined)
    }
  }
  return { folder, use, store: await storeOf(path, 'db', 't') }
}

const scan = (use: Awaited<ReturnType<typeof made>>['use']) => use((table) => collect(table.scan()))
const write = (use: Awaited<ReturnType<typeof made>>['use']) =>
  use(async (table) => {
    await table.put({ k: 9, v: 9 })
    return table.commit()
  })

/** Ways in which a file can be damaged. */
const damages: Record<string, (bytes: Buffer) => Buffer> = {
  'cut to nothing': () => Buffer.alloc(0),
  'filled with NUL': (bytes) => Buffer.alloc(Math.max(300, bytes.length)),
  'cut to half': (bytes) => bytes.subarray(0, bytes.length / 2),
  'another text': () => Buffer.from('{"hello": "world"}'),
}

for (const [damage, apply] of Object.entries(damages)) {
  t.test(
    `C105 the newest snapshot ${damage} is CORRUPT, named, and not published over; without it there is snapshot 1`,
    async (t) => {
      const { folder, use } = await made(t.testdir(), 2)
      const path = join(folder, 'snapshot', 'snapshot-2')
      writeFileSync(path, apply(readFileSync(path)))
      const before = listing(folder)
      await refused(t, scan(use), 'CORRUPT', { path }, 'snapshot-2')
      await refused(t, write(use), 'CORRUPT', { path }, 'snapshot-2')
      t.same(listing(folder), before)
      rmSync(path)
      t.same(await scan(use), [{ k: 1, v: 1 }])
      t.match(await write(use), { id: 2 })
    },
  )

  for (const kind of ['manifest', 'manifest list', 'schema'] as const) {
    t.test(`C115 a ${kind} ${damage} is CORRUPT and named; nothing is committed on top`, async (t) => {
      const { folder, use, store } = await made(t.testdir(), 2)
      const latest = (await store.snapshots.latest())!
      const [delta] = await store.manifests.deltaListOf(latest)
      const name = { manifest: delta!.name, 'manifest list': latest.deltaManifestList, schema: 'schema-0' }[kind]
      const path = join(folder, kind === 'schema' ? 'schema' : 'manifest', name)
      writeFileSync(path, apply(readFileSync(path)))
      const before = listing(folder)
      await refused(t, scan(use), 'CORRUPT', { path }, name)
      await refused(t, write(use), 'CORRUPT', { path }, name)
      t.same(listing(folder), before)
    })
  }

  t.test(`C114 a data file ${damage} is CORRUPT and named; other partitions are read`, async (t) => {
    const path = t.testdir()
    const warehouse = await open(path)
    const table = await warehouse.createTable('db.t', {
      fields: { p: types.int(), k: types.int(), v: types.int() },
      primaryKey: ['p', 'k'],
      partitionBy: ['p'],
    })
    await table.put([
      { p: 1, k: 1, v: 1 },
      { p: 2, k: 1, v: 1 },
    ])
    await table.commit()
    await table.put({ p: 1, k: 1, v: 2 })
    await table.commit()
    await warehouse.close()
    const bucket = join(path, 'db.db', 't', 'p=1', 'bucket-0')
    for (const name of readdirSync(bucket)) {
      const file = join(bucket, name)
      writeFileSync(file, apply(readFileSync(file)))
    }
    const again = await open(path)
    const damaged = await again.table('db.t')
    t.same(await collect(damaged.scan({ where: { p: 2 } })), [{ p: 2, k: 1, v: 1 }])
    t.same(await damaged.get({ p: 2, k: 1 }), { p: 2, k: 1, v: 1 })
    await refused(t, collect(damaged.scan()), 'CORRUPT', {}, `${bucket}/data-`)
    await refused(t, damaged.get({ p: 1, k: 1 }), 'CORRUPT', {}, `${bucket}/data-`)
    await refused(t, damaged.compact({ full: true, partition: 'p=1' }), 'CORRUPT', {}, `${bucket}/data-`)
    await again.close()
  })
}

t.test('C114 a data file that is gone is CORRUPT and named, never fewer rows', async (t) => {
  const { folder, use } = await made(t.testdir(), 2)
  const [name] = readdirSync(join(folder, 'bucket-0'))
  const path = join(folder, 'bucket-0', name!)
  rmSync(path)
  await refused(t, scan(use), 'CORRUPT', { path, missing: true }, name!)
})

t.test('C115 an older snapshot whose own files are whole is still read', async (t) => {
  const { folder, use, store } = await made(t.testdir(), 2)
  const latest = (await store.snapshots.latest())!
  truncateSync(join(folder, 'manifest', latest.deltaManifestList), 10)
  const warehouse = await open(join(folder, '..', '..'), { readOnly: true })
  await refused(
    t,
    use((table) => collect(table.scan())),
    'CORRUPT',
    {},
    latest.deltaManifestList,
  )
  rmSync(join(folder, 'snapshot', 'snapshot-2'))
  const table = await warehouse.table('db.t')
  t.same(await collect(table.scan({ snapshot: 1 })), [{ k: 1, v: 1 }])
  await warehouse.close()
})

t.test('C057 flipped bytes in a data file are an error that names it, or harm nothing', async (t) => {
  const path = t.testdir()
  const warehouse = await open(path)
  const table = await warehouse.createTable('db.t', {
    fields: { k: types.int(), s: types.string(), v: types.bigint().nullable() },
    primaryKey: ['k'],
    options: { 'write-only': 'true' },
  })
  const rows = Array.from({ length: 5000 }, (_, k) => ({
    k,
    s: `text ${(k * 7919) % 5000}`,
    v: k % 5 === 0 ? null : BigInt(k) ** 3n,
  }))
  await table.put(rows)
  await table.commit()
  await warehouse.close()
  const bucket = join(path, 'db.db', 't', 'bucket-0')
  const [name] = readdirSync(bucket)
  const file = join(bucket, name!)
  const good = readFileSync(file)
  const random = seededRandom(57)
  const outcomes: string[] = []
  for (let i = 0; i < 20; i++) {
    const bad = Buffer.from(good)
    const at = Math.floor(((i + random.fraction()) / 20) * (good.length - 8))
    for (let j = 0; j < 8; j++) bad[at + j] = bad[at + j]! ^ (1 + Math.floor(random.fraction() * 255))
    writeFileSync(file, bad)
    const again = await open(path)
    const damaged = await again.table('db.t')
    try {
      const found = await collect(damaged.scan())
      outcomes.push('rows')
      if (found.length !== 5000) t.equal(found.length, 5000, `offset ${at} of ${good.length}`)
      else t.same(found, rows, `offset ${at} of ${good.length}`)
    } catch (error) {
      outcomes.push('error')
      t.ok(error instanceof TableError && error.message.includes(name!), `offset ${at}: ${String(error)}`)
    }
    await again.close()
  }
  t.ok(outcomes.filter((outcome) => outcome === 'error').length > 10, outcomes.join())
})

t.test('C106 hints are never believed', async (t) => {
  const root = t.testdir()
  const origin = await made(join(root, 'origin'), 3)
  const hints = [undefined, '', 'abc', '1', '3', '-5', '9999999999999999999999', '99', '3\n', '0', 'NaN', '1e1']
  for (const [i, hint] of hints.entries()) {
    for (const name of ['LATEST', 'EARLIEST']) {
      const path = join(root, `${name}-${i}`)
      mkdirSync(path)
      cpSync(join(root, 'origin'), path, { recursive: true })
      const file = join(path, 'db.db', 't', 'snapshot', name)
      if (hint === undefined) rmSync(file, { force: true })
      else writeFileSync(file, hint)
      const warehouse = await open(path)
      const table = await warehouse.table('db.t')
      const what = `${name} ${JSON.stringify(hint)}`
      const ids = (await table.snapshots()).map(({ id }) => id)
      t.same(ids, name === 'EARLIEST' && hint === '3' ? [3] : [1, 2, 3], what)
      t.equal((await collect(table.scan())).length, 3, what)
      await table.put({ k: 9, v: 9 })
      t.match(await table.commit(), { id: 4 }, what)
      t.equal((await collect(table.scan())).length, 4, what)
      await warehouse.close()
    }
  }
  t.ok(origin)
})

t.test('C107 foreign files in the snapshot folder are ignored', async (t) => {
  const { folder, use } = await made(t.testdir(), 1)
  const snapshots = join(folder, 'snapshot')
  for (const name of [
    '.snapshot-2.4a0c.tmp',
    'snapshot-2.bak',
    'snapshot-2.tmp',
    'snapshot-02',
    'snapshot-',
    'snapshot-x',
    '7',
    '.nfs0001',
  ]) {
    writeFileSync(join(snapshots, name), 'foreign')
  }
  mkdirSync(join(snapshots, 'snapshot-9'))
  mkdirSync(join(snapshots, 'folder'))
  rmSync(join(snapshots, 'LATEST'))
  t.same(await scan(use), [{ k: 1, v: 1 }])
  t.match(await write(use), { id: 2 })
  t.equal((await scan(use)).length, 2)
  t.equal(readFileSync(join(snapshots, 'snapshot-2.bak'), 'utf8'), 'foreign')
})

t.test('files of formats that this version does not have are UNSUPPORTED, named', async (t) => {
  const future = await made(t.testdir({ a: {}, b: {} }), 1)
  const path = join(future.folder, 'snapshot', 'snapshot-1')
  const snapshot = readFileSync(path, 'utf8')
  writeFileSync(path, snapshot.replace(/"version"\s*:\s*\d+/, '"version": 99'))
  await refused(t, scan(future.use), 'UNSUPPORTED', { path }, 'snapshot-1', '99')
  writeFileSync(path, snapshot)

  const schema = join(future.folder, 'schema', 'schema-0')
  const text = readFileSync(schema, 'utf8')
  writeFileSync(schema, text.replace(/"version"\s*:\s*\d+/, '"version": 99'))
  await refused(t, scan(future.use), 'UNSUPPORTED', { path: schema }, 'schema-0', '99')
  writeFileSync(schema, text.replace('"INT NOT NULL"', '"VARIANT NOT NULL"'))
  await refused(t, scan(future.use), 'UNSUPPORTED', {}, 'VARIANT')
  writeFileSync(schema, text.replace('"INT NOT NULL"', '"QUATERNION"'))
  await refused(t, scan(future.use), 'UNSUPPORTED', {}, 'QUATERNION')
  writeFileSync(schema, text)

  const bucket = join(future.folder, 'bucket-0')
  const [name] = readdirSync(bucket)
  const store = future.store
  const [entry] = await liveFiles(store)
  t.equal(entry?.file.name, name)
  await alter(store, ({ options }) => ({ options: { ...options, 'file.format': 'avro' } }))
  t.same(await scan(future.use), [{ k: 1, v: 1 }], 'what is there is Parquet and is read')
  await refused(t, write(future.use), 'UNSUPPORTED', { option: 'file.format', value: 'avro' }, 'file.format', 'avro')
  renameSync(join(bucket, name!), join(bucket, name!.replace('.parquet', '.orc')))
})

import t from 'tap'
import { type Table, t as types, type Warehouse } from '../../engine/index.ts'
import { unnamedFiles } from '../support/table-files.ts'
import { markedFiles, rowsLeft } from '../support/vectors.ts'
import { collect, open, openAlone, storeOf } from '../support/warehouses.ts'

const fields = { k: types.int(), v: types.int().nullable(), s: types.string().nullable() }

async function create(warehouse: Warehouse, options: Record<string, string | number | boolean> = {}): Promise<Table> {
  const all = { 'deletion-vectors.enabled': true, ...options }
  return warehouse.createTable('db.t', { fields, primaryKey: ['k'], options: all }) as unknown as Promise<Table>
}

const row = (k: number, v: number) => ({ k, v, s: `row ${k}` })
const range = (start: number, end: number, v = 0) => Array.from({ length: end - start }, (_, i) => row(start + i, v))
const keys = async (table: Table, options: Parameters<Table['scan']>[0] = {}) =>
  (await collect(table.scan(options))).map((found) => found.k as number)

t.test('C031: rows show once they have left level 0, and mark those they replace', async (t) => {
  const folder = t.testdir()
  const warehouse = await open(folder)
  const table = await create(warehouse, { 'write-only': true })
  await table.put(range(0, 100))
  await table.commit()
  t.strictSame(await keys(table), [], 'nothing has been compacted')
  t.equal(await table.get({ k: 6 }), undefined)
  await table.compact({ full: true })
  t.equal((await keys(table)).length, 100)
  await table.delete({ k: 5 })
  await table.put(row(6, 60))
  t.match(await table.get({ k: 6 }), { v: 60 }, 'a handle sees its own rows before it commits them')
  await table.commit()
  t.equal((await keys(table)).length, 100)
  t.match(await table.get({ k: 6 }), { v: 0 })
  t.match(await table.get({ k: 5 }), { v: 0 })

  await table.compact()
  const check = async (name: string) => {
    t.equal((await keys(table)).length, 99, name)
    t.match(await table.get({ k: 6 }), { v: 60 })
    t.equal(await table.get({ k: 5 }), undefined)
    t.same(await table.getMany([{ k: 5 }, { k: 6 }, { k: 7 }]), [undefined, row(6, 60), row(7, 0)])
    t.strictSame(await keys(table, { where: { v: { gt: 0 } } } as never), [6])
    t.strictSame(await keys(table, { range: { gte: { k: 4 }, lte: { k: 8 } }, reverse: true }), [8, 7, 6, 4])
  }
  await check('marked')
  const store = await storeOf(folder, 'db', 't')
  const marked = await markedFiles(store)
  t.strictSame(marked.map(({ file, deleted }) => [file.level, file.rows, deleted]).sort(), [
    [4, 1, []],
    [5, 100, [5, 6]],
  ])
  await table.compact({ full: true })
  await check('compacted')
  const left = await markedFiles(store)
  t.strictSame(
    left.map(({ file, deleted }) => [file.level, file.rows, deleted]),
    [[5, 99, []]],
  )
  await warehouse.close()
  t.strictSame(await unnamedFiles(store), [])
})

for (const bitmap64 of [false, true]) {
  t.test(`C032: marks of several files in one index file, ${bitmap64 ? 64 : 32} bits`, async (t) => {
    const folder = t.testdir()
    let warehouse = await open(folder)
    let table = await create(warehouse, { 'target-file-size': '4 kb', 'deletion-vectors.bitmap64': bitmap64 })
    await table.put(Array.from({ length: 3000 }, (_, k) => ({ k, v: k, s: `${k * 7919}${k ** 3}` })))
    await table.commit()
    await table.compact({ full: true })
    const store = await storeOf(folder, 'db', 't')
    const before = (await markedFiles(store)).map(({ file }) => file.name)
    t.ok(before.length > 1, `${before.length} files`)
    const all = await keys(table)
    const gone: number[] = []
    let start = 0
    for (const { file } of (await markedFiles(store)).toSorted((a, b) =>
      Buffer.compare(a.file.minKey, b.file.minKey),
    )) {
      gone.push(all[start]!, all[start + file.rows - 1]!)
      start += file.rows
    }
    await table.delete(gone.map((k) => ({ k })))
    await table.commit()
    const expected = all.filter((k) => !gone.includes(k))
    t.strictSame(await keys(table), expected)
    await warehouse.close()
    warehouse = await open(folder)
    table = (await warehouse.table('db.t')) as Table
    t.strictSame(await keys(table), expected, 'opened again')
    const marked = await markedFiles(store)
    t.strictSame(marked.map(({ file }) => file.name).sort(), before.sort(), 'no file was written again')
    for (const { file, deleted } of marked) t.strictSame(deleted, [0, file.rows - 1])
    await warehouse.close()
  })
}

t.test('C033: places of rows do not shift over row groups, pages, filters and limits', async (t) => {
  const gone = [0, 999, 1000, 1999, 2999]
  for (const options of [{ 'parquet.block.size': 16384 }, { 'parquet.page.row.count.limit': 100 }]) {
    const warehouse = await open(t.testdir())
    const table = await create(warehouse, options)
    await table.put(range(0, 3000))
    await table.commit()
    await table.compact({ full: true })
    await table.delete(gone.map((k) => ({ k })))
    await table.commit()
    const left = range(0, 3000)
      .map(({ k }) => k)
      .filter((k) => !gone.includes(k))
    t.strictSame(await keys(table), left)
    t.strictSame(await keys(table, { ordered: false }), left)
    t.strictSame(await keys(table, { reverse: true }), left.toReversed())
    const filtered = await keys(table, { where: { k: { gte: 1500 } } } as never)
    t.equal(filtered.length, 1498)
    t.strictSame(
      filtered,
      left.filter((k) => k >= 1500),
    )
    t.strictSame(
      await keys(table, { range: { gte: { k: 999 }, lt: { k: 2001 } } }),
      left.filter((k) => k >= 999 && k < 2001),
    )
    t.strictSame(await keys(table, { limit: 5 }), [1, 2, 3, 4, 5])
    t.strictSame(await keys(table, { limit: 3, reverse: true }), [2998, 2997, 2996])
    for (const k of [0, 1, 998, 999, 1000, 1001, 2999]) {
      t.equal((await table.get({ k })) === undefined, gone.includes(k), `get ${k}`)
    }
    await warehouse.close()
  }
})

t.test('a compaction that another writer overtook neither loses nor brings back marks', async (t) => {
  const folder = t.testdir()
  const first = openAlone(folder)
  const one = await create(first, { 'num-sorted-run.compaction-trigger': 2 })
  const second = openAlone(folder)
  const two = (await second.table('db.t')) as Table
  const model = new Map<number, number>()
  for (let round = 0; round < 12; round++) {
    const put = async (table: Table, from: number, v: number) => {
      await table.put(range(from, from + 20, v))
      for (let k = from; k < from + 20; k++) model.set(k, v)
      await table.delete({ k: from + 3 })
      model.delete(from + 3)
    }
    await put(one, round * 5, round * 2)
    await one.commit()
    await put(two, round * 5 + 10, round * 2 + 1)
    await Promise.all([two.commit(), one.compact({ full: round % 3 === 0 })])
    await one.refresh()
    await one.compact({ full: round % 4 === 1 })
    const store = await storeOf(folder, 'db', 't')
    const marked = await markedFiles(store)
    const reader = openAlone(folder)
    const found = await collect(((await reader.table('db.t')) as Table).scan())
    t.strictSame(
      found.map(({ k, v }) => [k, v]),
      [...model].sort(([a], [b]) => a - b),
      `round ${round}`,
    )
    t.equal(rowsLeft(marked), model.size, 'each row is in one place')
    await reader.close()
  }
  await first.close()
  await second.close()
  t.strictSame(await unnamedFiles(await storeOf(folder, 'db', 't')), [])
})

t.test(
  'with lookup-wait a commit that resolves has shown its rows to everybody, whatever is written meanwhile',
  async (t) => {
    const folder = t.testdir()
    const warehouse = await open(folder)
    const table = await create(warehouse, { 'num-sorted-run.compaction-trigger': 2, 'write-buffer-size': '20 kb' })
    const reader = openAlone(folder)
    const other = (await reader.table('db.t')) as Table
    let next = 0
    for (let round = 0; round < 15; round++) {
      await table.put(range(next, next + 50, round))
      next += 50
      const committing = table.commit()
      const until = next
      // Rows of the next commit, some of which are flushed while this one waits for its compaction.
      for (let more = 0; more < 3; more++) {
        await table.put(range(next, next + 120, round))
        next += 120
      }
      await committing
      await other.refresh()
      const found = await keys(other)
      if (!range(0, until).every(({ k }) => found[k] === k)) t.fail(`round ${round}: ${found.length} of ${until} rows`)
    }
    t.pass('fifteen rounds')
    await table.commit()
    t.equal((await keys(table)).length, next)
    await warehouse.close()
    await reader.close()
  },
)

t.test('without lookup-wait rows show when the compaction in the background is committed', async (t) => {
  const folder = t.testdir()
  const warehouse = await open(folder)
  const table = await create(warehouse, { 'lookup-wait': false })
  await table.put(range(0, 50))
  const { snapshots } = await table.commit()
  t.strictSame(await keys(table, { snapshot: snapshots[0]!.id }), [], 'not yet')
  while ((await table.snapshots()).every(({ kind }) => kind !== 'COMPACT'))
    await new Promise((done) => setTimeout(done, 5))
  t.equal((await keys(table)).length, 50)
  await warehouse.close()
})

t.test('gentle lookups let level 0 wait', async (t) => {
  const warehouse = await open(t.testdir())
  const options = {
    'lookup-compact': 'gentle',
    'num-sorted-run.compaction-trigger': 10,
    'lookup-compact.max-interval': 10,
  }
  const table = await create(warehouse, options)
  const shown: number[] = []
  for (let k = 0; k < 12; k++) {
    await table.put(row(k, k))
    await table.commit()
    const files = table.levels().flatMap(({ levels }) => levels.filter(({ level }) => level === 0))
    shown.push(files.reduce((sum, level) => sum + level.files, 0))
  }
  t.strictSame(shown.slice(0, 9), [1, 2, 3, 4, 5, 6, 7, 8, 9])
  t.ok(shown[9]! === 0 || shown[10]! <= 1, `level 0 has moved up: ${shown}`)
  await table.compact({ full: true })
  t.equal((await keys(table)).length, 12)
  await warehouse.close()
})

for (const beside of [false, true]) {
  t.test(
    `expiry takes the index files of snapshots that end, ${beside ? 'beside the data' : 'in their folder'}`,
    async (t) => {
      const folder = t.testdir()
      const warehouse = await open(folder)
      const table = await create(warehouse, { 'index-file-in-data-file-dir': beside })
      await table.put(range(0, 200))
      await table.commit()
      await table.compact({ full: true })
      for (let k = 0; k < 30; k += 3) {
        await table.delete({ k })
        await table.commit()
      }
      await table.expireSnapshots({ retainMax: 1, retainMin: 1 })
      const store = await storeOf(folder, 'db', 't')
      t.strictSame(await unnamedFiles(store), [])
      t.equal((await keys(table)).length, 190)
      t.strictSame(
        (await markedFiles(store)).flatMap(({ deleted }) => deleted),
        [0, 3, 6, 9, 12, 15, 18, 21, 24, 27],
      )
      await warehouse.close()
    },
  )
}

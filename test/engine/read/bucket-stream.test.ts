import t from 'tap'
import { t as type } from '../../../engine/index.ts'
import { nodeClock } from '../../../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../../../engine/ports/node-fs.ts'
import { inlineExecutor, type TaskExecutor } from '../../../engine/tasks/submit.ts'
import type { ReadTask } from '../../../engine/tasks/task.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { openAlone } from '../../support/warehouses.ts'

const ROWS = 3000
const fields = { id: type.int(), n: type.int(), text: type.string().nullable() }

const inline = () =>
  inlineExecutor(async () => ({
    fs: createNodeFileSystem({ sync: false }),
    clock: nodeClock,
    codecs: loadCodecs(),
  }))

/** Runs tasks inline, reads in stretches of a few rows, and keeps what was asked. */
function shortStretches(reads: ReadTask[]): TaskExecutor {
  const inner = inline()
  return {
    ...inner,
    run(task, options) {
      if (task.kind !== 'read') return inner.run(task, options)
      const read = { ...task, maxRows: Math.min(task.maxRows, 97) }
      reads.push(read)
      return inner.run(read, options)
    },
  }
}

async function tableOf(path: string, reads: ReadTask[]) {
  const warehouse = openAlone(path, { executor: shortStretches(reads), smallTasks: false })
  const table = await warehouse.createTable('db.t', {
    fields,
    primaryKey: ['id'],
    options: { bucket: 1, 'write-only': true },
  })
  return { warehouse, table }
}

/** Commits `ids` with `n = id * 10 + version`; a deleted id is one that `expected` loses. */
async function write(
  table: Awaited<ReturnType<typeof tableOf>>['table'],
  expected: Map<number, number>,
  version: number,
  ids: readonly number[],
  deleted: readonly number[] = [],
): Promise<void> {
  await table.put(ids.map((id) => ({ id, n: id * 10 + version, text: id % 7 === 0 ? null : `row ${id}` })))
  if (deleted.length > 0) await table.delete(deleted.map((id) => ({ id })))
  for (const id of ids) expected.set(id, id * 10 + version)
  for (const id of deleted) expected.delete(id)
  await table.commit()
}

const ids = (step: number, start = 0) =>
  Array.from({ length: Math.ceil((ROWS - start) / step) }, (_, i) => start + i * step)

function inOrder(expected: ReadonlyMap<number, number>, keep: (id: number) => boolean = () => true) {
  return [...expected.keys()]
    .filter(keep)
    .sort((a, b) => a - b)
    .map((id) => ({ id, n: expected.get(id)! }))
}

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const row of rows) all.push(row)
  return all
}

t.test('a scan of one run goes on at a row, and reads neither keys nor sequence numbers', async (t) => {
  const reads: ReadTask[] = []
  const { warehouse, table } = await tableOf(t.testdir(), reads)
  const expected = new Map<number, number>()
  await write(table, expected, 1, ids(1))
  t.same(await collect(table.scan({ columns: ['id', 'n'] })), inOrder(expected))
  t.ok(reads.length > ROWS / 97)
  t.ok(reads.slice(1).every((read) => read.skipRows > 0 && read.range.lower === undefined))

  const bytes = async (columns: ('id' | 'n')[]) => {
    let sum = 0
    await collect(table.scan({ columns, onStats: ({ bytesRead }) => (sum += bytesRead) }))
    return sum
  }
  t.ok((await bytes(['n'])) < (await bytes(['id', 'n'])), 'the key costs nothing where it is not asked for')
  await warehouse.close()
})

t.test('a scan of runs that overlap goes on behind a key, and between sections at a row again', async (t) => {
  const reads: ReadTask[] = []
  const { warehouse, table } = await tableOf(t.testdir(), reads)
  const expected = new Map<number, number>()
  const half = ROWS / 2
  await write(
    table,
    expected,
    1,
    ids(1).filter((id) => id < half),
  )
  await write(
    table,
    expected,
    2,
    ids(3).filter((id) => id < half),
    ids(5, 1).filter((id) => id < half),
  )
  await write(
    table,
    expected,
    3,
    ids(1).filter((id) => id >= half + 10),
    [half + 500],
  )
  t.same(await collect(table.scan({ columns: ['id', 'n'] })), inOrder(expected))
  t.ok(reads.some((read) => read.skipRows > 0))
  t.ok(reads.some((read) => read.range.lower !== undefined && read.skipRows === 0))
  await warehouse.close()
})

t.test('ranges, conditions and limits hold across stretches of either kind', async (t) => {
  const { warehouse, table } = await tableOf(t.testdir(), [])
  const expected = new Map<number, number>()
  await write(table, expected, 1, ids(1))
  for (const round of ['one run', 'two runs']) {
    if (round === 'two runs') await write(table, expected, 2, ids(2), ids(11, 3))
    const columns = ['id', 'n'] as const
    const range = { gte: { id: 250 }, lt: { id: 2750 } }
    const inRange = (id: number) => id >= 250 && id < 2750
    t.same(await collect(table.scan({ columns, range })), inOrder(expected, inRange), `${round}: range`)
    const where = { n: { gte: 12_000 } }
    const matches = (id: number) => (expected.get(id) ?? 0) >= 12_000
    t.same(await collect(table.scan({ columns, where })), inOrder(expected, matches), `${round}: where`)
    t.same(
      await collect(table.scan({ columns, range, where, limit: 400 })),
      inOrder(expected, (id) => inRange(id) && matches(id)).slice(0, 400),
      `${round}: all three`,
    )
  }
  await warehouse.close()
})

t.test('rows that are not committed are merged in at every stretch', async (t) => {
  const { warehouse, table } = await tableOf(t.testdir(), [])
  const expected = new Map<number, number>()
  await write(table, expected, 1, ids(2))
  await table.put(ids(3).map((id) => ({ id, n: -id, text: null })))
  for (const id of ids(3)) expected.set(id, -id)
  t.same(await collect(table.scan({ columns: ['id', 'n'] })), inOrder(expected))
  await table.discard()
  await warehouse.close()
})

t.test('a file that is alone behind a key stays alone: the scan goes on at its rows', async (t) => {
  const reads: ReadTask[] = []
  const { warehouse, table } = await tableOf(t.testdir(), reads)
  const expected = new Map<number, number>()
  const between = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => start + i)
  // The two overlap, so they make one section; what is behind the end of the first lies in the second alone.
  await write(table, expected, 1, between(0, 200))
  await write(table, expected, 2, between(150, 6000))
  t.same(await collect(table.scan({ columns: ['id', 'n'] })), inOrder(expected))
  t.ok(reads.some((read) => read.skipRows > 0))
  await warehouse.close()
})

t.test(
  'a reverse scan gives the rows of a forward one from the last to the first, across stretches of any kind',
  async (t) => {
    const reads: ReadTask[] = []
    const { warehouse, table } = await tableOf(t.testdir(), reads)
    const expected = new Map<number, number>()
    const columns = ['id', 'n'] as const
    const range = { gt: { id: 250 }, lte: { id: 2750 } }
    const check = async (name: string) => {
      const all = inOrder(expected).reverse()
      t.same(await collect(table.scan({ columns, reverse: true })), all, `${name}: all`)
      const inside = all.filter(({ id }) => id > 250 && id <= 2750)
      t.same(await collect(table.scan({ columns, range, reverse: true })), inside, `${name}: range`)
      const where = { n: { gte: 12_000 } }
      const matching = inside.filter(({ n }) => n >= 12_000)
      t.same(
        await collect(table.scan({ columns, range, where, limit: 400, reverse: true })),
        matching.slice(0, 400),
        `${name}: range, where, limit`,
      )
      const arrow: number[] = []
      for await (const batch of table.scanArrow({ columns: ['n'], reverse: true })) {
        for (const row of batch) arrow.push(row.n as number)
      }
      t.same(
        arrow,
        all.map(({ n }) => n),
        `${name}: Arrow`,
      )
    }
    await write(table, expected, 1, ids(1))
    await check('one run')
    t.ok(reads.some(({ reverse, skipRows }) => reverse && skipRows > 0))
    await write(table, expected, 2, ids(2, 100), ids(11, 103))
    await check('two runs')
    await write(
      table,
      expected,
      3,
      ids(1)
        .map((id) => id + 2 * ROWS)
        .slice(0, 500),
    )
    await check('two sections')
    await table.put(ids(3, 7).map((id) => ({ id, n: -id, text: null })))
    for (const id of ids(3, 7)) expected.set(id, -id)
    await table.delete([{ id: 300 }])
    expected.delete(300)
    await check('uncommitted rows')
    await table.discard()
    await warehouse.close()
  },
)

t.test('a reverse merge comes up for air where the files name a key', async (t) => {
  const reads: ReadTask[] = []
  const warehouse = openAlone(t.testdir(), { executor: shortStretches(reads), smallTasks: false })
  const table = await warehouse.createTable('db.t', {
    fields,
    primaryKey: ['id'],
    options: { bucket: 1, 'write-only': true, 'parquet.page.row.count.limit': 1000 },
  })
  const expected = new Map<number, number>()
  const many = Array.from({ length: 10_000 }, (_, id) => id)
  await write(table, expected, 1, many)
  await write(
    table,
    expected,
    2,
    many.filter((id) => id % 2 === 0),
  )
  const rows = await collect(table.scan({ columns: ['id', 'n'], reverse: true }))
  t.same(rows, inOrder(expected).reverse())
  t.ok(reads.length >= 2, `${reads.length} stretches`)
  t.ok(reads.at(-1)!.range.upper !== undefined)
  await warehouse.close()
})

t.test('a small range asks no thread and decodes the pages that it lies in, once: they are kept', async (t) => {
  const reads: ReadTask[] = []
  const warehouse = openAlone(t.testdir(), { executor: shortStretches(reads) })
  const table = await warehouse.createTable('db.t', {
    fields,
    primaryKey: ['id'],
    options: { bucket: 1, 'parquet.page.row.count.limit': 1000 },
  })
  await table.put(Array.from({ length: 20_000 }, (_, id) => ({ id, n: id, text: null })))
  await table.commit()
  const stats: { bytesRead: number; pagesDecoded: number; rowsMerged: number }[] = []
  const range = { gte: { id: 5100 }, lt: { id: 5600 } }
  for (let round = 0; round < 2; round++) {
    const rows = await collect(table.scan({ columns: ['n'], range, onStats: (read) => stats.push(read) }))
    t.same(
      rows.map(({ n }) => n),
      Array.from({ length: 500 }, (_, i) => 5100 + i),
    )
  }
  t.same(reads, [])
  t.equal(stats[0]!.pagesDecoded, 2, 'the page of keys and that of n')
  t.same(stats[1], { bytesRead: 0, pagesDecoded: 0, rowsMerged: 500 })
  await warehouse.close()
})

t.test(
  'with threads a scan of everything is cut into legs that are read side by side, in order all the same',
  async (t) => {
    let running = 0
    let most = 0
    const reads: ReadTask[] = []
    const inner = inline()
    const executor: TaskExecutor = {
      ...inner,
      threads: 2,
      async run(task, options) {
        if (task.kind !== 'read') return inner.run(task, options)
        reads.push(task)
        most = Math.max(most, ++running)
        try {
          // The first is the last to be done.
          if (reads.length === 1) await new Promise((resolve) => setTimeout(resolve, 20))
          return await inner.run(task, options)
        } finally {
          running--
        }
      },
    }
    const warehouse = openAlone(t.testdir(), { executor, smallTasks: false })
    const table = await warehouse.createTable('db.t', {
      fields,
      primaryKey: ['id'],
      options: { bucket: 1, 'write-only': true },
    })
    const many = Array.from({ length: 150_000 }, (_, id) => ({ id, n: id % 10, text: null }))
    await table.put(many)
    await table.commit()
    const read = async (options: Parameters<typeof table.scanArrow>[0]) => {
      const found: number[] = []
      for await (const batch of table.scanArrow(options)) found.push(...(batch.getChild('id')!.toArray() as Int32Array))
      return found
    }
    t.same(
      await read({ columns: ['id', 'n'] }),
      many.map(({ id }) => id),
    )
    t.ok(reads.some(({ stopRow }) => stopRow === 65_536))
    t.equal(most, 2)
    t.same(
      await read({ columns: ['id'], where: { n: 3 } }),
      many.filter(({ n }) => n === 3).map(({ id }) => id),
      'also with a condition',
    )
    reads.length = 0
    t.same(await read({ columns: ['id'], limit: 3 }), [0, 1, 2])
    t.ok(
      reads.every(({ stopRow }) => stopRow === undefined),
      'few rows are not worth a second thread',
    )
    await warehouse.close()
  },
)

import t, { type Test } from 'tap'
import { t as fields, TableError } from '../../../engine/index.ts'
import { nodeClock } from '../../../engine/ports/node-clock.ts'
import { createNodeFileSystem } from '../../../engine/ports/node-fs.ts'
import { inlineExecutor, type TaskExecutor } from '../../../engine/tasks/submit.ts'
import type { Task } from '../../../engine/tasks/task.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { collect, dataFilesOnDisk, liveFiles, openAlone, storeOf } from '../../support/warehouses.ts'

// Found by the model test (test/model): two writers of one table that share nothing but its files.

const definition = (options: Readonly<Record<string, string>> = {}) => ({
  fields: { k: fields.int(), v: fields.string() },
  primaryKey: ['k'] as const,
  options: { bucket: 1, ...options },
})

/** An executor that runs `before` ahead of each task. */
function watched(before: (task: Task) => Promise<void>): TaskExecutor {
  const inline = inlineExecutor(async () => ({
    fs: createNodeFileSystem({ sync: false }),
    clock: nodeClock,
    codecs: loadCodecs(),
  }))
  return {
    ...inline,
    async run(task, options) {
      await before(task)
      return inline.run(task, options)
    },
  }
}

async function rowsOf(path: string): Promise<readonly unknown[]> {
  const warehouse = openAlone(path, { readOnly: true })
  const rows = await collect((await warehouse.table('db.t')).scan())
  await warehouse.close()
  return rows
}

async function twoWriters(t: Test, before: (task: Task) => Promise<void>, options?: Readonly<Record<string, string>>) {
  const opened: ReturnType<typeof openAlone>[] = []
  // Before the folder is asked for: what is registered first runs while the folder is still there.
  t.teardown(async () => {
    for (const warehouse of opened) await warehouse.close({ discard: true })
  })
  const path = t.testdir()
  const first = openAlone(path, { executor: watched(before) })
  const second = openAlone(path, { executor: watched(before) })
  opened.push(first, second)
  const a = await first.createTable('db.t', definition(options))
  const b = await second.table('db.t', definition(options))
  return { path, a, b }
}

t.test('the later commit wins although its rows are compacted while it is made', async (t) => {
  let open = () => {}
  let gate = Promise.resolve()
  const { path, a, b } = await twoWriters(t, (task) => (task.kind === 'compact' ? gate : Promise.resolve()), {
    'num-sorted-run.compaction-trigger': '2',
    'compaction.size-ratio': '500',
  })
  await a.put([
    { k: 1, v: 'base' },
    { k: 2, v: 'base' },
  ])
  await a.commit()
  await b.refresh()
  gate = new Promise((resolve) => {
    open = resolve
  })
  // The first of these numbers is in no file: the row is replaced before it is flushed. The other writer uses that number.
  await a.put({ k: 1, v: 'replaced' })
  await a.put({ k: 1, v: 'later commit' })
  await b.put({ k: 1, v: 'earlier commit' })
  await b.commit()
  await a.commit()
  const landed = new Promise<unknown>((resolve) => a.on('compaction', resolve).on('conflict', resolve))
  open()
  await landed
  t.same(await a.get(1), { k: 1, v: 'later commit' })
  t.same(await rowsOf(path), [
    { k: 1, v: 'later commit' },
    { k: 2, v: 'base' },
  ])
})

t.test(
  'when rows cannot be moved above those of another writer, the commit fails and the next one moves them',
  async (t) => {
    let fails = 1
    const { path, a, b } = await twoWriters(t, async (task) => {
      if (task.kind === 'renumber' && fails-- > 0) throw new TableError('IO', 'The disk is full. Free some space.')
    })
    await a.put({ k: 1, v: 'later commit' })
    await b.put([
      { k: 0, v: 'earlier commit' },
      { k: 1, v: 'earlier commit' },
    ])
    await b.commit()
    await t.rejects(a.commit(), { code: 'IO' })
    t.same(await a.get(1), { k: 1, v: 'later commit' }, 'its own rows are on top in between')
    await a.commit()
    t.same(await rowsOf(path), [
      { k: 0, v: 'earlier commit' },
      { k: 1, v: 'later commit' },
    ])
  },
)

t.test('a row that arrives while others are moved above another writer’s is moved with them', async (t) => {
  let during = async () => {}
  const { path, a, b } = await twoWriters(t, async (task) => {
    if (task.kind === 'renumber') await during()
  })
  const state = () => a.levels()[0]?.runs
  await a.put({ k: 1, v: 'first' })
  await b.put([
    { k: 0, v: 'other' },
    { k: 1, v: 'other' },
    { k: 2, v: 'other' },
  ])
  await b.commit()
  let second: Promise<unknown> = Promise.resolve()
  during = async () => {
    during = async () => {}
    await a.put({ k: 2, v: 'second' })
    second = a.commit()
    // Its rows land in a file while those of the first commit are still being moved.
    while (state() !== 2) await new Promise((resolve) => setImmediate(resolve))
  }
  await a.commit()
  await second
  t.same(await rowsOf(path), [
    { k: 0, v: 'other' },
    { k: 1, v: 'first' },
    { k: 2, v: 'second' },
  ])
})

t.test('discard removes the files of compactions that built on each other', async (t) => {
  const path = t.testdir()
  const warehouse = openAlone(path)
  const table = await warehouse.createTable('db.t', definition({ 'write-buffer-size': '4 kb' }))
  await table.put({ k: -1, v: 'committed' })
  await table.commit()
  for (let from = 0; from < 3; from++) {
    await table.put(Array.from({ length: 200 }, (_, index) => ({ k: index * 3 + from, v: 'x'.repeat(100) })))
    await table.compact({ full: true })
  }
  t.ok(dataFilesOnDisk(`${path}/db.db/t`).length > 1, 'there is something to remove')
  await table.discard()
  await warehouse.close()
  const live = await liveFiles(await storeOf(path, 'db', 't'))
  t.same(dataFilesOnDisk(`${path}/db.db/t`), live.map(({ file }) => file.name).sort())
  t.same(await rowsOf(path), [{ k: -1, v: 'committed' }])
})

t.test(
  'a commit that compacts first starts from the newest snapshot: what another writer expired is not missed',
  async (t) => {
    const { path, a, b } = await twoWriters(t, async () => {}, {
      'commit.force-compact': 'true',
      'num-sorted-run.compaction-trigger': '1',
    })
    const failures: unknown[] = []
    a.on('failure', ({ error }) => failures.push(error))
    await a.put([
      { k: 0, v: 'first' },
      { k: 1, v: 'first' },
    ])
    await a.commit()
    await b.refresh()
    await b.put([
      { k: 0, v: 'other' },
      { k: 1, v: 'other' },
    ])
    await b.commit()
    await b.compact({ full: true })
    await b.expireSnapshots({ retainMax: 1 })
    await a.put({ k: 1, v: 'second' })
    await a.commit()
    t.same(await rowsOf(path), [
      { k: 0, v: 'other' },
      { k: 1, v: 'second' },
    ])
    t.same(failures, [], 'and nothing is called damaged')
  },
)

t.test('rows that wait for their flush lie above those of another writer, in gets as in scans', async (t) => {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  let waits = true
  const { a, b } = await twoWriters(t, (task) => (task.kind === 'flush' && waits ? gate : Promise.resolve()), {
    'merge-engine': 'partial-update',
    'write-buffer-size': '1 kb',
  })
  // Over half of the budget: the flush begins, and waits.
  await b.put({ k: 1, v: 'x'.repeat(900) })
  await new Promise((done) => setImmediate(done))
  waits = false
  for (let i = 0; i < 5; i++) await a.put({ k: 1, v: `${i}` })
  await a.commit()
  await b.refresh()
  const expected = [{ k: 1, v: 'x'.repeat(900) }]
  t.same(await collect(b.scan()), expected)
  t.same([await b.get(1)], expected)
  t.same(await b.getMany([1]), expected)
  open()
  await b.commit()
  t.same(await b.getMany([1]), expected)
})

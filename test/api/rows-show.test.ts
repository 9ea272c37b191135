import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Table, t as types, type Warehouse } from '../../engine/index.ts'
import { createNodeFileSystem } from '../../engine/ports/node-fs.ts'
import type { TableState } from '../../engine/table/state.ts'
import { faultyFileSystem } from '../support/faulty-fs.ts'
import { unnamedFiles } from '../support/table-files.ts'
import { markedFiles } from '../support/vectors.ts'
import { collect, open, openAlone, storeOf } from '../support/warehouses.ts'

const fields = { k: types.int(), v: types.int().nullable() }
const HIDING = { vectors: { 'deletion-vectors.enabled': true }, 'first-row': { 'merge-engine': 'first-row' } } as const

async function create(
  warehouse: Warehouse,
  options: Readonly<Record<string, string | number | boolean>>,
): Promise<Table> {
  return warehouse.createTable('db.t', { fields, primaryKey: ['k'], options }) as unknown as Promise<Table>
}

const again = async (warehouse: Warehouse) => (await warehouse.table('db.t')) as Table
const keys = async (table: Table) => (await collect(table.scan())).map(({ k }) => k as number)
const rows = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => ({ k: start + i, v: start }))

/** What somebody who changes nothing sees now. */
async function seen(folder: string): Promise<readonly number[]> {
  const warehouse = openAlone(folder, { readOnly: true })
  const found = await keys(await again(warehouse))
  await warehouse.close()
  return found
}

/** A file system that calls `before` with the id of each snapshot that it is about to publish. */
function publishing(before: (id: number) => Promise<void>) {
  const fs = faultyFileSystem(createNodeFileSystem({ sync: false }), () => 'pass')
  return {
    ...fs,
    link: async (from: string, to: string) => {
      const id = /snapshot-(\d+)$/.exec(to)?.[1]
      if (id !== undefined) await before(Number(id))
      return fs.link(from, to)
    },
  }
}

/** Errors that a table tells of. */
function failures(table: Table): unknown[] {
  const errors: unknown[] = []
  table.on('failure', ({ error }) => errors.push(error))
  return errors
}

for (const [name, options] of Object.entries(HIDING)) {
  t.test(`${name}: rows of writers that commit at once show when their commits resolve`, async (t) => {
    const folder = t.testdir()
    const [first, second] = [openAlone(folder), openAlone(folder)]
    const one = await create(first, options)
    const two = await again(second)
    for (let round = 0; round < 10; round++) {
      const commit = async (table: Table, k: number) => {
        await table.put({ k, v: round })
        await table.commit()
        t.match(await table.get({ k }), { v: round }, `${k} in its own process`)
      }
      await Promise.all([commit(one, round * 2), commit(two, round * 2 + 1)])
      t.equal((await seen(folder)).length, round * 2 + 2, `round ${round}`)
    }
    await first.close()
    await second.close()
    t.strictSame(await unnamedFiles(await storeOf(folder, 'db', 't')), [])
  })

  t.test(`${name}: a commit of another writer between compaction and append costs no row its sight`, async (t) => {
    const folder = t.testdir()
    let between: (() => Promise<unknown>) | undefined
    const fs = publishing(async () => {
      const run = between
      between = undefined
      await run?.()
    })
    const [first, second] = [openAlone(folder, { fs }), openAlone(folder)]
    const one = await create(first, options)
    const two = await again(second)
    await one.put(rows(0, 10))
    await one.commit()
    await one.put(rows(10, 20))
    await two.put(rows(20, 30))
    between = () => two.commit()
    const { snapshots } = await one.commit()
    t.equal(between, undefined)
    t.strictSame(
      snapshots.map(({ kind }) => kind),
      ['APPEND', 'COMPACT'],
    )
    t.equal((await seen(folder)).length, 30)
    await first.close()
    await second.close()
  })

  t.test(`${name}: what a writer left in level 0 that died before its compaction shows after a reopen`, async (t) => {
    const folder = t.testdir({ before: {}, after: {} })
    const [before, after] = [join(folder, 'before'), join(folder, 'after')]
    const warehouse = await open(before)
    const table = await create(warehouse, options)
    await table.put(rows(0, 10))
    await table.commit()
    table.on('commit', ({ kind }) => {
      if (kind === 'APPEND') cpSync(before, after, { recursive: true })
    })
    await table.put(rows(10, 20))
    await table.commit()
    await warehouse.close()
    t.equal((await seen(after)).length, 10, 'durable, but hidden')
    const reopened = openAlone(after)
    const compacted = (await again(reopened)) as Table
    for (let tries = 0; tries < 500 && (await keys(compacted)).length < 20; tries++) {
      await new Promise((done) => setTimeout(done, 10))
    }
    t.equal((await seen(after)).length, 20)
    await reopened.close()
  })
}

for (const times of [1, 1000]) {
  t.test(`the compaction of a commit cannot be published ${times} times`, async (t) => {
    const folder = t.testdir()
    let failing = 0
    const fs = publishing(async () => {
      if (failing-- > 0) throw Object.assign(new Error('EIO: injected'), { code: 'EIO' })
    })
    const warehouse = openAlone(folder, { fs })
    const table = await create(warehouse, HIDING.vectors)
    const errors = failures(table)
    table.on('commit', ({ kind }) => {
      if (kind === 'APPEND') failing = times
    })
    await table.put(rows(0, 10))
    t.ok((await table.commit()).created)
    t.equal((await seen(folder)).length, times === 1 ? 10 : 0)
    t.equal(errors.length > 0, times > 1, 'told when it was given up')
    failing = 0
    await table.compact()
    t.equal((await seen(folder)).length, 10)
    await warehouse.close()
  })
}

t.test('a full compaction leaves rows of a later commit to it', async (t) => {
  const folder = t.testdir()
  const warehouse = await open(folder)
  const table = await create(warehouse, { ...HIDING.vectors, 'write-buffer-size': '20 kb' })
  const errors = failures(table)
  let next = 0
  for (let round = 0; round < 15; round++) {
    await table.put(rows(next, next + 50))
    next += 50
    const committing = table.commit()
    const until = next
    const compacting: Promise<void>[] = []
    for (let more = 0; more < 3; more++) {
      await table.put(rows(next, next + 600))
      next += 600
      compacting.push(table.compact({ full: true }))
    }
    const { snapshots } = await committing
    const shown = new Set(await seen(folder))
    if (!rows(0, until).every(({ k }) => shown.has(k))) t.fail(`round ${round}: ${shown.size} of ${until} rows`)
    if (snapshots.at(-1)?.kind !== 'COMPACT') t.fail(`round ${round}: no compaction`)
    await Promise.all(compacting)
  }
  t.strictSame(errors, [])
  await table.commit()
  t.equal((await keys(table)).length, next)
  await warehouse.close()
})

t.test('while a commit is under way compactions, full ones too, leave the rows of the next one alone', async (t) => {
  const folder = t.testdir()
  let during: (() => Promise<void>) | undefined
  const fs = publishing(async () => {
    const run = during
    during = undefined
    await run?.()
  })
  const states = new Map<string, Promise<TableState>>()
  const warehouse = openAlone(folder, { fs, states })
  const table = await create(warehouse, HIDING.vectors)
  const [state] = await Promise.all(states.values())
  await table.put(rows(0, 10))
  let later: Promise<unknown> | undefined
  during = async () => {
    await table.put(rows(10, 20))
    later = table.commit()
    const [bucket] = state!.writer.buckets
    const inLevel0 = () => bucket!.levels.runs.some(({ level }) => level === 0)
    while (!inLevel0()) await new Promise((done) => setTimeout(done, 1))
    const [told] = await table.explainCompaction()
    t.equal(told?.explanation.unit, null)
    await state!.compactions.of(bucket!).full()
    t.ok(inLevel0())
  }
  await table.commit()
  t.equal(during, undefined)
  t.ok((await seen(folder)).length >= 10)
  await later
  t.equal((await seen(folder)).length, 20)
  await warehouse.close()
})

t.test('when the last vector of a bucket goes, so do its index file and its entry', async (t) => {
  const folder = t.testdir()
  const warehouse = await open(folder)
  const table = await create(warehouse, HIDING.vectors)
  const store = await storeOf(folder, 'db', 't')
  await table.put(rows(0, 100))
  await table.commit()
  await table.compact({ full: true })
  await table.delete({ k: 5 })
  await table.commit()
  const marked = await store.snapshots.latest()
  t.equal((await store.indexes.entriesOf(marked!)).length, 1)
  await table.compact({ full: true })
  const { indexManifest } = (await store.snapshots.latest())!
  t.equal(indexManifest, undefined)
  t.strictSame(
    (await markedFiles(store)).map(({ deleted }) => deleted),
    [[]],
  )
  await table.expireSnapshots({ retainMax: 1, retainMin: 1 })
  t.strictSame(await unnamedFiles(store), [])
  await table.delete({ k: 6 })
  await table.commit()
  t.equal((await seen(folder)).length, 98)
  await warehouse.close()
})

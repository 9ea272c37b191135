import t from 'tap'
import { t as types } from '../../../engine/index.ts'
import { createMemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { faultyFileSystem } from '../../support/faulty-fs.ts'
import { collect, openAlone, refused, storeOf } from '../../support/warehouses.ts'

const definition = {
  fields: { k: types.int(), v: types.int().nullable() },
  primaryKey: ['k'],
  options: { 'merge-engine': 'aggregation', 'fields.v.aggregate-function': 'sum', 'write-only': 'true' },
} as const

/** Two processes on a table with `commits` snapshots; `meanwhile` runs once, right before or after the next link of a snapshot of ours. */
async function two(commits: number, when: 'before' | 'after') {
  const fs = createMemoryFileSystem()
  await fs.makeDirectory('/w')
  const other = openAlone('/w', { fs })
  const theirs = await other.createTable('db.t', definition)
  const add = async (v: number) => {
    await theirs.put({ k: 1, v })
    await theirs.commit()
  }
  for (let i = 0; i < commits; i++) await add(1)
  let meanwhile: (() => Promise<unknown>) | undefined
  const once = async () => {
    const run = meanwhile
    meanwhile = undefined
    await run?.()
  }
  const inner = faultyFileSystem(fs, () => 'pass')
  const link = async (from: string, to: string) => {
    if (when === 'before') await once()
    await inner.link(from, to)
    if (when === 'after') await once()
  }
  const warehouse = openAlone('/w', { fs: { ...inner, link } })
  const ours = await warehouse.table('db.t', definition)
  await ours.put({ k: 2, v: 5 })
  return {
    ours,
    theirs,
    add,
    store: () => storeOf('/w', 'db', 't', fs),
    meanwhile: (run: () => Promise<unknown>) => {
      meanwhile = run
    },
    rows: async () => {
      const reader = openAlone('/w', { fs })
      const rows = await collect((await reader.table('db.t')).scan())
      await reader.close()
      return rows
    },
    close: async () => {
      await warehouse.close({ discard: true })
      await other.close()
    },
  }
}

for (const commits of [0, 2]) {
  t.test(
    `an id that others used and expired: the commit does not pass for made, after ${commits} snapshots`,
    async (t) => {
      const { ours, theirs, add, meanwhile, rows, close, store } = await two(commits, 'before')
      meanwhile(async () => {
        for (let i = 0; i < 3; i++) await add(1)
        await theirs.expireSnapshots({ retainMax: 1 })
      })
      await refused(t, ours.commit(), 'POISONED', { value: commits + 1 }, String(commits + 1))
      t.same(await rows(), [{ k: 1, v: commits + 3 }], 'it is not there, and nothing of others is lost')
      await add(1)
      const { snapshots } = await store()
      t.same(await snapshots.allIds(), [commits + 3, commits + 4], 'no snapshot stands below the earliest')
      t.equal(await snapshots.latestId(), commits + 4)
      await close()
    },
  )

  t.test(
    `a snapshot that others expire right after its link was made, and once, after ${commits} snapshots`,
    async (t) => {
      const { ours, theirs, add, meanwhile, rows, close } = await two(commits, 'after')
      meanwhile(async () => {
        await theirs.refresh()
        for (let i = 0; i < 3; i++) await add(1)
        await theirs.expireSnapshots({ retainMax: 1 })
      })
      await ours.commit()
      t.same(await rows(), [
        { k: 1, v: commits + 3 },
        { k: 2, v: 5 },
      ])
      await close()
    },
  )
}

t.test(
  'where compaction took its files, too, nobody can tell: the outcome is unknown, and it is not made twice',
  async (t) => {
    const { ours, theirs, add, meanwhile, rows, close } = await two(2, 'after')
    meanwhile(async () => {
      await add(1)
      await theirs.compact({ full: true })
      await add(1)
      await theirs.expireSnapshots({ retainMax: 1 })
    })
    await refused(t, ours.commit(), 'POISONED', { value: 3 }, '3')
    t.same(await rows(), [
      { k: 1, v: 4 },
      { k: 2, v: 5 },
    ])
    await close()
  },
)

t.test('a base that others expire, with the snapshot itself still the earliest', async (t) => {
  const { ours, theirs, meanwhile, rows, close } = await two(2, 'after')
  meanwhile(async () => {
    await theirs.refresh()
    await theirs.compact({ full: true })
    await theirs.expireSnapshots({ retainMax: 2 })
  })
  await ours.commit()
  t.same(await rows(), [
    { k: 1, v: 2 },
    { k: 2, v: 5 },
  ])
  await close()
})

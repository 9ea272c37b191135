import t from 'tap'
import { t as types } from '../../../engine/index.ts'
import { createMemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { withPath } from '../../../engine/store/errors.ts'
import { inlineExecutor, type TaskExecutor } from '../../../engine/tasks/submit.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { collect, openAlone, refused } from '../../support/warehouses.ts'

const fields = { k: types.int(), v: types.int() }

/** A table with two runs in level 0, and a handle of it whose first compactions, `times` of them, begin with `meanwhile`. */
async function prepared(
  options: Record<string, string>,
  meanwhile: (files: () => Promise<string[]>) => Promise<void>,
  times = 1,
) {
  const fs = createMemoryFileSystem({ now: () => 0 })
  await fs.makeDirectory('/w')
  const clock = manualClock()
  const codecs = loadCodecs()
  const inner = inlineExecutor(async () => ({ fs, clock, codecs }))
  const other = openAlone('/w', { fs, clock })
  const theirs = await other.createTable('db.t', { fields, primaryKey: ['k'], options })
  for (const v of [1, 2]) {
    await theirs.put([
      { k: 1, v },
      { k: v + 1, v },
    ])
    await theirs.commit()
  }
  let met = 0
  const executor: TaskExecutor = {
    ...inner,
    run: async (task, callOptions) => {
      if (task.kind === 'compact' && met < times) {
        met++
        await meanwhile(async () =>
          (await fs.list('/w/db.db/t/bucket-0')).map(({ name }) => `/w/db.db/t/bucket-0/${name}`),
        )
      }
      return inner.run(task, callOptions)
    },
  }
  const warehouse = openAlone('/w', { fs, clock, executor })
  return { fs, other, theirs, warehouse, ours: await warehouse.table('db.t'), tasks: () => met }
}

const rows = [
  { k: 1, v: 2 },
  { k: 2, v: 1 },
  { k: 3, v: 2 },
]

for (const [what, options] of [
  ['compact()', {}],
  ['a commit that waits for compaction', { 'changelog-producer': 'lookup' }],
] as const) {
  t.test(`${what} begins anew when another writer expires what it was about to read`, async (t) => {
    const { theirs, other, ours, warehouse, tasks } = await prepared(options, async () => {
      await theirs.put({ k: 3, v: 2 })
      await theirs.commit()
      await theirs.compact({ full: true })
      await theirs.expireSnapshots({ retainMax: 1 })
    })
    if (what === 'compact()') await ours.compact({ full: true })
    else {
      await ours.put({ k: 4, v: 4 })
      await ours.commit()
    }
    t.equal(tasks(), 1, 'they came in between')
    t.same(await collect(ours.scan()), what === 'compact()' ? rows : [...rows, { k: 4, v: 4 }])
    await warehouse.close()
    await other.close()
  })
}

t.test('a file that is missing though the newest snapshot names it is damage', async (t) => {
  const { fs, other, ours, warehouse } = await prepared({}, async (files) => fs.unlink((await files())[0]!))
  await refused(t, ours.compact({ full: true }), 'CORRUPT', { missing: true }, 'data-')
  await warehouse.close()
  await other.close()
})

t.test('a file that is missing each time, and is none of the table, ends the tries', async (t) => {
  const missing = () => withPath('/gone', () => Promise.reject(Object.assign(new Error(), { code: 'ENOENT' })))
  const { other, ours, warehouse, tasks } = await prepared({}, missing, 20)
  await refused(t, ours.compact({ full: true }), 'CORRUPT', { path: '/gone' })
  t.equal(tasks(), 2)
  await warehouse.close()
  await other.close()
})

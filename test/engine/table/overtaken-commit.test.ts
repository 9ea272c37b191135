import t from 'tap'
import { t as types } from '../../../engine/index.ts'
import { createMemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { faultyFileSystem } from '../../support/faulty-fs.ts'
import { collect, openAlone } from '../../support/warehouses.ts'

const definition = { fields: { k: types.int(), v: types.int() }, primaryKey: ['k'] } as const

t.test('a commit whose base another writer expires, at any read of metadata, goes on from the newest', async (t) => {
  let met = 0
  for (let read = 1; ; read++) {
    const fs = createMemoryFileSystem()
    await fs.makeDirectory('/w')
    const other = openAlone('/w', { fs })
    const theirs = await other.createTable('db.t', definition)
    const set = async (v: number) => {
      await theirs.put({ k: 1, v })
      await theirs.commit()
    }
    let left = Number.POSITIVE_INFINITY
    const watched = {
      ...faultyFileSystem(fs, () => 'pass'),
      readFile: async (path: string) => {
        if (/\/(manifest|snapshot)\//.test(path) && --left === 0) {
          await set(3)
          await theirs.expireSnapshots({ retainMax: 1 })
        }
        return fs.readFile(path)
      },
    }
    await set(1)
    const warehouse = openAlone('/w', { fs: watched })
    const ours = await warehouse.table('db.t', definition)
    await ours.put({ k: 2, v: 2 })
    await set(2)
    left = read
    await ours.commit()
    const reached = left <= 0
    if (reached) {
      met++
      t.same(await collect(ours.scan()), [
        { k: 1, v: 3 },
        { k: 2, v: 2 },
      ])
    }
    await warehouse.close()
    await other.close()
    if (!reached) break
  }
  t.ok(met > 1, `${met} reads`)
})

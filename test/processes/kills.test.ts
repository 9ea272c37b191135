import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { seededRandom } from '../support/seeded-random.ts'
import { unnamedFiles } from '../support/table-files.ts'
import { collect, open, storeOf } from '../support/warehouses.ts'
import { replay, start, type Told } from './processes.ts'

const rounds = Number(process.env.KILL_ROUNDS ?? 4)
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))

t.test(
  'C103 two writers that compact and expire are killed at any moment: what resolved is there, nothing is there in part',
  { timeout: 100_000 + rounds * 30_000 },
  async (t) => {
    t.comment(`SEED=${seed}`)
    const random = seededRandom(seed)
    const path = t.testdir()
    const commits: Told[] = []
    let unsaid = 0
    for (let round = 0; round < rounds; round++) {
      const writers = [start('write', path, 1), start('write', path, 2)]
      await Promise.all(writers.map((writer) => writer.next()))
      for (const { child } of random.fraction() < 0.5 ? writers : writers.reverse()) {
        await wait(random.fraction() * 400)
        child.kill('SIGKILL')
      }
      await Promise.all(writers.map((writer) => writer.ended))
      commits.push(...writers.flatMap((writer) => writer.told as Told[]))

      const warehouse = await open(path)
      const table = await warehouse.table('db.t')
      const rows = new Map((await collect(table.scan())).map(({ k, v }) => [Number(k), String(v)]))
      const known = new Set(commits.map(({ v }) => v))
      // Published, but killed before they could say so: all of such a commit is there, and it is a writer's last.
      const more = [...new Set(rows.values())].filter((v) => !known.has(v))
      t.ok(more.length <= writers.length, `round ${round}: ${more.join(', ')} resolved unheard`)
      for (const v of more) {
        const own = [...rows].filter(([k, value]) => value === v && k % 1_000_000 > 0 && k > 1000).map(([k]) => k)
        const shared = [...rows].filter(([k, value]) => value === v && !own.includes(k)).map(([k]) => k)
        t.equal(own.length, 20, `round ${round}: ${v} is whole`)
        commits.push({ v, id: Number.MAX_SAFE_INTEGER, own, shared })
        unsaid++
      }
      t.same(rows, replay(commits), `round ${round}: rows`)
      // From here on it is as old as what was told.
      const { id } = (await (await storeOf(path, 'db', 't')).snapshots.latest())!
      for (const [i, commit] of commits.entries()) if (commit.id > id) commits[i] = { ...commit, id }
      await warehouse.close()
    }
    t.comment(`${rounds} rounds, ${commits.length} commits, ${unsaid} of them published by a process that died then`)
    const warehouse = await open(path)
    const table = await warehouse.table('db.t')
    await table.compact({ full: true })
    t.same(new Map((await collect(table.scan())).map(({ k, v }) => [k, v])), replay(commits), 'compacted')
    t.comment(`${(await unnamedFiles(await storeOf(path, 'db', 't'))).length} files of killed processes are unnamed`)
    await warehouse.close()
  },
)

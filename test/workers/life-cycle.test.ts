import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { t as fields } from '../../engine/index.ts'
import { unnamedFiles } from '../support/table-files.ts'
import { collect, open, storeOf } from '../support/warehouses.ts'

const script = fileURLToPath(new URL('./child.mjs', import.meta.url))
const noProc = existsSync('/proc/self/fd') ? false : 'needs /proc'

/** Runs a program of `child.mjs` to its end, which it must reach by itself; gives the values it told. */
async function run(name: string, folder: string): Promise<unknown[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, name, folder], { timeout: 240_000 })
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

t.test('idle threads do not keep a process alive that forgets to close', async (t) => {
  const folder = t.testdir()
  t.strictSame(await run('forget', folder), [0, 1, 2])
  const warehouse = await open(folder)
  t.equal((await collect((await warehouse.table('db.t')).scan())).length, 500, 'what was committed is there')
  await warehouse.close()
})

t.test(
  'close with flushes, compactions, a commit and a scan under way ends them and leaves no file unnamed',
  async (t) => {
    const folder = t.testdir()
    const told = await run('busy', folder)
    t.strictSame(told.slice(-2), [true, 'CLOSED'], 'the commit was made, the scan is told that it is not complete')
    const warehouse = await open(folder)
    const rows = await collect((await warehouse.table('db.t')).scan())
    t.equal(rows.length, 20_001)
    t.equal(rows.filter(({ v }) => v === 'last').length, 20_000)
    t.strictSame(await unnamedFiles(await storeOf(folder, 'db', 't')), [])
    await warehouse.close()
  },
)

t.test(
  'C124 opening and closing many times leaves no thread, no descriptor and no memory behind',
  { skip: noProc },
  async (t) => {
    const [figures] = (await run('rounds', t.testdir())) as [{ threads: number; files: number; megabytes: number }[]]
    const [first, last] = [figures![0]!, figures!.at(-1)!]
    t.equal(last.threads, first.threads)
    t.equal(last.files, first.files)
    t.ok(last.megabytes < first.megabytes + 60, `${first.megabytes} MB, then ${last.megabytes} MB`)
  },
)

t.test('C118 reads that stop early, fail or succeed leave no descriptor open', { skip: noProc }, async (t) => {
  const warehouse = await open(t.testdir())
  const table = await warehouse.createTable('db.t', {
    fields: { k: fields.int(), v: fields.string() },
    primaryKey: ['k'],
    options: { bucket: 1 },
  })
  const counts: number[] = []
  for (let round = 1; round <= 200; round++) {
    await table.put(Array.from({ length: 10 }, (_, i) => ({ k: round * 7 + i, v: `round ${round}` })))
    await table.commit()
    for await (const row of table.scan()) if (row.k > 0) break
    await table.getMany([round * 7, round * 7 + 5, -1])
    if (round % 5 === 0) await table.compact({ full: true })
    if (round % 7 === 0) t.throws(() => table.scan({ columns: ['nope' as 'k'] }), { code: 'INVALID' })
    if (round % 50 === 0) counts.push(readdirSync('/proc/self/fd').length)
  }
  t.ok(counts.at(-1)! <= counts[0]! + 5, counts.join(' '))
  t.notMatch(readFileSync('/proc/self/maps', 'utf8'), /data-[^ ]*\(deleted\)/)
  await warehouse.close()
})

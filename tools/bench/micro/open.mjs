// What opening a table costs a fresh process: a small one, and one of 1,000 data files under 10,000 snapshots. Milliseconds from
// the call of `openWarehouse` to the table, and to a first row after it; medians. `node tools/bench/micro/open.mjs [turns] [snapshots]`
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openWarehouse, t } from '../../../dist/bundle/index.js'

const turns = Number(process.argv[2] ?? 15)
const snapshots = Number(process.argv[3] ?? 10_000)
const bundle = new URL('../../../dist/bundle/index.js', import.meta.url)

/** 10 commits that add a file to each bucket. */
async function fill(warehouse, name, buckets) {
  const table = await warehouse.createTable(name, {
    fields: { id: t.int(), v: t.string() },
    primaryKey: ['id'],
    options: { bucket: buckets, 'write-only': true },
  })
  for (let commit = 0; commit < 10; commit++) {
    await table.put(Array.from({ length: buckets * 20 }, (_, id) => ({ id, v: `${id} ${commit}` })))
    await table.commit()
  }
  return table.close()
}

/** Snapshots without changes, copies of the last, up to a number. */
function copySnapshots(folder, last) {
  const text = readFileSync(join(folder, 'snapshot-10'), 'utf8')
  for (let id = 11; id <= last; id++) {
    writeFileSync(join(folder, `snapshot-${id}`), text.replace(/"id" : 10\b/, `"id" : ${id}`))
  }
  writeFileSync(join(folder, 'LATEST'), String(last))
}

function openIn(folder, name) {
  const program = `
    const { openWarehouse } = await import('${bundle}')
    const begin = performance.now()
    const used = process.cpuUsage()
    const warehouse = await openWarehouse('${folder}')
    const table = await warehouse.table('${name}')
    const { user, system } = process.cpuUsage(used)
    const opened = performance.now()
    if ((await table.get(7)).v !== '7 9') throw new Error('another row')
    console.log(opened - begin, performance.now() - begin, (user + system) / 1000)
    await warehouse.close()`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  if (stderr !== '') throw new Error(stderr)
  return stdout.trim().split(' ').map(Number)
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
const folder = mkdtempSync('.open-')
try {
  const warehouse = await openWarehouse(folder, { durability: 'none' })
  await fill(warehouse, 'db.small', 1)
  await fill(warehouse, 'db.large', 100)
  await warehouse.close()
  copySnapshots(join(folder, 'db.db/large/snapshot'), snapshots)
  const runs = { 'db.small': [], 'db.large': [] }
  for (let turn = 0; turn < turns; turn++) for (const name in runs) runs[name].push(openIn(folder, name))
  console.log('table      open ms  open and first get ms  CPU ms of open')
  for (const [name, times] of Object.entries(runs)) {
    const [open, get, cpu] = [0, 1, 2].map((index) => median(times.map((run) => run[index])).toFixed(1))
    console.log(`${name}  ${open.padStart(8)}  ${get.padStart(21)}  ${cpu.padStart(14)}`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

// A commit of one row beside the least it could cost: four files written and synced one after another, and a link. In turns, in
// one folder, so that both meet the same disk. `node tools/bench/micro/commit.mjs [commits] [folder]`
import { closeSync, fsyncSync, linkSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openWarehouse, t } from '../../../dist/bundle/index.js'

const commits = Number(process.argv[2] ?? 1000)
const folder = mkdtempSync(join(resolve(process.argv[3] ?? '.'), '.commit-'))
const bytes = new Uint8Array(1500)

function bare(turn) {
  const names = [0, 1, 2, 3].map((file) => join(folder, 'bare', `${turn}-${file}`))
  for (const name of names) {
    const descriptor = openSync(name, 'wx')
    writeSync(descriptor, bytes)
    fsyncSync(descriptor)
    closeSync(descriptor)
  }
  linkSync(names[3], join(folder, 'bare', `${turn}-link`))
}

const median = (times) => times.toSorted((a, b) => a - b)[times.length >> 1]

try {
  mkdirSync(join(folder, 'bare'))
  const warehouse = await openWarehouse(folder)
  const table = await warehouse.createTable('bench.t', {
    fields: { id: t.int(), v: t.string() },
    primaryKey: ['id'],
    options: { bucket: 1 },
  })
  const ours = []
  const least = []
  const cpu = []
  for (let turn = 0; turn < commits; turn++) {
    const before = performance.now()
    bare(turn)
    const between = performance.now()
    const used = process.cpuUsage()
    await table.put([{ id: turn % 500, v: `value ${turn}` }])
    await table.commit()
    ours.push(performance.now() - between)
    least.push(between - before)
    const { user, system } = process.cpuUsage(used)
    cpu.push((user + system) / 1000)
  }
  const part = Math.ceil(commits / 5)
  console.log('commits         bare ms  commit ms  ratio  cpu ms')
  for (let from = 0; from < commits; from += part) {
    const [a, b, c] = [least, ours, cpu].map((times) => median(times.slice(from, from + part)))
    const row = [
      a.toFixed(2).padStart(7),
      b.toFixed(2).padStart(9),
      (b / a).toFixed(2).padStart(5),
      c.toFixed(2).padStart(6),
    ]
    console.log(`${String(from).padStart(5)} – ${String(from + part - 1).padEnd(5)} ${row.join('  ')}`)
  }
  await warehouse.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

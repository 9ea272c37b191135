// What `import 'lakelet'` costs: processes that import the bundle beside bare ones, in turns; medians of what each adds.
// `node tools/bench/micro/import.mjs [turns] [module]`
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const turns = Number(process.argv[2] ?? 25)
const bundle = fileURLToPath(new URL('../../../dist/bundle/', import.meta.url))
const module = process.argv[3] === undefined ? `${bundle}index.js` : resolve(process.argv[3])

/** Milliseconds until the module is there, and of CPU time, as the process itself sees them. */
function run(program) {
  const report = 'const { user, system } = process.cpuUsage(); console.log(performance.now(), (user + system) / 1000)'
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', `${program};${report}`], {
    encoding: 'utf8',
  })
  return stdout.trim().split(' ').map(Number)
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
const bare = []
const ours = []
for (let turn = 0; turn < turns; turn++) {
  bare.push(run(''))
  ours.push(run(`await import('${pathToFileURL(module)}')`))
}
for (const [index, name] of ['until loaded', 'CPU time'].entries()) {
  const [a, b] = [bare, ours].map((runs) => median(runs.map((run) => run[index])))
  console.log(`${name.padEnd(14)} ${a.toFixed(1)} ms bare, ${b.toFixed(1)} ms with lakelet: ${(b - a).toFixed(1)} ms`)
}
const files = readdirSync(bundle).filter((name) => name.endsWith('.js'))
const bytes = files.reduce((sum, name) => sum + statSync(bundle + name).size, 0)
console.log(`${files.length} modules in the bundle, ${(bytes / 1024).toFixed(0)} KiB`)

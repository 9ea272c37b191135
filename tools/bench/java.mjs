#!/usr/bin/env node
// Lakelet beside Apache Paimon in Java: the same rows, on this machine, in turns. Prints medians, ratios and peak memory.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { rowOf } from './bench-data.mjs'
import { median } from './lib/util.mjs'

const USAGE = `usage: npm run bench:java -- [options]

  --rows N      rows (1000000)
  --commits N   write-only commits they come in (10)
  --buckets N   buckets (1)
  --lookups N   point lookups (100000)
  --runs N      runs of each engine, in turns; medians are shown (3)
  --repeat N    scans in a run, the best counts (3)
  --warmup      each run starts with a tenth of the rows, in a table that does not count
  --out F       write the JSON here

Needs Java 17 and Maven; the first run builds test/interop/oracle.
`
const defaults = { rows: '1000000', commits: '10', buckets: '1', lookups: '100000', runs: '3', repeat: '3' }
const { values } = parseArgs({
  options: {
    ...Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, { type: 'string', default: value }])),
    warmup: { type: 'boolean', default: false },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  process.stdout.write(USAGE)
  process.exit(0)
}
const config = { seed: 42, warmup: values.warmup }
for (const name of Object.keys(defaults)) {
  config[name] = Number(values[name])
  if (!Number.isInteger(config[name]) || config[name] < 1) {
    process.stderr.write(`--${name} must be a positive whole number\n`)
    process.exit(2)
  }
}

const here = fileURLToPath(new URL('.', import.meta.url))
const oracle = path.join(here, '../../test/interop/oracle/oracle')

/** Runs a program and gives the JSON lines it printed; rejects when it fails or prints an error. */
function lines(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const out = []
    createInterface({ input: child.stdout }).on('line', (line) => out.push(JSON.parse(line)))
    child.on('error', reject)
    child.on('close', (code) => {
      const error = out.find((line) => line.error !== undefined)?.error
      if (code === 0 && error === undefined) resolve(out)
      else reject(new Error(`${path.basename(command)}: ${error ?? `exit code ${code}`}`))
    })
  })
}

/** One run of an engine in an empty folder. */
async function measured(engine) {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'lakelet-bench-java-'))
  try {
    if (engine === 'lakelet') {
      return await lines(process.execPath, [
        '--expose-gc',
        `${here}java-lakelet.mjs`,
        JSON.stringify({ ...config, dir }),
      ])
    }
    const flags = ['rows', 'commits', 'buckets', 'lookups', 'repeat', 'seed'].flatMap((name) => [
      `--${name}`,
      String(config[name]),
    ])
    return await lines(oracle, ['bench', dir, 'bench', 't', ...flags, ...(config.warmup ? ['--warmup'] : [])])
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

if (rowOf(0).a !== 524866043 || rowOf(0).name !== 'un5x5gccdzmpa7n3')
  throw new Error('the rows are not those of the Java side')

await lines(oracle, ['build'])
const runs = { lakelet: [], java: [] }
for (let run = 0; run < config.runs; run++) {
  for (const engine of Object.keys(runs)) {
    const start = performance.now()
    runs[engine].push(await measured(engine))
    process.stderr.write(`${engine} run ${run + 1}: ${((performance.now() - start) / 1000).toFixed(1)} s\n`)
  }
}

const phases = runs.java[0].map((line) => line.phase)
const medianOf = (engine, phase, name) =>
  median(runs[engine].map((run) => run.find((line) => line.phase === phase)?.[name]))
const sums = new Set(
  Object.values(runs).flatMap((all) => all.map((run) => run.find((line) => line.phase === 'generate').sum_a)),
)
if (sums.size !== 1) throw new Error(`the engines were given different rows: ${[...sums].join(', ')}`)

const table = phases.map((phase) => {
  const [ours, theirs] = [medianOf('lakelet', phase, 'ms'), medianOf('java', phase, 'ms')]
  return { phase, lakelet_ms: ours, java_ms: theirs, java_over_lakelet: Math.round((theirs / ours) * 100) / 100 }
})
// What remains of writing when the making of the rows is taken off.
const net = (engine) => medianOf(engine, 'write', 'ms') - medianOf(engine, 'generate', 'ms')
table.splice(phases.indexOf('write') + 1, 0, {
  phase: 'write, without making rows',
  lakelet_ms: Math.round(net('lakelet')),
  java_ms: Math.round(net('java')),
  java_over_lakelet: Math.round((net('java') / net('lakelet')) * 100) / 100,
})
const peak = (engine) => Math.max(...runs[engine].flatMap((run) => run.map((line) => line.peak_rss_mb ?? 0)))
const result = {
  config,
  machine: { node: process.versions.node, cpu: os.cpus()[0]?.model ?? '?', cpus: os.cpus().length },
  sum_a: [...sums][0],
  table,
  peak_rss_mb: { lakelet: peak('lakelet'), java: peak('java') },
  runs,
}
if (values.out) writeFileSync(values.out, `${JSON.stringify(result, null, 1)}\n`)

const width = Math.max(...table.map((line) => line.phase.length))
process.stdout.write(
  `${config.rows} rows, ${config.commits} commits, ${config.buckets} bucket(s), median of ${config.runs}, ms\n\n`,
)
process.stdout.write(
  `${'phase'.padEnd(width)} ${'lakelet'.padStart(10)} ${'java'.padStart(10)} ${'java/lakelet'.padStart(13)}\n`,
)
for (const line of table) {
  const cells = [
    line.lakelet_ms.toFixed(0).padStart(10),
    line.java_ms.toFixed(0).padStart(10),
    line.java_over_lakelet.toFixed(2).padStart(13),
  ]
  process.stdout.write(`${line.phase.padEnd(width)} ${cells.join(' ')}\n`)
}
process.stdout.write(
  `${'peak RSS, MB'.padEnd(width)} ${String(peak('lakelet')).padStart(10)} ${String(peak('java')).padStart(10)}\n`,
)

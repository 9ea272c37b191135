#!/usr/bin/env node
import { fork, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { markdown, summarise } from './lib/report.mjs'
import { procBytes } from './lib/util.mjs'

const here = path.dirname(fileURLToPath(import.meta.url))
const DEFAULT_ENGINES = 'lakelet,json-log,classic-level,rocksdb,lmdb,better-sqlite3,duckdb'

const USAGE = `usage: node bench.mjs [options]
       node bench.mjs --merge a.json --merge b.json   (report over the runs of earlier --out files)

  --rows N          rows to ingest (100000)
  --engines A,B     names from engines/, or paths of adapter modules (${DEFAULT_ENGINES})
  --reps N          repetitions, engines interleaved; medians are reported (1)
  --batches N       commits for the ingest (10)
  --gets N          point gets (rows / 10)
  --ranges N        range scans of 1 % of the key space (100)
  --durability D    default | fsync (default)
  --seed N          seed of the workload (1)
  --dir D           where stores are created (a folder under the system's temporary folder)
  --timeout S       seconds allowed for one engine's run (3600)
  --out F           write the JSON here
  --print P         both | md | json (both)
  --no-extras       leave out the engines' own lines
  --java            run Apache Paimon in Java beside lakelet, on the rows of bench:java (needs Java 17 and Maven)
  --keep            keep the stores
`

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    engines: { type: 'string', default: DEFAULT_ENGINES },
    reps: { type: 'string', default: '1' },
    batches: { type: 'string', default: '10' },
    gets: { type: 'string' },
    ranges: { type: 'string', default: '100' },
    durability: { type: 'string', default: 'default' },
    seed: { type: 'string', default: '1' },
    dir: { type: 'string' },
    timeout: { type: 'string', default: '3600' },
    out: { type: 'string' },
    print: { type: 'string', default: 'both' },
    merge: { type: 'string', multiple: true },
    'no-extras': { type: 'boolean', default: false },
    java: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  process.stdout.write(USAGE)
  process.exit(0)
}
function count(name, fallback) {
  const x = Number(values[name] ?? fallback)
  if (!Number.isInteger(x) || x < 1) {
    process.stderr.write(`--${name} must be a positive whole number\n`)
    process.exit(2)
  }
  return x
}
function oneOf(name, allowed) {
  if (!allowed.includes(values[name])) {
    process.stderr.write(`--${name} must be one of: ${allowed.join(', ')}\n`)
    process.exit(2)
  }
  return values[name]
}
oneOf('print', ['both', 'md', 'json'])

function finish(result) {
  result.engines = summarise(result.runs)
  result.config.reps = Math.max(0, ...result.engines.map((e) => e.reps))
  const json = JSON.stringify(result, null, 1)
  if (values.out) writeFileSync(values.out, `${json}\n`)
  if (values.print !== 'md') process.stdout.write(`${json}\n`)
  if (values.print !== 'json') process.stdout.write((values.print === 'both' ? '\n' : '') + markdown(result))
  const missing = (run) => run.engine !== 'lakelet' && run.error.startsWith('not installed')
  process.exitCode = result.java?.error || result.runs.some((run) => run.error && !missing(run)) ? 1 : 0
}

function runChild(job, timeoutMs) {
  return new Promise((resolve) => {
    const child = fork(path.join(here, 'lib/runner.mjs'), [JSON.stringify(job)], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    let message = null
    let anon = 0
    // RssAnon has no high-water mark of its own, so it is sampled from outside.
    const sampler = setInterval(() => {
      anon = Math.max(anon, procBytes(child.pid, 'status', 'RssAnon') ?? 0)
    }, 50)
    const timer = setTimeout(() => {
      message = { error: `timed out after ${timeoutMs / 1000} s` }
      child.kill('SIGKILL')
    }, timeoutMs)
    child.on('message', (m) => (message ??= m))
    child.on('exit', (code, signal) => {
      clearInterval(sampler)
      clearTimeout(timer)
      message ??= { error: `exited with ${signal ?? code}` }
      if (message.metrics) message.metrics.peakAnon = anon || null
      resolve(message)
    })
  })
}

/** `npm run bench:java` on as many rows: its result, or why there is none. */
async function besideJava(rows, reps) {
  const out = path.join(os.tmpdir(), `lakelet-bench-java-${process.pid}.json`)
  const args = [
    path.join(here, 'java.mjs'),
    '--rows',
    rows,
    '--runs',
    reps,
    '--lookups',
    Math.ceil(rows / 10),
    '--out',
    out,
  ]
  const child = spawn(process.execPath, args.map(String), { stdio: ['ignore', 2, 'inherit'] })
  const code = await new Promise((resolve) => child.on('close', resolve))
  if (code !== 0) return { error: `java.mjs ended with ${code}` }
  const { table, peak_rss_mb } = JSON.parse(readFileSync(out, 'utf8'))
  await rm(out)
  return { rows, runs: reps, table, peak_rss_mb }
}

if (values.merge) {
  const parts = values.merge.map((file) => JSON.parse(readFileSync(file, 'utf8')))
  const java = parts.find((part) => part.java !== undefined)?.java
  finish({ config: parts[0].config, machine: parts[0].machine, runs: parts.flatMap((p) => p.runs), java })
} else {
  const rows = count('rows')
  const config = {
    rows,
    batches: count('batches'),
    gets: count('gets', Math.max(1, Math.round(rows / 10))),
    ranges: count('ranges'),
    reps: count('reps'),
    durability: oneOf('durability', ['default', 'fsync']),
    seed: count('seed'),
  }
  const timeoutMs = count('timeout') * 1000
  const root = path.resolve(values.dir ?? path.join(os.tmpdir(), `lakelet-bench-${process.pid}`))
  await mkdir(root, { recursive: true })
  const machine = {
    node: process.versions.node,
    platform: `${os.type()} ${os.arch()}`,
    cpu: os.cpus()[0]?.model ?? '?',
    cpus: os.cpus().length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
  }
  const engines = values.engines
    .split(',')
    .filter(Boolean)
    .map((name) => {
      const module = /[./\\]/.test(name) ? path.resolve(name) : path.join(here, 'engines', `${name}.mjs`)
      if (!existsSync(module)) {
        process.stderr.write(`no such engine: ${name}\n`)
        process.exit(2)
      }
      return { name: path.basename(module).replace(/\.[cm]?js$/, ''), module }
    })
  const runs = []
  for (let rep = 0; rep < config.reps; rep++) {
    for (const { name, module } of engines) {
      const started = performance.now()
      const job = { ...config, module, dir: path.join(root, name), phase: 'work' }
      const run = { engine: name, rep, ...(await runChild(job, timeoutMs)) }
      if (run.metrics && name !== 'null') {
        const again = await runChild({ ...job, phase: 'reopen' }, timeoutMs)
        if (again.metrics) {
          const { openMs, firstGetMs, importMs } = again.metrics
          Object.assign(run.metrics, { openMs, firstGetMs, importMs })
        } else run.error = `reopen: ${again.error}`
        if (run.hasExtras && !values['no-extras']) {
          const own = await runChild({ ...job, phase: 'extras' }, timeoutMs)
          if (own.metrics) {
            delete own.metrics.peakAnon
            run.extras = own.metrics
          } else run.error = `extras: ${own.error}`
        }
      }
      delete run.hasExtras
      if (!values.keep) await rm(job.dir, { recursive: true, force: true })
      process.stderr.write(
        `${name} rep ${rep + 1}: ${run.error ? run.error : `${((performance.now() - started) / 1000).toFixed(1)} s`}\n`,
      )
      runs.push(run)
    }
  }
  if (!values.keep) await rm(root, { recursive: true, force: true })
  const java = values.java ? await besideJava(rows, config.reps) : undefined
  finish({ config, machine, runs, java })
}

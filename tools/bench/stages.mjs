#!/usr/bin/env node
// Where the time of a full compaction goes, by stage, and how far that is from its floor: decompressing the inputs,
// compressing the outputs and copying the same bytes once, measured alone. One thread, no fsync.
import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { openWarehouse, t } from '../../dist/engine/index.js'
import { loadCodecs } from '../../dist/formats/compress/load-codecs.js'
import { fieldsOf, order, rowOf } from './bench-data.mjs'
import { median } from './lib/util.mjs'

const USAGE = `usage: npm run bench:stages -- [options]

  --rows N     rows of BenchData (1000000)
  --commits N  write-only commits they come in, so many runs are merged (10)
  --reps N     compactions; the first warms up and does not count (4)
`
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    commits: { type: 'string', default: '10' },
    reps: { type: 'string', default: '4' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  process.stdout.write(USAGE)
  process.exit(0)
}
const [rows, commits, reps] = [values.rows, values.commits, values.reps].map(Number)
if (![rows, commits, reps].every((value) => Number.isInteger(value) && value > 0) || reps < 2) {
  process.stderr.write(USAGE)
  process.exit(2)
}

/** The stage of a function by the nearest frame above it that has one: file of `dist`, then function where given. */
const STAGES = [
  ['decompress', /compress\/(?!.*load-codecs).*/, /^decompress/],
  ['compress', /compress\/.*/, /^compress$/],
  ['read', /ports\/node-fs|parquet\/file-read|parquet\/page\.js/, /^(read|take|openParquet|readRange|header)$/],
  ['write', /ports\/node-fs|store\/publish|commit\//, /./],
  ['merge', /engine\/merge\/(order|heads|window|merge)\.js/, /./],
  ['gather', /formats\/column\/(gather|gather-kernels|copy-bytes|slice)\.js/, /./],
  [
    'encode',
    /parquet\/(.*-encode|.*-write|write-statistics|chunk-metadata|shred)\.js|store\/(data-writer|rolling-writer)\.js/,
    /./,
  ],
  ['decode', /formats\/parquet\//, /./],
]
const ORDER = ['read', 'decompress', 'decode', 'merge', 'gather', 'encode', 'compress', 'write', 'collector', 'other']

function stageOf({ functionName, url }) {
  if (functionName === '(garbage collector)') return 'collector'
  return STAGES.find(([, file, name]) => file.test(url) && name.test(functionName))?.[0]
}

/**
 * CPU time a stage: samples tell the shares, which other work on the machine does not change, and the clock of the process
 * the whole.
 */
function byStage({ nodes, samples, timeDeltas }, user) {
  const stages = new Map()
  const visit = (id, above) => {
    const node = byId.get(id)
    const stage = stageOf(node.callFrame) ?? above
    stages.set(id, node.callFrame.functionName === '(idle)' ? undefined : stage)
    for (const child of node.children ?? []) visit(child, stage)
  }
  const byId = new Map(nodes.map((node) => [node.id, node]))
  visit(nodes[0].id, 'other')
  const millis = Object.fromEntries(ORDER.map((stage) => [stage, 0]))
  for (let i = 0; i < samples.length; i++) {
    const stage = stages.get(samples[i])
    if (stage !== undefined) millis[stage] += timeDeltas[i] / 1000
  }
  const sampled = ORDER.reduce((sum, stage) => sum + millis[stage], 0)
  return Object.fromEntries(ORDER.map((stage) => [stage, (millis[stage] / sampled) * user]))
}

const session = new Session()
session.connect()
const post = (method, parameters) =>
  new Promise((resolve, reject) =>
    session.post(method, parameters, (error, result) => (error ? reject(error) : resolve(result))),
  )

/** What went through the codec of this thread, kept while `kept` is set. */
async function recordedCodec() {
  const codec = loadCodecs().get('zstd')
  const plain = { compress: codec.compress, decompress: codec.decompress }
  const record = { kept: undefined, plain }
  codec.compress = (bytes, level) => {
    record.kept?.compressed.push({ bytes: bytes.slice(), level })
    return plain.compress(bytes, level)
  }
  codec.decompress = (bytes, size) => {
    record.kept?.decompressed.push({ bytes: bytes.slice(), size })
    return plain.decompress(bytes, size)
  }
  return record
}

function userMillis(action) {
  const before = process.cpuUsage()
  action()
  return process.cpuUsage(before).user / 1000
}

/** The floor: the same calls of the codec and one copy of each byte on either side of them. */
function floorOf({ compressed, decompressed }, plain) {
  const rounds = Array.from({ length: 4 }, () => ({
    decompress: userMillis(() => {
      for (const { bytes, size } of decompressed) plain.decompress(bytes, size)
    }),
    compress: userMillis(() => {
      for (const { bytes, level } of compressed) plain.compress(bytes, level)
    }),
    copies: userMillis(() => {
      const target = new Uint8Array(Math.max(...compressed.map(({ bytes }) => bytes.length)))
      for (const { bytes } of compressed) {
        target.set(bytes)
        bytes.set(target.subarray(0, bytes.length))
      }
    }),
  })).slice(1)
  return Object.fromEntries(
    ['decompress', 'compress', 'copies'].map((name) => [name, median(rounds.map((r) => r[name]))]),
  )
}

async function fill(dir) {
  const warehouse = await openWarehouse(dir, { workers: 0, durability: 'none' })
  const table = await warehouse.createTable('bench.t', {
    fields: fieldsOf(t),
    primaryKey: ['id'],
    options: { bucket: 1, 'write-only': true },
  })
  const ids = order(rows, 42)
  for (let c = 0; c < commits; c++) {
    const end = Math.floor((rows * (c + 1)) / commits)
    for (let from = Math.floor((rows * c) / commits); from < end; from += 10_000) {
      const batch = Array.from(ids.subarray(from, Math.min(end, from + 10_000)), (id) => {
        const row = rowOf(id)
        return { ...row, ts: BigInt(row.ts) }
      })
      await table.put(batch)
    }
    await table.commit()
  }
  return { warehouse, table }
}

const record = await recordedCodec()
const times = []
let floor
await post('Profiler.enable')
await post('Profiler.setSamplingInterval', { interval: 500 })
for (let rep = 0; rep < reps; rep++) {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'lakelet-bench-stages-'))
  try {
    const { warehouse, table } = await fill(dir)
    // The first run is also the one whose pages are kept: copying them would count in the others.
    if (rep === 0) record.kept = { compressed: [], decompressed: [] }
    else await post('Profiler.start')
    const before = process.cpuUsage()
    const start = performance.now()
    await table.compact({ full: true })
    const wall = performance.now() - start
    const user = process.cpuUsage(before).user / 1000
    if (rep === 0) {
      floor = floorOf(record.kept, record.plain)
      record.kept = undefined
    } else {
      const { profile } = await post('Profiler.stop')
      times.push({ ...byStage(profile, user), user, wall })
    }
    await warehouse.close()
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const line = (name, millis) =>
  process.stdout.write(
    `${name.padEnd(24)} ${millis.toFixed(0).padStart(8)} ms ${((millis * 1000) / rows).toFixed(2).padStart(8)} µs a row\n`,
  )
process.stdout.write(`full compaction of ${commits} runs, ${rows} rows, medians of ${reps - 1}; user CPU time\n\n`)
for (const stage of ORDER) line(stage, median(times.map((time) => time[stage])))
const user = median(times.map((time) => time.user))
line('all', user)
const wall = median(times.map((time) => time.wall))
line('on the wall', wall)
process.stdout.write('\n')
for (const [name, millis] of Object.entries(floor)) line(`floor: ${name}`, millis)
const least = floor.decompress + floor.compress + floor.copies
line('floor', least)
process.stdout.write(
  `\n${Math.round((rows / wall) * 1000)} rows/s on the wall, CPU time ${(user / least).toFixed(2)} times the floor\n`,
)

#!/usr/bin/env node
// Compactions of tables that do more than keep the newest row, beside Apache Paimon in Java: each engine compacts its own copy of the
// same files, in turns, in a process that has compacted before. Prints medians and ratios.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openWarehouse, t } from '../../dist/bundle/index.js'
import { order } from './bench-data.mjs'
import { askedLines } from './lib/asked-lines.mjs'
import { median } from './lib/util.mjs'

const USAGE = `usage: npm run bench:merge -- [options]

  --rows N      records of a table (1000000)
  --runs N      compactions by each engine, after one that does not count (3)
  --only NAMES  workloads with commas between them (all)

Needs Java 17 and Maven; the first run builds test/interop/oracle.
`
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '3' },
    only: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const [rows, runs] = [Number(values.rows), Number(values.runs)]
if (values.help || !Number.isInteger(rows) || rows < 8 || !Number.isInteger(runs) || runs < 1) {
  process[values.help ? 'stdout' : 'stderr'].write(USAGE)
  process.exit(values.help ? 0 : 2)
}

const COMMITS = 8
const PUT_ROWS = 10_000
const text = (i) => `value ${(i * 2654435761) % 1000003} of a column that is filled now and then`

/** Tables, as they are before the compaction that is measured. `base`: share of the records that lies compacted already. */
const workloads = {
  aggregation: {
    fields: { k: t.int(), s: t.bigint({ mode: 'number' }).nullable(), m: t.int().nullable(), l: t.string().nullable() },
    options: {
      'merge-engine': 'aggregation',
      'fields.s.aggregate-function': 'sum',
      'fields.m.aggregate-function': 'max',
    },
    row: (k, i) => ({ k, s: i, m: i % 1000, l: i % 3 === 0 ? text(i) : null }),
    base: 0,
  },
  'partial-update': {
    fields: {
      k: t.int(),
      a: t.int().nullable(),
      b: t.string().nullable(),
      c: t.string().nullable(),
      d: t.int().nullable(),
    },
    options: { 'merge-engine': 'partial-update' },
    row: (k, i) => (i % 2 === 0 ? { k, a: i, b: text(i) } : { k, c: text(i), d: i }),
    base: 0,
  },
  'lookup changelog': {
    fields: { k: t.int(), a: t.int().nullable(), b: t.string().nullable() },
    options: { 'changelog-producer': 'lookup' },
    row: (k, i) => ({ k, a: i, b: text(i) }),
    base: 0.9,
  },
  'deletion vectors': {
    fields: { k: t.int(), a: t.int().nullable(), b: t.string().nullable() },
    options: { 'deletion-vectors.enabled': true },
    row: (k, i) => ({ k, a: i, b: text(i) }),
    base: 0.9,
  },
}

/** Keys in random order; each of a quarter of the records, or, over a base, of the base. */
function keysOf({ base }) {
  const distinct = base > 0 ? Math.floor(rows * base) : Math.floor(rows / 4)
  const keys = []
  for (let round = 0; keys.length < rows; round++) for (const k of order(distinct, 42 + round)) keys.push(k)
  return keys.slice(0, rows)
}

async function write(folder, { fields, options, row, base }) {
  const warehouse = await openWarehouse(folder, { durability: 'none' })
  const definition = { fields, primaryKey: ['k'], options: { bucket: 1, 'write-only': true, ...options } }
  const table = await warehouse.createTable('db.t', definition)
  const keys = keysOf({ base })
  const put = async (from, to) => {
    for (let start = from; start < to; start += PUT_ROWS) {
      const end = Math.min(to, start + PUT_ROWS)
      await table.put(keys.slice(start, end).map((k, i) => row(k, start + i)))
    }
    await table.commit()
  }
  const first = Math.floor(rows * base)
  if (first > 0) {
    await put(0, first)
    await table.compact({ full: true })
  }
  const commits = first > 0 ? 1 : COMMITS
  for (let c = 0; c < commits; c++) {
    await put(
      first + Math.floor(((rows - first) * c) / commits),
      first + Math.floor(((rows - first) * (c + 1)) / commits),
    )
  }
  await warehouse.close()
}

/** One compaction as the table asks for it: full, or, over a base, of what is new. */
async function ours(folder, full) {
  const warehouse = await openWarehouse(folder, { durability: 'none', workers: 1 })
  const table = await warehouse.table('db.t')
  await table.get(0)
  const start = performance.now()
  await table.compact({ full })
  const millis = performance.now() - start
  await warehouse.close()
  return millis
}

const here = fileURLToPath(new URL('.', import.meta.url))
const java = askedLines(path.join(here, '../../test/interop/oracle/oracle'), ['serve'])

async function theirs(folder, full) {
  const start = performance.now()
  await java.ask({ cmd: 'compact', warehouse: folder, db: 'db', table: 't', full, options: { 'write-only': 'false' } })
  return performance.now() - start
}

/** What a table holds, as one number: both engines must leave the same. */
async function digest(folder) {
  const warehouse = await openWarehouse(folder, { readOnly: true })
  let sum = 0
  for await (const row of (await warehouse.table('db.t')).scan()) {
    for (const value of Object.values(row))
      sum = (sum * 31 + (typeof value === 'number' ? value : `${value}`.length)) % 1e12
  }
  await warehouse.close()
  return sum
}

const dir = mkdtempSync(path.join(os.tmpdir(), 'lakelet-bench-merge-'))
const chosen = values.only === undefined ? Object.keys(workloads) : values.only.split(',')
try {
  process.stdout.write(`${rows} records, compactions, ms, median (least) of ${runs}\n\n`)
  process.stdout.write(
    `${'workload'.padEnd(18)} ${'lakelet'.padStart(16)} ${'java'.padStart(16)} ${'java/lakelet'.padStart(13)}\n`,
  )
  for (const name of chosen) {
    const workload = workloads[name]
    if (workload === undefined) throw new Error(`no workload ${name}: ${Object.keys(workloads).join(', ')}`)
    const made = path.join(dir, name)
    await write(made, workload)
    const times = { ours: [], theirs: [] }
    for (let run = 0; run <= runs; run++) {
      const digests = []
      for (const [who, compact] of Object.entries({ ours, theirs })) {
        const copy = path.join(dir, `${name} ${who}`)
        cpSync(made, copy, { recursive: true })
        const millis = await compact(copy, workload.base === 0)
        if (run > 0) times[who].push(millis)
        else digests.push(await digest(copy))
        rmSync(copy, { recursive: true })
      }
      if (digests[0] !== digests[1]) throw new Error(`${name}: the engines left different rows`)
    }
    rmSync(made, { recursive: true })
    const cell = (list) => `${median(list).toFixed(0)} (${Math.min(...list).toFixed(0)})`.padStart(16)
    const ratio = median(times.theirs) / median(times.ours)
    process.stdout.write(
      `${name.padEnd(18)} ${cell(times.ours)} ${cell(times.theirs)} ${ratio.toFixed(2).padStart(13)}\n`,
    )
  }
} finally {
  java.end()
  rmSync(dir, { recursive: true, force: true })
}

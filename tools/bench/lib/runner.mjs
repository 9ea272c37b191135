// One engine, one repetition, in a process of its own. Started by bench.mjs; talks to it over IPC.

import { rm } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { diskBytes, procBytes } from './util.mjs'
import { aOf, batchesOf, idOf, plan as makePlan, rowOf } from './workload.mjs'

const job = JSON.parse(process.argv[2])

async function timed(fn) {
  globalThis.gc?.()
  const start = performance.now()
  const value = await fn()
  return [(performance.now() - start) / 1000, value]
}

function check(ok, what) {
  if (!ok) throw new Error(`wrong answer: ${what}`)
}

const FIELDS = ['id', 'a', 'b', 'name', 'payload', 'ts']
const same = (x, y) => (x === null || y === null ? x === y : FIELDS.every((f) => x[f] === y[f]))

async function work(engine, options) {
  const verify = engine.info.verify !== false
  const limits = engine.info.limits ?? {}
  const plan = makePlan({
    ...job,
    gets: Math.min(job.gets, limits.gets ?? Infinity),
    ranges: Math.min(job.ranges, limits.ranges ?? Infinity),
  })
  const metrics = {}
  const [seconds, store] = await timed(() => engine.open(job.dir, options))
  metrics.createMs = seconds * 1000
  await store.warmup?.()

  async function load(name, batches, fn) {
    let total = 0
    let slowest = 0
    for (const batch of batches) {
      const [s] = await timed(() => fn(batch))
      total += s
      slowest = Math.max(slowest, s)
    }
    metrics[name] = total
    metrics[`${name}SlowestCommit`] = slowest
  }

  async function scan() {
    let count = 0
    let sum = 0
    let last = -1
    let ordered = true
    const [s] = await timed(() =>
      store.scan((id, a) => {
        if (id <= last) ordered = false
        last = id
        sum += a
        count++
      }),
    )
    if (verify) {
      check(ordered, 'scan order')
      check(
        count === plan.count && sum === plan.sum,
        `scan: ${count} rows, sum ${sum}; expected ${plan.count}, ${plan.sum}`,
      )
    }
    return s
  }

  await load('ingest', batchesOf(plan.order, job.batches, 1), (rows) => store.ingest(rows))
  metrics.diskIngest = verify ? diskBytes(job.dir) : null
  await load('overwrite', batchesOf(plan.overwrite, Math.max(1, Math.round(job.batches / 5)), 2), (rows) =>
    (store.overwrite ?? store.ingest)(rows),
  )
  await load('delete', [Array.from(plan.remove, idOf)], (ids) => store.delete(ids))
  metrics.diskBefore = verify ? diskBytes(job.dir) : null
  metrics.scanBefore = await scan()
  if (store.compact) [metrics.compact] = await timed(() => store.compact())
  metrics.diskAfter = verify ? diskBytes(job.dir) : null
  metrics.written = procBytes('self', 'io', 'write_bytes')
  metrics.scan = await scan()

  let rows = 0
  let sum = 0
  let chars = 0
  const firsts = []
  const [rangeSeconds] = await timed(async () => {
    for (const { lo, hi } of plan.ranges) {
      let first = null
      await store.range(lo, hi, (row) => {
        first ??= row
        rows++
        sum += row.a
        chars += row.name.length + row.payload.length
      })
      firsts.push(first)
    }
  })
  metrics.range = rangeSeconds / plan.ranges.length
  metrics.rangeRowsPerSecond = rows / rangeSeconds
  metrics.rangeCount = plan.ranges.length
  if (verify) {
    let expectedRows = 0
    let expectedSum = 0
    plan.ranges.forEach(({ from, to }, k) => {
      let first = null
      for (let i = from; i < to; i++) {
        if (plan.version[i] === 0) continue
        first ??= rowOf(i, plan.version[i])
        expectedRows++
        expectedSum += aOf(i, plan.version[i])
      }
      check(same(first, firsts[k]), `range row: ${JSON.stringify(firsts[k])}; expected ${JSON.stringify(first)}`)
    })
    check(
      rows === expectedRows && sum === expectedSum && chars > rows * 80,
      `range: ${rows} rows, expected ${expectedRows}`,
    )
  }

  const { getIds, getA } = plan
  let hits = 0
  let wrong = 0
  const [getSeconds] = await timed(async () => {
    for (let g = 0; g < getIds.length; g++) {
      let row = store.get(getIds[g])
      if (row !== undefined && typeof row.then === 'function') row = await row
      if (row !== undefined) hits++
      if ((row === undefined ? -1 : row.a) !== getA[g]) wrong++
    }
  })
  if (verify) check(wrong === 0, `point get: ${wrong} of ${getIds.length}`)
  metrics.getUs = (getSeconds / getIds.length) * 1e6
  metrics.getCount = getIds.length
  metrics.getHits = hits
  const lat = new Float64Array(Math.ceil(getIds.length / 5))
  for (let k = 0; k < lat.length; k++) {
    const start = performance.now()
    const row = store.get(getIds[k])
    if (row !== undefined && typeof row.then === 'function') await row
    lat[k] = (performance.now() - start) * 1000
  }
  lat.sort()
  metrics.getP50Us = lat[Math.floor(lat.length * 0.5)]
  metrics.getP99Us = lat[Math.floor(lat.length * 0.99)]

  if (store.aggregate) {
    const [s, groups] = await timed(() => store.aggregate())
    metrics.aggregate = s
    const got = new Array(10).fill(0)
    for (const [k, sum] of groups) got[k] = sum
    check(
      got.every((x, k) => x === plan.groups[k]),
      `aggregate: ${got}; expected ${plan.groups}`,
    )
  }

  const extra = (await store.usage?.()) ?? {}
  ;[metrics.close] = await timed(() => store.close())
  metrics.diskClosed = verify ? diskBytes(job.dir) : null
  metrics.peakRss =
    (procBytes('self', 'status', 'VmHWM') ?? process.resourceUsage().maxRSS * 1024) + (extra.peakRss ?? 0)
  if (metrics.written !== null) metrics.written += extra.written ?? 0
  return metrics
}

/** The engine's own lines, on the finished store, in a process of their own: they change none of the figures above. */
async function extras(engine, options) {
  const plan = makePlan(job)
  const store = await engine.open(job.dir, options)
  const lines = await engine.extras(store, { plan, job, timed, check, batchesOf, same, rowOf })
  await store.close()
  return lines
}

/** Opening an existing store, in a process that has not touched it before. */
async function reopen(engine, options) {
  const [seconds, store] = await timed(() => engine.open(job.dir, options))
  const start = performance.now()
  await store.get(idOf(Math.floor(job.rows / 2)))
  const metrics = { openMs: seconds * 1000, firstGetMs: performance.now() - start }
  await store.close()
  return metrics
}

try {
  if (job.phase === 'work') await rm(job.dir, { recursive: true, force: true })
  const importStart = performance.now()
  const engine = await import(pathToFileURL(path.resolve(job.module)).href)
  const importMs = performance.now() - importStart
  const metrics = await { work, reopen, extras }[job.phase](engine, { durability: job.durability })
  if (job.phase === 'reopen') metrics.importMs = importMs
  process.send(
    {
      info: {
        name: engine.info.name,
        version: engine.info.version,
        value: engine.info.value,
        durability: engine.info.durability[job.durability],
      },
      metrics,
      hasExtras: engine.extras !== undefined,
    },
    () => process.exit(0),
  )
} catch (error) {
  process.send(
    {
      error:
        error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND'
          ? `not installed: ${error.message.split('\n')[0]}`
          : String(error.stack ?? error),
    },
    () => process.exit(1),
  )
}

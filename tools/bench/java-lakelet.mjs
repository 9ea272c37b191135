// The phases of `oracle bench` on lakelet, in a process of its own: one JSON line a phase. Started by java.mjs.
import { openWarehouse, t } from '../../dist/bundle/index.js'
import { fieldsOf, lookupIds, order, rowOf } from './bench-data.mjs'
import { diskBytes, procBytes } from './lib/util.mjs'

const { dir, rows, commits, buckets, lookups, repeat, seed, warmup } = JSON.parse(process.argv[2])
const PUT_ROWS = 10_000

function report(phase, count, millis, more = {}) {
  const peak = (procBytes('self', 'status', 'VmHWM') ?? process.resourceUsage().maxRSS * 1024) / 2 ** 20
  const rate = Math.round((count / millis) * 1000)
  return {
    phase,
    rows: count,
    ms: Math.round(millis * 10) / 10,
    rows_per_s: rate,
    peak_rss_mb: Math.round(peak),
    ...more,
  }
}

async function timed(action) {
  globalThis.gc?.()
  const start = performance.now()
  const value = await action()
  return { millis: performance.now() - start, value }
}

function check(ok, what) {
  if (!ok) throw new Error(`wrong answer: ${what}`)
}

/** Sum of an int64 column of small numbers, read as halves. */
function sumOf(batch, name) {
  const { buffer, byteOffset, length } = batch.getChild(name).toArray()
  const halves = new Int32Array(buffer, byteOffset, length * 2)
  let sum = 0
  for (let row = 0; row < length; row++) sum += halves[2 * row + 1] * 4294967296 + (halves[2 * row] >>> 0)
  return sum
}

async function cycle(rows, name, emit) {
  const ids = order(rows, seed)
  const generated = await timed(() => {
    let sum = 0
    for (const id of ids) sum += rowOf(id).a
    return sum
  })
  const expected = generated.value
  emit(report('generate', rows, generated.millis, { sum_a: String(expected) }))

  const warehouse = await openWarehouse(dir)
  const table = await warehouse.createTable(`bench.${name}`, {
    fields: fieldsOf(t),
    primaryKey: ['id'],
    options: { bucket: buckets, 'write-only': true },
  })
  const written = await timed(async () => {
    for (let c = 0; c < commits; c++) {
      const end = Math.floor((rows * (c + 1)) / commits)
      for (let from = Math.floor((rows * c) / commits); from < end; from += PUT_ROWS) {
        const batch = []
        for (let i = from; i < Math.min(end, from + PUT_ROWS); i++) {
          const row = rowOf(ids[i])
          row.ts = BigInt(row.ts)
          batch.push(row)
        }
        await table.put(batch)
      }
      await table.commit()
    }
  })
  emit(report('write', rows, written.millis, { commits, bytes: diskBytes(dir) }))

  const scan = async (phase, columns) => {
    const times = []
    for (let run = 0; run < repeat; run++) {
      const scanned = await timed(async () => {
        let count = 0
        let sum = 0
        for await (const batch of table.scanArrow(columns === undefined ? {} : { columns })) {
          count += batch.numRows
          sum += sumOf(batch, 'a')
        }
        return { count, sum }
      })
      check(
        scanned.value.count === rows && scanned.value.sum === expected,
        `${phase}: ${JSON.stringify(scanned.value)}`,
      )
      times.push(scanned.millis)
    }
    emit(report(phase, rows, Math.min(...times), { run_ms: times.map(Math.round) }))
  }
  await scan('scan-merge')
  const compacted = await timed(() => table.compact({ full: true }))
  emit(report('compact-full', rows, compacted.millis))
  await scan('scan')
  await scan('scan-projected', ['a'])

  const wanted = lookupIds(rows, lookups, seed)
  const opened = await timed(() => table.get(0))
  const looked = await timed(async () => {
    let found = 0
    for (const id of wanted) if ((await table.get(id))?.id === id) found++
    return found
  })
  check(looked.value === lookups, `lookup: ${looked.value} of ${lookups}`)
  emit(report('lookup', lookups, looked.millis, { found: looked.value, open_ms: Math.round(opened.millis) }))
  await warehouse.close()
}

if (warmup) await cycle(Math.max(1000, Math.floor(rows / 10)), 'warmup', () => {})
await cycle(rows, 't', (line) => process.stdout.write(`${JSON.stringify(line)}\n`))

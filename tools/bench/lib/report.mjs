import { median } from './util.mjs'

const MB = 1024 * 1024
const s = (x) =>
  x === null ? '-' : x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x >= 1 ? x.toFixed(2) : x.toFixed(3)
const mb = (x) => (x === null ? '-' : (x / MB).toFixed(1))
const ms = (x) => (x === null ? '-' : x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2))
const n = (x) => (x === null ? '-' : Math.round(x).toLocaleString('en-US'))

// [metric, title, formatter, ratio table: lower is better (1), higher is better (-1), left out (0)]
export const COLUMNS = [
  ['ingest', 'ingest s', s, 1],
  ['overwrite', 'overwrite 20% s', s, 1],
  ['delete', 'delete 5% s', s, 1],
  ['scanBefore', 'scan before compaction s', s, 1],
  ['compact', 'compact s', s, 1],
  ['scan', 'scan s', s, 1],
  ['range', '1% range ms', (x) => ms(x === null ? null : x * 1000), 1],
  ['getUs', 'get us', s, 1],
  ['getP99Us', 'get p99 us', s, 0],
  ['aggregate', 'aggregate ms', (x) => ms(x === null ? null : x * 1000), 1],
  ['openMs', 'open ms', ms, 1],
  ['firstGetMs', 'first get ms', ms, 0],
  ['diskBefore', 'disk before MiB', mb, 1],
  ['diskClosed', 'disk after MiB', mb, 1],
  ['written', 'written MiB', mb, 0],
  ['peakRss', 'peak RSS MiB', mb, 1],
  ['peakAnon', 'peak anon MiB', mb, 0],
]

export function summarise(runs) {
  const engines = new Map()
  for (const run of runs) {
    if (!engines.has(run.engine)) engines.set(run.engine, [])
    engines.get(run.engine).push(run)
  }
  return [...engines].map(([engine, list]) => {
    const good = list.filter((r) => r.metrics)
    const keys = new Set(good.flatMap((r) => Object.keys(r.metrics)))
    const medians = {}
    const spread = {}
    for (const key of keys) {
      const values = good.map((r) => r.metrics[key])
      medians[key] = median(values)
      const real = values.filter((x) => typeof x === 'number')
      spread[key] = real.length ? [Math.min(...real), Math.max(...real)] : null
    }
    const own = good.flatMap((r) => (r.extras === undefined ? [] : [r.extras]))
    const lines = [...new Set(own.flatMap((each) => Object.keys(each)))]
    return {
      engine,
      info: good[0]?.info,
      reps: good.length,
      errors: list.filter((r) => r.error).map((r) => r.error),
      medians,
      spread,
      extras: Object.fromEntries(lines.map((line) => [line, median(own.map((each) => each[line]))])),
    }
  })
}

const table = (head, lines) =>
  [
    `| ${head.join(' | ')} |`,
    `|${head.map((_, k) => (k ? '---:' : '---')).join('|')}|`,
    ...lines.map((l) => `| ${l.join(' | ')} |`),
  ].join('\n')

export function markdown(result) {
  const { config, machine } = result
  const done = result.engines.filter((e) => e.reps > 0)
  const out = []
  out.push(
    `${n(config.rows)} rows, ${config.batches} commits, ${n(config.gets)} gets, ${config.ranges} ranges of 1 %, durability \`${config.durability}\`, median of ${config.reps}.`,
  )
  out.push(`Node ${machine.node}, ${machine.cpus} x ${machine.cpu}, ${machine.memoryGiB} GiB, ${machine.platform}.`)
  out.push(
    table(
      ['engine', ...COLUMNS.map((c) => c[1])],
      done.map((e) => [e.engine, ...COLUMNS.map(([key, , fmt]) => fmt(e.medians[key] ?? null))]),
    ),
  )

  const compared = done.filter((e) => e.engine !== 'null')
  if (compared.length > 1) {
    const columns = COLUMNS.filter((c) => c[3])
    const best = Object.fromEntries(
      columns.map(([key, , , sign]) => {
        const values = compared.map((e) => e.medians[key]).filter((x) => typeof x === 'number' && x > 0)
        return [key, values.length ? Math[sign > 0 ? 'min' : 'max'](...values) : null]
      }),
    )
    out.push('Times the best (1.0 = best; lower is better everywhere):')
    out.push(
      table(
        ['engine', ...columns.map((c) => c[1].replace(/ (s|ms|us|MiB)$/, ''))],
        compared.map((e) => [
          e.engine,
          ...columns.map(([key]) => {
            const x = e.medians[key]
            return typeof x === 'number' && best[key] ? (x / best[key]).toFixed(x / best[key] < 10 ? 1 : 0) : '-'
          }),
        ]),
      ),
    )
  }
  out.push(
    table(
      [
        'engine',
        'version',
        'value encoding',
        'durability of a commit',
        'ingest rows/s',
        'range rows/s',
        'gets/s',
        'gets measured',
        'ranges measured',
      ],
      done.map((e) => [
        e.engine,
        e.info.version,
        e.info.value,
        e.info.durability,
        n(config.rows / e.medians.ingest),
        n(e.medians.rangeRowsPerSecond),
        n(1e6 / e.medians.getUs),
        n(e.medians.getCount),
        n(e.medians.rangeCount),
      ]),
    ),
  )
  const lines = [...new Set(done.flatMap((e) => Object.keys(e.extras)))]
  const owners = done.filter((e) => Object.keys(e.extras).length > 0)
  if (lines.length > 0) {
    out.push('Lines that not every store has, in a process of their own, after the compaction:')
    out.push(
      table(
        ['line', ...owners.map((e) => e.engine)],
        lines.map((line) => [line, ...owners.map((e) => s(e.extras[line] ?? null))]),
      ),
    )
  }
  if (result.java?.table !== undefined) {
    const { rows, runs } = result.java
    out.push(`Lakelet beside Apache Paimon in Java: ${n(rows)} rows of \`bench:java\`, median of ${runs}, ms.`)
    out.push(
      table(
        ['phase', 'lakelet', 'java', 'java / lakelet'],
        result.java.table.map((t) => [t.phase, ms(t.lakelet_ms), ms(t.java_ms), t.java_over_lakelet.toFixed(2)]),
      ),
    )
  } else if (result.java?.error !== undefined) out.push(`java failed: ${result.java.error}`)
  for (const e of result.engines) for (const error of e.errors) out.push(`${e.engine} failed: ${error.split('\n')[0]}`)
  return `${out.join('\n\n')}\n`
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { type BucketLevels, openWarehouse } from '../../engine/index.ts'
import { differences, FingerprintBuilder } from '../../tools/demo/fingerprint.ts'
import { flights, tableName } from '../../tools/demo/flights-table.ts'
import { chooseFolder } from '../../tools/demo/folder.ts'
import { formatBar, formatBytes, formatSeconds } from '../../tools/demo/format.ts'
import { drawLevels } from '../../tools/demo/levels-drawing.ts'
import { parseOptions } from '../../tools/demo/options.ts'
import { Progress, progressBar } from '../../tools/demo/progress.ts'
import { changeOf, correctionOf } from '../../tools/demo/second-wave.ts'
import { openTerminal } from '../../tools/demo/terminal.ts'

const program = fileURLToPath(new URL('../../tools/demo/main.ts', import.meta.url))

interface Outcome {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** Runs the demo from source, on one thread. */
async function demo(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const child = spawn(process.execPath, ['--import=tsx', program, '--workers', '0', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { output: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text.output += part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => (text.errors += part))
  const [code] = (await once(child, 'close')) as [number]
  return { code, ...text }
}

t.test('a short run is right, and a table that was changed behind its back is not', async (t) => {
  const dir = `${t.testdir()}/warehouse`
  const options = ['--dir', dir, '--rows', '20000']
  const run = await demo(options)
  t.equal(run.code, 0, run.errors)
  t.match(run.output, /upsert +\d+ % +20,000 rows .* rows\/s .* compacting/)
  t.match(run.output, /1,000 rows corrected, 200 deleted, [1-9]\d* compactions in the background/)
  t.match(
    run.output,
    /bucket 3 {2}\d+ runs?\n {2}L0 [\s\S]*Levels after a full compaction[\s\S]*bucket 3 {2}1 run\n {2}L5 /,
  )
  t.match(run.output, /get .* \(corrected, was [\s\S]*get .* no such row {2}\(deleted, was [\s\S]*scan /)
  t.match(run.output, /snapshot \d+, after the first wave: 19,952 rows/)
  t.match(run.output, /[1-9]\d* of \d+ snapshots expired: [1-9]\d* files and .* freed/)
  t.match(run.output, /RIGHT 19,752 rows, sum of delay 303,669, hash [0-9a-f]{32}/)
  t.match(run.output, /peak memory +\d+ MB; independent computation \d+ MB\n +total /)
  t.notMatch(run.output, '\u001b', 'no escape codes where there is no terminal')

  t.equal((await demo(['--verify', ...options])).code, 0, 'the folder is kept, and found right again')

  const warehouse = await openWarehouse(dir, { workers: 0 })
  const table = await warehouse.table(tableName, flights)
  let victim: Awaited<ReturnType<typeof table.get>>
  for await (const row of table.scan({ limit: 1 })) victim = row
  await table.put({ ...victim!, distance: victim!.distance + 1n })
  await table.commit()
  await warehouse.close()

  const tampered = await demo(['--verify', ...options])
  t.equal(tampered.code, 1)
  t.match(tampered.output, /DIFFERENT hash: the table has [0-9a-f]{32}, the data set gives [0-9a-f]{32}/)
  t.notMatch(tampered.output, /DIFFERENT rows|DIFFERENT delaySum|RIGHT/, 'one mile of one flight is all that differs')

  await t.rejects(chooseFolder(dir), { name: 'UsageError', message: /the folder is not empty/ })
})

t.test('without --dir or --keep nothing is left behind', async (t) => {
  const temporary = t.testdir()
  const { code, errors } = await demo(['--rows', '500'], { TMPDIR: temporary, TEMP: temporary, TMP: temporary })
  t.equal(code, 0, errors)
  t.strictSame(
    readdirSync(temporary).filter((name) => name.startsWith('lakelet')),
    [],
  )
})

t.test('options: what cannot be followed is refused with a reason', async (t) => {
  t.equal(parseOptions(['--help']), undefined)
  t.match(parseOptions(['--rows', '20_000', '--keep']), { rows: 20000, keep: true, dir: undefined, verifyOnly: false })
  t.match(parseOptions(['--dir', 'x']), { dir: 'x', keep: true, rows: Number.POSITIVE_INFINITY })
  for (const args of [
    ['--rows', '0'],
    ['--rows', '1e3'],
    ['--workers', '-1'],
    ['--verify'],
    ['--nonsense'],
    ['more'],
  ]) {
    t.throws(() => parseOptions(args), { name: 'UsageError' }, args.join(' '))
  }
})

t.test('the second wave corrects five and deletes one of each hundred rows, other ones for another seed', async (t) => {
  const counts = { none: 0, correct: 0, delete: 0 }
  for (let row = 700; row < 800; row++) counts[changeOf(1, row)]++
  t.strictSame(counts, { none: 94, correct: 5, delete: 1 })
  const deleted = (seed: number) =>
    Array.from({ length: 1000 }, (_, row) => row).filter((row) => changeOf(seed, row) === 'delete')
  t.equal(deleted(1).length, 10)
  t.notSame(deleted(1), deleted(2))
  t.equal(new Set(deleted(1).map((row) => row % 100)).size > 5, true, 'not the same place of each hundred')
  const minutes = Array.from({ length: 500 }, (_, row) => correctionOf(1, row))
  t.strictSame([Math.min(...minutes), Math.max(...minutes)], [1, 60])
})

t.test('a fingerprint does not know the order of rows, and sees every change of one', async (t) => {
  type Row = [string, string, bigint, bigint | null, bigint]
  const rows: Row[] = [
    ['LAS', 'PHL', 978307260000000n, 33n, 2176n],
    ['ATL', 'SAV', 978307260000000n, null, 215n],
  ]
  const of = (rows: readonly Row[]) => {
    const builder = new FingerprintBuilder()
    for (const row of rows) builder.add(...row)
    return builder.finish()
  }
  const base = of(rows)
  t.strictSame(differences(base, of([...rows].reverse())), [])
  const changes: Row[] = [
    ['LAX', 'PHL', 978307260000000n, 33n, 2176n],
    ['LAS', 'PHX', 978307260000000n, 33n, 2176n],
    ['LAS', 'PHL', 978307260000001n, 33n, 2176n],
    ['LAS', 'PHL', 978307260000000n, 34n, 2176n],
    ['LAS', 'PHL', 978307260000000n, null, 2176n],
    ['LAS', 'PHL', 978307260000000n, 33n, 2177n],
    ['PHL', 'LAS', 978307260000000n, 33n, 2176n],
  ]
  for (const changed of changes) t.not(of([changed, rows[1]!]).hash, base.hash, changed.join(' '))
  t.equal(differences(base, of([rows[0]!, rows[0]!])).length > 0, true, 'one row twice in the place of another')
  t.equal(
    differences(base, of([rows[0]!])).some((line) => line.startsWith('rows')),
    true,
  )
})

t.test(
  'progress: one line that fits a terminal, plain lines elsewhere, colours only where they are wanted',
  async (t) => {
    const state = { label: 'upsert ', rows: 1_500_000, total: 3_000_000, seconds: 10, running: 2 }
    const wide = progressBar(state, 120)
    t.match(wide, /^upsert {2}▕█{15} {15}▏ 50 % {2}1,500,000 rows {2}150,000 rows\/s {2}2 compacting {2}ETA 10\.0 s$/)
    for (const width of [40, 60, 79, 120]) t.ok(progressBar(state, width).length <= width, `${width} columns`)

    const written: string[] = []
    const stream = (isTTY: boolean, columns?: number) => ({
      isTTY,
      ...(columns !== undefined && { columns }),
      write: (text: string | Uint8Array) => written.push(String(text)) > 0,
    })
    t.equal(openTerminal(stream(true), {}).style('red', 'x'), '\u001b[31mx\u001b[39m')
    t.equal(openTerminal(stream(true), { NO_COLOR: '1' }).style('red', 'x'), 'x')
    t.equal(openTerminal(stream(true), { TERM: 'dumb' }).style('red', 'x'), 'x')
    t.equal(openTerminal(stream(false), {}).style('red', 'x'), 'x')

    let now = 0
    const run = (isTTY: boolean) => {
      written.length = 0
      now = 0
      const terminal = openTerminal(stream(isTTY, 70), {})
      const progress = new Progress(terminal, { label: 'load', total: 100, running: () => 1, now: () => now })
      for (let rows = 0; rows < 100; rows++, now += 60) progress.update(rows)
      progress.finish(100)
      return [...written]
    }
    const drawn = run(true)
    t.ok(drawn.length > 40 && drawn.length < 60, 'a bar is drawn ten times a second at most')
    t.ok(drawn.slice(0, -1).every((text) => text.startsWith('\r') && text.endsWith('\u001b[K') && !text.includes('\n')))
    t.ok(
      drawn.every((text) => text.length < 70 + '\r\u001b[K'.length),
      'the last column stays free',
    )
    t.equal(drawn.at(-1), '\n')
    const lines = run(false)
    t.equal(lines.length, 2, 'a log has a line after five seconds, and the last one')
    t.ok(lines.every((text) => /^load .*\n$/.test(text) && !text.includes('\r') && !text.includes('\u001b')))
  },
)

t.test('levels are drawn on one scale and fit the width', async (t) => {
  const level = (level: number, files: number, rows: number, bytes: number) => ({ level, runs: 1, files, rows, bytes })
  const buckets: BucketLevels[] = [
    { partition: '', bucket: 0, runs: 2, levels: [level(0, 1, 10, 1000), level(5, 12, 123456, 4_000_000)] },
    { partition: 'day=1', bucket: 1, runs: 1, levels: [level(5, 1, 1000, 2_000_000)] },
  ]
  const style = (_: string, text: string) => text
  t.strictSame(drawLevels(buckets, { width: 62, style }), [
    'bucket 0  2 runs',
    `  L0  ▏${' '.repeat(19)}    1 file       10 rows  1.00 kB`,
    `  L5  ${'█'.repeat(20)}  12 files  123,456 rows  4.00 MB`,
    'day=1/bucket 1  1 run',
    `  L5  ${'█'.repeat(10)}${' '.repeat(10)}    1 file    1,000 rows  2.00 MB`,
  ])
  for (const width of [50, 80, 200]) {
    t.ok(
      drawLevels(buckets, { width, style }).every((line) => line.length < width),
      `${width} columns`,
    )
  }
})

t.test('figures are short', async (t) => {
  t.strictSame([0, 999, 1000, 13_493_022, 99_960, 999_600].map(formatBytes), [
    '0 B',
    '999 B',
    '1.00 kB',
    '13.5 MB',
    '100 kB',
    '1.00 MB',
  ])
  t.strictSame([0.04, 12.34, 99.96, 125].map(formatSeconds), ['0.0 s', '12.3 s', '1 min 40 s', '2 min 5 s'])
  t.strictSame([formatBar(0, 4), formatBar(0.0001, 4), formatBar(0.5, 3), formatBar(2, 4)], ['', '▏', '█▌', '████'])
})

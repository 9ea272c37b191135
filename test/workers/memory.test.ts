import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const script = fileURLToPath(new URL('./child.mjs', import.meta.url))

async function run(name: string, folder: string, ...more: string[]) {
  const args = ['--max-old-space-size=256', script, name, folder, ...more]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 280_000 })
  return JSON.parse(stdout)
}

t.test('C116 60 runs of 20,000 rows are merged with spill files in a heap of 256 MB', async (t) => {
  const folder = t.testdir()
  const { before, spilled, found, expected, wrong, peakMegabytes } = await run('merge', folder)
  t.equal(before, 60)
  t.ok(spilled.length === 1 && spilled[0] > 0, `${spilled} bytes spilled`)
  t.equal(found, expected)
  t.equal(wrong, 0)
  t.ok(peakMegabytes < 700, `${peakMegabytes} MB`)
  t.strictSame(
    readdirSync(folder).filter((name) => name.includes('spill')),
    [],
    'no spill file is left',
  )
})

t.test('C116 rows of some megabytes are written, merged and read', async (t) => {
  const { right, peakMegabytes } = await run('large', t.testdir(), String(4 << 20))
  t.equal(right, 10)
  t.ok(peakMegabytes < 700, `${peakMegabytes} MB`)
})

t.test('rows far beyond the write buffer need no more memory', async (t) => {
  const { rows, peakMegabytes } = await run('budget', t.testdir())
  t.equal(rows, 200_000)
  t.ok(peakMegabytes < 450, `${peakMegabytes} MB for 200 MB of rows in a buffer of 8 MB`)
})

t.test('C058 scanning many zstd files again and again does not grow', async (t) => {
  const passes = await run('zstd', t.testdir())
  t.same(
    passes.map(({ rows }: { rows: number }) => rows),
    [30_000, 30_000, 30_000],
  )
  t.ok(passes[2].megabytes < passes[0].megabytes + 50, JSON.stringify(passes))
})

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'

function kernel(kind: string, input: string) {
  const args = ['--import', 'tsx', 'tools/kernel/main.ts', ...(kind === '' ? [] : [kind])]
  return spawnSync(process.execPath, args, { input, encoding: 'utf8', maxBuffer: 1 << 26 })
}

const cases = (kind: string) => readFileSync(`test/golden/kernel/${kind}.jsonl`, 'utf8').trim().split('\n')

/** The answer fields of each kind: what a case without its answer lacks. */
const answers: Readonly<Record<string, readonly string[]>> = {
  picks: ['pick'],
  sections: ['sections'],
  tasks: ['calls', 'before'],
  rows: ['bytes', 'hash', 'bucket2', 'bucket7', 'bucket128'],
}

for (const [kind, fields] of Object.entries(answers)) {
  t.test(`kernel ${kind}: every case comes back in order with its answer`, async (t) => {
    const golden = cases(kind).map((line) => JSON.parse(line))
    const questions = golden.map((line) =>
      Object.fromEntries(Object.entries(line).filter(([name]) => !fields.includes(name))),
    )
    const { stdout, status, stderr } = kernel(kind, questions.map((line) => JSON.stringify(line)).join('\n'))
    t.equal(status, 0)
    t.equal(stderr, '')
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    t.equal(lines.length, golden.length)
    t.same(
      lines.map((line) => Object.keys(line)),
      golden.map((line) => Object.keys(line)),
      'field names as in the case files',
    )
    // Sections and tasks leave an order free; sections.test.ts compares them as they should be.
    if (kind === 'picks' || kind === 'rows') t.same(lines, golden)
  })
}

t.test('a bad line is named, and ends the run with exit code 2', async (t) => {
  const [good] = cases('picks')
  const broken = kernel('picks', `${good}\n{"runs":\n${good}\n`)
  t.equal(broken.status, 2)
  t.equal(broken.stdout, `${good}\n`)
  t.match(broken.stderr, /^line 2: /)
  const missing = kernel('picks', `\n${good.replace('"trigger":5', '"trigger":"5"')}`)
  t.equal(missing.status, 2)
  t.match(missing.stderr, /^line 2: "trigger" must be an integer below 2\^53, not "5"/)
  t.equal(
    kernel('sections', '{"files":[{"name":"a"}]}').stderr,
    'line 1: "size" must be an integer below 2^53, not missing\n',
  )
})

t.test('wrong usage prints the usage with exit code 2', async (t) => {
  for (const kind of ['', 'constructor', 'pick']) {
    const { status, stderr } = kernel(kind, '')
    t.equal(status, 2)
    t.match(stderr, /^usage: npm run -s kernel/)
  }
})

import { readFileSync } from 'node:fs'
import t from 'tap'
import { explainFull, explainPick, formatBytes, renderExplanation } from '../../../engine/plan/explain.ts'
import { buildLevels, replaceFiles } from '../../../engine/plan/levels.ts'
import {
  activeOffPeakRatio,
  decide,
  type PickOptions,
  pickCompaction,
  pickFull,
  type RunSize,
} from '../../../engine/plan/pick.ts'
import { answerPick } from '../../../tools/kernel/picks.ts'
import { type Case, dataDriven } from '../../support/data-driven.ts'
import { compareBytes, file } from '../../support/plan-files.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const defaults: PickOptions = {
  trigger: 5,
  numLevels: 6,
  sizeRatio: 1,
  maxSizeAmp: 200,
  offPeakRatio: 0,
  optimizationIntervalMillis: null,
  lastFullMillis: null,
  nowMillis: 0,
  totalSizeThreshold: null,
  incrementalSizeThreshold: null,
  forceUpLevel0: false,
}

const units: Readonly<Record<string, number>> = { '': 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }

function parseBytes(text: string): number {
  const [, digits, unit] = /^(\d+)(\D*)$/.exec(text) ?? []
  return Number(digits) * units[unit]
}

function parseRuns(input: string): readonly RunSize[] {
  return [...input.matchAll(/L(\d+):(\S+)/g)].map(([, level, size]) => ({
    level: Number(level),
    bytes: parseBytes(size),
  }))
}

function parseOptions({ args }: Case): PickOptions {
  const number = (name: string) => (args[name] === undefined ? null : parseBytes(args[name]))
  return {
    ...defaults,
    trigger: number('trigger') ?? defaults.trigger,
    numLevels: number('levels') ?? defaults.numLevels,
    offPeakRatio: number('offpeak') ?? 0,
    optimizationIntervalMillis: number('interval'),
    lastFullMillis: number('last'),
    nowMillis: number('now') ?? 0,
    totalSizeThreshold: number('total'),
    incrementalSizeThreshold: number('incremental'),
    forceUpLevel0: args.force === 'true',
  }
}

dataDriven('test/testdata/pick.txt', (c) => {
  const { unit } = decide(parseRuns(c.input), parseOptions(c))
  return unit === null ? 'none' : `first ${unit.runCount} to L${unit.outputLevel} (${unit.reason})`
})

dataDriven('test/testdata/explain.txt', (c) => {
  const runs = parseRuns(c.input)
  const options = parseOptions(c)
  return renderExplanation(
    c.command === 'full' ? explainFull(runs, options.numLevels, options.trigger) : explainPick(runs, options),
  )
})

t.test('all golden picks', async (t) => {
  const lines = readFileSync('test/golden/kernel/picks.jsonl', 'utf8').trim().split('\n')
  t.equal(lines.length, 1464)
  for (const [index, line] of lines.entries()) {
    const { pick, ...input } = JSON.parse(line)
    const answer = answerPick(input)
    if (JSON.stringify(answer.pick) !== JSON.stringify(pick)) t.same(answer.pick, pick, `line ${index + 1}: ${line}`)
  }
})

t.test('a pick leaves no level-0 run behind and never writes over a run that stays', async (t) => {
  const random = seededRandom(7)
  for (let round = 0; round < 3000; round++) {
    const runs: RunSize[] = []
    const levelZero = Math.floor(random.fraction() * 9)
    for (let i = 0; i < levelZero; i++) runs.push({ level: 0, bytes: 1 + Math.floor(10 ** (random.fraction() * 6)) })
    for (let level = 1; level < 6; level++) {
      if (random.fraction() < 0.4) runs.push({ level, bytes: 1 + Math.floor(10 ** (random.fraction() * 7)) })
    }
    const options = {
      ...defaults,
      trigger: 2 + Math.floor(random.fraction() * 5),
      forceUpLevel0: random.fraction() < 0.5,
    }
    const { unit, rules } = decide(runs, options)
    const said = JSON.stringify({ runs, options, unit })
    if (rules.some((rule) => rule.holds) !== (unit !== null)) t.fail(`the trace disagrees: ${said}`)
    if (unit === null) {
      if (runs.length > options.trigger) t.fail(`too many runs and no pick: ${said}`)
      continue
    }
    const rest = runs.slice(unit.runCount)
    if (unit.outputLevel < 1 || unit.outputLevel >= options.numLevels) t.fail(`output out of range: ${said}`)
    if (rest.some((run) => run.level <= unit.outputLevel)) t.fail(`a newer or equal level stays: ${said}`)
    if (unit.runCount === 1 && runs[0].level === unit.outputLevel) t.fail(`moves nothing: ${said}`)
    const holding = rules.filter((rule) => rule.holds)
    if (holding.length !== 1 || rules.at(-1) !== holding[0])
      t.fail(`the last rule tried is the one that holds: ${said}`)
  }
})

t.test('a single file is a pick only where it can move up', async (t) => {
  const options = { ...defaults, trigger: 1 }
  const at = (level: number) => buildLevels([file({ name: 'a', level })], 6, compareBytes).runs
  t.equal(pickCompaction(at(5), options), null)
  t.equal(pickCompaction(at(0), { ...options, forceUpLevel0: true })?.outputLevel, 5)
  t.equal(pickCompaction(at(0), { ...options, forceUpLevel0: true })?.reason, 'forced-level-0')
})

t.test('C006: a second full compaction in a row finds nothing to do', async (t) => {
  const needs = { forceRewriteAllFiles: false }
  const levels = buildLevels([file({ name: 'a' }), file({ name: 'b', level: 3 })], 6, compareBytes)
  const pick = pickFull(levels, needs)
  t.match(pick, { outputLevel: 5, runCount: 2, reason: 'full' })
  const after = replaceFiles(levels, pick?.files ?? [], [file({ name: 'c', level: 5 })])
  t.equal(pickFull(after, needs), null)
  t.equal(pickFull(buildLevels([], 6, compareBytes), needs), null)
})

t.test('at the highest level only files that need it are rewritten, one by one', async (t) => {
  const files = [1, 2, 3].map((min) => file({ name: `f${min}`, level: 5, min }))
  const levels = buildLevels(files, 6, compareBytes)
  const some = pickFull(levels, { forceRewriteAllFiles: false, needsRewrite: (f) => f.name === 'f2' })
  t.match(some, { reason: 'rewrite-files', outputLevel: 5 })
  t.same(
    some?.files.map((f) => f.name),
    ['f2'],
  )
  t.equal(pickFull(levels, { forceRewriteAllFiles: true })?.files.length, 3)
})

t.test('off-peak hours', async (t) => {
  const hours = (startHour: number, endHour: number) => ({ startHour, endHour, ratio: 10 })
  const active = (startHour: number, endHour: number) =>
    [0, 1, 5, 6, 21, 22, 23].filter((hour) => activeOffPeakRatio(hours(startHour, endHour), hour) === 10)
  t.same(active(1, 6), [1, 5])
  t.same(active(22, 6), [0, 1, 5, 22, 23], 'past midnight')
  t.same(active(6, 6), [], 'equal hours')
  t.same(active(-1, 6), [])
  t.same(active(1, -1), [])
})

t.test('sizes for people', async (t) => {
  t.equal(formatBytes(0), '0 B')
  t.equal(formatBytes(1023), '1023 B')
  t.equal(formatBytes(1024), '1 KB')
  t.equal(formatBytes(1280 * 1024 ** 2), '1.25 GB')
  t.equal(formatBytes(1000 * 1024 ** 2), '1000 MB')
})

t.test('runs with deletes that need all older rows take all runs with them', async (t) => {
  const sizes = [1, 1, 1, 1, 1000].map((bytes, index) => ({ level: index < 4 ? 0 : 5, bytes }))
  const without = decide(sizes, defaults)
  t.strictSame([without.unit?.runCount, without.unit?.outputLevel], [4, 4])
  const runs = sizes.map((run, index) => ({ ...run, retractsApart: index === 2 }))
  const { unit, rules } = decide(runs, defaults)
  t.strictSame(unit, { runCount: 5, outputLevel: 5, reason: 'deletes-go-down' })
  t.strictSame(rules.at(-1), { rule: 'deletes-go-down', holds: true })
  t.match(renderExplanation(explainPick(runs, defaults)), /hold deletes .* all runs are taken/)
  const below = sizes.map((run, index) => ({ ...run, retractsApart: index === 4 }))
  t.strictSame(decide(below, defaults).unit, without.unit, 'deletes below what is taken stay where they are')
})

import { assertNever } from '../assert.ts'
import {
  type Decision,
  decide,
  decideFull,
  type Growth,
  type GrowthStep,
  type PickOptions,
  type RuleTrace,
  type RunSize,
  type Unit,
} from './pick.ts'
import type { PickReason } from './types.ts'

/** A pick worked out in the open: what came in, each rule with its numbers, what came out. Plain data. */
export interface Explanation {
  readonly trigger: number
  /** Newest first. */
  readonly runs: readonly RunSize[]
  readonly rules: readonly RuleTrace[]
  /** Null = nothing to compact. */
  readonly unit: Unit | null
  /** Runs after the pick, as if no row went away: the output is as large as its inputs. The same runs without a pick. */
  readonly levelsAfter: readonly RunSize[]
}

/** Explains what `pickCompaction` decides for these runs; both take the decision and its trace from `decide`. */
export function explainPick(runs: readonly RunSize[], options: PickOptions): Explanation {
  return explain(runs, options.trigger, decide(runs, options))
}

/** Explains a full compaction on request, as `decideFull` takes it; `rewrites` are the files of a pick with that reason. */
export function explainFull(
  runs: readonly RunSize[],
  numLevels: number,
  trigger: number,
  rewrites: readonly { readonly bytes: number }[] = [],
): Explanation {
  return explain(runs, trigger, decideFull(runs, numLevels, rewrites))
}

/** The explanation as text: the runs, a line a rule, the verdict, the levels after. No trailing newline. */
export function renderExplanation(explanation: Explanation): string {
  const { runs, rules, unit, levelsAfter } = explanation
  const lines = [`${counted(runs.length, 'run')}, trigger ${explanation.trigger}. Levels: ${renderLevels(runs)}.`]
  for (const rule of rules) lines.push(renderRule(rule))
  lines.push(unit === null ? 'Nothing to compact.' : renderUnit(unit, runs))
  if (unit !== null) lines.push(`Levels after: ${renderLevels(levelsAfter)} at most.`)
  return lines.join('\n')
}

/** Bytes with a unit of 1024 and at least three digits: `999 B`, `26 MB`, `1.25 GB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${units[unit]}`
}

function explain(runs: readonly RunSize[], trigger: number, { unit, rules }: Decision): Explanation {
  const sizes = runs.map(({ level, bytes }) => ({ level, bytes }))
  return { trigger, runs: sizes, rules, unit, levelsAfter: applyUnit(sizes, unit) }
}

function applyUnit(runs: readonly RunSize[], unit: Unit | null): readonly RunSize[] {
  if (unit === null) return runs
  let bytes = 0
  for (const run of runs.slice(0, unit.runCount)) bytes += run.bytes
  return [{ level: unit.outputLevel, bytes }, ...runs.slice(unit.runCount)]
}

function renderRule(rule: RuleTrace): string {
  switch (rule.rule) {
    case 'interval': {
      const since =
        rule.sinceMillis === null ? 'none in this process yet' : `${formatMillis(rule.sinceMillis)} since the last one`
      return `Full compaction interval: ${since}, limit ${formatMillis(rule.intervalMillis)}: ${answer(rule.holds)}`
    }
    case 'total-size':
      return `Total size: ${formatBytes(rule.bytes)} below ${formatBytes(rule.threshold)}: ${answer(rule.holds)}`
    case 'incremental-size':
      return `Size above the highest level: ${formatBytes(rule.bytes)} over ${formatBytes(rule.threshold)}: ${answer(rule.holds)}`
    case 'too-few-runs':
      return `Fewer runs than the trigger, ${rule.runs} of ${rule.trigger}: sizes are not looked at.`
    case 'amplification':
      return `Size amplification: ${formatBytes(rule.newerBytes)} above the last run of ${formatBytes(rule.lastBytes)} is ${percent(rule.newerBytes, rule.lastBytes)}, limit ${rule.limitPercent} %: ${answer(rule.holds)}`
    case 'ratio':
      return `Size ratio, from the newest run: ${renderGrowth(rule.growth)}`
    case 'count':
      return `Number of runs, from the ${rule.growth.startRuns} newest that are too many: ${renderGrowth(rule.growth)}`
    case 'forced-level-0':
      return `Level 0 goes up, from its ${counted(rule.growth.startRuns, 'run')}: ${renderGrowth(rule.growth)}`
    case 'full':
      return rule.holds
        ? 'Full compaction on request: all runs.'
        : 'Full compaction on request: nothing lies below the highest level.'
    case 'rewrite-files':
      return `Files to write again, one by one (expired rows, deletion vectors, or all by option): ${counted(rule.files, 'file')} of ${formatBytes(rule.bytes)}.`
    case 'deletes-go-down':
      return 'The runs hold deletes that can only be merged with all older rows: all runs are taken.'
    default:
      return assertNever(rule)
  }
}

function renderGrowth(growth: Growth): string {
  const steps = growth.steps.map((step) => renderStep(step, growth.ratioPercent))
  const { unit } = growth
  const taken = unit === null ? 'no.' : `yes, ${counted(unit.runCount, 'run')}.`
  return [...steps, taken].join(' ')
}

function renderStep(step: GrowthStep, ratioPercent: number): string {
  const candidate = `${formatBytes(step.candidateBytes)} + ${ratioPercent} % = ${formatBytes(step.limitBytes)}`
  const next = `L${step.nextLevel} ${formatBytes(step.nextBytes)}`
  switch (step.verdict) {
    case 'fits':
      return `${candidate} reaches ${next}, taken;`
    case 'low-level':
      return `${candidate} is below ${next}, taken all the same as it lies at level ${step.nextLevel};`
    case 'stop':
      return `${candidate} is below ${next}, stop:`
    default:
      return assertNever(step.verdict)
  }
}

const reasons: Readonly<Record<PickReason, string>> = {
  'early-full': 'early full compaction',
  amplification: 'size amplification',
  ratio: 'size ratio',
  count: 'number of runs',
  'forced-level-0': 'level 0 goes up',
  full: 'full compaction',
  'rewrite-files': 'files to rewrite',
  'deletes-go-down': 'some rows need all older ones',
}

function renderUnit(unit: Unit, runs: readonly RunSize[]): string {
  if (unit.reason === 'rewrite-files')
    return `Pick: those files, to level ${unit.outputLevel} (${reasons[unit.reason]}).`
  const which =
    unit.runCount === runs.length
      ? `all ${counted(unit.runCount, 'run')}`
      : `the ${counted(unit.runCount, 'newest run')}`
  let bytes = 0
  for (const run of runs.slice(0, unit.runCount)) bytes += run.bytes
  return `Pick: ${which}, ${formatBytes(bytes)}, to level ${unit.outputLevel} (${reasons[unit.reason]}).`
}

function renderLevels(runs: readonly RunSize[]): string {
  if (runs.length === 0) return 'empty'
  return runs.map((run) => `L${run.level} ${formatBytes(run.bytes)}`).join(', ')
}

function percent(part: number, whole: number): string {
  if (whole === 0) return part === 0 ? '0 %' : 'infinite'
  return `${Number(((part * 100) / whole).toPrecision(3))} %`
}

function formatMillis(millis: number): string {
  const units: readonly (readonly [string, number])[] = [
    ['d', 86400000],
    ['h', 3600000],
    ['min', 60000],
    ['s', 1000],
  ]
  const [unit, size] = units.find(([, length]) => millis >= length) ?? ['ms', 1]
  return `${Number((millis / size).toPrecision(3))} ${unit}`
}

function answer(holds: boolean): string {
  return holds ? 'yes.' : 'no.'
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

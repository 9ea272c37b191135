import type { DataFile } from '../../formats/meta/types.ts'
import { assert } from '../assert.ts'
import type { Levels } from './levels.ts'
import type { Pick, PickReason, SortedRun } from './types.ts'

/** Options of the universal picker, resolved: no defaults left to fill, no clock left to ask. */
export interface PickOptions {
  /** `num-sorted-run.compaction-trigger`. */
  readonly trigger: number
  /** Levels of the bucket; the highest is `numLevels - 1`. */
  readonly numLevels: number
  /** `compaction.size-ratio`, percent. */
  readonly sizeRatio: number
  /** `compaction.max-size-amplification-percent`. */
  readonly maxSizeAmp: number
  /** `compaction.offpeak-ratio` while it is active (see `activeOffPeakRatio`), else 0. */
  readonly offPeakRatio: number
  /** `compaction.optimization-interval`; null = not set. */
  readonly optimizationIntervalMillis: number | null
  /** When this process last picked all runs of the bucket; null = never. */
  readonly lastFullMillis: number | null
  readonly nowMillis: number
  /** `compaction.total-size-threshold`, bytes; null = not set. */
  readonly totalSizeThreshold: number | null
  /** `compaction.incremental-size-threshold`, bytes; null = not set. */
  readonly incrementalSizeThreshold: number | null
  /** `compaction.force-up-level-0`. */
  readonly forceUpLevel0: boolean
}

/** All that the picker looks at: a `SortedRun` is one. */
export interface RunSize {
  readonly level: number
  readonly bytes: number
  /** Holds deletes that may only be merged with all older rows; see `MergeSpec.retractsApart`. */
  readonly retractsApart?: boolean
}

/** The first `runCount` runs merge into `outputLevel`. */
export interface Unit {
  readonly runCount: number
  readonly outputLevel: number
  readonly reason: PickReason
}

/** One look at the next run: `limitBytes` = candidate * (100 + ratio) / 100, compared with `nextBytes`. */
export interface GrowthStep {
  readonly candidateRuns: number
  readonly candidateBytes: number
  readonly limitBytes: number
  readonly nextLevel: number
  readonly nextBytes: number
  /** `fits`: not larger than the limit. `low-level`: larger, but growth has started and it lies at level 0 or 1. */
  readonly verdict: 'fits' | 'low-level' | 'stop'
}

/** How a pick grew from `startRuns`; `unit` is null when it never started. */
export interface Growth {
  readonly startRuns: number
  readonly forced: boolean
  readonly ratioPercent: number
  readonly steps: readonly GrowthStep[]
  readonly unit: Unit | null
}

/** One rule as it was tried, with the numbers that decided it. A rule after the first that holds is not tried. */
export type RuleTrace =
  | {
      readonly rule: 'interval'
      readonly sinceMillis: number | null
      readonly intervalMillis: number
      readonly holds: boolean
    }
  | {
      readonly rule: 'total-size' | 'incremental-size'
      readonly bytes: number
      readonly threshold: number
      readonly holds: boolean
    }
  | { readonly rule: 'too-few-runs'; readonly runs: number; readonly trigger: number; readonly holds: false }
  | {
      readonly rule: 'amplification'
      readonly newerBytes: number
      readonly lastBytes: number
      readonly limitPercent: number
      readonly holds: boolean
    }
  | {
      readonly rule: 'ratio' | 'count' | 'forced-level-0'
      readonly growth: Growth
      readonly holds: boolean
    }
  | { readonly rule: 'full' | 'deletes-go-down'; readonly holds: boolean }
  | { readonly rule: 'rewrite-files'; readonly files: number; readonly bytes: number; readonly holds: true }

/** A decision and how it was reached; `unit` null = nothing to compact. */
export interface Decision {
  readonly unit: Unit | null
  readonly rules: readonly RuleTrace[]
}

/**
 * Universal compaction: which runs, counted from the newest, merge into which level. The first rule that holds wins:
 * early full, size amplification, size ratio, number of runs, level 0 upwards when forced. Where the runs it takes hold deletes
 * that need all older rows, all runs are taken: see docs/adr/0007.
 *
 * The growth rule is the one of Paimon's development line: once something is picked, runs of level 0 and 1 are taken
 * whatever their size; releases up to 2.0 stop at any clearly larger run. O(runs). Sizes are compared exactly.
 */
export function decide(runs: readonly RunSize[], options: PickOptions): Decision {
  const rules: RuleTrace[] = []
  if (runs.length === 0) return { unit: null, rules }
  const unit = earlyFull(runs, options, rules) ?? byShape(runs, options, rules) ?? forcedUp(runs, options, rules)
  return { unit: unit && withOlderRows(runs, unit, options.numLevels, rules), rules }
}

function withOlderRows(runs: readonly RunSize[], unit: Unit, numLevels: number, rules: RuleTrace[]): Unit {
  const needed = unit.runCount < runs.length && runs.slice(0, unit.runCount).some((run) => run.retractsApart === true)
  if (!needed) return unit
  rules.push({ rule: 'deletes-go-down', holds: true })
  return { runCount: runs.length, outputLevel: numLevels - 1, reason: 'deletes-go-down' }
}

/** `decide` for real runs: the files to take. No pick is a single file that lies at the output level already. */
export function pickCompaction(runs: readonly SortedRun[], options: PickOptions): Pick | null {
  const { unit } = decide(runs, options)
  return unit === null ? null : takeRuns(runs, unit)
}

/**
 * A full compaction on request: all runs to the highest level. Where one run is left and lies there, nothing, or those of its files
 * that have to be written again.
 */
export function decideFull(
  runs: readonly RunSize[],
  numLevels: number,
  rewrites: readonly { readonly bytes: number }[] = [],
): Decision {
  const outputLevel = numLevels - 1
  const holds = runs.length > 1 || (runs.length === 1 && runs[0].level !== outputLevel)
  const rules: RuleTrace[] = [{ rule: 'full', holds }]
  if (holds) return { unit: { runCount: runs.length, outputLevel, reason: 'full' }, rules }
  if (rewrites.length === 0) return { unit: null, rules }
  rules.push({ rule: 'rewrite-files', files: rewrites.length, bytes: sumBytes(rewrites), holds: true })
  return { unit: { runCount: runs.length, outputLevel, reason: 'rewrite-files' }, rules }
}

/** Files that a full compaction must write again though they already lie at the highest level. */
export interface RewriteNeeds {
  /** `compaction.force-rewrite-all-files`. */
  readonly forceRewriteAllFiles: boolean
  /** Holds expired records, or has a deletion vector. */
  readonly needsRewrite?: ((file: DataFile) => boolean) | undefined
}

/**
 * `decideFull` for a bucket. When all lies at the highest level already, only files that need it are rewritten, one by one
 * (reason `rewrite-files`, see `rewriteEach`), so a second full compaction in a row does nothing.
 */
export function pickFull(levels: Levels, needs: RewriteNeeds): Pick | null {
  const { runs, numLevels } = levels
  const rewrites = filesToRewrite(levels, needs)
  const { unit } = decideFull(runs, numLevels, rewrites)
  if (unit === null) return null
  return unit.reason === 'rewrite-files' ? { ...takeRuns(runs, unit), files: rewrites } : takeRuns(runs, unit)
}

function filesToRewrite({ runs }: Levels, needs: RewriteNeeds): readonly DataFile[] {
  return runs
    .flatMap((run) => run.files)
    .filter((file) => needs.forceRewriteAllFiles || needs.needsRewrite?.(file) === true)
}

/** Hours of the day, local time, from `start` inclusive to `end` exclusive; -1 = not set. May pass midnight. */
export interface OffPeakHours {
  readonly startHour: number
  readonly endHour: number
  readonly ratio: number
}

/** `ratio` inside the off-peak hours, else 0. Equal hours, or one of them -1, switch it off. */
export function activeOffPeakRatio(hours: OffPeakHours, hour: number): number {
  const { startHour, endHour, ratio } = hours
  if (startHour === -1 || endHour === -1 || startHour === endHour) return 0
  const inside = startHour < endHour ? hour >= startHour && hour < endHour : hour >= startHour || hour < endHour
  return inside ? ratio : 0
}

function takeRuns(runs: readonly SortedRun[], unit: Unit): Pick {
  const files = runs.slice(0, unit.runCount).flatMap((run) => run.files)
  return { outputLevel: unit.outputLevel, runCount: unit.runCount, files, reason: unit.reason }
}

function earlyFull(runs: readonly RunSize[], options: PickOptions, rules: RuleTrace[]): Unit | null {
  if (runs.length === 1) return null
  const maxLevel = options.numLevels - 1
  const full: Unit = { runCount: runs.length, outputLevel: maxLevel, reason: 'early-full' }

  const intervalMillis = options.optimizationIntervalMillis
  if (intervalMillis !== null) {
    const sinceMillis = options.lastFullMillis === null ? null : options.nowMillis - options.lastFullMillis
    const holds = sinceMillis === null || sinceMillis > intervalMillis
    rules.push({ rule: 'interval', sinceMillis, intervalMillis, holds })
    if (holds) return full
  }
  if (options.totalSizeThreshold !== null) {
    const bytes = sumBytes(runs)
    const holds = bytes < options.totalSizeThreshold
    rules.push({ rule: 'total-size', bytes, threshold: options.totalSizeThreshold, holds })
    if (holds) return full
  }
  if (options.incrementalSizeThreshold !== null) {
    const bytes = sumBytes(runs.filter((run) => run.level !== maxLevel))
    const holds = bytes > options.incrementalSizeThreshold
    rules.push({ rule: 'incremental-size', bytes, threshold: options.incrementalSizeThreshold, holds })
    if (holds) return full
  }
  return null
}

function byShape(runs: readonly RunSize[], options: PickOptions, rules: RuleTrace[]): Unit | null {
  const { trigger } = options
  if (runs.length < trigger) {
    rules.push({ rule: 'too-few-runs', runs: runs.length, trigger, holds: false })
    return null
  }
  const newer = runs.slice(0, -1)
  const lastBytes = runs[runs.length - 1].bytes
  const amplified = exceedsPercent(newer, options.maxSizeAmp, lastBytes)
  const newerBytes = sumBytes(newer)
  rules.push({ rule: 'amplification', newerBytes, lastBytes, limitPercent: options.maxSizeAmp, holds: amplified })
  if (amplified) {
    return { runCount: runs.length, outputLevel: options.numLevels - 1, reason: 'amplification' }
  }
  const byRatio = grow(runs, options, 1, 'ratio')
  rules.push({ rule: 'ratio', growth: byRatio, holds: byRatio.unit !== null })
  if (byRatio.unit !== null || runs.length <= trigger) return byRatio.unit

  const byCount = grow(runs, options, runs.length - trigger + 1, 'count')
  rules.push({ rule: 'count', growth: byCount, holds: byCount.unit !== null })
  return byCount.unit
}

function forcedUp(runs: readonly RunSize[], options: PickOptions, rules: RuleTrace[]): Unit | null {
  if (!options.forceUpLevel0) return null
  const levelZero = runs.filter((run) => run.level === 0).length
  if (levelZero === 0) return null
  const growth = grow(runs, options, levelZero, 'forced-level-0')
  rules.push({ rule: 'forced-level-0', growth, holds: growth.unit !== null })
  return growth.unit
}

function grow(
  runs: readonly RunSize[],
  options: PickOptions,
  startRuns: number,
  reason: 'ratio' | 'count' | 'forced-level-0',
): Growth {
  const ratioPercent = options.sizeRatio + options.offPeakRatio
  const forced = reason === 'forced-level-0'
  const steps: GrowthStep[] = []
  let candidateRuns = startRuns
  let candidateBytes = sumBytes(runs.slice(0, startRuns))
  let started = forced || startRuns > 1
  for (const next of runs.slice(startRuns)) {
    // The order of these operations is part of the rule: it rounds as Java's doubles do.
    const limitBytes = (candidateBytes * (100 + ratioPercent)) / 100
    const fits = limitBytes >= next.bytes
    const verdict = fits ? 'fits' : started && next.level <= 1 ? 'low-level' : 'stop'
    steps.push({
      candidateRuns,
      candidateBytes,
      limitBytes,
      nextLevel: next.level,
      nextBytes: next.bytes,
      verdict,
    })
    if (verdict === 'stop') break
    candidateRuns++
    candidateBytes += next.bytes
    started = true
  }
  const unit = started ? buildUnit(runs, candidateRuns, options.numLevels - 1, reason) : null
  return { startRuns, forced, ratioPercent, steps, unit }
}

/**
 * The output lies just above the first run that stays. That run lies at level 2 or higher, since growth took all below: so
 * the output is never level 0, where a run is one file, and no newer run stays behind it.
 */
function buildUnit(runs: readonly RunSize[], runCount: number, maxLevel: number, reason: PickReason): Unit {
  if (runCount === runs.length) return { runCount, outputLevel: maxLevel, reason }
  const outputLevel = runs[runCount].level - 1
  assert(outputLevel > 0, 'a pick ends at level 0', { runCount, level: runs[runCount].level })
  return { runCount, outputLevel, reason }
}

/** Sum of the runs * 100 > percent * base, exactly: in doubles while the products are safe integers, else in bigints. */
function exceedsPercent(runs: readonly RunSize[], percent: number, base: number): boolean {
  const left = sumBytes(runs) * 100
  const right = percent * base
  if (left <= Number.MAX_SAFE_INTEGER && right <= Number.MAX_SAFE_INTEGER) return left > right
  const sum = runs.reduce((total, run) => total + BigInt(run.bytes), 0n)
  return sum * 100n > BigInt(percent) * BigInt(base)
}

function sumBytes(runs: readonly { readonly bytes: number }[]): number {
  let sum = 0
  for (const run of runs) sum += run.bytes
  return sum
}

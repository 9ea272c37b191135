import { TableError } from '../errors.ts'
import { isText, shown } from './check-call.ts'
import { MAX_INT, type StatsMode, statsMode } from './kinds.ts'
import type { Option } from './option.ts'
import { registry, type UsedValues } from './registry.ts'

/** Options of a table as schema files hold them. */
export type StoredOptions = Readonly<Record<string, string>>

type Dependent =
  | 'num-levels'
  | 'num-sorted-run.stop-trigger'
  | 'sort-spill-threshold'
  | 'file.block-size'
  | 'snapshot.ignore-empty-commit'

/**
 * Values of all options that the engine obeys, keyed as in schema files: sizes in bytes, durations in ms. Plain data, so a
 * task can carry it to another thread.
 */
export interface ResolvedOptions extends Omit<UsedValues, Dependent> {
  readonly 'num-levels': number
  readonly 'num-sorted-run.stop-trigger': number
  readonly 'sort-spill-threshold': number
  /** Bytes of a Parquet row group. */
  readonly 'file.block-size': number
  readonly 'snapshot.ignore-empty-commit': boolean
  /** `fields.<f>.stats-mode`, by column. */
  readonly fieldStatsModes: ReadonlyMap<string, StatsMode>
}

/**
 * Parses the options of a table and fills in defaults, those too that depend on other options. Throws `INVALID`, naming
 * option, value and allowed form. Options that the engine does not look at are not parsed: a table of another engine may hold
 * anything there. The result belongs to the object given, which must not change afterwards.
 */
export function resolve(stored: StoredOptions): ResolvedOptions {
  const known = resolvedOptions.get(stored)
  if (known !== undefined) return known
  const resolved = parseAll(stored)
  resolvedOptions.set(stored, resolved)
  return resolved
}

/** A schema's options never change, and one is asked for its own several times a commit. */
const resolvedOptions = new WeakMap<StoredOptions, ResolvedOptions>()

function parseAll(stored: StoredOptions): ResolvedOptions {
  const texts = canonicalTexts(stored)
  const values: Record<string, unknown> = {}
  for (const [key, option] of Object.entries<Option>(registry)) {
    if (option.use === 'used') values[key] = parseOr(key, option, texts.get(key))
  }
  const parsed = values as UsedValues
  const trigger = parsed['num-sorted-run.compaction-trigger']
  const stopTrigger = Math.max(trigger, parsed['num-sorted-run.stop-trigger'] ?? saturatingAdd(trigger, 3))
  const resolved: ResolvedOptions = {
    ...parsed,
    'num-levels': parsed['num-levels'] ?? saturatingAdd(trigger, 1),
    'num-sorted-run.stop-trigger': stopTrigger,
    'sort-spill-threshold': parsed['sort-spill-threshold'] ?? saturatingAdd(stopTrigger, 1),
    'file.block-size': parsed['file.block-size'] ?? parsed['parquet.block.size'],
    'snapshot.ignore-empty-commit': parsed['snapshot.ignore-empty-commit'] ?? !parsed['commit.force-create-snapshot'],
    fieldStatsModes: fieldStatsModes(stored),
  }
  checkTogether(resolved)
  return resolved
}

/** Adds two counts; what passes the 32-bit range stays at its end, which options use for "no limit". */
function saturatingAdd(left: number, right: number): number {
  return Math.min(left + right, MAX_INT)
}

/** Stored texts by the key of the registry. A key wins over its aliases, an earlier alias over a later one. */
export function canonicalTexts(stored: StoredOptions): ReadonlyMap<string, string> {
  const texts = new Map(Object.entries(stored))
  for (const [key, option] of Object.entries<Option>(registry)) {
    const alias = texts.has(key) ? undefined : option.aliases?.find((name) => texts.has(name))
    if (alias !== undefined) texts.set(key, texts.get(alias)!)
  }
  return texts
}

/** Value of a text, the default where there is none; throws `INVALID` for a text that is not of the option's kind. */
export function parseOr(key: string, option: Option, text: string | undefined): unknown {
  if (text === undefined) return option.default
  const value = option.kind.parse(text)
  if (value === undefined) throw invalid(key, text, `give ${option.kind.form}`)
  return value
}

/** `INVALID` for one option. `remedy` is what to do, without a full stop. */
export function invalid(option: string, value: unknown, remedy: string): TableError {
  const given = typeof value === 'string' ? value : shown(value)
  return new TableError('INVALID', `option '${option}' cannot be '${given}': ${remedy}.`, { option, value })
}

function fieldStatsModes(stored: StoredOptions): ReadonlyMap<string, StatsMode> {
  const modes = new Map<string, StatsMode>()
  for (const [key, text] of Object.entries(stored)) {
    const column = /^fields\.(.+)\.stats-mode$/.exec(key)?.[1]
    if (column === undefined) continue
    const mode = statsMode.parse(text)
    if (mode === undefined) throw invalid(key, text, `give ${statsMode.form}`)
    modes.set(column, mode)
  }
  return modes
}

/** Rules between options. */
function checkTogether(options: ResolvedOptions): void {
  if (options['deletion-vectors.enabled'] && options['changelog-producer'] === 'full-compaction') {
    const remedy = 'deletion-vectors.enabled goes with none, input and lookup'
    throw invalid('changelog-producer', 'full-compaction', remedy)
  }
  if (options.bucket === 0) throw invalid('bucket', 0, 'give 1 or more, -1 for dynamic, or -2 for postponed buckets')
  const least = options['snapshot.num-retained.min']
  const most = options['snapshot.num-retained.max']
  if (least > most) {
    throw invalid('snapshot.num-retained.min', least, `give at most snapshot.num-retained.max, which is ${most}`)
  }
}

/** Option values as callers give them. */
export type OptionInput = Readonly<Record<string, string | number | boolean>>

/** Texts for schema files. Throws `INVALID` for a value that is not a text, a boolean or a finite number. */
export function toStoredOptions(input: OptionInput): StoredOptions {
  return Object.fromEntries(
    Object.entries(input).map(([option, value]) => {
      const fits = isText(value) || typeof value === 'boolean' || Number.isFinite(value)
      if (!fits) throw invalid(option, value, 'give a text of valid Unicode, true, false or a finite number')
      if (!isText(option)) throw invalid(option, value, 'give its name in valid Unicode')
      return [option, String(value)]
    }),
  )
}

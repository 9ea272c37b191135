import type { DataFile } from '../../formats/meta/types.ts'
import type { StoredOptions } from '../options/resolve.ts'
import { type RewriterOptions, rewriterOf } from './rewriter.ts'

type PlacedFile = Pick<DataFile, 'level' | 'schemaId'>

/** The options of a schema, by its id: a file is named by the schema that it was written with. */
export type OptionsOf = (schemaId: number) => StoredOptions

/** The option whose change the files of a bucket do not allow yet. */
export interface Switched {
  readonly option: 'changelog-producer' | 'deletion-vectors.enabled' | 'force-lookup'
  readonly before: string
  readonly after: string
}

/** The options that an open table may be switched by, and the engine that they are about. */
interface Regime extends RewriterOptions {
  /**
   * What the rows of a key on several levels above 0 are: `parts` of the row; `whole`, each with all in it that lies below; or a `single`
   * one, since older ones are marked as deleted or were never written.
   */
  readonly rows: 'parts' | 'whole' | 'single'
}

const regimes = new WeakMap<StoredOptions, Regime>()

/** Not `resolve`: a value that an older schema had and that is in the way today stops no one from reading. */
function regimeOf(stored: StoredOptions): Regime {
  const known = regimes.get(stored)
  if (known !== undefined) return known
  const text = (key: string) => stored[key]?.toLowerCase()
  const options = {
    'changelog-producer': text('changelog-producer') ?? 'none',
    'merge-engine': text('merge-engine') ?? 'deduplicate',
    'deletion-vectors.enabled': text('deletion-vectors.enabled') === 'true',
    'force-lookup': text('force-lookup') === 'true',
  } as RewriterOptions
  const single = options['deletion-vectors.enabled'] || options['merge-engine'] === 'first-row'
  const regime: Regime = { ...options, rows: single ? 'single' : rewriterOf(options) === 'lookup' ? 'whole' : 'parts' }
  regimes.set(stored, regime)
  return regime
}

/**
 * Whether only the lowest row of a key above level 0 counts, since it has all in it that lies below: compactions by lookup write such
 * rows. `files` hold all rows of their keys. Where lookups were switched on or off with rows on several levels, these are as they were
 * written. Of no use to deduplicate, where the newest row is the result whatever lies below.
 */
export function upperRowsAreWhole(files: readonly PlacedFile[], current: StoredOptions, optionsOf: OptionsOf): boolean {
  const now = regimeOf(current)
  if (now['merge-engine'] === 'deduplicate') return false
  const earlier = earlierFiles(files, current, optionsOf).filter(
    ({ level, was }) => level > 0 && was.rows !== now.rows && was.rows !== 'single',
  )
  if (levelsOf(earlier) > 1) return earlier.every(({ was }) => was.rows === 'whole')
  return now.rows !== 'parts'
}

/**
 * What keeps a bucket from being written under the options of now; undefined when nothing does. Its files were written before, where they
 * are now they would give wrong rows (parts taken as whole, or the other way round) or wrong changes (told twice, or never). A full
 * compaction under the old options leaves nothing that could. `newestWins` as in `UpgradeContext`.
 */
export function switchedTooEarly(
  files: readonly PlacedFile[],
  top: number,
  current: StoredOptions,
  optionsOf: OptionsOf,
  newestWins: boolean,
): Switched | undefined {
  const now = regimeOf(current)
  const earlier = earlierFiles(files, current, optionsOf)
  const first = earlier.find(({ level, was }) => tellsWrong(was, now, level, top))
  if (first !== undefined) return change(first.was, now, ['changelog-producer'])
  const upper = (is: (was: Regime) => boolean) => earlier.filter(({ level, was }) => level > 0 && is(was))
  if (now['deletion-vectors.enabled']) {
    const unmarked = upper((was) => !was['deletion-vectors.enabled'])
    return levelsOf(unmarked) > 1 ? change(unmarked[0]!.was, now, ['deletion-vectors.enabled']) : undefined
  }
  const parts = upper((was) => was.rows === 'parts')
  if (now.rows === 'whole' && !newestWins && levelsOf(parts) > 1) return change(parts[0]!.was, now)
  if (now.rows !== 'parts' || now['merge-engine'] === 'deduplicate') return undefined
  const whole = earlier.filter(({ was }) => was.rows === 'whole')
  // A file that only moves up keeps its schema: from level 0 it would pass for a whole one.
  if (levelsOf(whole) > 1 || whole.some(({ level }) => level === 0)) return change(whole[0]!.was, now)
  return undefined
}

/**
 * Whether a row's change would be told twice, or never. `none` and `input` tell it with the flush, `lookup` when the row leaves level 0,
 * `full-compaction` when it reaches the highest level. What `none` told may come again: its readers take each record as the row of its key.
 */
function tellsWrong(was: Regime, now: Regime, level: number, top: number): boolean {
  const [before, after] = [was['changelog-producer'], now['changelog-producer']]
  if (before === after || before === 'none' || (before === 'input' && after === 'none')) return false
  return level < (before === 'full-compaction' || after === 'full-compaction' ? top : 1)
}

function earlierFiles(files: readonly PlacedFile[], current: StoredOptions, optionsOf: OptionsOf) {
  return files.flatMap(({ level, schemaId }) => {
    const options = optionsOf(schemaId)
    return options === current ? [] : [{ level, was: regimeOf(options) }]
  })
}

function levelsOf(files: readonly { readonly level: number }[]): number {
  return new Set(files.map(({ level }) => level)).size
}

function change(
  was: Regime,
  now: Regime,
  options: readonly Switched['option'][] = ['changelog-producer', 'deletion-vectors.enabled', 'force-lookup'],
): Switched {
  const option = options.find((option) => was[option] !== now[option])!
  return { option, before: String(was[option]), after: String(now[option]) }
}

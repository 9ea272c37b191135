import type { Batch } from '../../formats/column/column.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { deduplicate } from '../merge/engines/deduplicate.ts'
import { type LookupMerge, mergeWithLookup, WITHIN_RUNS } from '../merge/lookup.ts'
import { mergeRuns } from '../merge/merge.ts'
import type { MergeEngine } from '../merge/reduce.ts'
import { type TopChanges, tellTopChanges } from '../merge/top-changes.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import { byAge, levelApart, oldestFirst, sequencesTellAge } from '../plan/run-order.ts'
import type { SortedRun } from '../plan/types.ts'
import type { BucketFiles } from './files.ts'
import { rowsIn } from './key-range.ts'
import type { SpillFolder } from './spill.ts'
import type { KeyRange } from './task.ts'

/** Compressed bytes that one batch of a run should stand for: windows hold one batch a run. */
const BATCH_BYTES = 512 * 1024
const MAX_BATCH_ROWS = 8192

/**
 * The rows of a section by key, each key once: scan and compaction read through this. With a spill folder, runs past
 * `sort-spill-threshold` are first merged into spill files; a scan, which comes back for each stretch of rows, has none. Nothing is
 * read before the first row is asked for. While runs are spilled it gives batches without rows, so that the caller can pause.
 */
export function* mergeSection(
  files: BucketFiles,
  runs: readonly SortedRun[],
  spill: SpillFolder | undefined,
  options: SectionOptions = {},
): Generator<Batch> {
  const threshold = files.options['sort-spill-threshold']
  const { changes } = options
  const lookup = options.lookup ?? (files.upperRowsAreWhole(runs) ? WITHIN_RUNS : undefined)
  const isApart = (level: number) => level === changes?.top || (lookup !== undefined && level > 0)
  const shaped = changes === undefined ? runs : levelApart(runs, changes.top, files.layout)
  // What a delete does may depend on all older rows: then nothing is merged before they are at hand.
  const spills = spill !== undefined && files.engine.apart === undefined
  const aged = lookup !== undefined || (spills && files.engine !== deduplicate) || !sequencesTellAge(runs)
  let inputs: Input[] = [...(aged ? byAge(shaped, files.layout) : shaped)].sort(oldestFirst).map((run) => ({
    bytes: run.bytes,
    level: run.level,
    batches: () => runBatches(files, run.files, options),
  }))
  while (spills && inputs.length > threshold) {
    const mixed = inputs.filter((input) => !isApart(input.level))
    if (mixed.length < 2) break
    const count = Math.min(threshold, inputs.length - threshold + 1)
    const early = new Set(earlyOnes(mixed, files.engine).slice(0, count))
    const group = inputs.filter((input) => early.has(input))
    const steps = spill.write(merge(files, group, { reuse: options.reuse }), files.context.codecs)
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) yield { fields: files.layout.fields, rows: 0, columns: [] }
    const spilled = { ...step.value, level: Math.max(...group.map((input) => input.level)) }
    // Equal sequence numbers of one key are told apart by position only, so the spilled run stands where its newest was.
    const at = inputs.indexOf(group.at(-1)!)
    inputs = inputs.flatMap((input, index) => (index === at ? spilled : early.has(input) ? [] : input))
  }
  for (const batch of options.newest ?? []) inputs.push({ bytes: 0, level: 0, batches: () => [batch] })
  yield* merge(files, inputs, { ...options, lookup })
}

interface SectionOptions extends RunOptions {
  /** Sorted rows in memory, newer than any run: batches, oldest first. */
  readonly newest?: readonly Batch[]
  /** Tells what the merge changes against the rows of level `top`. */
  readonly changes?: (Pick<TopChanges, 'rules' | 'tell'> & { readonly top: number }) | undefined
  /** Merges level-0 rows with those of upper levels that they replace. */
  readonly lookup?: Pick<LookupMerge, 'find' | 'firstWins' | 'changes'> | undefined
}

/** In which order inputs are merged into spill files: the smallest first, or, where more than the newest row of a key counts, the oldest. */
function earlyOnes(inputs: readonly Input[], engine: MergeEngine): readonly Input[] {
  return engine === deduplicate ? inputs.toSorted((a, b) => a.bytes - b.bytes) : inputs
}

/** What to read of a run, and how: `prune` drops pages, `range` cuts rows exactly. */
interface RunOptions {
  /** Whoever takes the rows copies them at once: see `MergeOptions`. */
  readonly reuse?: boolean | undefined
  readonly prune?: Predicate | undefined
  readonly range?: KeyRange | undefined
}

interface Input {
  readonly bytes: number
  /** Of a run that is apart: then it is never spilled. */
  readonly level: number
  readonly batches: () => Iterable<Batch>
}

function merge(
  files: BucketFiles,
  inputs: readonly Input[],
  { reuse, changes, lookup }: Pick<SectionOptions, 'reuse' | 'changes' | 'lookup'>,
): Generator<Batch> {
  const { layout, options, engine } = files
  return mergeRuns(
    inputs.map((input) => input.batches()),
    {
      keys: layout.keyIndexes,
      keyTypes: layout.keyTypes,
      sequence: layout.sequence,
      engine,
      sortEngine: options['sort-engine'],
      reuse: reuse === true,
      reduceWindow:
        lookup === undefined
          ? changes &&
            tellTopChanges({ engine, before: inputs.findIndex(({ level }) => level === changes.top), ...changes })
          : mergeWithLookup({ engine, levels: inputs.map(({ level }) => level), sequence: layout.sequence, ...lookup }),
    },
  )
}

/** Files of a run, one open at a time. */
export function* runBatches(files: BucketFiles, run: readonly DataFile[], options: RunOptions = {}): Generator<Batch> {
  const { prune, range, reuse } = options
  for (const file of run) {
    const reader = files.open(file, rowsOfBytes(file, files.layout, BATCH_BYTES, MAX_BATCH_ROWS), { prune, reuse })
    try {
      yield* reader.batches(range && rowsIn(reader, file, range))
    } finally {
      files.close(reader)
    }
  }
}

/** How many rows stand for about so many bytes of the file, wide rows or narrow; at most `maxRows`. */
export function rowsOfBytes(file: DataFile, layout: KvLayout, bytes: number, maxRows: number): number {
  const rowBytes = Math.max(1, file.bytes / Math.max(1, file.rows), layout.fields.length / 8)
  return Math.max(1, Math.min(maxRows, Math.floor(bytes / rowBytes)))
}

import type { Batch } from '../../formats/column/column.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { deduplicate } from '../merge/engines/deduplicate.ts'
import { mergeRuns } from '../merge/merge.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import { maxSequence } from '../plan/levels.ts'
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
 * `sort-spill-threshold` are first merged into spill files, the smallest ones first; a scan, which comes back for each
 * stretch of rows, has none. Nothing is read before the first row is asked for. While runs are spilled it gives batches without
 * rows, so that the caller can pause.
 */
export function* mergeSection(
  files: BucketFiles,
  runs: readonly SortedRun[],
  spill: SpillFolder | undefined,
  options: RunOptions & { readonly newest?: Batch | undefined } = {},
): Generator<Batch> {
  const threshold = files.options['sort-spill-threshold']
  let inputs: Input[] = [...runs]
    .sort(oldestFirst)
    .map((run) => ({ bytes: run.bytes, batches: () => runBatches(files, run.files, options) }))
  while (spill !== undefined && inputs.length > threshold) {
    const bySize = [...inputs].sort((a, b) => a.bytes - b.bytes)
    const smallest = new Set(bySize.slice(0, Math.min(threshold, inputs.length - threshold + 1)))
    const group = inputs.filter((input) => smallest.has(input))
    const steps = spill.write(merge(files, group, options.reuse), files.context.codecs)
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) yield { fields: files.layout.fields, rows: 0, columns: [] }
    const spilled = step.value
    // Equal sequence numbers of one key are told apart by position only, so the spilled run stands where its newest was.
    const at = inputs.indexOf(group.at(-1)!)
    inputs = inputs.flatMap((input, index) => (index === at ? spilled : smallest.has(input) ? [] : input))
  }
  const newest = options.newest
  if (newest !== undefined) inputs.push({ bytes: 0, batches: () => [newest] })
  yield* merge(files, inputs, options.reuse)
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
  readonly batches: () => Iterable<Batch>
}

function merge(files: BucketFiles, inputs: readonly Input[], reuse = false): Generator<Batch> {
  const { layout, options } = files
  return mergeRuns(
    inputs.map((input) => input.batches()),
    {
      keys: layout.keyIndexes,
      keyTypes: layout.keyTypes,
      sequence: layout.sequence,
      engine: deduplicate,
      sortEngine: options['sort-engine'],
      reuse,
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

/** Higher levels are older; on a level the smaller sequence numbers are. Runs of a section may mix levels: the lowest counts. */
function oldestFirst(a: SortedRun, b: SortedRun): number {
  const level = lowestLevel(b) - lowestLevel(a)
  if (level !== 0) return level
  const [first, second] = [maxSequence(a.files), maxSequence(b.files)]
  return first < second ? -1 : first > second ? 1 : 0
}

function lowestLevel(run: SortedRun): number {
  return Math.min(...run.files.map((file) => file.level))
}

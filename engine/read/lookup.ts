import type { FixedColumn, Scalar } from '../../formats/column/column.ts'
import { compareScalars } from '../../formats/column/compare.ts'
import { isRetract } from '../merge/kinds.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import type { SortedRun } from '../plan/types.ts'
import type { FileRow, LookupFile } from '../store/lookup-file.ts'

/** A sorted run as lookups see it. */
export interface LookupRun {
  /** Disjoint, in key order. */
  readonly files: readonly LookupFile[]
  /** The largest sequence number in the runs behind this one; -1 when it is the last. */
  readonly laterSequence: bigint
}

export function lookupRuns(
  runs: readonly SortedRun[],
  fileOf: (file: SortedRun['files'][number]) => LookupFile,
): readonly LookupRun[] {
  const result: LookupRun[] = []
  let laterSequence = -1n
  for (const run of runs.toReversed()) {
    result.push({ files: run.files.map(fileOf), laterSequence })
    for (const { maxSequence } of run.files) if (maxSequence > laterSequence) laterSequence = maxSequence
  }
  return result.reverse()
}

/**
 * The newest record of a key in a bucket's runs, newest run first. A run holds a key once (I5), so the first hit decides, but
 * for files of writers that took the same sequence numbers: one whose numbers go above the hit's is looked into as well.
 * Undefined when there is none or it is a delete. `wanted` are columns that will be read of the row, by position in the layout.
 */
export function lookUp(
  runs: readonly LookupRun[],
  key: readonly Scalar[],
  layout: KvLayout,
  wanted: readonly number[],
): FileRow | undefined {
  let newest: FileRow | undefined
  let sequence = -1n
  for (const { files, laterSequence } of runs) {
    const file = fileFor(files, key)
    if (file === undefined || (newest !== undefined && file.file.maxSequence <= sequence)) continue
    const found = file.find(key)
    if (found === undefined) continue
    const decides = newest === undefined && file.file.minSequence > laterSequence
    const own = decides ? sequence : sequenceOf(found, layout, wanted)
    if (newest !== undefined && own <= sequence) continue
    newest = found
    sequence = own
    if (decides) break
  }
  return newest === undefined || isDelete(newest, layout, wanted) ? undefined : newest
}

export function sequenceOf({ file, block, row }: FileRow, layout: KvLayout, wanted: readonly number[]): bigint {
  const known = block.columns[layout.sequence]
  const column = known ?? file.columns(block, [layout.sequence, layout.kind, ...wanted])[0]
  return ((column as FixedColumn).values as BigInt64Array)[row]!
}

export function isDelete({ file, block, row }: FileRow, layout: KvLayout, wanted: readonly number[]): boolean {
  if (file.file.deleteRows === 0) return false
  const column = block.columns[layout.kind] ?? file.columns(block, [layout.kind, ...wanted])[0]
  return isRetract(((column as FixedColumn).values as Int8Array)[row]!)
}

/** The file of a run whose key range holds the key. Binary search over disjoint files. */
function fileFor(files: readonly LookupFile[], key: readonly Scalar[]): LookupFile | undefined {
  let low = 0
  let high = files.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(files[middle]!.maxKey, key) < 0) low = middle + 1
    else high = middle
  }
  const file = files[low]
  return file !== undefined && compareKeys(file.minKey, key) <= 0 ? file : undefined
}

function compareKeys(a: readonly Scalar[], b: readonly Scalar[]): number {
  for (let i = 0; i < b.length; i++) {
    const order = compareScalars(a[i]!, b[i]!)
    if (order !== 0) return order
  }
  return 0
}

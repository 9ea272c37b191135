import type { FixedColumn, Scalar } from '../../formats/column/column.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import type { KeyCompare, SortedRun } from '../plan/types.ts'
import type { DataFileReader } from '../store/data-reader.ts'
import { type FoundRow, findInFile, type PointCache } from './blocks.ts'

export interface Lookup {
  readonly layout: KvLayout
  readonly compareKeys: KeyCompare
  readonly cache: PointCache
  readonly open: (file: DataFile, prune: Predicate, batchRows: number) => DataFileReader
  /** Tells files of different tables and buckets apart in the cache; file names hold a uuid. */
  readonly cacheKey: (file: DataFile) => string
}

/**
 * The newest record of a key in a bucket's runs, newest run first. A run holds a key once (I5), so the first hit decides, but
 * for files of writers that took the same sequence numbers: one whose numbers go above the hit's is looked into as well.
 * Undefined when there is none or it is a delete. Reads are synchronous; see docs/adr/0001.
 */
export function lookUp(
  runs: readonly SortedRun[],
  key: readonly Scalar[],
  serialized: Uint8Array,
  lookup: Lookup,
): FoundRow | undefined {
  let newest: FoundRow | undefined
  let sequence = -1n
  for (const run of runs) {
    const file = fileFor(run.files, serialized, lookup.compareKeys)
    if (file === undefined || file.maxSequence <= sequence) continue
    const found = findInFile(lookup.cacheKey(file), key, lookup.layout, lookup.cache, (prune, batchRows) =>
      lookup.open(file, prune, batchRows),
    )
    if (found === undefined) continue
    const own = sequenceOf(found, lookup.layout)
    if (own <= sequence) continue
    newest = found
    sequence = own
  }
  return newest === undefined || isDelete(newest, lookup.layout) ? undefined : newest
}

function sequenceOf({ batch, row }: FoundRow, layout: KvLayout): bigint {
  return ((batch.columns[layout.sequence] as FixedColumn).values as BigInt64Array)[row]!
}

function isDelete({ batch, row }: FoundRow, layout: KvLayout): boolean {
  const kinds = (batch.columns[layout.kind] as FixedColumn).values as Int8Array
  return (kinds[row]! & 1) === 1
}

/** The file of a run whose key range holds the key. Binary search over disjoint files. */
function fileFor(files: readonly DataFile[], key: Uint8Array, compareKeys: KeyCompare): DataFile | undefined {
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

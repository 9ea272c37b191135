import type { DataFile, DeletionVectorRange, IndexEntry } from '../../formats/meta/types.ts'
import { type BucketId, bucketId } from './entry-id.ts'

/** Type of an index file of deletion vectors. */
const VECTORS = 'DELETION_VECTORS'

/** An index file with the vectors of all files of a bucket that have one. */
export interface VectorFile {
  readonly name: string
  readonly bytes: number
  readonly ranges: readonly DeletionVectorRange[]
}

/** The index files of vectors among those of a snapshot, by `bucketId`. */
export function vectorFiles(indexes: readonly IndexEntry[]): ReadonlyMap<string, VectorFile> {
  const files = new Map<string, VectorFile>()
  for (const entry of indexes) {
    if (entry.indexType !== VECTORS) continue
    const { name, bytes, deletionVectors } = entry
    files.set(bucketId(entry), { name, bytes, ranges: deletionVectors ?? [] })
  }
  return files
}

/**
 * The files of a bucket, each with the place of its vector, or without where it has none in `vectors`. A file that has what it
 * should have stays the same object.
 */
export function withVectors(files: readonly DataFile[], vectors: VectorFile | undefined): readonly DataFile[] {
  const ranges = new Map(vectors?.ranges.map((range) => [range.dataFile, range]))
  if (ranges.size === 0 && files.every((file) => file.vector === undefined)) return files
  return files.map((file) => {
    const range = ranges.get(file.name)
    if (vectors === undefined || range === undefined) {
      if (file.vector === undefined) return file
      const { vector: _, ...plain } = file
      return plain
    }
    if (file.vector?.indexFile === vectors.name) return file
    const { offset, length, cardinality } = range
    return { ...file, vector: { indexFile: vectors.name, offset, length, cardinality } }
  })
}

/** The index files of the next snapshot: a bucket's vectors, null = none, take the place of those it had, all else stays. */
export function replaceVectors(
  indexes: readonly IndexEntry[],
  changes: readonly (BucketId & { readonly vectors: VectorFile | null })[],
): readonly IndexEntry[] {
  const changed = new Set(changes.map(bucketId))
  const kept = indexes.filter((entry) => entry.indexType !== VECTORS || !changed.has(bucketId(entry)))
  const added = changes.flatMap(({ partition, bucket, vectors }): IndexEntry[] => {
    if (vectors === null) return []
    const { name, bytes, ranges } = vectors
    return [
      {
        kind: 'add',
        partition,
        bucket,
        indexType: VECTORS,
        name,
        bytes,
        rows: ranges.length,
        deletionVectors: ranges,
        externalPath: null,
        globalIndex: null,
      },
    ]
  })
  return [...kept, ...added]
}

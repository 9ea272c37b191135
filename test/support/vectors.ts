import { basename, dirname } from 'node:path'
import { dataPathsOf, type TableStore } from '../../engine/store/table-store.ts'
import { loadView } from '../../engine/store/view.ts'
import { readDeletionVector } from '../../formats/index/deletion-vector.ts'
import type { DataFile } from '../../formats/meta/types.ts'

/** A live file and the rows of it that are deleted. */
export interface MarkedFile {
  readonly file: DataFile
  readonly deleted: readonly number[]
}

/**
 * The live files of the newest snapshot with the rows that their vectors mark. Throws where an index manifest names a file that is not
 * live, counts wrongly, or names an index file that is not there.
 */
export async function markedFiles(store: TableStore): Promise<readonly MarkedFile[]> {
  const snapshot = await store.snapshots.latest()
  if (snapshot === undefined) return []
  const view = await loadView(store, snapshot)
  const paths = dataPathsOf(store.paths, await store.schemas.latest())
  const files = [...view.partitions.values()].flatMap(({ buckets }) => [...buckets.values()])
  const deleted = new Map<string, readonly number[]>()
  const places = new Set<string>()
  for (const entry of view.indexes) {
    if (entry.indexType !== 'DELETION_VECTORS') continue
    const place = `${Buffer.from(entry.partition).toString('hex')}/${entry.bucket}`
    if (places.has(place)) throw new Error(`two index files of bucket ${place}`)
    places.add(place)
    const path = paths.indexFile(entry)
    const bytes = await store.fs.readFile(path)
    if (bytes.length !== entry.bytes) throw new Error(`${basename(path)}: ${bytes.length} bytes, not ${entry.bytes}`)
    const ranges = entry.deletionVectors ?? []
    if (ranges.length !== entry.rows) throw new Error(`${basename(path)}: ${ranges.length} vectors, not ${entry.rows}`)
    const live = files.find(({ partition, bucket }) => place === `${Buffer.from(partition).toString('hex')}/${bucket}`)
    const source = { bytes: bytes.length, read: (at: number, length: number) => bytes.subarray(at, at + length) }
    for (const range of ranges) {
      const file = live?.files.find(({ name }) => name === range.dataFile)
      if (file === undefined) throw new Error(`${basename(path)} in ${dirname(path)}: ${range.dataFile} is not live`)
      deleted.set(file.name, [...readDeletionVector(source, range, file.rows)])
    }
  }
  return files.flatMap((bucket) => bucket.files.map((file) => ({ file, deleted: deleted.get(file.name) ?? [] })))
}

/** Rows of the files above level 0 that are not deleted: what a reader that merges nothing would see. */
export function rowsLeft(files: readonly MarkedFile[]): number {
  return files.reduce((sum, { file, deleted }) => sum + (file.level === 0 ? 0 : file.rows - deleted.length), 0)
}

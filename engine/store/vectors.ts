import { readDeletionVector } from '../../formats/index/deletion-vector.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import type { FileSystem } from '../ports/file-system.ts'
import { withPathSync } from './errors.ts'
import { inside } from './paths.ts'

/** The deleted rows of a data file, ascending; undefined where it has no vector. `folder`: that of the index files of its bucket. */
export function readVector(fs: FileSystem, folder: string, file: DataFile): Uint32Array | undefined {
  const { vector } = file
  if (vector === undefined) return undefined
  const path = `${folder}/${inside(vector.indexFile, null)}`
  return withPathSync(path, () => {
    const source = fs.openSource(path)
    try {
      return readDeletionVector(source, vector, file.rows)
    } finally {
      source.close()
    }
  })
}

/** Whether a row is deleted. */
export function isDeleted(deleted: Uint32Array, row: number): boolean {
  return deleted[firstNotBelow(deleted, row)] === row
}

/** Of `rows` rows from `firstRow` on those that are not deleted, counted from `firstRow`; undefined = all. */
export function rowsLeft(deleted: Uint32Array, firstRow: number, rows: number): Uint32Array | undefined {
  let next = firstNotBelow(deleted, firstRow)
  const end = firstNotBelow(deleted, firstRow + rows)
  if (next === end) return undefined
  const left = new Uint32Array(rows - (end - next))
  let count = 0
  for (let row = 0; row < rows; row++) {
    if (next < end && deleted[next] === firstRow + row) next++
    else left[count++] = row
  }
  return left
}

function firstNotBelow(deleted: Uint32Array, row: number): number {
  let low = 0
  let high = deleted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (deleted[middle]! < row) low = middle + 1
    else high = middle
  }
  return low
}

import { encodeDeletionVectors, type FileVector } from '../../formats/index/deletion-vector.ts'
import { metadataName } from '../../formats/meta/names.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import type { VectorFile } from '../plan/vectors.ts'
import { createUnique } from '../store/publish.ts'
import { readVector } from '../store/vectors.ts'
import type { BucketFiles } from './files.ts'

/** Rows of upper levels that a compaction has replaced, file by file. */
export class Marks {
  readonly #byFile = new Map<string, number[]>()

  add(file: string, position: number): void {
    const positions = this.#byFile.get(file)
    if (positions === undefined) this.#byFile.set(file, [position])
    else positions.push(position)
  }

  get size(): number {
    return this.#byFile.size
  }

  of(file: string): Uint32Array {
    return Uint32Array.from(this.#byFile.get(file) ?? []).sort()
  }

  get files(): Iterable<string> {
    return this.#byFile.keys()
  }
}

/**
 * Writes the vectors of a bucket as they are after a compaction: those of `vectored`, the files that had one, without the files
 * that were rewritten, and with the new marks. Undefined when nothing changed; null when the last one is gone.
 */
export async function writeVectors(
  files: BucketFiles,
  fileUuid: string,
  vectored: readonly DataFile[],
  rewritten: ReadonlySet<string>,
  marks: Marks,
): Promise<VectorFile | null | undefined> {
  if (marks.size === 0 && !vectored.some((file) => rewritten.has(file.name))) return undefined
  const { fs } = files.context
  const folder = files.indexFolder
  const vectors: FileVector[] = []
  const named = new Set<string>()
  for (const file of vectored) {
    named.add(file.name)
    if (rewritten.has(file.name)) continue
    const positions = union(readVector(fs, folder, file) ?? new Uint32Array(0), marks.of(file.name))
    vectors.push({ dataFile: file.name, positions })
  }
  for (const name of marks.files) if (!named.has(name)) vectors.push({ dataFile: name, positions: marks.of(name) })
  if (vectors.length === 0) return null
  const { file, ranges } = encodeDeletionVectors(vectors, files.options['deletion-vectors.bitmap64'])
  const name = metadataName('index', fileUuid, 0)
  await createUnique(fs, `${folder}/${name}`, file)
  if (files.table.durable) await fs.syncDirectory(folder)
  return { name, bytes: file.length, ranges }
}

function union(a: Uint32Array, b: Uint32Array): Uint32Array {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a
  const both = new Uint32Array(a.length + b.length)
  let count = 0
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const left = a[i] ?? Number.POSITIVE_INFINITY
    const right = b[j] ?? Number.POSITIVE_INFINITY
    if (left <= right) i++
    if (right <= left) j++
    both[count++] = Math.min(left, right)
  }
  return both.subarray(0, count)
}

import { filesOf } from '../plan/levels.ts'
import type { FilesInUse } from '../plan/orphans.ts'
import { bucketsOf } from '../store/view.ts'
import type { BucketWriter } from '../write/bucket-writer.ts'
import type { TableCore } from './core.ts'

/**
 * The files that this process works with, whatever snapshots say: those of its view, those that no commit took yet, and those
 * that open scans read.
 */
export function filesInUse(
  core: TableCore,
  buckets: Iterable<BucketWriter>,
  fileUuids: ReadonlySet<string>,
): FilesInUse {
  const names = new Set<string>(core.filePins.names())
  const add = ({ name, extraFiles, vector }: Named) => {
    names.add(name)
    for (const extra of extraFiles ?? []) names.add(extra)
    if (vector !== undefined) names.add(vector.indexFile)
  }
  for (const { files } of core.view === undefined ? [] : bucketsOf(core.view)) files.forEach(add)
  for (const { levels, pending } of buckets) {
    filesOf(levels).forEach(add)
    for (const { before, after, changelog, vectors } of pending) {
      for (const file of [...before, ...after, ...changelog]) add(file)
      if (vectors) names.add(vectors.name)
    }
  }
  return { names, fileUuids }
}

interface Named {
  readonly name: string
  readonly extraFiles?: readonly string[]
  readonly vector?: { readonly indexFile: string } | undefined
}

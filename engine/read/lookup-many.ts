import type { Column } from '../../formats/column/column.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import type { FileRow } from '../store/lookup-file.ts'
import { RunWalk } from '../store/run-walk.ts'
import { isDelete, type LookupRun, sequenceOf } from './lookup.ts'

/**
 * `lookUp` for many keys of one bucket, into `found` at their positions: `rows` are positions in the key columns, in ascending
 * order of the keys. Each run is gone through once, so no page is decoded twice and a key costs a step, not a search.
 */
export function lookUpMany(
  runs: readonly LookupRun[],
  keys: readonly Column[],
  rows: readonly number[],
  layout: KvLayout,
  wanted: readonly number[],
  found: (FileRow | undefined)[],
): void {
  let pending = rows
  /** Of rows that a later run may hold a newer version of. */
  const sequences = new Map<number, bigint>()
  for (const { files, laterSequence } of runs) {
    const walk = new RunWalk(files, keys)
    const left: number[] = []
    for (const row of pending) {
      const hit = walk.find(row)
      if (hit === undefined) {
        left.push(row)
        continue
      }
      const known = sequences.get(row)
      if (known === undefined && hit.file.file.minSequence > laterSequence) {
        found[row] = hit
        continue
      }
      const own = sequenceOf(hit, layout, wanted)
      if (known === undefined || own > known) {
        found[row] = hit
        sequences.set(row, own)
      }
      if (sequences.get(row)! < laterSequence) left.push(row)
    }
    pending = left
    if (pending.length === 0) break
  }
  for (const row of rows) {
    const hit = found[row]
    if (hit !== undefined && isDelete(hit, layout, wanted)) found[row] = undefined
  }
}

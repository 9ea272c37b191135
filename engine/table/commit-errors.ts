import type { Snapshot } from '../../formats/meta/types.ts'
import { TableError } from '../errors.ts'
import type { Switched } from '../plan/switched.ts'
import type { TableCore } from './core.ts'

/** The table's option `bucket` and the files of a partition disagree. */
export function bucketCountError(core: TableCore, written: number): TableError {
  const wanted = core.options.bucket
  return new TableError(
    'CONFLICT',
    `A partition of ${core.name} was written with ${written} buckets, the option bucket now says ${wanted}. Set it back to ${written}, or rewrite the partition with another engine.`,
    { table: core.name, option: 'bucket', expected: written, actual: wanted },
  )
}

/** `lookup-wait` has waited as often as it may. */
export function level0Error(core: TableCore, { id }: Snapshot): TableError {
  return new TableError(
    'CONFLICT',
    `Rows of snapshot ${id} of ${core.name} are committed but still in level 0: other writers changed their buckets during each compaction. They move up with the next compaction; call compact(), or raise commit.max-retries.`,
    { table: core.name, option: 'commit.max-retries', value: id },
  )
}

/** Rows that were written before an option was changed would give wrong rows or wrong changes after it. */
export function switchedError({ name }: TableCore, { option, before, after }: Switched): TableError {
  return new TableError(
    'INVALID',
    `${option} of ${name} was changed from ${before} to ${after} while rows lay below the highest level, which would be merged or told wrongly now. ` +
      `Set it back to ${before} where it was changed, run a full compaction, and set it again.`,
    { table: name, option, expected: before, actual: after },
  )
}

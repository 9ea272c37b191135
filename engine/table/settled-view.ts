import type { DataFile } from '../../formats/meta/types.ts'
import type { ResolvedOptions } from '../options/resolve.ts'
import type { TableView } from '../store/view.ts'

/**
 * What of a snapshot its changelog has told already: a producer that tells changes when rows are compacted will tell those of the
 * lower levels later. So a reader of all changes starts from the levels above level 0 (lookup), or from the highest alone
 * (full-compaction).
 */
export function settledView(
  view: TableView,
  options: Pick<ResolvedOptions, 'changelog-producer' | 'num-levels'>,
): TableView {
  const producer = options['changelog-producer']
  if (producer !== 'lookup' && producer !== 'full-compaction') return view
  const settled = (files: readonly DataFile[]): readonly DataFile[] => {
    const top = files.reduce((max, file) => Math.max(max, file.level), options['num-levels'] - 1)
    return files.filter(({ level }) => (producer === 'lookup' ? level > 0 : level === top))
  }
  const partitions = [...view.partitions].map(([id, { partition, buckets }]) => {
    const kept = [...buckets].map(([bucket, one]) => [bucket, { ...one, files: settled(one.files) }] as const)
    return [id, { partition, buckets: new Map(kept) }] as const
  })
  return { ...view, partitions: new Map(partitions) }
}

import { t } from '../../engine/api/fields.ts'
import type { Random } from '../../engine/ports/random.ts'

/** Keys of one lane: the writers of a lane, one a process, write these keys and no others. */
export const LANE_KEYS = 8
/** Two columns beside the key, so that a partial update can change one of them. */
export const COLUMNS = ['a', 'b'] as const

/**
 * What a table holds, as a map from (key, column) to the number of the write that set it; a column that is null is not there.
 * A cell is `2 * key + column`.
 */
export type Content = ReadonlyMap<number, number>

/** The table of a seed. */
export interface TableShape {
  readonly kind: 'plain' | 'lookup' | 'vectors' | 'full-compaction' | 'partial-update'
  readonly lanes: number
  readonly partitioned: boolean
  readonly options: Readonly<Record<string, string>>
}

export type SimRow = { readonly p?: number; readonly k: number; readonly a?: number | null; readonly b?: number | null }

export function shapeOf(random: Random): TableShape {
  const one = <T>(values: readonly T[]): T => values[Math.floor(random.fraction() * values.length)]!
  const kind = one(['plain', 'plain', 'plain', 'lookup', 'vectors', 'full-compaction', 'partial-update'] as const)
  const special: Record<TableShape['kind'], Record<string, string>> = {
    plain: { 'changelog-producer': one(['none', 'none', 'input']) },
    lookup: { 'changelog-producer': 'lookup' },
    vectors: { 'deletion-vectors.enabled': 'true', 'changelog-producer': one(['none', 'lookup']) },
    'full-compaction': { 'changelog-producer': 'full-compaction' },
    'partial-update': { 'merge-engine': 'partial-update', 'changelog-producer': one(['none', 'lookup']) },
  }
  return {
    kind,
    lanes: one([1, 2, 2, 3]),
    partitioned: random.fraction() < 0.2,
    options: {
      ...special[kind],
      bucket: one(['1', '1', '2', '3']),
      'file.compression': 'none',
      'manifest.compression': 'none',
      'num-sorted-run.compaction-trigger': one(['2', '3', '5']),
      'compaction.size-ratio': one(['0', '1', '50']),
      'target-file-size': one(['1 b', '128 mb']),
      'sort-spill-threshold': one(['2', '20']),
      'manifest.merge-min-count': one(['2', '4', '30']),
      'snapshot.num-retained.max': one(['3', '10', '1000']),
      'snapshot.num-retained.min': '1',
      ...(random.fraction() < 0.2 && { 'changelog.num-retained.max': '20', 'changelog.num-retained.min': '5' }),
      ...(random.fraction() < 0.1 && { 'commit.force-compact': 'true' }),
      ...(random.fraction() < 0.1 && { 'snapshot.clean-empty-directories': 'true' }),
    },
  }
}

export function definitionOf({ options, partitioned }: TableShape) {
  const fields = { k: t.int(), a: t.int().nullable(), b: t.int().nullable() }
  return partitioned
    ? { fields: { p: t.int(), ...fields }, primaryKey: ['p', 'k'], partitionBy: ['p'], options }
    : { fields, primaryKey: ['k'], options }
}

/** The partition of a key, where the table has partitions. */
export function withPartition<R extends { readonly k: number }>(shape: TableShape, row: R): R {
  return shape.partitioned ? { p: row.k % 2, ...row } : row
}

/** The cells of rows as they were read. */
export function contentOf(rows: Iterable<SimRow>): Content {
  const content = new Map<number, number>()
  for (const { k, a, b } of rows) {
    if (a != null) content.set(2 * k, a)
    if (b != null) content.set(2 * k + 1, b)
  }
  return content
}

/** The cells of one lane. */
export function ofLane(content: Content, lane: number): Content {
  const cells = 2 * LANE_KEYS
  return new Map([...content].filter(([cell]) => Math.floor(cell / cells) === lane))
}

/** What differs, for people; undefined when nothing does. */
export function difference(expected: Content, actual: Content): string | undefined {
  const cells = [...new Set([...expected.keys(), ...actual.keys()])].filter(
    (cell) => expected.get(cell) !== actual.get(cell),
  )
  if (cells.length === 0) return undefined
  return cells
    .slice(0, 8)
    .map(
      (cell) =>
        `${COLUMNS[cell % 2]} of key ${cell >> 1} should be ${expected.get(cell) ?? 'null'}, is ${actual.get(cell) ?? 'null'}`,
    )
    .join('; ')
}

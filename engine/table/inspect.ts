import type { Snapshot, TableSchema } from '../../formats/meta/types.ts'
import { describeType } from '../../formats/types/parse.ts'
import type { BucketExplanation, BucketFilter, BucketLevels, SchemaInfo, SnapshotInfo } from '../api/calls.ts'
import { TableError } from '../errors.ts'
import { shown } from '../options/check-call.ts'
import { buildLevels, type Levels, levelSummary } from '../plan/levels.ts'
import { bucketsOf } from '../store/view.ts'
import type { BucketWriter } from '../write/bucket-writer.ts'
import { Compactions } from './compactions.ts'
import type { TableCore } from './core.ts'
import type { TableState } from './state.ts'

/** The tree of each bucket, committed files and those that landed since. */
export function bucketLevels(core: TableCore, state: TableState | undefined): readonly BucketLevels[] {
  return levelsOf(core, state).map(({ partition, bucket, levels }) => ({
    partition,
    bucket,
    runs: levels.runs.length,
    levels: levelSummary(levels),
  }))
}

/** What a compaction of each bucket would take now. */
export function explainBuckets(
  core: TableCore,
  state: TableState | undefined,
  filter: BucketFilter,
): readonly BucketExplanation[] {
  const compactions = state?.compactions ?? new Compactions(core, () => undefined)
  return levelsOf(core, state)
    .filter(({ partition, bucket }) => matches(filter, partition, bucket))
    .map(({ partition, bucket, levels, writer }) => ({
      partition,
      bucket,
      explanation: compactions.explain(levels, writer),
    }))
}

/** A snapshot as callers see it. */
export function infoOf(snapshot: Snapshot): SnapshotInfo {
  return {
    id: snapshot.id,
    kind: snapshot.commitKind,
    schemaId: snapshot.schemaId,
    timeMillis: snapshot.timeMillis,
    user: snapshot.commitUser,
    identifier: snapshot.commitIdentifier,
    totalRecords: snapshot.totalRecordCount,
    deltaRecords: snapshot.deltaRecordCount,
    properties: snapshot.properties ?? {},
  }
}

/** A schema as callers see it. */
export function schemaInfoOf(schema: TableSchema): SchemaInfo {
  return {
    id: schema.id,
    columns: schema.fields.map(({ name, type, description, defaultValue }) => ({
      name,
      type: describeType(type),
      ...(description === undefined ? {} : { comment: description }),
      ...(defaultValue === undefined ? {} : { default: defaultValue }),
    })),
    primaryKey: schema.primaryKeys,
    partitionBy: schema.partitionKeys,
    options: schema.options,
    ...(schema.comment === undefined ? {} : { comment: schema.comment }),
  }
}

export function matches(filter: BucketFilter, partition: string, bucket: number): boolean {
  return (
    (filter.partition === undefined || filter.partition === partition) &&
    (filter.bucket === undefined || filter.bucket === bucket)
  )
}

/** Refuses a filter that names a partition that holds nothing, or a number that no bucket has: most likely a slip. */
export function checkFilter(core: TableCore, state: TableState, { partition, bucket }: BucketFilter): void {
  const { bucket: count } = core.options
  if (bucket !== undefined && !(Number.isInteger(bucket) && bucket >= 0 && bucket < count)) {
    throw new TableError(
      'INVALID',
      `${core.name} has no bucket ${shown(bucket)}. Give a number from 0 to ${count - 1}.`,
      {
        table: core.name,
        value: bucket,
      },
    )
  }
  if (partition === undefined) return
  for (const one of state.writer.buckets) if (core.partitionName(one.partition) === partition) return
  throw new TableError(
    'NOT_FOUND',
    `${core.name} has no rows in partition ${JSON.stringify(partition)}. Give a folder that levels() shows.`,
    { table: core.name, value: partition },
  )
}

interface NamedLevels {
  readonly partition: string
  readonly bucket: number
  readonly levels: Levels
  /** Of buckets that are written here. */
  readonly writer?: BucketWriter
}

/** By partition folder, then bucket. */
function levelsOf(core: TableCore, state: TableState | undefined): readonly NamedLevels[] {
  const found = new Map<string, NamedLevels>()
  const numLevels = core.options['num-levels']
  for (const { partition, bucket, files } of core.view === undefined ? [] : bucketsOf(core.view)) {
    const levels = buildLevels(files, numLevels, core.compareKeys)
    const name = core.partitionName(partition)
    found.set(`${name}/${bucket}`, { partition: name, bucket, levels })
  }
  for (const writer of state?.writer.buckets ?? []) {
    const { partition, bucket, levels } = writer
    const name = core.partitionName(partition)
    if (levels.runs.length > 0) found.set(`${name}/${bucket}`, { partition: name, bucket, levels, writer })
    else found.delete(`${name}/${bucket}`)
  }
  return [...found.values()].sort((a, b) =>
    a.partition < b.partition ? -1 : a.partition > b.partition ? 1 : a.bucket - b.bucket,
  )
}

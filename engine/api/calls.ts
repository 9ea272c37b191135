import type { Snapshot } from '../../formats/meta/types.ts'
import type { Explanation } from '../plan/explain.ts'
import type { LevelSummary } from '../plan/levels.ts'
import type { ReadStats } from '../tasks/task.ts'
import type { Range } from './keys.ts'
import type { Where } from './where.ts'

/** A commit that is durable and visible. */
export interface CommitResult {
  /** Id of the newest snapshot; undefined while the table has none. */
  readonly id: number | undefined
  /** False when there was nothing to commit, or the identifier had been committed before. */
  readonly created: boolean
  /** The snapshots this commit made, oldest first: an APPEND, and a COMPACT or more when compactions were part of it. */
  readonly snapshots: readonly SnapshotInfo[]
  readonly identifier: bigint
  /** Records and files that the commit added: one record a key and bucket, deletes included. */
  readonly records: number
  readonly files: number
}

export interface SnapshotInfo {
  readonly id: number
  readonly kind: Snapshot['commitKind']
  readonly schemaId: number
  readonly timeMillis: number
  readonly user: string
  readonly identifier: bigint
  /** Records in files, deletes and replaced versions included: not the number of rows. */
  readonly totalRecords: bigint
  readonly deltaRecords: bigint
  readonly properties: Readonly<Record<string, string>>
}

/** Columns, keys and options of a table, as the handle goes by them. */
export interface SchemaInfo {
  readonly id: number
  readonly columns: readonly ColumnInfo[]
  readonly primaryKey: readonly string[]
  readonly partitionBy: readonly string[]
  /** As stored: only those that were set, as texts. */
  readonly options: Readonly<Record<string, string>>
  readonly comment?: string
}

export interface ColumnInfo {
  readonly name: string
  /** As SQL, `BIGINT NOT NULL`. */
  readonly type: string
  readonly comment?: string
  readonly default?: string
}

/** One bucket's tree. */
export interface BucketLevels {
  readonly partition: string
  readonly bucket: number
  /** Sorted runs: each level-0 file is one, each higher level that holds files is one. */
  readonly runs: number
  readonly levels: readonly LevelSummary[]
}

export interface ReadOptions<C extends string> {
  /** Columns of the result, in this order; all when left out. */
  readonly columns?: readonly C[]
  /** A snapshot to read instead of the newest state. It shows committed rows only. */
  readonly snapshot?: number
  readonly signal?: AbortSignal | undefined
}

export interface ScanOptions<Input, Key, C extends string> extends ReadOptions<C> {
  readonly range?: Range<Partial<KeyObjectOf<Key>> | Key>
  readonly where?: Where<Input>
  /** Rows at most, counted after merge, deletes and `where`. */
  readonly limit?: number
  /** `false` reads bucket by bucket instead of in one order by key. */
  readonly ordered?: boolean
  /** From the last row to the first. */
  readonly reverse?: boolean
  /** Called with figures of each stretch read. */
  readonly onStats?: (stats: ReadStats) => void
}

/** How a record changes its key: insert, update (the row before and the row after), delete. */
export type RowKind = '+I' | '-U' | '+U' | '-D'

/** Changes of one snapshot, in order: `rows[i]` is of kind `kinds[i]`. A snapshot may give several. */
export interface ChangeBatch<Row> {
  readonly snapshot: number
  readonly kinds: readonly RowKind[]
  readonly rows: readonly Row[]
}

export interface ChangesOptions<C extends string> extends CallOptions {
  /** Id of a snapshot: changes after it. Default: all that there are. */
  readonly from?: number
  /** Id of a snapshot: changes up to it, its own too. Default: the newest. */
  readonly to?: number
  /** Columns of the rows, in this order; all when left out. */
  readonly columns?: readonly C[]
}

/** Where a reader begins that has no mark: `from` a snapshot, or with the rows that are there, not both. */
type FollowStart =
  | {
      /** Id of a snapshot: changes after it. Default: the newest one, so only what is still to come. */
      readonly from?: number
      readonly initial?: false
    }
  | {
      readonly from?: never
      /** Give the rows that are there first, as `+I`. Not together with `from`. */
      readonly initial?: boolean
    }

export type FollowOptions<C extends string> = FollowStart & FollowCommon<C>

interface FollowCommon<C extends string> extends CallOptions {
  /**
   * Name under which the table keeps how far this reader came. Where there is such a mark it goes on there, whatever `from` and
   * `initial` say. Snapshots that it has not read are not expired.
   */
  readonly consumer?: string
  /** Columns of the rows, in this order; all when left out. */
  readonly columns?: readonly C[]
  /** Milliseconds between looks for snapshots of other processes; 1000 when left out. */
  readonly pollMillis?: number
}

type KeyObjectOf<Key> = Extract<Key, object>

/** A scan or read whatever the types of the table. */
export type AnyReadOptions = ReadOptions<string>
export type AnyScanOptions = Omit<ScanOptions<never, never, string>, 'range' | 'where'> & {
  readonly range?: unknown
  readonly where?: unknown
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface CommitOptions extends CallOptions {
  /** Grows with each commit of a user; default: counts up. */
  readonly identifier?: bigint | number | undefined
  /** Texts kept in the snapshot. */
  readonly properties?: Readonly<Record<string, string>> | undefined
}

/** Chooses buckets; all when empty. */
export interface BucketFilter {
  /** Folder of a partition, as `levels()` shows it. */
  readonly partition?: string
  readonly bucket?: number
}

export interface CompactOptions extends BucketFilter, CallOptions {
  /** All runs into the highest level; else what the picker asks for. */
  readonly full?: boolean
  /** Called at the start and after each bucket. */
  readonly onProgress?: (progress: { readonly buckets: number; readonly done: number }) => void
}

/** What the picker says of one bucket. */
export interface BucketExplanation {
  readonly partition: string
  readonly bucket: number
  readonly explanation: Explanation
}

/** What a delete takes: a key, or as much of a row as the table's merge engine asks for. */
export type Deleted<Input, Key> = Key | Partial<Input>

export type Mutation<Input, Key> =
  | { readonly put: Input | readonly Input[]; readonly delete?: never }
  | { readonly delete: Deleted<Input, Key> | readonly Deleted<Input, Key>[]; readonly put?: never }

/** When a handle commits by itself: at the first limit that is reached. */
export interface AutoCommit {
  /** Rows since the last commit. */
  readonly rows?: number
  /** Bytes of rows in memory. */
  readonly bytes?: number
  /** Milliseconds after the first row that is not committed. */
  readonly millis?: number
}

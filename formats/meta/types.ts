import type { Field } from '../types/row-type.ts'

/** Bounds and null counts of columns: serialised BinaryRows (4-byte big-endian arity first) and a count a column, null = unknown. */
export interface SimpleStats {
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly nullCounts: readonly (number | null)[] | null
}

/** One data file as manifests describe it (`_FILE` in docs/format/manifest.md). Keys are serialised BinaryRows of the trimmed primary key. */
export interface DataFile {
  readonly name: string
  readonly bytes: number
  readonly rows: number
  readonly minKey: Uint8Array
  readonly maxKey: Uint8Array
  readonly keyStats: SimpleStats
  readonly valueStats: SimpleStats
  readonly minSequence: bigint
  readonly maxSequence: bigint
  readonly schemaId: number
  readonly level: number
  readonly extraFiles: readonly string[]
  /** Local wall clock of the writer read as if it were UTC, in ms. */
  readonly creationMillis: number | null
  /** Records of kind -U or -D; null = unknown. */
  readonly deleteRows: number | null
  readonly embeddedIndex: Uint8Array | null
  readonly source: 'append' | 'compact' | null
  /** Columns present in `valueStats`; null = all of the schema. */
  readonly valueStatsColumns: readonly string[] | null
  readonly externalPath: string | null
  readonly firstRowId: bigint | null
  readonly writeColumns: readonly string[] | null
  /** Where the deleted rows of a live file stand. An index manifest says it, no entry does. */
  readonly vector?: VectorPlace | undefined
}

/** A deletion vector: the index file that holds it, and where. */
export interface VectorPlace {
  readonly indexFile: string
  readonly offset: number
  readonly length: number
  /** Deleted rows; null = not stated. */
  readonly cardinality: number | null
}

export interface ManifestEntry {
  readonly kind: 'add' | 'delete'
  /** Serialised BinaryRow of the partition columns; twelve zero bytes when the table has none. */
  readonly partition: Uint8Array
  readonly bucket: number
  readonly totalBuckets: number
  readonly file: DataFile
}

/** One record of a manifest list: a manifest file and what it holds (docs/format/manifest-list.md). */
export interface ManifestFile {
  readonly name: string
  readonly bytes: number
  readonly addedFiles: number
  readonly deletedFiles: number
  readonly partitionStats: SimpleStats
  readonly schemaId: number
  readonly minBucket: number | null
  readonly maxBucket: number | null
  readonly minLevel: number | null
  readonly maxLevel: number | null
  readonly minRowId: bigint | null
  readonly maxRowId: bigint | null
}

export interface DeletionVectorRange {
  readonly dataFile: string
  readonly offset: number
  readonly length: number
  readonly cardinality: number | null
}

/** One record of an index manifest (docs/format/index-manifest.md). */
export interface IndexEntry {
  readonly kind: 'add' | 'delete'
  readonly partition: Uint8Array
  readonly bucket: number
  readonly indexType: string
  readonly name: string
  readonly bytes: number
  readonly rows: number
  readonly deletionVectors: readonly DeletionVectorRange[] | null
  readonly externalPath: string | null
  /** Kept as read and written back as it was. */
  readonly globalIndex: unknown
}

export type CommitKind = 'APPEND' | 'COMPACT' | 'OVERWRITE' | 'ANALYZE'

/** `snapshot-<id>` (docs/format/snapshot.md). Absent keys are undefined; `extra` keeps keys this version does not know. */
export interface Snapshot {
  readonly version: number
  readonly id: number
  readonly schemaId: number
  readonly baseManifestList: string
  readonly baseManifestListSize?: number | undefined
  readonly deltaManifestList: string
  readonly deltaManifestListSize?: number | undefined
  readonly changelogManifestList?: string | undefined
  readonly changelogManifestListSize?: number | undefined
  readonly indexManifest?: string | undefined
  readonly commitUser: string
  readonly commitIdentifier: bigint
  readonly commitKind: CommitKind
  readonly timeMillis: number
  readonly totalRecordCount: bigint
  readonly deltaRecordCount: bigint
  readonly changelogRecordCount?: bigint | undefined
  readonly watermark?: bigint | undefined
  readonly statistics?: string | undefined
  readonly properties?: Readonly<Record<string, string>> | undefined
  readonly nextRowId?: bigint | undefined
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

/** `tag-<name>`: a snapshot, with a creation time and a retention where one was given. */
export interface Tag {
  readonly name: string
  readonly snapshot: Snapshot
  readonly createTime?: readonly number[] | undefined
  readonly timeRetainedSeconds?: number | undefined
}

/** `schema-<id>` (docs/format/schema.md). */
export interface TableSchema {
  readonly version: number
  readonly id: number
  readonly fields: readonly Field[]
  readonly highestFieldId: number
  readonly partitionKeys: readonly string[]
  readonly primaryKeys: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly comment?: string | undefined
  readonly timeMillis: number
}

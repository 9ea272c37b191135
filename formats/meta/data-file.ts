import {
  bytes,
  code,
  count,
  int,
  type Layout,
  list,
  long,
  long64,
  millis,
  optional,
  record,
  string,
} from '../avro/records.ts'
import type { DataFile, SimpleStats } from './types.ts'

/** The namespace of the root record of every Avro file that Paimon writes. Readers ignore it. */
export const avroNamespace = 'org.apache.paimon.avro.generated'

/** The name of the root record; nested records are named after their path from it. */
export const rootRecord = 'record'

/** Bounds and null counts as manifests and manifest lists hold them (docs/format/manifest.md). */
export const simpleStatsLayout: Layout<SimpleStats> = record<SimpleStats>({
  min: ['_MIN_VALUES', bytes],
  max: ['_MAX_VALUES', bytes],
  nullCounts: ['_NULL_COUNTS', optional(list(optional(long)))],
})

/** One data file as manifests hold it (docs/format/manifest.md). The fields from `_DELETE_ROW_COUNT` on came with later versions. */
export const dataFileLayout: Layout<DataFile> = record<Omit<DataFile, 'vector'>>({
  name: ['_FILE_NAME', string],
  bytes: ['_FILE_SIZE', count],
  rows: ['_ROW_COUNT', count],
  minKey: ['_MIN_KEY', bytes],
  maxKey: ['_MAX_KEY', bytes],
  keyStats: ['_KEY_STATS', simpleStatsLayout],
  valueStats: ['_VALUE_STATS', simpleStatsLayout],
  minSequence: ['_MIN_SEQUENCE_NUMBER', long64],
  maxSequence: ['_MAX_SEQUENCE_NUMBER', long64],
  schemaId: ['_SCHEMA_ID', long],
  level: ['_LEVEL', int],
  extraFiles: ['_EXTRA_FILES', list(string)],
  creationMillis: ['_CREATION_TIME', optional(millis)],
  deleteRows: ['_DELETE_ROW_COUNT', optional(long)],
  embeddedIndex: ['_EMBEDDED_FILE_INDEX', optional(bytes)],
  source: ['_FILE_SOURCE', optional(code('append', 'compact'))],
  valueStatsColumns: ['_VALUE_STATS_COLS', optional(list(string))],
  externalPath: ['_EXTERNAL_PATH', optional(string)],
  firstRowId: ['_FIRST_ROW_ID', optional(long64)],
  writeColumns: ['_WRITE_COLS', optional(list(string))],
})

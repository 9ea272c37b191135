import type { BlockCodecs } from '../avro/block-codec.ts'
import { decodeContainer, encodeContainer } from '../avro/container.ts'
import { count, int, long, long64, optional, record, string } from '../avro/records.ts'
import { avroNamespace, rootRecord, simpleStatsLayout } from './data-file.ts'
import type { ManifestFile } from './types.ts'

const layout = record<ManifestFile>(
  {
    name: ['_FILE_NAME', string],
    bytes: ['_FILE_SIZE', count],
    addedFiles: ['_NUM_ADDED_FILES', count],
    deletedFiles: ['_NUM_DELETED_FILES', count],
    partitionStats: ['_PARTITION_STATS', simpleStatsLayout],
    schemaId: ['_SCHEMA_ID', long],
    minBucket: ['_MIN_BUCKET', optional(int)],
    maxBucket: ['_MAX_BUCKET', optional(int)],
    minLevel: ['_MIN_LEVEL', optional(int)],
    maxLevel: ['_MAX_LEVEL', optional(int)],
    minRowId: ['_MIN_ROW_ID', optional(long64)],
    maxRowId: ['_MAX_ROW_ID', optional(long64)],
  },
  { version: 2, namespace: avroNamespace },
)

/**
 * The manifests that a manifest list names, oldest first (docs/format/manifest-list.md). Bounds of buckets, levels and row
 * ids are null in files of older writers. CORRUPT for damage, UNSUPPORTED for another `_VERSION` or codec.
 */
export function decodeManifestList(file: Uint8Array, codecs: BlockCodecs, name = ''): ManifestFile[] {
  return decodeContainer(file, layout, codecs, name)
}

/** A manifest list naming these manifests; an empty one is a file too. `compression` as in `encodeManifest`. */
export function encodeManifestList(
  files: readonly ManifestFile[],
  codecs: BlockCodecs,
  compression: string,
  name = '',
): Uint8Array {
  return encodeContainer(files, layout, rootRecord, codecs, compression, name)
}

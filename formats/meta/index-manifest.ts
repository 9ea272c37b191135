import type { BlockCodecs } from '../avro/block-codec.ts'
import { decodeContainer, encodeContainer } from '../avro/container.ts'
import { bytes, code, count, int, type Layout, list, long, long64, optional, record, string } from '../avro/records.ts'
import { avroNamespace, rootRecord } from './data-file.ts'
import type { DeletionVectorRange, IndexEntry } from './types.ts'

/** Paimon leaves a record without a name for its fields as f0, f1, f2. Items of the list may be null; nobody writes such. */
const rangeLayout = record<DeletionVectorRange>({
  dataFile: ['f0', string],
  offset: ['f1', int],
  length: ['f2', int],
  cardinality: ['_CARDINALITY', optional(long)],
})

/** Belongs to tables without a primary key. Read and written back, not understood. */
interface GlobalIndex {
  readonly rangeStart: bigint
  readonly rangeEnd: bigint
  readonly fieldId: number
  readonly extraFieldIds: readonly number[] | null
  readonly meta: Uint8Array | null
}

const globalIndexLayout = record<GlobalIndex>({
  rangeStart: ['_ROW_RANGE_START', long64],
  rangeEnd: ['_ROW_RANGE_END', long64],
  fieldId: ['_INDEX_FIELD_ID', int],
  extraFieldIds: ['_EXTRA_FIELD_IDS', optional(list(int))],
  meta: ['_INDEX_META', optional(bytes)],
})

const layout = record<IndexEntry>(
  {
    kind: ['_KIND', code('add', 'delete')],
    partition: ['_PARTITION', bytes],
    bucket: ['_BUCKET', int],
    indexType: ['_INDEX_TYPE', string],
    name: ['_FILE_NAME', string],
    bytes: ['_FILE_SIZE', count],
    rows: ['_ROW_COUNT', count],
    deletionVectors: ['_DELETIONS_VECTORS_RANGES', optional(listOfOptional(rangeLayout))],
    externalPath: ['_EXTERNAL_PATH', optional(string)],
    globalIndex: ['_GLOBAL_INDEX', optional(globalIndexLayout) as Layout<unknown>],
  },
  { version: 1, namespace: avroNamespace },
)

/**
 * The index files of a snapshot: the manifest is always complete, never a delta (docs/format/index-manifest.md). CORRUPT for
 * damage and for a file of ours under another name, UNSUPPORTED for another `_VERSION` or codec.
 */
export function decodeIndexManifest(file: Uint8Array, codecs: BlockCodecs, name = ''): IndexEntry[] {
  return decodeContainer(file, layout, codecs, name)
}

/** An index manifest with these entries. Deletion vectors must be listed in the order they have in their file. */
export function encodeIndexManifest(
  entries: readonly IndexEntry[],
  codecs: BlockCodecs,
  compression: string,
  name = '',
): Uint8Array {
  return encodeContainer(entries, layout, rootRecord, codecs, compression, name)
}

/** An array whose items may be null in the schema; null items are dropped in reading. */
function listOfOptional<T>(layout: Layout<T>): Layout<readonly T[]> {
  const items = list(optional(layout))
  return {
    schema: items.schema,
    write: items.write,
    resolve: (writer, field) => {
      const read = items.resolve(writer, field)
      return (input) => read(input).filter((item) => item !== null)
    },
  }
}

import type { BlockCodecs } from '../avro/block-codec.ts'
import { decodeContainer, encodeContainer } from '../avro/container.ts'
import { bytes, code, int, record } from '../avro/records.ts'
import { avroNamespace, dataFileLayout, rootRecord } from './data-file.ts'
import type { ManifestEntry } from './types.ts'

const layout = record<ManifestEntry>(
  {
    kind: ['_KIND', code('add', 'delete')],
    partition: ['_PARTITION', bytes],
    bucket: ['_BUCKET', int],
    totalBuckets: ['_TOTAL_BUCKETS', int],
    file: ['_FILE', dataFileLayout],
  },
  { version: 2, namespace: avroNamespace },
)

/**
 * The entries of a manifest file, in file order (docs/format/manifest.md). Keys, bounds and partitions are views of the
 * block they were read from. CORRUPT for damage, UNSUPPORTED for another `_VERSION`, codec, kind or source. About 5 µs an entry.
 */
export function decodeManifest(file: Uint8Array, codecs: BlockCodecs, name = ''): ManifestEntry[] {
  return decodeContainer(file, layout, codecs, name)
}

/**
 * A manifest file with these entries in the order given: inside one COMPACT commit the caller puts deletes before adds.
 * `compression` is a value of the option `manifest.compression`.
 */
export function encodeManifest(
  entries: readonly ManifestEntry[],
  codecs: BlockCodecs,
  compression: string,
  name = '',
): Uint8Array {
  return encodeContainer(entries, layout, rootRecord, codecs, compression, name)
}

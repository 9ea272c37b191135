import type { ManifestEntry } from '../../formats/meta/types.ts'

/** What names a bucket inside a table. */
export interface BucketId {
  readonly partition: Uint8Array
  readonly bucket: number
}

/** A text that is equal for equal partitions: the bytes, one char each. */
export function partitionId(partition: Uint8Array): string {
  return Buffer.from(partition.buffer, partition.byteOffset, partition.byteLength).toString('latin1')
}

/** A text that is equal for equal (partition, bucket). */
export function bucketId(of: BucketId): string {
  return `${of.bucket}/${partitionId(of.partition)}`
}

/** A text that is equal for entries that name one file on disk, whatever level they give it. */
export function pathId(entry: ManifestEntry): string {
  const { file } = entry
  return file.externalPath ?? `${entry.bucket}/${file.name}/${partitionId(entry.partition)}`
}

/**
 * A text that is equal for entries that cancel: Paimon's file identifier, which holds the level, the extra files, the
 * embedded index and the external path besides the place. An upgrade so is a DELETE and an ADD that do not cancel.
 */
export function entryId(entry: ManifestEntry): string {
  const { file } = entry
  const place = `${file.level}/${entry.bucket}/${file.name}/${partitionId(entry.partition)}`
  if (file.extraFiles.length === 0 && file.embeddedIndex === null && file.externalPath === null) return place
  const index = file.embeddedIndex === null ? null : partitionId(file.embeddedIndex)
  return `${place}\n${JSON.stringify([file.extraFiles, index, file.externalPath])}`
}

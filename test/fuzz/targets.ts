import { readDeletionVector } from '../../formats/index/deletion-vector.ts'
import { indexMightContain, readFileIndex } from '../../formats/index/file-index.ts'
import { decodeHashIndex } from '../../formats/index/hash-index.ts'
import { decodeRoaring } from '../../formats/index/roaring.ts'
import { encodeRoaring } from '../../formats/index/roaring-encode.ts'
import { parseSchema } from '../../formats/meta/schema.ts'
import { parseSnapshot } from '../../formats/meta/snapshot.ts'
import { parseTag } from '../../formats/meta/tag.ts'
import { deserializeRow, serializeRow } from '../../formats/row/binary-row.ts'
import { readStats } from '../../formats/row/simple-stats.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { avroTargets } from './avro-targets.ts'
import { codecTargets } from './codec-targets.ts'
import { goldenBytes, memorySource } from './golden-bytes.ts'
import { parquetTargets } from './parquet-targets.ts'
import { readMark, spillTarget } from './private-targets.ts'

/** A decoder and valid inputs of it. */
export interface Target {
  readonly name: string
  readonly seeds: readonly Uint8Array[]
  decode(bytes: Uint8Array): unknown
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

const rowTypes: readonly DataType[] = [
  { kind: 'int', nullable: true },
  { kind: 'varchar', length: 100, nullable: true },
  { kind: 'decimal', precision: 38, scale: 2, nullable: true },
  { kind: 'timestamp', precision: 9, nullable: true },
  { kind: 'varbinary', length: 100, nullable: true },
  { kind: 'double', nullable: true },
]

const rows = [
  serializeRow(rowTypes, [1, text('a text that lies outside'), -5n, 1_000_000_000_001n, text('bytes'), 0.5]),
  serializeRow(rowTypes, [null, null, null, null, null, null]),
]

const vectorFiles = goldenBytes(/\/index\/index-/, 'dv', 'dv_bitmap64', 'dv_partitioned')

/** The first vector of a file, by the length that it states itself. */
function firstVector(bytes: Uint8Array): unknown {
  const length = bytes.length < 5 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getInt32(1)
  const attempt = (stated: number) =>
    readDeletionVector(memorySource(bytes), { offset: 1, length: stated, cardinality: null }, 100_000)
  const wide = bytes[5] === 0xd1
  return attempt(wide ? length + 8 : length)
}

const sparse = Uint32Array.from({ length: 100 }, (_, i) => i * 701)
const dense = Uint32Array.from({ length: 9_000 }, (_, i) => i + 10)

/** Every decoder of bytes from files. */
export function allTargets(): readonly Target[] {
  return [
    ...parquetTargets(),
    ...avroTargets(),
    ...codecTargets(),
    spillTarget(),
    { name: 'binary row', seeds: rows, decode: (bytes) => deserializeRow(rowTypes, bytes) },
    {
      name: 'statistics',
      seeds: rows,
      decode: (bytes) => readStats(rowTypes, { min: bytes, max: bytes, nullCounts: null }, 10),
    },
    { name: 'deletion vector', seeds: vectorFiles, decode: firstVector },
    {
      name: 'roaring bitmap',
      seeds: [encodeRoaring(sparse), encodeRoaring(dense), encodeRoaring(new Uint32Array(0))],
      decode: (bytes) => decodeRoaring(bytes, 100_000),
    },
    { name: 'hash index', seeds: goldenBytes(/\/index\/index-/, 'dynamic_bucket'), decode: decodeHashIndex },
    {
      name: 'file index',
      seeds: goldenBytes(/\.index$/, 'file_index_file', 'file_index'),
      decode: (bytes) => {
        const index = readFileIndex(bytes)
        for (const column of index.keys())
          indexMightContain(index, column, { kind: 'varchar', length: 9, nullable: true }, text('value'))
      },
    },
    {
      name: 'snapshot',
      seeds: goldenBytes(/\/snapshot-/, 'dedup', 'cl_lookup', 'tags_expired'),
      decode: parseSnapshot,
    },
    { name: 'schema', seeds: goldenBytes(/\/schema-/, 'types', 'types_more', 'evolution'), decode: parseSchema },
    { name: 'tag', seeds: goldenBytes(/\/tag-/, 'tags_expired'), decode: (bytes) => parseTag(bytes, 'a tag') },
    {
      name: 'hint or consumer',
      seeds: [text('12'), text('{\n  "nextSnapshot" : 12\n}'), text('9007199254740993')],
      decode: readMark,
    },
  ]
}

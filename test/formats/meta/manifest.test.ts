import { once } from 'node:events'
import avsc from 'avsc'
import t from 'tap'
import { FormatError } from '../../../formats/bytes/format-error.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { decodeIndexManifest, encodeIndexManifest } from '../../../formats/meta/index-manifest.ts'
import { decodeManifest, encodeManifest } from '../../../formats/meta/manifest.ts'
import { decodeManifestList, encodeManifestList } from '../../../formats/meta/manifest-list.ts'
import type { IndexEntry, ManifestEntry, ManifestFile, SimpleStats } from '../../../formats/meta/types.ts'
import { filesOf } from './golden.ts'

const codecs = loadCodecs()
const noRow = new Uint8Array(12)
const key = Uint8Array.of(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0)
const stats: SimpleStats = { min: key, max: key, nullCounts: [0] }

const entry: ManifestEntry = {
  kind: 'add',
  partition: noRow,
  bucket: 0,
  totalBuckets: 1,
  file: {
    name: 'data-1-0.parquet',
    bytes: 1054,
    rows: 1,
    minKey: key,
    maxKey: key,
    keyStats: stats,
    valueStats: { min: noRow, max: noRow, nullCounts: null },
    minSequence: 9007199254740993n,
    maxSequence: 2n ** 63n - 1n,
    schemaId: 0,
    level: 0,
    extraFiles: [],
    creationMillis: null,
    deleteRows: null,
    embeddedIndex: null,
    source: null,
    valueStatsColumns: null,
    externalPath: null,
    firstRowId: null,
    writeColumns: null,
  },
}

const full: ManifestEntry = {
  kind: 'delete',
  partition: key,
  bucket: -2,
  totalBuckets: -1,
  file: {
    ...entry.file,
    valueStats: { ...stats, nullCounts: [null, 3, 2 ** 40] },
    minSequence: -4503599627370497n,
    maxSequence: 4503599627370497n,
    level: 5,
    extraFiles: ['data-1-0.parquet.index', ''],
    creationMillis: 1795998159700,
    deleteRows: 0,
    embeddedIndex: Uint8Array.of(),
    source: 'compact',
    valueStatsColumns: ['é', ''],
    externalPath: 'file:/x',
    firstRowId: 2n ** 62n,
    writeColumns: [],
  },
}

const list: ManifestFile = {
  name: 'manifest-1-0',
  bytes: 2092,
  addedFiles: 2,
  deletedFiles: 1,
  partitionStats: stats,
  schemaId: 3,
  minBucket: 0,
  maxBucket: 9,
  minLevel: 0,
  maxLevel: 5,
  minRowId: 0n,
  maxRowId: 2n ** 60n,
}

const index: IndexEntry = {
  kind: 'add',
  partition: noRow,
  bucket: 0,
  indexType: 'DELETION_VECTORS',
  name: 'index-1-0',
  bytes: 39,
  rows: 1,
  deletionVectors: [
    { dataFile: 'data-1-0.parquet', offset: 1, length: 30, cardinality: 5 },
    { dataFile: 'data-1-1.parquet', offset: 39, length: 30, cardinality: null },
  ],
  externalPath: null,
  globalIndex: null,
}

const globalIndex = { rangeStart: 0n, rangeEnd: 9n, fieldId: 2, extraFieldIds: [3], meta: Uint8Array.of(1) }

const plain = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value, (_, inner) =>
      typeof inner === 'bigint'
        ? `${inner}n`
        : inner instanceof Uint8Array
          ? Buffer.from(inner).toString('hex')
          : inner,
    ),
  )

t.test('every field comes back in every codec, in the order given', (t) => {
  for (const compression of ['zstd', 'snappy', 'deflate', 'none']) {
    const entries = [full, entry, full]
    t.strictSame(plain(decodeManifest(encodeManifest(entries, codecs, compression), codecs)), plain(entries))
    const lists = [
      list,
      { ...list, minBucket: null, maxBucket: null, minLevel: null, maxLevel: null, minRowId: null, maxRowId: null },
    ]
    t.strictSame(plain(decodeManifestList(encodeManifestList(lists, codecs, compression), codecs)), plain(lists))
    const indexes = [index, { ...index, indexType: 'HASH', deletionVectors: null, externalPath: 'x', globalIndex }]
    t.strictSame(plain(decodeIndexManifest(encodeIndexManifest(indexes, codecs, compression), codecs)), plain(indexes))
  }
  t.end()
})

t.test('an empty manifest list is a header of 1006 bytes, as Paimon writes it', (t) => {
  const file = encodeManifestList([], codecs, 'zstd')
  t.equal(file.length, 1006)
  t.strictSame(decodeManifestList(file, codecs), [])
  t.end()
})

t.test('all entries have one hidden shape, whatever the writer left out', (t) => {
  const [first, second] = decodeManifest(encodeManifest([entry, full], codecs, 'none'), codecs)
  t.strictSame(Object.keys(first!.file), Object.keys(entry.file))
  t.strictSame(Object.keys(second!.file), Object.keys(entry.file))
  t.end()
})

type Field = { name: string; type: unknown; default?: unknown }
type RecordSchema = { type: 'record'; name: string; namespace?: string; fields: Field[] }

/** avsc with 64-bit numbers as they are on disk. */
const long = avsc.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8)
    buffer.writeBigInt64LE(value)
    return buffer
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
})

/** The file as another writer would have left it: another schema, the values read by name, written by avsc. */
async function rewrite(
  file: Uint8Array,
  change: (schema: RecordSchema) => void,
  fill: object = {},
): Promise<Uint8Array> {
  const text = Buffer.from(file).toString('latin1')
  const schema = JSON.parse(text.slice(text.indexOf('{'), text.indexOf('\x14avro.codec'))) as RecordSchema
  const parse = (json: unknown) => avsc.Type.forSchema(json as avsc.Schema, { registry: { long }, wrapUnions: true })
  // avsc does not put a replaced long under a logical type.
  const bare = JSON.parse(JSON.stringify(schema).replace('{"type":"long","logicalType":"timestamp-millis"}', '"long"'))
  const records: Record<string, unknown>[] = []
  const decoder = new avsc.streams.BlockDecoder({ parseHook: () => parse(bare) })
  decoder.on('data', (record: Record<string, unknown>) => records.push({ ...record }))
  decoder.end(Buffer.from(file))
  await once(decoder, 'end')
  change(bare)
  const encoder = new avsc.streams.BlockEncoder(parse(bare), { codec: 'deflate' })
  const chunks: Buffer[] = []
  encoder.on('data', (chunk: Buffer) => chunks.push(chunk))
  for (const record of records) encoder.write({ ...record, ...fill })
  encoder.end()
  await once(encoder, 'end')
  return new Uint8Array(Buffer.concat(chunks))
}

t.test('C067 a manifest list without the newer fields reads as null there', async (t) => {
  const newer = ['_MIN_BUCKET', '_MAX_BUCKET', '_MIN_LEVEL', '_MAX_LEVEL', '_MIN_ROW_ID', '_MAX_ROW_ID']
  const old = await rewrite(encodeManifestList([list], codecs, 'none'), (schema) => {
    schema.fields = schema.fields.filter((field) => !newer.includes(field.name))
  })
  const wanted = {
    ...list,
    minBucket: null,
    maxBucket: null,
    minLevel: null,
    maxLevel: null,
    minRowId: null,
    maxRowId: null,
  }
  t.strictSame(plain(decodeManifestList(old, codecs)), plain([wanted]))
})

t.test('C067 a manifest with unknown fields, other names and another order reads the same', async (t) => {
  const newer = await rewrite(
    encodeManifest([full, entry], codecs, 'none'),
    (schema) => {
      schema.name = 'manifest_entry'
      delete schema.namespace
      schema.fields.reverse()
      schema.fields.splice(2, 0, { name: '_NEW', type: ['null', { type: 'array', items: 'long' }], default: null })
      const file = schema.fields.find((field) => field.name === '_FILE')!.type as RecordSchema
      file.name = 'file'
      file.fields.unshift({
        name: '_WRITE_COLS_SEQUENCES',
        type: ['null', { type: 'array', items: 'long' }],
        default: null,
      })
      file.fields.reverse()
    },
    { _NEW: { array: [2n ** 60n, -1n] } },
  )
  t.strictSame(plain(decodeManifest(newer, codecs)), plain([full, entry]))
})

t.test('a manifest of the first version of the fields reads as null from there on', async (t) => {
  const old = await rewrite(encodeManifest([full], codecs, 'none'), (schema) => {
    const file = schema.fields.find((field) => field.name === '_FILE')!.type as RecordSchema
    file.fields = file.fields.slice(0, 13)
  })
  const {
    keyStats,
    valueStats,
    minKey,
    maxKey,
    name,
    bytes,
    rows,
    minSequence,
    maxSequence,
    schemaId,
    level,
    extraFiles,
  } = full.file
  const { creationMillis } = full.file
  const known = { keyStats, valueStats, minKey, maxKey, name, bytes, rows, minSequence, maxSequence, schemaId, level }
  const wanted = { ...full, file: { ...entry.file, ...known, extraFiles, creationMillis } }
  t.strictSame(plain(decodeManifest(old, codecs)), plain([wanted]))
})

t.test('another _VERSION is unsupported', async (t) => {
  const files = [
    ['manifest', encodeManifest([entry], codecs, 'none'), decodeManifest, 2],
    ['manifest list', encodeManifestList([list], codecs, 'none'), decodeManifestList, 2],
    ['index manifest', encodeIndexManifest([index], codecs, 'none'), decodeIndexManifest, 1],
  ] as const
  for (const [what, file, decode, version] of files) {
    const other = await rewrite(file, () => {}, { _VERSION: version + 1 })
    const error = {
      code: 'UNSUPPORTED',
      message: new RegExp(`_VERSION is ${version + 1}: this version reads and writes ${version}`),
    }
    t.throws(() => decode(other, codecs), error, what)
  }
})

t.test('no flip or cut of a byte of Paimon’s files gives anything but values or a FormatError', (t) => {
  const samples = [
    ['dv', 'index-manifest-', decodeIndexManifest],
    ['uc_amp', 'manifest-list-', decodeManifestList],
    ['partition_types', 'manifest-', decodeManifest],
  ] as const
  for (const [table, prefix, decode] of samples) {
    const [name, file] = filesOf(table, 'manifest', prefix).find(([name]) => /^[a-z-]*-[0-9a-f]{8}-/.test(name))!
    let refused = 0
    const attempt = (bytes: Uint8Array, what: string) => {
      try {
        decode(bytes, codecs)
      } catch (error) {
        refused++
        if (!(error instanceof FormatError)) t.fail(`${name}: ${what}`, { error })
      }
    }
    for (let at = 0; at < file.length; at++) {
      const copy = file.slice()
      copy[at]! ^= 1 << (at % 8)
      attempt(copy, `bit of byte ${at}`)
      attempt(file.subarray(0, at), `cut at ${at}`)
    }
    t.ok(refused > file.length, `${name}: ${refused} of ${file.length * 2} refused`)
  }
  t.end()
})

import t from 'tap'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { decodeIndexManifest, encodeIndexManifest } from '../../../formats/meta/index-manifest.ts'
import { decodeManifest, encodeManifest } from '../../../formats/meta/manifest.ts'
import { decodeManifestList, encodeManifestList } from '../../../formats/meta/manifest-list.ts'
import type { ManifestEntry, SimpleStats, TableSchema } from '../../../formats/meta/types.ts'
import { deserializeRow } from '../../../formats/row/binary-row.ts'
import { type Field, withNullable } from '../../../formats/types/row-type.ts'
import { valueText } from '../../../formats/types/value-text.ts'
import { cases, expected, fileOf, filesOf, latestSnapshot, liveEntries, schemasOf } from './golden.ts'

const codecs = loadCodecs()

/** Fractions of a second as short as they can be, on both sides. */
const shorten = (text: string) => text.replace(/(:\d\d)\.?(\d*?)0*(Z?)$/, (_, s, f, z) => `${s}${f && `.${f}`}${z}`)

/** A serialised row as the expectations hold it: values by column name. */
function rowJson(fields: readonly Field[], row: Uint8Array): Record<string, unknown> {
  const values = deserializeRow(
    fields.map((field) => withNullable(field.type, true)),
    row,
  )
  return Object.fromEntries(fields.map(({ name, type }, i) => [name, valueJson(type, values[i]!)]))
}

function valueJson(type: Field['type'], value: number | bigint | Uint8Array | null): unknown {
  if (value === null) return null
  switch (type.kind) {
    case 'boolean':
      return Number(value) !== 0
    case 'bigint':
      return String(value)
    case 'binary':
    case 'varbinary':
      return Buffer.from(value as Uint8Array).toString('base64')
    case 'timestamp':
      return shorten(valueText(type, value).replace(' ', 'T'))
    case 'timestamp_ltz':
      return shorten(`${valueText(type, value).replace(' ', 'T')}Z`)
    case 'time':
      return shorten(valueText(type, value))
    case 'float':
    case 'double':
      return Number.isFinite(value) ? value : String(value)
  }
  return typeof value === 'number' ? (type.kind === 'date' ? valueText(type, value) : value) : valueText(type, value)
}

const pick = (schema: TableSchema, names: readonly string[]) =>
  names.map((name) => schema.fields.find((field) => field.name === name)!)

function statsJson(fields: readonly Field[], stats: SimpleStats): unknown {
  // Rows of no columns are decoded all the same; the expectations leave them out.
  const bounds = { min: rowJson(fields, stats.min), max: rowJson(fields, stats.max), nullCount: stats.nullCounts }
  return fields.length === 0 && stats.nullCounts?.length === 0 ? {} : bounds
}

/** An entry in the form of the expectations. */
function entryJson({ file, ...entry }: ManifestEntry, schemas: ReadonlyMap<number, TableSchema>): unknown {
  const schema = schemas.get(file.schemaId)!
  const keys = pick(
    schema,
    schema.primaryKeys.filter((name) => !schema.partitionKeys.includes(name)),
  )
  const statsFields = file.valueStatsColumns === null ? schema.fields : pick(schema, file.valueStatsColumns)
  return {
    kind: entry.kind.toUpperCase(),
    partition: rowJson(pick(schema, schema.partitionKeys), entry.partition),
    bucket: entry.bucket,
    totalBuckets: entry.totalBuckets,
    fileName: file.name,
    fileSize: file.bytes,
    rowCount: file.rows,
    level: file.level,
    schemaId: file.schemaId,
    minKey: rowJson(keys, file.minKey),
    maxKey: rowJson(keys, file.maxKey),
    keyStats: statsJson(keys, file.keyStats),
    valueStats: statsJson(statsFields, file.valueStats),
    valueStatsCols: file.valueStatsColumns,
    minSequenceNumber: String(file.minSequence),
    maxSequenceNumber: String(file.maxSequence),
    deleteRowCount: file.deleteRows,
    extraFiles: file.extraFiles,
    creationTime: shorten(new Date(file.creationMillis!).toISOString().slice(0, -1)),
    fileSource: file.source?.toUpperCase() ?? null,
    embeddedIndex: file.embeddedIndex === null ? null : Buffer.from(file.embeddedIndex).toString('hex'),
    externalPath: file.externalPath,
    firstRowId: file.firstRowId,
    writeCols: file.writeColumns,
  }
}

/**
 * Times in one form on both sides. The expectations were printed through the NOT NULL types of the key columns, which hides
 * that the bounds of binary ones are null: there null and empty count as equal.
 */
const normal = (json: unknown): unknown =>
  JSON.parse(JSON.stringify(json), (key, value) => {
    if (value === '' && (key === 'k_bin' || key === 'k_bytes')) return null
    // A FLOAT is printed with the digits that a FLOAT needs.
    if (key === 'f_float' && typeof value === 'number') return Math.fround(value)
    return typeof value === 'string' && /:\d\d/.test(value) ? shorten(value) : value
  })

t.test('live entries are what Paimon says they are, field by field', (t) => {
  let entries = 0
  for (const table of cases) {
    const wanted = expected(table, 'entries') as { fileName: string }[]
    const byName = (a: unknown, b: unknown) =>
      (a as { fileName: string }).fileName < (b as { fileName: string }).fileName ? -1 : 1
    const schemas = schemasOf(table)
    const found = liveEntries(table, codecs).map((entry) => entryJson(entry, schemas))
    t.strictSame(normal(found.sort(byName)), normal(wanted.sort(byName)), table)
    entries += wanted.length
  }
  t.ok(entries > 100, `${entries} entries`)
  t.end()
})

t.test('index entries are what Paimon says they are', (t) => {
  let entries = 0
  for (const table of cases) {
    const wanted = expected(table, 'index') as Record<string, unknown>[] | undefined
    const { indexManifest } = latestSnapshot(table)
    if (wanted === undefined || indexManifest === undefined) continue
    const schema = [...schemasOf(table).values()].at(-1)!
    const found = decodeIndexManifest(fileOf(table, 'manifest', indexManifest), codecs).map((entry) => ({
      kind: entry.kind.toUpperCase(),
      partition: rowJson(pick(schema, schema.partitionKeys), entry.partition),
      bucket: entry.bucket,
      indexType: entry.indexType,
      fileName: entry.name,
      fileSize: entry.bytes,
      rowCount: entry.rows,
      vectors: entry.deletionVectors?.map((range) => ({ ...range })),
    }))
    const plain = wanted.map(
      ({ kind, partition, bucket, indexType, fileName, fileSize, rowCount, deletionVectors }) => ({
        kind,
        partition,
        bucket,
        indexType,
        fileName,
        fileSize,
        rowCount,
        vectors: (deletionVectors as Record<string, unknown>[] | undefined)?.map(({ deleted, ...range }) => range),
      }),
    )
    t.same(found, plain, table)
    entries += wanted.length
  }
  t.ok(entries >= 5, `${entries} entries`)
  t.end()
})

t.test('files written again decode equal, with the header of Paimon and about its size', (t) => {
  const kinds = [
    { prefix: 'manifest-list-', decode: decodeManifestList, encode: encodeManifestList },
    { prefix: 'index-manifest-', decode: decodeIndexManifest, encode: encodeIndexManifest },
    { prefix: 'manifest-', decode: decodeManifest, encode: encodeManifest },
  ] as {
    prefix: string
    decode: (f: Uint8Array, c: typeof codecs) => unknown[]
    encode: (v: unknown[], c: typeof codecs, z: string) => Uint8Array
  }[]
  const headerOf = (file: Uint8Array) => {
    const text = Buffer.from(file).toString('latin1')
    return text.slice(0, text.indexOf('zstandard\0') + 10)
  }
  const seen = new Map<string, number>()
  const wrong: string[] = []
  let java = 0
  let ours = 0
  for (const table of cases) {
    for (const [name, file] of filesOf(table, 'manifest', 'manifest-', 'index-manifest-')) {
      const { prefix, decode, encode } = kinds.find((kind) => name.startsWith(kind.prefix))!
      const values = decode(file, codecs)
      const again = encode(values, codecs, 'zstd')
      if (headerOf(again) !== headerOf(file)) wrong.push(`${table} ${name}: header`)
      if (!equal(decode(again, codecs), values)) wrong.push(`${table} ${name}: values`)
      java += file.length
      ours += again.length
      seen.set(prefix, (seen.get(prefix) ?? 0) + 1)
    }
  }
  t.strictSame(wrong, [])
  t.ok([...seen.values()].every((count) => count >= 10) && seen.size === 3, JSON.stringify([...seen]))
  t.ok(Math.abs(ours - java) < java / 50, `${ours} bytes, Paimon's are ${java}`)
  t.end()
})

t.test('a manifest list counts the entries of its manifests', (t) => {
  let manifests = 0
  for (const table of cases) {
    const lists = filesOf(table, 'manifest', 'manifest-list-').flatMap(([, file]) => decodeManifestList(file, codecs))
    const files = new Map(filesOf(table, 'manifest', 'manifest-'))
    for (const list of lists) {
      const file = files.get(list.name)
      if (file === undefined) continue
      const entries = decodeManifest(file, codecs)
      const deleted = entries.filter((entry) => entry.kind === 'delete').length
      t.strictSame([file.length, entries.length - deleted, deleted], [list.bytes, list.addedFiles, list.deletedFiles])
      manifests++
    }
  }
  t.ok(manifests > 100)
  t.end()
})

/** Deep equality by text: far faster than the test library's on thousands of entries. */
function equal(a: unknown, b: unknown): boolean {
  const text = (value: unknown) =>
    JSON.stringify(value, (_, inner) =>
      typeof inner === 'bigint'
        ? `${inner}n`
        : inner instanceof Uint8Array
          ? Buffer.from(inner).toString('hex')
          : inner,
    )
  return text(a) === text(b)
}

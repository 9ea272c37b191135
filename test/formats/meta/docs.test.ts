import { readFileSync } from 'node:fs'
import t from 'tap'
import { AvroReader, AvroWriter } from '../../../formats/avro/cursor.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import { decodeHashIndex, encodeHashIndex } from '../../../formats/index/hash-index.ts'
import { decodeIndexManifest, encodeIndexManifest } from '../../../formats/meta/index-manifest.ts'
import { decodeManifest, encodeManifest } from '../../../formats/meta/manifest.ts'
import { decodeManifestList, encodeManifestList } from '../../../formats/meta/manifest-list.ts'
import * as names from '../../../formats/meta/names.ts'
import { parseSchema, printSchema } from '../../../formats/meta/schema.ts'
import { parseSnapshot, printSnapshot } from '../../../formats/meta/snapshot.ts'
import { parseTag, printTag } from '../../../formats/meta/tag.ts'
import { hashRow } from '../../../formats/row/hash.ts'

// The examples of docs/format are the fixtures here, so the pages cannot go stale.

const codecs = loadCodecs()
const page = (name: string) => readFileSync(new URL(`../../../docs/format/${name}.md`, import.meta.url), 'utf8')
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** The fenced block with this info string. */
function block(name: string, info: string): string {
  const [, content] = new RegExp(`\`\`\`${info}\n([^]*?)\n\`\`\``).exec(page(name)) ?? []
  if (content === undefined) throw new Error(`docs/format/${name}.md has no block "${info}"`)
  return content
}

/** Lines of a hex block: bytes, and the note behind them. */
const hexLines = (content: string) =>
  content.split('\n').map((line) => /^([0-9a-f]+) *(.*)$/.exec(line)!.slice(1) as [string, string])

/** Names in the first column of the tables of a page. */
const tableNames = (name: string) =>
  page(name)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, field]) => field!))

t.test('the snapshot, the tag and the schema of the pages print as they are read', (t) => {
  const snapshot = block('snapshot', 'json snapshot')
  t.equal(text(printSnapshot(parseSnapshot(Buffer.from(snapshot)))), snapshot)
  t.strictSame(Object.keys(JSON.parse(snapshot)), tableNames('snapshot'), 'the table lists every key, in order')
  t.equal(parseSnapshot(Buffer.from(snapshot)).extra, undefined)
  const tag = block('tag', 'json tag')
  t.equal(text(printTag(parseTag(Buffer.from(tag), 'x'))), tag)
  t.strictSame(Object.keys(JSON.parse(tag)).slice(-2), tableNames('tag'))
  const schema = block('schema', 'json schema-file')
  t.equal(text(printSchema(parseSchema(Buffer.from(schema)))), schema)
  t.strictSame(Object.keys(JSON.parse(schema)), tableNames('schema'))
  t.end()
})

const avroPages = [
  { name: 'manifest', decode: decodeManifest, encode: encodeManifest },
  { name: 'manifest-list', decode: decodeManifestList, encode: encodeManifestList },
  { name: 'index-manifest', decode: decodeIndexManifest, encode: encodeIndexManifest },
] as {
  name: string
  decode: (file: Uint8Array, c: typeof codecs) => unknown[]
  encode: (values: readonly unknown[], c: typeof codecs, compression: string) => Uint8Array
}[]

for (const { name, decode, encode } of avroPages) {
  t.test(`the record of ${name}.md is decoded, and encoded to the same bytes under the same schema`, (t) => {
    const schema = JSON.stringify(JSON.parse(block(name, 'json schema')))
    const record = Buffer.from(
      hexLines(block(name, 'hex record'))
        .map(([bytes]) => bytes)
        .join(''),
      'hex',
    )
    const sync = new Uint8Array(16).fill(7)
    const file = new AvroWriter()
    file.raw(Uint8Array.of(0x4f, 0x62, 0x6a, 1, 2))
    file.string('avro.schema')
    file.string(schema)
    file.number(0)
    file.raw(sync)
    file.number(1)
    file.bytes(record)
    file.raw(sync)
    const values = decode(file.written(), codecs)
    t.equal(values.length, 1)
    const again = encode(values, codecs, 'none')
    t.equal(hex(again.slice(-16 - record.length, -16)), hex(record))
    t.ok(text(again).includes(schema), 'the schema is the one written')
    t.end()
  })

  t.test(`the notes beside the record of ${name}.md say what the bytes are`, (t) => {
    const noted = hexLines(block(name, 'hex record')).filter(([, note]) => note !== '')
    t.ok(noted.length > 10)
    for (const [bytes, note] of noted) {
      const [, number = '0'] = /: (?:branch )?(-?\d+)/.exec(note) ?? []
      t.equal(String(new AvroReader(Buffer.from(bytes, 'hex'), 'page').long()), number, note)
    }
    t.end()
  })

  t.test(`the tables of ${name}.md list the fields in order`, (t) => {
    const { fields } = JSON.parse(block(name, 'json schema')) as {
      fields: { name: string; type: { fields?: { name: string }[] } }[]
    }
    const inFile = fields.find((field) => field.name === '_FILE')?.type.fields ?? []
    t.strictSame(
      tableNames(name),
      [...fields, ...inFile].map((field) => field.name),
    )
    t.end()
  })
}

t.test('the numbers of avro-container.md have these bytes', (t) => {
  for (const [bytes, number] of hexLines(block('avro-container', 'hex numbers'))) {
    t.equal(String(new AvroReader(Buffer.from(bytes, 'hex'), 'page').long()), number)
    const out = new AvroWriter()
    out.long(BigInt(number))
    t.equal(hex(out.written()), bytes)
  }
  t.end()
})

t.test('the hashes of hash-index.md are those of its keys', (t) => {
  const lines = hexLines(block('hash-index', 'hex hashes'))
  const bytes = Buffer.from(lines.map(([bytes]) => bytes).join(''), 'hex')
  const hashes = decodeHashIndex(bytes)
  t.equal(hex(encodeHashIndex(hashes)), hex(bytes))
  for (const [i, [, note]] of lines.entries()) {
    const [hash, key] = note.split(', key ').map(Number) as [number, number]
    const row = new Uint8Array(16)
    row[8] = key
    t.strictSame([hashes[i], hashRow(row)], [hash, hash])
  }
  t.end()
})

t.test('the names of names.md are parsed as its table says', (t) => {
  const rows = [...page('names').matchAll(/^\| `([^`]+)` \| ([^|]+) \|$/gm)]
  t.ok(rows.length > 10)
  for (const [, name, meaning] of rows) t.equal(describe(name!), meaning, name)
  t.end()
})

function describe(name: string): string {
  const metadata = names.parseMetadataName(name)
  if (metadata !== undefined) return `${metadata.kind}, counter ${metadata.counter}`
  const data = names.parseDataFileName(name)
  if (data !== undefined) return `data file, counter ${data.counter}, format ${data.format}`
  const temporary = names.parseTemporaryName(name)
  if (temporary !== undefined) return `temporary of ${temporary.target}`
  const plain = {
    snapshot: names.parseSnapshotName(name),
    changelog: names.parseChangelogName(name),
    schema: names.parseSchemaName(name),
    tag: names.parseTagName(name),
    branch: names.parseBranchFolder(name),
    consumer: names.parseConsumerName(name),
    bucket: names.parseBucketFolder(name),
  }
  const found = Object.entries(plain).filter(([, value]) => value !== undefined)
  return found.length === 0 ? 'nothing' : found.map(([kind, value]) => `${kind} ${value}`).join(' and ')
}

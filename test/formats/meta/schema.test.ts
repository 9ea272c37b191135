import t from 'tap'
import { parseSchema, printSchema } from '../../../formats/meta/schema.ts'
import type { TableSchema } from '../../../formats/meta/types.ts'
import { cases, filesOf } from './golden.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const corrupt = (message: RegExp) => ({ name: 'FormatError', code: 'CORRUPT', message })
const unsupported = (message: RegExp) => ({ name: 'FormatError', code: 'UNSUPPORTED', message })

const schema: TableSchema = {
  version: 3,
  id: 4,
  fields: [
    { id: 0, name: 'k', type: { kind: 'bigint', nullable: false }, description: 'the key' },
    { id: 1, name: 'a.b é', type: { kind: 'varchar', length: 2147483647, nullable: true }, defaultValue: 'x' },
    {
      id: 2,
      name: 'r',
      type: { kind: 'row', fields: [{ id: 3, name: 'x', type: { kind: 'int', nullable: true } }], nullable: true },
    },
  ],
  highestFieldId: 3,
  partitionKeys: [],
  primaryKeys: ['k'],
  options: { bucket: '-1', 'unknown.option': '1' },
  comment: 'a table',
  timeMillis: 1795999283762,
}

t.test('schemas of Paimon print byte for byte as they were', (t) => {
  let files = 0
  for (const table of cases) {
    for (const [name, bytes] of filesOf(table, 'schema', 'schema-')) {
      const parsed = parseSchema(bytes)
      t.equal(text(printSchema(parsed)), text(bytes), `${table} ${name}`)
      t.equal(parsed.id, Number(name.split('-')[1]))
      files++
    }
  }
  t.ok(files > 60, `${files} files`)
  t.end()
})

t.test('comments, descriptions, defaults and nested ids come back', (t) => {
  t.strictSame(parseSchema(printSchema(schema)), schema)
  t.match(text(printSchema(schema)), /"comment" : "a table",\n {2}"timeMillis" : 1795999283762\n\}$/)
  t.end()
})

const json = JSON.parse(text(printSchema(schema)))
const parse = (change: object) => parseSchema(utf8(JSON.stringify({ ...json, ...change })))

t.test('old versions get the defaults of their time', (t) => {
  const options = {}
  t.strictSame(parse({ version: undefined, options }).options, { bucket: '1', 'file.format': 'orc' })
  t.equal(parse({ version: undefined, options }).version, 1)
  t.strictSame(parse({ version: 1, options }).options, { bucket: '1', 'file.format': 'orc' })
  t.strictSame(parse({ version: 1, options: { bucket: '4', 'file.format': 'avro' } }).options, {
    bucket: '4',
    'file.format': 'avro',
  })
  t.strictSame(parse({ version: 2, options }).options, { 'file.format': 'orc' })
  t.strictSame(parse({ version: 3, options }).options, {})
  t.equal(parse({ timeMillis: undefined }).timeMillis, 0)
  t.strictSame(parse({ options: undefined }).options, {})
  t.equal(parse({ newKey: 1 }).id, 4, 'unknown keys are ignored')
  t.end()
})

t.test('a missing or wrong key is named', (t) => {
  for (const key of ['id', 'fields', 'highestFieldId', 'partitionKeys', 'primaryKeys']) {
    t.throws(() => parse({ [key]: undefined }), corrupt(new RegExp(`key "${key}" is missing`)))
    t.throws(() => parse({ [key]: 'x' }), corrupt(new RegExp(`key "${key}" must be`)))
  }
  t.throws(() => parse({ version: 4 }), unsupported(/version 4, the newest known is 3/))
  t.throws(() => parse({ primaryKeys: [1] }), corrupt(/"primaryKeys" must be an array of text/))
  t.throws(() => parse({ primaryKeys: ['q'] }), corrupt(/"primaryKeys" names "q", which is not in "fields"/))
  t.throws(() => parse({ partitionKeys: ['q'] }), corrupt(/"partitionKeys" names "q"/))
  t.throws(() => parse({ options: { bucket: 1 } }), corrupt(/"options"."bucket" must be text, found 1/))
  t.throws(() => parse({ fields: [{ id: 0, name: 'k' }] }), corrupt(/key "fields"/))
  t.throws(() => parse({ fields: [{ id: 0, name: 'k', type: 'GEOMETRY' }] }), unsupported(/key "fields".*GEOMETRY/))
  const bytes = printSchema(schema)
  t.throws(() => parseSchema(bytes.subarray(0, bytes.length / 2)), corrupt(/^schema, character/))
  t.throws(() => parseSchema(new Uint8Array()), corrupt(/schema: the file is empty/))
  t.throws(() => parseSchema(new Uint8Array(300)), corrupt(/^schema, character 0/))
  t.end()
})

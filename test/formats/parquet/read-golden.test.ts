import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseDataFields } from '../../../formats/types/parse.ts'
import type { Field } from '../../../formats/types/row-type.ts'
import { goldenExpect, goldenTable } from '../../support/golden.ts'
import { openBytes, type Row, rowsOf } from './support.ts'

interface Record {
  readonly file: string
  readonly key: Row
  readonly sequence: string
  readonly kind: string
  readonly value: Row
}

const KINDS = ['+I', '-U', '+U', '-D']

/** Tables of one schema whose data files are all Parquet. */
const tables = [
  'types',
  'types_more',
  'types_multiset',
  'pk_types',
  'pk_multi',
  'partition_types',
  'comp_none',
  'comp_snappy',
  'comp_gzip',
  'comp_lz4',
  'no_dictionary',
  'thin_mode',
  'parquet_bloom',
]

for (const table of tables) {
  t.test(`${table}: the records of each file are those that Paimon reads`, async (t) => {
    const records = goldenExpect<Record>(table, 'kv')
    const schema = JSON.parse(readFileSync(join(goldenTable(table), 'schema', 'schema-0'), 'utf8'))
    const fields = parseDataFields(schema.fields)
    const paths = dataFiles(goldenTable(table))
    const files = [...new Set(records.map((record) => record.file))]
    t.ok(files.length > 0)
    // kv.json stops at 200 records: the last file may be listed in part.
    for (const name of files) {
      const listed = records.filter((record) => record.file === name)
      const file = openBytes(new Uint8Array(readFileSync(paths.get(name)!)))
      const read = (wanted: readonly Field[], prefix = ''): Row[] =>
        rowsOf(file, { columns: wanted.map((f) => prefix + f.name), types: wanted.map((f) => f.type) })
      const system = rowsOf(file, { columns: ['_SEQUENCE_NUMBER', '_VALUE_KIND'] })
      const values = read(fields)
      const keys = read(
        fields.filter((field) => file.fields.some((f) => f.name === `_KEY_${field.name}`)),
        '_KEY_',
      )
      const actual = values.map((value, i) => ({
        file: name,
        key: Object.fromEntries(Object.entries(keys[i] ?? {}).map(([key, v]) => [key.slice(5), v])),
        sequence: system[i]!._SEQUENCE_NUMBER,
        kind: KINDS[system[i]!._VALUE_KIND as number],
        value,
      }))
      const expected = table === 'thin_mode' ? listed.map((record) => ({ ...record, key: {} })) : listed
      t.strictSame(rounded(actual.slice(0, listed.length), fields), rounded(expected, fields), name)
      if (records.length < 200) t.equal(actual.length, listed.length)
    }
  })
}

t.test('types_variant: a VARIANT is read as its two parts, with Paimon type or without', async (t) => {
  const [path] = dataFiles(goldenTable('types_variant')).values()
  const file = openBytes(new Uint8Array(readFileSync(path!)))
  const inferred = rowsOf(file, { columns: ['j'] })
  t.equal(inferred.at(-1)?.j, null)
  t.match(inferred[0]?.j, { value: /^[A-Za-z0-9+/=]+$/, metadata: /^AQ/ })
})

for (const table of ['rowgroups', 'rolling']) {
  t.test(`${table}: the newest record of each key over all files is what Paimon returns`, async (t) => {
    const paths = dataFiles(goldenTable(table))
    const newest = new Map<unknown, Row>()
    for (const { file_path: path } of goldenExpect<{ file_path: string }>(table, 'files')) {
      for (const row of rowsOf(openBytes(new Uint8Array(readFileSync(paths.get(path.split('/').at(-1)!)!))))) {
        const before = newest.get(row.id)
        if (before === undefined || Number(before._SEQUENCE_NUMBER) < Number(row._SEQUENCE_NUMBER))
          newest.set(row.id, row)
      }
    }
    const rows = [...newest.values()].filter((row) => row._VALUE_KIND === 0 || row._VALUE_KIND === 2)
    rows.sort((a, b) => (a.id as number) - (b.id as number))
    t.strictSame(
      rows.map(({ id, v }) => ({ id, v })),
      goldenExpect<Row>(table, 'expected'),
    )
  })
}

t.test('rowgroups: several row groups are one sequence of rows, and positions are those of the file', async (t) => {
  const [path] = dataFiles(goldenTable('rowgroups')).values()
  const file = openBytes(new Uint8Array(readFileSync(path!)))
  t.ok(file.metadata.rowGroups.length > 1)
  const all = rowsOf(file)
  t.equal(all.length, file.rows)
  const boundary = file.metadata.rowGroups[0]!.numRows
  const range = { start: boundary - 2, end: boundary + 2 }
  t.strictSame(rowsOf(file, { ranges: [range] }), all.slice(range.start, range.end))
})

/** FLOAT values print with the shortest digits of a float: compare them as floats. */
function rounded(records: readonly object[], fields: readonly Field[]): unknown {
  const floats = new Set(fields.filter((f) => f.type.kind === 'float').map((f) => f.name))
  return JSON.parse(JSON.stringify(records), (key, value) =>
    floats.has(key) && typeof value === 'number' ? Math.fround(value) : value,
  )
}

function dataFiles(table: string): Map<string, string> {
  const names = readdirSync(table, { recursive: true }) as string[]
  return new Map(names.filter((n) => n.endsWith('.parquet')).map((n) => [n.split('/').at(-1)!, join(table, n)]))
}

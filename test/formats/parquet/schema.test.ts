import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ConvertedType, PhysicalType, Repetition, type SchemaElement } from '../../../formats/parquet/footer.ts'
import { decimalBytes, schemaOfFields } from '../../../formats/parquet/schema.ts'
import { buildSchemaTree, fieldsOfTree } from '../../../formats/parquet/schema-tree.ts'
import { describeType, parseDataFields } from '../../../formats/types/parse.ts'
import { goldenTable } from '../../support/golden.ts'
import { openBytes } from './support.ts'

const { REQUIRED, OPTIONAL, REPEATED } = Repetition
const root = (numChildren: number): SchemaElement => ({ name: 'schema', numChildren })

for (const table of ['types', 'types_more', 'types_multiset', 'types_variant', 'pk_types', 'uc']) {
  t.test(`${table}: the schema made from the table's fields is the one that Paimon writes`, async (t) => {
    const folder = goldenTable(table)
    const schema = JSON.parse(readFileSync(join(folder, 'schema', 'schema-0'), 'utf8'))
    const fields = parseDataFields(schema.fields)
    const bucket = join(folder, 'bucket-0')
    const name = readdirSync(bucket).find((each) => each.endsWith('.parquet'))!
    const { metadata } = openBytes(new Uint8Array(readFileSync(join(bucket, name))))
    // Behind the root come the key columns, sequence number and kind, then the columns of the table.
    const own = schemaOfFields(fields).slice(1)
    t.strictSame(metadata.schema.slice(-own.length), own)
  })
}

t.test('a decimal takes the fewest bytes that hold its precision', async (t) => {
  t.strictSame([1, 2, 3, 9, 18, 19, 20, 30, 38].map(decimalBytes), [1, 1, 2, 4, 8, 9, 9, 13, 16])
})

/** Types of a stored schema, and the definition and repetition level of each leaf. */
function describe(elements: readonly SchemaElement[]): { types: string[]; levels: string[] } {
  const tree = buildSchemaTree(elements)
  return {
    types: fieldsOfTree(tree).map((field) => describeType(field.type)),
    levels: tree.leaves.map((leaf) => `${leaf.path.join('.')} ${leaf.definition} ${leaf.repetition}`),
  }
}

const int = (name: string, repetition: number): SchemaElement => ({ name, type: PhysicalType.INT32, repetition })
const group = (name: string, repetition: number, numChildren: number, convertedType?: number): SchemaElement => ({
  name,
  repetition,
  numChildren,
  ...(convertedType === undefined ? {} : { convertedType }),
})

t.test('older shapes of lists and maps are lists and maps', async (t) => {
  const { LIST, MAP, MAP_KEY_VALUE } = ConvertedType
  const cases: readonly (readonly [what: string, elements: SchemaElement[], type: string, levels: string[]])[] = [
    ['bare repeated', [int('x', REPEATED)], 'ARRAY<INT NOT NULL> NOT NULL', ['x 1 1']],
    ['two levels', [group('l', OPTIONAL, 1, LIST), int('element', REPEATED)], 'ARRAY<INT NOT NULL>', ['l.element 2 1']],
    [
      'three levels',
      [group('l', OPTIONAL, 1, LIST), group('bag', REPEATED, 1), int('array_element', OPTIONAL)],
      'ARRAY<INT>',
      ['l.bag.array_element 3 1'],
    ],
    [
      'a group called array is the element',
      [group('l', OPTIONAL, 1, LIST), group('array', REPEATED, 1), int('x', OPTIONAL)],
      'ARRAY<ROW<x INT> NOT NULL>',
      ['l.array.x 3 1'],
    ],
    [
      'a group called l_tuple is the element',
      [group('l', REQUIRED, 1, LIST), group('l_tuple', REPEATED, 1), int('x', REQUIRED)],
      'ARRAY<ROW<x INT NOT NULL> NOT NULL> NOT NULL',
      ['l.l_tuple.x 1 1'],
    ],
    [
      'a group of two is the element',
      [group('l', OPTIONAL, 1, LIST), group('list', REPEATED, 2), int('x', OPTIONAL), int('y', REQUIRED)],
      'ARRAY<ROW<x INT, y INT NOT NULL> NOT NULL>',
      ['l.list.x 3 1', 'l.list.y 2 1'],
    ],
    [
      'MAP_KEY_VALUE outside',
      [group('m', OPTIONAL, 1, MAP_KEY_VALUE), group('map', REPEATED, 2), int('key', REQUIRED), int('value', OPTIONAL)],
      'MAP<INT NOT NULL, INT>',
      ['m.map.key 2 1', 'm.map.value 3 1'],
    ],
    [
      'MAP, with optional keys',
      [group('m', REQUIRED, 1, MAP), group('key_value', REPEATED, 2), int('key', OPTIONAL), int('value', REQUIRED)],
      'MAP<INT NOT NULL, INT NOT NULL> NOT NULL',
      ['m.key_value.key 2 1', 'm.key_value.value 1 1'],
    ],
  ]
  for (const [what, elements, type, levels] of cases) {
    t.strictSame(describe([root(1), ...elements]), { types: [type], levels }, what)
  }
})

t.test('converted types alone, unsigned integers and odd annotations', async (t) => {
  const leaf = (type: number, convertedType: number, more: Partial<SchemaElement> = {}): string => {
    const element = { name: 'x', repetition: OPTIONAL, type, convertedType, ...more }
    return describe([root(1), element]).types[0]!
  }
  const { INT32, INT64, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY } = PhysicalType
  t.equal(leaf(BYTE_ARRAY, ConvertedType.UTF8), 'STRING')
  t.equal(leaf(BYTE_ARRAY, ConvertedType.JSON), 'STRING')
  t.equal(leaf(BYTE_ARRAY, ConvertedType.BSON), 'BYTES')
  t.equal(leaf(INT32, ConvertedType.DATE), 'DATE')
  t.equal(leaf(INT64, ConvertedType.TIMESTAMP_MICROS), 'TIMESTAMP(6) WITH LOCAL TIME ZONE')
  t.equal(leaf(INT32, ConvertedType.UINT_8), 'SMALLINT')
  t.equal(leaf(INT32, ConvertedType.UINT_16), 'INT')
  t.equal(leaf(INT32, ConvertedType.UINT_32), 'BIGINT')
  t.equal(leaf(INT64, ConvertedType.UINT_64), 'DECIMAL(20, 0)')
  t.equal(leaf(INT32, ConvertedType.INT_8), 'TINYINT')
  t.equal(leaf(INT32, ConvertedType.DECIMAL, { precision: 7, scale: 2 }), 'DECIMAL(7, 2)')
  t.equal(leaf(FIXED_LEN_BYTE_ARRAY, ConvertedType.DECIMAL, { precision: 50, scale: 2, typeLength: 22 }), 'BINARY(22)')
  t.equal(leaf(INT64, ConvertedType.DATE), 'BIGINT', 'an annotation that does not fit is left out')
  t.equal(leaf(INT32, 99), 'INT', 'an annotation that does not exist is left out')
})

t.test('a schema that is no tree is CORRUPT', async (t) => {
  const bad: readonly (readonly [what: string, elements: SchemaElement[]])[] = [
    ['empty', []],
    ['fewer elements than children', [root(2), int('x', OPTIONAL)]],
    ['more elements than children', [root(1), int('x', OPTIONAL), int('y', OPTIONAL)]],
    ['two billion children', [root(2147483647), int('x', OPTIONAL)]],
    ['negative children', [root(-1)]],
    ['neither type nor children', [root(1), { name: 'x', repetition: OPTIONAL }]],
    ['physical type 9', [root(1), { ...int('x', OPTIONAL), type: 9 }]],
    ['fixed length of nothing', [root(1), { ...int('x', OPTIONAL), type: PhysicalType.FIXED_LEN_BYTE_ARRAY }]],
    [
      'deeper than any table',
      [root(1), ...Array.from({ length: 5000 }, () => group('g', OPTIONAL, 1)), int('x', OPTIONAL)],
    ],
  ]
  for (const [what, elements] of bad) t.throws(() => buildSchemaTree(elements), { code: 'CORRUPT' }, what)
})

import tap from 'tap'
import { type AnyTableDefinition, toTableSchema, valueForms } from '../../../engine/api/definition.ts'
import { type Fields, FieldType, t } from '../../../engine/api/fields.ts'
import { printDataFields } from '../../../formats/types/parse.ts'

const NOW = 1_700_000_000_000

const base = { fields: { id: t.bigint(), v: t.string().nullable() }, primaryKey: ['id'] } satisfies AnyTableDefinition

tap.test('a definition becomes the first schema of its table', (tt) => {
  const schema = toTableSchema(
    {
      fields: {
        dt: t.string(),
        id: t.bigint().nullable().comment('the id'),
        price: t.decimal(10, 2).default('0.00').nullable(),
        at: t.timestamp(3, { mode: 'date' }),
      },
      primaryKey: ['id', 'dt'],
      partitionBy: ['dt'],
      options: { bucket: 4, 'num-levels': '5', 'write-only': false, 'other.engine': 'kept' },
      comment: 'prices',
    },
    NOW,
  )
  tt.strictSame(schema, {
    version: 3,
    id: 0,
    fields: [
      { id: 0, name: 'dt', type: { kind: 'varchar', length: 2147483647, nullable: false } },
      { id: 1, name: 'id', type: { kind: 'bigint', nullable: false }, description: 'the id' },
      {
        id: 2,
        name: 'price',
        type: { kind: 'decimal', precision: 10, scale: 2, nullable: true },
        defaultValue: '0.00',
      },
      { id: 3, name: 'at', type: { kind: 'timestamp', precision: 3, nullable: false } },
    ],
    highestFieldId: 3,
    partitionKeys: ['dt'],
    primaryKeys: ['id', 'dt'],
    options: { bucket: '4', 'num-levels': '5', 'write-only': 'false', 'other.engine': 'kept' },
    comment: 'prices',
    timeMillis: NOW,
  })
  tt.end()
})

tap.test('field ids are given depth first', (tt) => {
  const schema = toTableSchema(
    {
      fields: {
        id: t.int(),
        place: t.row({ x: t.int(), inner: t.row({ y: t.int() }) }),
        list: t.array(t.row({ z: t.int() })).nullable(),
        map: t.map(t.string(), t.row({ w: t.int() })),
        last: t.int(),
      },
      primaryKey: ['id'],
    },
    NOW,
  )
  const ids = new Map<string, number>()
  JSON.stringify(printDataFields(schema.fields), (_, value) => {
    if (typeof value === 'object' && value !== null && 'id' in value) ids.set(value.name, value.id)
    return value
  })
  tt.strictSame(Object.fromEntries(ids), {
    id: 0,
    place: 1,
    x: 2,
    inner: 3,
    y: 4,
    list: 5,
    z: 6,
    map: 7,
    w: 8,
    last: 9,
  })
  tt.equal(schema.highestFieldId, 9)
  tt.end()
})

tap.test('a table gets one bucket unless it asks for more', (tt) => {
  tt.strictSame(toTableSchema(base, NOW).options, { bucket: '1' })
  tt.end()
})

tap.test('names that JavaScript treats specially are names like others', (tt) => {
  const fields = { ['__proto__']: t.int(), constructor: t.int(), 'a.b c\n': t.string(), é: t.string() }
  const schema = toTableSchema({ fields, primaryKey: ['__proto__'], options: { ['__proto__']: 'x' } }, NOW)
  tt.strictSame(
    schema.fields.map((field) => field.name),
    ['__proto__', 'constructor', 'a.b c\n', 'é'],
  )
  tt.equal(Object.getOwnPropertyDescriptor(schema.options, '__proto__')?.value, 'x')
  tt.end()
})

tap.test('modes of fields become value forms, those of parts inside them', (tt) => {
  const definition = {
    fields: {
      id: t.bigint(),
      n: t.bigint({ mode: 'number' }).nullable(),
      day: t.date({ mode: 'date' }),
      at: t.timestampLtz(6, { mode: 'date' }).comment('c'),
      plain: t.array(t.int()),
      deep: t.map(t.string(), t.row({ a: t.int(), b: t.array(t.date({ mode: 'date' })) })),
    },
    primaryKey: ['id'],
  } satisfies AnyTableDefinition
  tt.strictSame(Object.fromEntries(valueForms(definition)), {
    n: { mode: 'number' },
    day: { mode: 'date' },
    at: { mode: 'date' },
    deep: { children: [undefined, { children: [undefined, { children: [{ mode: 'date' }] }] }] },
  })
  tt.end()
})

/** Definitions as JavaScript callers can get them wrong. */
const loose = (definition: unknown): AnyTableDefinition => definition as AnyTableDefinition

const refused: readonly (readonly [what: string, definition: unknown, message: RegExp, details?: object])[] = [
  ['no columns', { fields: {}, primaryKey: ['id'] }, /no columns/],
  ['no fields', { primaryKey: ['id'] }, /fields are not an object/],
  ['a type in place of a field', { ...base, fields: { id: 'BIGINT' } }, /"id" is not a field/, { column: 'id' }],
  ['an uncalled builder', { ...base, fields: { id: t.int } }, /"id" is not a field/, { column: 'id' }],
  ['a prototype in place of a field', { ...base, fields: { __proto__: t.int() } }, /not a plain object/],
  ['no primary key', { ...base, primaryKey: [] }, /primary key is empty/],
  ['a key that is text', { ...base, primaryKey: 'id' }, /primaryKey is not a list/],
  ['an unknown key column', { ...base, primaryKey: ['x'] }, /names "x", which is no column/, { column: 'x' }],
  ['an inherited name as key', { ...base, primaryKey: ['toString'] }, /"toString", which is no column/],
  ['a key column twice', { ...base, primaryKey: ['id', 'id'] }, /"id" twice/, { column: 'id' }],
  ['an unknown partition column', { ...base, partitionBy: ['x'] }, /partitionBy names "x"/, { column: 'x' }],
  ['a partition column outside the key', { ...base, partitionBy: ['v'] }, /"v" is not in the primary key/],
  ['only partition columns in the key', { ...base, partitionBy: ['id'] }, /All columns of the primary key/],
  ['an empty name', { ...base, fields: { ...base.fields, '': t.int() } }, /empty name/, { column: '' }],
  ['a lone surrogate', { ...base, fields: { ...base.fields, '\ud800': t.int() } }, /not valid Unicode/],
  ['a nested key', { fields: { id: t.array(t.int()) }, primaryKey: ['id'] }, /"id" of type ARRAY<INT NOT NULL>/],
  ['an empty row', { ...base, fields: { ...base.fields, r: t.row({}) } }, /row without fields/, { column: 'r' }],
  ...['_SEQUENCE_NUMBER', '_VALUE_KIND', '_LEVEL', 'rowkind', '_ROW_ID', '_KEY_id'].map(
    (name) => [name, { ...base, fields: { ...base.fields, [name]: t.int() } }, /reserved/, { column: name }] as const,
  ),
  ['an option that is no text', { ...base, options: { bucket: {} } }, /option 'bucket'/, { option: 'bucket' }],
  ['no buckets', { ...base, options: { bucket: 0 } }, /'bucket' cannot be '0'/, { option: 'bucket' }],
  ['the key as an option', { ...base, options: { 'primary-key': 'id' } }, /Give primaryKey/, { option: 'primary-key' }],
  ['a bucket key outside the key', { ...base, options: { 'bucket-key': 'v' } }, /bucket-key/, { option: 'bucket-key' }],
  ['an option of no column', { ...base, options: { 'fields.x.stats-mode': 'full' } }, /no column 'x'/],
  [
    'retention upside down',
    { ...base, options: { 'snapshot.num-retained.min': 5, 'snapshot.num-retained.max': 2 } },
    /snapshot.num-retained.min/,
  ],
]

for (const [what, definition, message, details] of refused) {
  tap.test(`refused: ${what}`, (tt) => {
    tt.throws(() => toTableSchema(loose(definition), NOW), {
      name: 'TableError',
      code: 'INVALID',
      message,
      ...(details === undefined ? {} : { details }),
    })
    tt.end()
  })
}

tap.test('what this version does not keep is refused as such, at any depth', (tt) => {
  const multiset = new FieldType<unknown>({
    kind: 'multiset',
    element: { kind: 'int', nullable: true },
    nullable: true,
  })
  const variant = new FieldType<unknown>({ kind: 'variant', nullable: true })
  const cases: readonly Fields[] = [
    { id: t.int(), c: multiset },
    { id: t.int(), c: variant },
    { id: t.int(), c: t.array(t.row({ x: variant })) },
    { id: t.int(), c: t.map(t.string(), multiset) },
  ]
  for (const fields of cases) {
    tt.throws(() => toTableSchema({ fields, primaryKey: ['id'] }, NOW), {
      code: 'UNSUPPORTED',
      details: { column: 'c' },
    })
  }
  tt.throws(() => toTableSchema({ ...base, options: { 'file.format': 'orc' } }, NOW), {
    code: 'UNSUPPORTED',
    details: { option: 'file.format' },
  })
  tt.end()
})

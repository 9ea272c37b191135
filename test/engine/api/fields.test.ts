import tap from 'tap'
import { t } from '../../../engine/api/fields.ts'
import { describeType } from '../../../formats/types/parse.ts'

tap.test('every builder makes its type, NOT NULL', (tt) => {
  const built = [
    [t.boolean(), 'BOOLEAN'],
    [t.tinyint(), 'TINYINT'],
    [t.smallint(), 'SMALLINT'],
    [t.int(), 'INT'],
    [t.bigint(), 'BIGINT'],
    [t.float(), 'FLOAT'],
    [t.double(), 'DOUBLE'],
    [t.decimal(10, 2), 'DECIMAL(10, 2)'],
    [t.decimal(38), 'DECIMAL(38, 0)'],
    [t.date(), 'DATE'],
    [t.time(), 'TIME(3)'],
    [t.timestamp(), 'TIMESTAMP(6)'],
    [t.timestamp(9), 'TIMESTAMP(9)'],
    [t.timestampLtz(3), 'TIMESTAMP(3) WITH LOCAL TIME ZONE'],
    [t.char(3), 'CHAR(3)'],
    [t.varchar(20), 'VARCHAR(20)'],
    [t.string(), 'STRING'],
    [t.binary(4), 'BINARY(4)'],
    [t.varbinary(9), 'VARBINARY(9)'],
    [t.bytes(), 'BYTES'],
    [t.array(t.int().nullable()), 'ARRAY<INT>'],
    [t.map(t.string(), t.int()), 'MAP<STRING NOT NULL, INT NOT NULL>'],
    [t.row({ x: t.int(), y: t.string().nullable() }), 'ROW<x INT NOT NULL, y STRING>'],
  ] as const
  for (const [field, text] of built) {
    tt.equal(describeType(field.type), `${text} NOT NULL`)
    tt.equal(describeType(field.nullable().type), text)
  }
  tt.end()
})

tap.test('fields are values: a method leaves its field alone', (tt) => {
  const field = t.bigint({ mode: 'number' })
  const changed = field.comment('c').default('7').nullable()
  tt.match(field, { description: undefined, defaultValue: undefined, type: { nullable: false } })
  tt.match(changed, { description: 'c', defaultValue: '7', type: { nullable: true }, form: { mode: 'number' } })
  tt.end()
})

tap.test('lengths, precisions and scales out of range are refused at once', (tt) => {
  const bad = [
    () => t.decimal(39, 2),
    () => t.decimal(0),
    () => t.decimal(5, 6),
    () => t.decimal(5, -1),
    () => t.decimal(5.5),
    () => t.char(0),
    () => t.varchar(2147483648),
    () => t.binary(Number.NaN),
    () => t.time(10),
    () => t.timestamp(-1),
    () => t.timestampLtz(10),
  ]
  for (const build of bad) tt.throws(build, { code: 'INVALID', message: /out of range. Give a whole number/ })
  tt.end()
})

tap.test('parts of nested types must be fields', (tt) => {
  const notField = 'INT' as unknown as ReturnType<typeof t.int>
  tt.throws(() => t.array(notField), { code: 'INVALID', message: /array element is not a field/ })
  tt.throws(() => t.map(t.int(), notField), { code: 'INVALID', message: /map value is not a field/ })
  tt.throws(() => t.row({ x: notField }), { code: 'INVALID', details: { column: 'x' } })
  tt.end()
})

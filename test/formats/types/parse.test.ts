import t from 'tap'
import { FormatError } from '../../../formats/bytes/format-error.ts'
import { describeType, parseDataFields, parseType, printDataFields, printType } from '../../../formats/types/parse.ts'

t.test('canonical text is kept', (t) => {
  const texts = [
    'BOOLEAN',
    'TINYINT',
    'SMALLINT',
    'INT NOT NULL',
    'BIGINT',
    'FLOAT',
    'DOUBLE NOT NULL',
    'DATE',
    'VARIANT',
    'CHAR(3) NOT NULL',
    'VARCHAR(20)',
    'STRING',
    'BINARY(4)',
    'VARBINARY(9)',
    'BYTES NOT NULL',
    'DECIMAL(10, 2)',
    'DECIMAL(38, 38) NOT NULL',
    'TIME(0)',
    'TIME(9)',
    'TIMESTAMP(0)',
    'TIMESTAMP(9) NOT NULL',
    'TIMESTAMP(6) WITH LOCAL TIME ZONE',
    'TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL',
  ]
  for (const text of texts) t.equal(printType(parseType(text)), text)
  t.end()
})

t.test('other spellings mean the canonical type', (t) => {
  const pairs = [
    ['integer', 'INT'],
    [' dec ( 5 , 1 ) not  null ', 'DECIMAL(5, 1) NOT NULL'],
    ['NUMERIC(7)', 'DECIMAL(7, 0)'],
    ['DECIMAL', 'DECIMAL(10, 0)'],
    ['double precision', 'DOUBLE'],
    ['CHAR', 'CHAR(1)'],
    ['VARCHAR(2147483647)', 'STRING'],
    ['VARBINARY(2147483647)', 'BYTES'],
    ['TIME', 'TIME(0)'],
    ['TIMESTAMP', 'TIMESTAMP(6)'],
    ['TIMESTAMP WITHOUT TIME ZONE', 'TIMESTAMP(6)'],
    ['TIMESTAMP_LTZ', 'TIMESTAMP(6) WITH LOCAL TIME ZONE'],
    ['TIMESTAMP_LTZ(3) NOT NULL', 'TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL'],
    ['INT NULL', 'INT'],
  ]
  for (const [spelling, text] of pairs) t.equal(printType(parseType(spelling)), text, spelling)
  t.end()
})

t.test('nested types are objects with the nullability in their type text', (t) => {
  const json = {
    type: 'MAP NOT NULL',
    key: 'STRING NOT NULL',
    value: {
      type: 'ROW',
      fields: [
        { id: 29, name: 'x', type: { type: 'ARRAY', element: 'INT' }, description: 'd', defaultValue: '1' },
        { id: 30, name: '__proto__', type: { type: 'MULTISET', element: 'STRING' } },
      ],
    },
  }
  const type = parseType(json)
  t.same(printType(type), json)
  t.equal(describeType(type), 'MAP<STRING NOT NULL, ROW<x ARRAY<INT>, __proto__ MULTISET<STRING>>> NOT NULL')
  t.same(printDataFields(parseDataFields(json.value.fields)), json.value.fields)
  t.end()
})

t.test('what is no type is refused with its text', (t) => {
  const cases: readonly (readonly [unknown, 'CORRUPT' | 'UNSUPPORTED'])[] = [
    ['GEOMETRY', 'UNSUPPORTED'],
    ['TIMESTAMP WITH TIME ZONE', 'UNSUPPORTED'],
    [{ type: 'VECTOR', element: 'FLOAT' }, 'UNSUPPORTED'],
    ['', 'UNSUPPORTED'],
    ['DECIMAL(39, 1)', 'CORRUPT'],
    ['DECIMAL(3, 4)', 'CORRUPT'],
    ['CHAR(0)', 'CORRUPT'],
    ['CHAR(2147483648)', 'CORRUPT'],
    ['TIME(10)', 'CORRUPT'],
    ['INT NOT', 'CORRUPT'],
    ['INT NOT NULL NULL', 'CORRUPT'],
    ['INT(3)', 'CORRUPT'],
    ['CHAR(3', 'CORRUPT'],
    ['CHAR(-3)', 'CORRUPT'],
    [7, 'CORRUPT'],
    [null, 'CORRUPT'],
    [{ type: 'ARRAY' }, 'CORRUPT'],
    [{ type: 'ROW', fields: [{ name: 'x', type: 'INT' }] }, 'CORRUPT'],
    [{ type: 'ROW' }, 'CORRUPT'],
  ]
  for (const [json, code] of cases) {
    try {
      parseType(json)
      t.fail(`${JSON.stringify(json)} was accepted`)
    } catch (error) {
      t.ok(error instanceof FormatError && error.code === code, `${JSON.stringify(json)}: ${error}`)
    }
  }
  t.end()
})

t.test('hostile nesting ends in an error, not in a stack overflow', (t) => {
  let json: unknown = 'INT'
  for (let i = 0; i < 100_000; i++) json = { type: 'ARRAY', element: json }
  t.throws(() => parseType(json), FormatError)
  t.end()
})

import t from 'tap'
import { parseAvroSchema } from '../../../formats/avro/schema.ts'

const corrupt = (message: RegExp) => ({ name: 'FormatError', code: 'CORRUPT', message })
const unsupported = (message: RegExp) => ({ name: 'FormatError', code: 'UNSUPPORTED', message })
const record = (name: string, ...types: unknown[]) => ({
  type: 'record',
  name,
  fields: types.map((type, i) => ({ name: `f${i}`, type })),
})
const parse = (schema: unknown) => parseAvroSchema(JSON.stringify(schema))

t.test('named types are found by full name and from inside their namespace', (t) => {
  const inner = { type: 'record', name: 'Inner', namespace: 'a.b', fields: [{ name: 'x', type: 'int' }] }
  const schema = { ...record('Outer', inner, 'Inner', 'a.b.Inner', { type: { type: 'int' } }), namespace: 'a.b' }
  const { fields } = parse(schema)
  t.equal(fields[1]!.type, fields[0]!.type)
  t.equal(fields[2]!.type, fields[0]!.type)
  t.equal(fields[3]!.type.kind, 'int')
  t.end()
})

t.test('what is no schema is refused', (t) => {
  t.throws(() => parseAvroSchema('{"type":'), corrupt(/not JSON/))
  t.throws(() => parse('int'), corrupt(/expected a record at the root, found int/))
  t.throws(() => parse(null), corrupt(/expected a type, found null/))
  t.throws(() => parse({ type: 'record', name: 'a' }), corrupt(/record a has no fields/))
  t.throws(() => parse({ type: 'record', fields: [] }), corrupt(/without a name/))
  t.throws(() => parse(record('a', [])), corrupt(/union without branches/))
  t.throws(() => parse(record('a', 'b')), corrupt(/unknown type "b"/))
  t.throws(() => parse(record('a', undefined)), corrupt(/expected a type/))
  t.throws(() => parse(record('a', { type: 'fixed', name: 'f', size: -1 })), corrupt(/size -1/))
  t.throws(() => parse({ ...record('a'), fields: [{ type: 'int' }] }), corrupt(/has no name/))
  const twice = { name: 'x', type: 'int' }
  t.throws(() => parse({ ...record('a'), fields: [twice, twice] }), corrupt(/the field x twice/))
  t.end()
})

t.test('nothing makes the schema recurse without bounds', (t) => {
  t.throws(() => parse(record('a', ['null', 'a'])), unsupported(/type a contains itself/))
  let nested: unknown = 'int'
  for (let i = 0; i < 100; i++) nested = { type: 'array', items: nested }
  t.throws(() => parse(record('a', nested)), unsupported(/nested deeper than 32/))
  // Each record holds the one before it twice: flat to read, 2^100 values deep.
  const chain = Array.from({ length: 100 }, (_, i) =>
    i === 0 ? record('r0', 'null') : record(`r${i}`, `r${i - 1}`, `r${i - 1}`),
  )
  t.throws(() => parse(record('a', ...chain)), unsupported(/nested deeper than 32/))
  t.equal(parse(record('a', ...chain.slice(0, 20))).empty, true)
  t.end()
})

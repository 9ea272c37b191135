import t from 'tap'
import { AvroReader, AvroWriter } from '../../../formats/avro/cursor.ts'
import {
  bytes,
  code,
  count,
  int,
  type Layout,
  list,
  long,
  long64,
  millis,
  optional,
  record,
  string,
} from '../../../formats/avro/records.ts'
import { parseAvroSchema } from '../../../formats/avro/schema.ts'

interface Sample {
  readonly name: string
  readonly rows: number
  readonly sequence: bigint
  readonly key: Uint8Array
  readonly kind: 'add' | 'delete'
  readonly tags: readonly string[]
  readonly time: number | null
  readonly inner: { readonly level: number; readonly nulls: readonly (number | null)[] | null }
}

const layout: Layout<Sample> = record<Sample>(
  {
    name: ['_NAME', string],
    rows: ['_ROWS', count],
    sequence: ['_SEQ', long64],
    key: ['_KEY', bytes],
    kind: ['_KIND', code('add', 'delete')],
    tags: ['_TAGS', list(string)],
    time: ['_TIME', optional(millis)],
    inner: ['_INNER', record({ level: ['_LEVEL', int], nulls: ['_NULLS', optional(list(optional(long)))] })],
  },
  { version: 2, namespace: 'org.example' },
)

const sample: Sample = {
  name: 'é',
  rows: 3,
  sequence: 2n ** 63n - 1n,
  key: Uint8Array.of(1, 2, 3),
  kind: 'delete',
  tags: ['a', ''],
  time: 1795998159700,
  inner: { level: 5, nulls: [0, null, 7] },
}

const corrupt = (message: RegExp) => ({ name: 'FormatError', code: 'CORRUPT', message })
const unsupported = (message: RegExp) => ({ name: 'FormatError', code: 'UNSUPPORTED', message })

type Field = { name: string; type: unknown }
const own = () => layout.schema('record') as { type: string; name: string; fields: Field[] }

/** Values of the fields in the writer's order, as bytes. */
function encode(write: (out: AvroWriter) => void): Uint8Array {
  const out = new AvroWriter()
  write(out)
  return out.written().slice()
}

function decode(schema: unknown, data: Uint8Array, as: Layout<Sample> = layout): Sample {
  const input = new AvroReader(data, 'test')
  const value = as.resolve(parseAvroSchema(JSON.stringify(schema)), 'record')(input)
  if (input.remaining !== 0) throw new Error(`${input.remaining} bytes were not read`)
  return value
}

t.test('a record comes back as it was, and its schema is made from the same table', (t) => {
  t.strictSame(
    decode(
      own(),
      encode((out) => layout.write(out, sample)),
    ),
    sample,
  )
  const nulls = { ...sample, tags: [], time: null, inner: { level: 0, nulls: null } }
  t.strictSame(
    decode(
      own(),
      encode((out) => layout.write(out, nulls)),
    ),
    nulls,
  )
  t.same(own().fields.at(-1), {
    name: '_INNER',
    type: {
      type: 'record',
      name: 'record__INNER',
      fields: [
        { name: '_LEVEL', type: 'int' },
        { name: '_NULLS', type: ['null', { type: 'array', items: ['null', 'long'] }], default: null },
      ],
    },
  })
  t.end()
})

t.test('fields go by name: other order, other record names, unknown fields of every type', (t) => {
  const [version, name, rows, sequence, key, kind, tags, time] = own().fields as Field[]
  const everything = {
    type: 'record',
    name: 'Everything',
    namespace: 'other',
    fields: [
      { name: 'a', type: 'null' },
      { name: 'b', type: 'boolean' },
      { name: 'c', type: 'int' },
      { name: 'd', type: 'long' },
      { name: 'e', type: 'float' },
      { name: 'f', type: 'double' },
      { name: 'g', type: 'bytes' },
      { name: 'h', type: 'string' },
      { name: 'i', type: { type: 'fixed', name: 'Four', size: 4 } },
      { name: 'j', type: { type: 'enum', name: 'Suit', symbols: ['A', 'B'] } },
      { name: 'k', type: { type: 'array', items: 'string' } },
      { name: 'l', type: { type: 'map', values: 'long' } },
      { name: 'm', type: ['string', 'null', 'Four'] },
      { name: 'n', type: { type: 'array', items: 'null' } },
      { name: 'o', type: 'other.Suit' },
    ],
  }
  const schema = {
    type: 'record',
    name: 'Whatever',
    fields: [
      time,
      { name: '_NEW', type: ['null', everything] },
      { name: '_INNER', type: { type: 'record', name: 'X', fields: [{ name: '_LEVEL', type: 'long' }] } },
      kind,
      tags,
      key,
      version,
      sequence,
      { name: '_OLD', type: { type: 'array', items: 'other.Everything' } },
      rows,
      name,
    ],
  }
  const writeEverything = (out: AvroWriter) => {
    out.raw(Uint8Array.of(1))
    out.number(-5)
    out.long(2n ** 62n)
    out.raw(new Uint8Array(4))
    out.raw(new Uint8Array(8))
    out.bytes(Uint8Array.of(9, 9))
    out.string('skipped')
    out.raw(Uint8Array.of(1, 2, 3, 4))
    out.number(1)
    out.number(-1)
    out.number(2)
    out.string('x')
    out.number(0)
    out.number(1)
    out.string('key')
    out.number(77)
    out.number(0)
    out.number(2)
    out.raw(Uint8Array.of(1, 2, 3, 4))
    out.number(2)
    out.number(0)
    out.number(1)
  }
  const data = encode((out) => {
    out.number(0)
    out.number(1)
    writeEverything(out)
    out.number(5)
    out.number(1)
    out.number(0)
    out.bytes(sample.key)
    out.number(2)
    out.long(sample.sequence)
    out.number(2)
    writeEverything(out)
    writeEverything(out)
    out.number(0)
    out.number(3)
    out.string('é')
  })
  t.strictSame(decode(schema, data), { ...sample, tags: [], time: null, inner: { level: 5, nulls: null } })
  t.end()
})

t.test('null may be any branch of a union, and a nullable writer may stand for a plain reader', (t) => {
  const schema = own()
  const fields = schema.fields.map((field) => {
    if (field.name === '_TIME') return { name: '_TIME', type: ['string', 'long', 'null'] }
    if (field.name === '_NAME') return { name: '_NAME', type: ['null', 'string'] }
    return field
  })
  const rest = (out: AvroWriter, name: (out: AvroWriter) => void, time: (out: AvroWriter) => void) => {
    out.number(2)
    name(out)
    out.number(3)
    out.number(1)
    out.bytes(sample.key)
    out.number(0)
    out.number(0)
    time(out)
    out.number(0)
    out.number(0)
  }
  const named = (out: AvroWriter) => {
    out.number(1)
    out.string('n')
  }
  const expected = { ...sample, name: 'n', sequence: 1n, kind: 'add', tags: [], inner: { level: 0, nulls: null } }
  const withNull = encode((out) => rest(out, named, (out) => out.number(2)))
  t.strictSame(decode({ ...schema, fields }, withNull), { ...expected, time: null })
  const withTime = encode((out) =>
    rest(out, named, (out) => {
      out.number(1)
      out.number(5)
    }),
  )
  t.strictSame(decode({ ...schema, fields }, withTime), { ...expected, time: 5 })
  const withText = encode((out) => rest(out, named, (out) => out.number(0)))
  t.throws(() => decode({ ...schema, fields }, withText), corrupt(/unexpected string in _TIME/))
  const withoutName = encode((out) => rest(out, (out) => out.number(0), named))
  t.throws(() => decode({ ...schema, fields }, withoutName), corrupt(/byte 1: unexpected null in _NAME/))
  const noBranch = encode((out) => rest(out, (out) => out.number(7), named))
  t.throws(() => decode({ ...schema, fields }, noBranch), corrupt(/byte 1: branch 7 of 2 in _NAME/))
  t.end()
})

t.test('a schema that does not fit is refused by field', (t) => {
  const change = (name: string, type: unknown) => ({
    ...own(),
    fields: own().fields.flatMap((field) =>
      field.name !== name ? [field] : type === undefined ? [] : [{ name, type }],
    ),
  })
  const empty = new Uint8Array()
  t.throws(() => decode(change('_ROWS', undefined), empty), corrupt(/record has no field _ROWS/))
  t.throws(() => decode(change('_VERSION', undefined), empty), corrupt(/no field _VERSION/))
  t.throws(() => decode(change('_ROWS', 'string'), empty), corrupt(/field _ROWS is string, expected int or long/))
  t.throws(() => decode(change('_TAGS', 'string'), empty), corrupt(/field _TAGS is string, expected array/))
  t.throws(() => decode(change('_INNER', 'int'), empty), corrupt(/field _INNER is int, expected record/))
  t.throws(() => decode(change('_NAME', ['null', 'int']), empty), corrupt(/no branch of _NAME has the expected type/))
  const micros = ['null', { type: 'long', logicalType: 'timestamp-micros' }]
  t.throws(() => decode(change('_TIME', micros), empty), unsupported(/_TIME counts microseconds/))
  t.end()
})

t.test('other versions and codes are unsupported, negative counts corrupt', (t) => {
  const data = encode((out) => layout.write(out, sample))
  const patched = (offset: number, byte: number) => {
    const copy = data.slice()
    copy[offset] = byte
    return copy
  }
  t.throws(() => decode(own(), patched(0, 6)), unsupported(/_VERSION is 3: this version reads and writes 2/))
  t.throws(() => decode(own(), patched(4, 1)), corrupt(/byte 4: expected a count, found -1/))
  const kindAt = 1 + 3 + 1 + 10 + 4
  t.equal(data[kindAt], 2)
  t.throws(() => decode(own(), patched(kindAt, 4)), unsupported(/_KIND is 2: known are 0 to 1/))
  t.end()
})

t.test('writing refuses what it could not read back, naming the field', (t) => {
  const write = (change: object) => () => layout.write(new AvroWriter(), { ...sample, ...change })
  t.throws(write({ rows: -1 }), { name: 'RangeError', message: /_ROWS: a count below zero/ })
  t.throws(write({ rows: 1.5 }), { name: 'RangeError', message: /_ROWS/ })
  t.throws(write({ sequence: 2n ** 63n }), { name: 'RangeError', message: /_SEQ/ })
  t.throws(write({ inner: { level: 2 ** 31, nulls: null } }), { name: 'RangeError', message: /_INNER: _LEVEL/ })
  t.end()
})

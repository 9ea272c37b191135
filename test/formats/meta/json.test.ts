import fc from 'fast-check'
import t from 'tap'
import { parseJson } from '../../../formats/meta/json.ts'
import { printJson } from '../../../formats/meta/json-print.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const parse = (text: string) => parseJson(utf8(text), 'file')
const print = (value: unknown) => new TextDecoder().decode(printJson(value))
const corrupt = (message: RegExp) => ({ name: 'FormatError', code: 'CORRUPT', message })

t.test('integers keep every digit', (t) => {
  t.equal(parse('9007199254740991'), 9007199254740991)
  t.equal(parse('9007199254740992'), 9007199254740992n)
  t.equal(parse('9223372036854775807'), 9223372036854775807n)
  t.equal(parse('-9223372036854775808'), -9223372036854775808n)
  t.equal(parse('123456789012345678901234567890'), 123456789012345678901234567890n)
  t.equal(Object.is(parse('-0'), 0), true)
  t.equal(parse('259200.000000000'), 259200)
  t.equal(parse('1e3'), 1000)
  t.strictSame(parse('{"a":"9223372036854775807","b":[9223372036854775807]}'), {
    a: '9223372036854775807',
    b: [9223372036854775807n],
  })
  t.end()
})

t.test('agrees with JSON.parse on whatever that accepts', (t) => {
  let runs = 0
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'), (text, indent) => {
      runs++
      const spaced = JSON.stringify(JSON.parse(text), undefined, indent)
      // Integers beyond 2^53 differ on purpose.
      const rounded = (value: unknown): unknown => {
        if (typeof value === 'bigint') return Number(value)
        if (Array.isArray(value)) return value.map(rounded)
        if (typeof value !== 'object' || value === null) return value
        return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rounded(inner)]))
      }
      return JSON.stringify(rounded(parse(spaced))) === JSON.stringify(JSON.parse(spaced))
    }),
    { numRuns: 300, seed: 7 },
  )
  t.equal(runs, 300)
  t.end()
})

t.test('what JSON.parse refuses is refused, with the place', (t) => {
  const wrong = [
    '', ' ', '{', '}', '[', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{a:1}', "{'a':1}", '[1,]', '[,]', '[1 2]', '1 2',
    '01', '1.', '.5', '+1', '-', '1e', 'tru', 'nul', 'NaN', 'Infinity', '"', '"\\x"', '"\\u12"', '"a\nb"', '"\u0001"', '//a\n1', '\0',
    '{"a":1}\0', '\ufeff{}', 'undefined',
  ] // biome-ignore format: a table
  for (const text of wrong) {
    t.throws(() => JSON.parse(text), SyntaxError, text)
    t.throws(() => parse(text), corrupt(/^file[:,]/), JSON.stringify(text))
  }
  t.throws(() => parse('{"a" : tru }'), corrupt(/file, character 7: expected a value, found "t"/))
  t.throws(() => parse('{"a" : "x'), corrupt(/expected a closing quote, found the end of the file/))
  t.throws(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22), 'file'), corrupt(/not UTF-8/))
  t.throws(() => parse('['.repeat(100_000)), corrupt(/nested deeper than 100/))
  t.throws(() => parse('9'.repeat(100_000)), corrupt(/an integer of 100000 digits/))
  t.throws(() => parse('1e999'), corrupt(/out of range/))
  t.end()
})

t.test('a key cannot reach the prototype', (t) => {
  const value = parse('{"__proto__":{"polluted":1},"constructor":2}') as Record<string, unknown>
  t.equal(value.polluted, undefined)
  t.strictSame(Object.keys(value), ['__proto__', 'constructor'])
  t.equal(print(value), '{\n  "__proto__" : {\n    "polluted" : 1\n  },\n  "constructor" : 2\n}')
  t.end()
})

t.test('prints as Paimon does', (t) => {
  t.equal(print({}), '{ }')
  t.equal(print([]), '[ ]')
  t.equal(
    print({ a: [1, 'x'], b: { c: [] }, d: undefined, e: null, f: 9223372036854775807n, g: [{ h: true }, { i: 1.5 }] }),
    [
      '{',
      '  "a" : [ 1, "x" ],',
      '  "b" : {',
      '    "c" : [ ]',
      '  },',
      '  "e" : null,',
      '  "f" : 9223372036854775807,',
      '  "g" : [ {',
      '    "h" : true',
      '  }, {',
      '    "i" : 1.5',
      '  } ]',
      '}',
    ].join('\n'),
  )
  t.equal(print('a"b\\c/é😀\n\t\u001f\\u001f'), '"a\\"b\\\\c/é😀\\n\\t\\u001F\\\\u001f"')
  t.throws(() => print(Number.NaN), RangeError)
  t.end()
})

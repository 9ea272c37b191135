import tap from 'tap'
import { type BucketFunction, bucketing, bucketOfHash } from '../../../engine/plan/bucket.ts'
import { parseType } from '../../../formats/types/parse.ts'
import { columnOf, type Value } from '../../support/flat-columns.ts'

function buckets(kind: BucketFunction, type: string, values: readonly Value[], count: number): number[] {
  const parsed = parseType(type)
  return [...bucketing(kind, [parsed], count)([columnOf(parsed, values)], values.length)]
}

tap.test('default buckets are those of other engines (C059)', (t) => {
  t.strictSame(
    buckets(
      'default',
      'BIGINT',
      [0n, 1n, 2n, 3n, -1n, 100n, 9007199254740991n, 9007199254740993n, -(2n ** 63n), 2n ** 63n - 1n],
      4,
    ),
    [3, 2, 0, 1, 0, 1, 0, 2, 3, 3],
  )
  t.strictSame(
    buckets('default', 'STRING', ['', 'a', 'abcdefg', 'abcdefgh', 'é', '～', '😀', '日本'], 4),
    [3, 2, 3, 2, 1, 3, 2, 3],
  )
  t.strictSame(buckets('default', 'INT', [0, 1, 2, -1, -2147483648, 2147483647], 1000), [99, 398, 384, 267, 219, 321])
  t.end()
})

tap.test('one bucket takes everything', (t) => {
  t.strictSame(buckets('default', 'INT', [1, -1, 7], 1), [0, 0, 0])
  t.equal(bucketOfHash(-2147483648, 7), 2)
  t.end()
})

tap.test('a key of several columns', (t) => {
  const types = [parseType('STRING'), parseType('BIGINT')]
  const columns = [columnOf(types[0]!, ['user-000001']), columnOf(types[1]!, [99n])]
  t.strictSame([...bucketing('default', types, 7)(columns, 1)], [3])
  t.end()
})

tap.test('mod is the floor modulus of the value', (t) => {
  t.strictSame(buckets('mod', 'INT', [-1, -8, 10, 0, -7], 7), [6, 6, 3, 0, 0])
  t.strictSame(buckets('mod', 'BIGINT', [-1n, -8n, 10n, 2n ** 62n, -(2n ** 63n)], 7), [6, 6, 3, 4, 6])
  t.end()
})

tap.test('hive buckets of the examples', (t) => {
  t.strictSame(buckets('hive', 'INT', [-1, -8, 10, null], 7), [1, 1, 3, 0])
  t.strictSame(buckets('hive', 'BIGINT', [-1n], 7), [0])
  t.strictSame(buckets('hive', 'STRING', ['a', 'hello world'], 7), [6, 4])
  t.end()
})

tap.test('hive hashes follow the classes of Java', (t) => {
  // One bucket a hash: 2^31 buckets show all of the 31 bits that count.
  const hashes = (type: string, values: readonly Value[]): number[] => buckets('hive', type, values, 2 ** 31)
  t.strictSame(hashes('BOOLEAN', [1, 0]), [1, 0])
  t.strictSame(hashes('TINYINT', [-1]), [0x7fffffff])
  t.strictSame(hashes('BIGINT', [2n ** 32n + 5n]), [4])
  t.strictSame(hashes('FLOAT', [1, 0, -0]), [0x3f800000, 0, 0])
  t.strictSame(hashes('DOUBLE', [1, 0, -0]), [0x3ff00000, 0, 0])
  t.strictSame(hashes('STRING', ['é']), [(0xff_ff_ff_c3 * 31 + 0xff_ff_ff_a9) & 0x7fffffff])
  // 1.50 and 1.5 are one number: 15 of scale 1. 100.00 is 100 of scale 0. Zero is zero at any scale.
  t.strictSame(hashes('DECIMAL(6, 2)', [150n, 10000n, 0n]), [15 * 31 + 1, 100 * 31, 0])
  t.strictSame(hashes('DECIMAL(38, 1)', [15n, -15n]), [15 * 31 + 1, (-15 * 31 + 1) & 0x7fffffff])
  t.strictSame(hashes('DECIMAL(38, 0)', [2n ** 32n + 3n]), [(31 + 3) * 31])
  t.end()
})

tap.test('hive buckets of Paimon 1.4.2 for 2,000,000,000 buckets', (t) => {
  const hive = (type: string, values: readonly Value[]): number[] => buckets('hive', type, values, 2_000_000_000)
  t.strictSame(hive('DOUBLE', [-0.25, 1, -0, 1e300]), [1070596096, 1072693248, 0, 1983353248])
  t.strictSame(hive('FLOAT', [-1.5, -0]), [1069547520, 0])
  t.strictSame(hive('STRING', ['é😀', 'hello world']), [320185885, 1794106052])
  t.strictSame(hive('DECIMAL(6, 2)', [10000n, 150n, -150n]), [3100, 466, 147483184])
  t.strictSame(
    hive('DECIMAL(38, 1)', [15n, -15n, 4294967299n, -999999999999999999999999999n, 0n]),
    [466, 147483184, 1055, 1986348704, 0],
  )
  t.end()
})

tap.test('hive joins columns, a null counting zero', (t) => {
  const types = [parseType('INT'), parseType('STRING')]
  const columns = [columnOf(types[0]!, [2, null]), columnOf(types[1]!, ['a', null])]
  t.strictSame([...bucketing('hive', types, 2 ** 31)(columns, 2)], [2 * 31 + 97, 0])
  t.end()
})

tap.test('functions refuse keys that they cannot take, naming the option', (t) => {
  const refused: readonly (readonly [BucketFunction, readonly string[]])[] = [
    ['mod', ['STRING']],
    ['mod', ['INT', 'INT']],
    ['mod', ['SMALLINT']],
    ['hive', ['TIMESTAMP(3)']],
    ['hive', ['INT', 'TIME(0)']],
  ]
  for (const [kind, types] of refused) {
    const parsed = types.map((type) => parseType(type))
    t.throws(() => bucketing(kind, parsed, 4), {
      code: 'INVALID',
      details: { option: 'bucket-function.type', value: kind },
    })
  }
  t.end()
})

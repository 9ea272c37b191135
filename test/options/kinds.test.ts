import t from 'tap'
import {
  bool,
  dataCodec,
  double,
  duration,
  int,
  type Kind,
  list,
  long,
  memorySize,
  oneOf,
  perLevel,
  statsMode,
} from '../../engine/options/kinds.ts'

/** Each case: text, value; undefined = refused. */
function cases<T>(name: string, kind: Kind<T>, table: readonly (readonly [string, T | undefined])[]): void {
  t.test(name, async (t) => {
    for (const [text, value] of table) t.strictSame(kind.parse(text), value, JSON.stringify(text))
    for (const [, value] of table) {
      if (value !== undefined) t.strictSame(kind.parse(kind.print(value)), value, `prints ${kind.print(value)}`)
    }
  })
}

cases('whole numbers of 32 bits', int(), [
  ['0', 0],
  ['-0', 0],
  ['+7', 7],
  ['007', 7],
  ['-2147483648', -2147483648],
  ['2147483647', 2147483647],
  ['2147483648', undefined],
  ['-2147483649', undefined],
  ['', undefined],
  [' 1', undefined],
  ['1.0', undefined],
  ['1e3', undefined],
  ['0x10', undefined],
])

cases('whole numbers with a least value', int(2), [
  ['1', undefined],
  ['2', 2],
])

cases('whole numbers of 64 bits that are exact', long(), [
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', undefined],
  ['-9007199254740991', -9007199254740991],
])

cases('fractions', double, [
  ['0.05', 0.05],
  ['.5', 0.5],
  ['-1e-3', -0.001],
  ['NaN', undefined],
  ['Infinity', undefined],
  ['', undefined],
])

cases('booleans in any case', bool, [
  ['true', true],
  ['FALSE', false],
  ['yes', undefined],
  ['1', undefined],
  ['', undefined],
])

cases('sizes are 1024 based', memorySize, [
  ['0', 0],
  ['500', 500],
  ['500 bytes', 500],
  ['1 b', 1],
  ['64 kb', 65536],
  ['64KB', 65536],
  ['3 kibibytes', 3072],
  [' 8  mb ', 8388608],
  ['1g', 1073741824],
  ['2 tebibytes', 2199023255552],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['9223372036854775807 bytes', Number.MAX_SAFE_INTEGER],
  ['9223372036854775808', undefined],
  ['8388608 t', undefined],
  ['1.5 mb', undefined],
  ['-1', undefined],
  ['mb', undefined],
  ['1 mib', undefined],
  ['', undefined],
])

cases('durations are milliseconds', duration, [
  ['0', 0],
  ['500', 500],
  ['500 ms', 500],
  ['10 s', 10_000],
  ['10SEC', 10_000],
  ['3 min', 180_000],
  ['3 m', 180_000],
  ['1 h', 3_600_000],
  ['2 hours', 7_200_000],
  ['1 d', 86_400_000],
  ['999999 ns', 0],
  ['1500 µs', 1],
  ['9223372036854775807 d', Number.MAX_SAFE_INTEGER],
  ['PT1H', undefined],
  ['1 w', undefined],
  ['-1 s', undefined],
  ['1 h 30 min', undefined],
  ['', undefined],
])

cases('lists of names', list, [
  ['a', ['a']],
  ['a, b ,c', ['a', 'b', 'c']],
  ['', undefined],
  ['a,,b', undefined],
])

cases('one of some names', oneOf('loser-tree', 'min-heap'), [
  ['loser-tree', 'loser-tree'],
  ['Min-Heap', 'min-heap'],
  ['heap', undefined],
])

cases('values by level', perLevel(dataCodec), [
  ['', new Map()],
  ['0:lz4,1:zstd', new Map([[0, 'lz4_raw'] as const, [1, 'zstd'] as const])],
  [' 5 : none ', new Map([[5, 'none'] as const])],
  ['0:lz4,0:zstd', undefined],
  ['0', undefined],
  ['a:lz4', undefined],
  ['-1:lz4', undefined],
  ['0:lzo', undefined],
])

cases('statistics modes', statsMode, [
  ['none', { kind: 'none' }],
  ['COUNTS', { kind: 'counts' }],
  ['full', { kind: 'full' }],
  ['truncate(16)', { kind: 'truncate', length: 16 }],
  ['truncate(0)', undefined],
  ['truncate', undefined],
  ['truncate(-1)', undefined],
])

cases('codecs of data files', dataCodec, [
  ['none', 'none'],
  ['ZSTD', 'zstd'],
  ['lz4', 'lz4_raw'],
  ['lz4_raw', 'lz4_raw'],
  ['brotli', undefined],
  ['toString', undefined],
])

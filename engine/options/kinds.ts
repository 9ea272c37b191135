/**
 * How the text of an option becomes a value. The accepted texts are those of Paimon, so a value that passes here passes there.
 */
export interface Kind<T> {
  /** Word of the option reference: `int`, `memory size`, … */
  readonly name: string
  /** The allowed texts, as an error message shows them. */
  readonly form: string
  /** Undefined when the text is not of this kind. */
  parse(text: string): T | undefined
  /** A text that parses to the value. */
  print(value: T): string
}

/** Largest 32-bit integer: Paimon's "no limit" for counts. */
export const MAX_INT = 2147483647

const MAX_LONG = 9223372036854775807n

/** Whole number of 32 bits, not below `min` (any sign when left out). */
export function int(min = -MAX_INT - 1): Kind<number> {
  return wholeNumber('int', min, MAX_INT)
}

/** Whole number; Paimon takes 64 bits, this version those that a JavaScript number holds exactly. */
export function long(min = Number.MIN_SAFE_INTEGER): Kind<number> {
  return wholeNumber('long', min, Number.MAX_SAFE_INTEGER)
}

function wholeNumber(name: string, min: number, max: number): Kind<number> {
  return {
    name,
    form: `a whole number from ${min} to ${max}`,
    parse(text) {
      if (!/^[+-]?\d+$/.test(text)) return undefined
      const value = Number(text)
      return value >= min && value <= max ? value + 0 : undefined
    },
    print: String,
  }
}

/** Number with a fraction, finite. */
export const double: Kind<number> = {
  name: 'double',
  form: 'a number such as 0.05',
  parse: (text) => (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text.trim()) ? Number(text) : undefined),
  print: String,
}

/** `true` or `false`, in any case. */
export const bool: Kind<boolean> = {
  name: 'boolean',
  form: 'true or false',
  parse(text) {
    const lower = text.toLowerCase()
    return lower === 'true' ? true : lower === 'false' ? false : undefined
  },
  print: String,
}

/** Any text. */
export const string: Kind<string> = { name: 'string', form: 'a text', parse: (text) => text, print: (value) => value }

/** Names with commas between them; blanks around a name do not count. */
export const list: Kind<readonly string[]> = {
  name: 'list',
  form: 'names with commas between them',
  parse(text) {
    const names = text.split(',').map((name) => name.trim())
    return names.every((name) => name !== '') ? names : undefined
  },
  print: (names) => names.join(','),
}

/** One of some names, in any case; the value is the name as given here. */
export function oneOf<const N extends string>(...names: readonly N[]): Kind<N> {
  return {
    name: 'enum',
    form: `one of ${names.join(', ')}`,
    parse: (text) => names.find((name) => name === text.toLowerCase()),
    print: (value) => value,
  }
}

/** Levels with a value each, `0:lz4,1:zstd`. */
export function perLevel<T>(value: Kind<T>): Kind<ReadonlyMap<number, T>> {
  return {
    name: 'map',
    form: `level:value pairs with commas between them; each value is ${value.form}`,
    parse(text) {
      const levels = new Map<number, T>()
      for (const pair of text === '' ? [] : text.split(',')) {
        const match = /^\s*(\d{1,4})\s*:(.*)$/.exec(pair)
        const parsed = match === null ? undefined : value.parse(match[2]!.trim())
        if (match === null || parsed === undefined || levels.has(Number(match[1]))) return undefined
        levels.set(Number(match[1]), parsed)
      }
      return levels
    },
    print: (levels) => [...levels].map(([level, entry]) => `${level}:${value.print(entry)}`).join(','),
  }
}

const memoryUnits: ReadonlyMap<string, bigint> = new Map(
  [
    ['', 'b', 'bytes'],
    ['k', 'kb', 'kibibytes'],
    ['m', 'mb', 'mebibytes'],
    ['g', 'gb', 'gibibytes'],
    ['t', 'tb', 'tebibytes'],
  ].flatMap((names, power) => names.map((name): [string, bigint] => [name, 1024n ** BigInt(power)])),
)

/** Bytes, 1024 based: `8 mb`, `64 kb`, `1g`, `500`. What passes 2^53 - 1 bytes (9 PB) counts as that many: no limit. */
export const memorySize: Kind<number> = {
  name: 'memory size',
  form: 'a size such as 8 mb, 64 kb, 1g, or a plain number of bytes',
  parse(text) {
    const { number, unit } = numberAndUnit(text)
    const factor = memoryUnits.get(unit)
    if (number === undefined || factor === undefined || number * factor > MAX_LONG) return undefined
    return saturate(number * factor)
  },
  print: (bytes) => (bytes === Number.MAX_SAFE_INTEGER ? `${MAX_LONG} bytes` : printWithUnit(bytes, sizeSteps)),
}

const durationUnits: ReadonlyMap<string, bigint> = new Map(
  (
    [
      [['ns', 'nano', 'nanos', 'nanosecond', 'nanoseconds'], 1n],
      [['µs', 'micro', 'micros', 'microsecond', 'microseconds'], 1_000n],
      [['', 'ms', 'milli', 'millis', 'millisecond', 'milliseconds'], 1_000_000n],
      [['s', 'sec', 'secs', 'second', 'seconds'], 1_000_000_000n],
      [['m', 'min', 'minute', 'minutes'], 60_000_000_000n],
      [['h', 'hour', 'hours'], 3_600_000_000_000n],
      [['d', 'day', 'days'], 86_400_000_000_000n],
    ] as const
  ).flatMap(([names, nanos]) => names.map((name): [string, bigint] => [name, nanos])),
)

const NANOS_PER_MILLI = 1_000_000n

/** Milliseconds, rounded down: `1 h`, `10 s`, `500 ms`, `1 d`, `3 min`, a plain number of ms. */
export const duration: Kind<number> = {
  name: 'duration',
  form: 'a duration such as 1 h, 3 min, 10 s, 500 ms, or a plain number of milliseconds',
  parse(text) {
    const { number, unit } = numberAndUnit(text)
    const nanos = durationUnits.get(unit)
    if (number === undefined || nanos === undefined || number > MAX_LONG) return undefined
    return saturate((number * nanos) / NANOS_PER_MILLI)
  },
  print: (millis) => printWithUnit(millis, durationSteps),
}

/** Digits, blanks, unit in any case. `number` is undefined when the text starts with anything else. */
function numberAndUnit(text: string): { readonly number: bigint | undefined; readonly unit: string } {
  const match = /^(\d{1,19})\s*(\D*)$/.exec(text.trim())
  if (match === null) return { number: undefined, unit: '' }
  return { number: BigInt(match[1]!), unit: match[2]!.toLowerCase() }
}

function saturate(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value)
}

const sizeSteps = [
  [1024 ** 4, 'tb'],
  [1024 ** 3, 'gb'],
  [1024 ** 2, 'mb'],
  [1024, 'kb'],
  [1, 'bytes'],
] as const

const durationSteps = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
  [1, 'ms'],
] as const

/** The largest unit that divides the value. */
function printWithUnit(value: number, steps: readonly (readonly [number, string])[]): string {
  const [size, unit] = steps.find(([step]) => value >= step && value % step === 0) ?? steps.at(-1)!
  return `${value / size} ${unit}`
}

/** Which statistics a data file keeps of a column. `truncate` cuts texts to `length` characters. */
export type StatsMode =
  | { readonly kind: 'none' | 'counts' | 'full' }
  | { readonly kind: 'truncate'; readonly length: number }

/** `none`, `counts`, `truncate(16)`, `full`. */
export const statsMode: Kind<StatsMode> = {
  name: 'statistics mode',
  form: 'one of none, counts, truncate(<length>), full',
  parse(text) {
    const lower = text.trim().toLowerCase()
    if (lower === 'none' || lower === 'counts' || lower === 'full') return { kind: lower }
    const length = Number(/^truncate\((\d{1,9})\)$/.exec(lower)?.[1])
    return length > 0 ? { kind: 'truncate', length } : undefined
  },
  print: (mode) => (mode.kind === 'truncate' ? `truncate(${mode.length})` : mode.kind),
}

const parquetCodecs = {
  none: 'none',
  uncompressed: 'none',
  snappy: 'snappy',
  gzip: 'gzip',
  lz4: 'lz4_raw',
  lz4_raw: 'lz4_raw',
  zstd: 'zstd',
} as const

/**
 * Codec of a Parquet page, under the names of the codec layer. `lz4` writes raw LZ4, which every reader takes; the framing of
 * Hadoop that Paimon writes under this name is read, not written.
 */
export type DataCodec = (typeof parquetCodecs)[keyof typeof parquetCodecs]

/** Compression of data files. Brotli is read, not written: Paimon's own reader refuses it. */
export const dataCodec: Kind<DataCodec> = {
  name: 'codec',
  form: `one of ${Object.keys(parquetCodecs).join(', ')}`,
  parse(text) {
    const lower = text.toLowerCase()
    return Object.hasOwn(parquetCodecs, lower) ? parquetCodecs[lower as keyof typeof parquetCodecs] : undefined
  },
  print: (codec) => (codec === 'lz4_raw' ? 'lz4' : codec),
}

import type { DataType } from '../../../formats/types/row-type.ts'

/**
 * Values of a type in the form of the API, the extreme ones first. Never null: nulls are for the caller to mix in. Those of a
 * `key` are without NaN and -0.0.
 */
export function samples(type: DataType, key = false): readonly unknown[] {
  switch (type.kind) {
    case 'boolean':
      return [true, false]
    case 'tinyint':
      return [-128, 127, 0, -1]
    case 'smallint':
      return [-32768, 32767, 0, 255]
    case 'int':
      return [-2147483648, 2147483647, 0, -1, 65536]
    case 'bigint':
      return [-9223372036854775808n, 9223372036854775807n, 0n, 9007199254740993n, -1n]
    case 'float':
      return [-3.4028234663852886e38, 1.401298464324817e-45, 0, 1.5, Number.NEGATIVE_INFINITY, ...floatOddities(key)]
    case 'double':
      return [-1.7976931348623157e308, 5e-324, 0, 0.1, Number.POSITIVE_INFINITY, ...floatOddities(key)]
    case 'decimal':
      return decimals(type.precision, type.scale)
    case 'char':
    case 'varchar':
      return texts(type.length)
    case 'binary':
    case 'varbinary':
      return blobs(type.length)
    case 'date':
      return [FIRST_DAY, LAST_DAY, 0, -1, -141_432, 19_782]
    case 'time':
      return [0, type.precision === 0 ? 86_399_000 : 86_399_900, 45_296_000]
    case 'timestamp':
    case 'timestamp_ltz':
      return timestamps(type.precision)
    case 'array': {
      const elements = samples(type.element)
      return [[], elements, nullable(type.element, elements[0]), [elements.at(-1)]]
    }
    case 'map': {
      const [keys, values] = [samples(type.key), samples(type.value)]
      const pairs = keys.map((name, i) => [name, values[i % values.length]])
      return [[], pairs, type.value.nullable ? [[keys[0], null]] : [], pairs.slice(0, 1)]
    }
    case 'row': {
      const parts = type.fields.map((field) => ({ name: field.name, values: samples(field.type), type: field.type }))
      const at = (i: number) =>
        Object.fromEntries(parts.map(({ name, values, type }) => [name, sampleAt(type, values, i)] as const))
      return [0, 1, 2, 3, 4].map(at)
    }
    case 'multiset':
    case 'variant':
      throw new Error(`no samples of ${type.kind}`)
  }
}

/** The i-th of the values over and over; null in each seventh place where the type allows it. */
export function sampleAt(type: DataType, values: readonly unknown[], i: number): unknown {
  return type.nullable && i % 7 === 6 ? null : values[i % values.length]
}

/** 0001-01-01 and 9999-12-31: what all engines agree to print. */
const FIRST_DAY = -719_162
const LAST_DAY = 2_932_896

function floatOddities(key: boolean): readonly number[] {
  return key ? [] : [Number.NaN, -0]
}

function nullable(type: DataType, value: unknown): readonly unknown[] {
  return type.nullable ? [null, value, null] : [value]
}

function decimals(precision: number, scale: number): readonly string[] {
  const digits = '98765432109876543210987654321098765432'.slice(0, precision)
  const text = (unscaled: string) => {
    const padded = unscaled.padStart(scale + 1, '0')
    const whole = padded.slice(0, padded.length - scale)
    return scale === 0 ? whole : `${whole}.${padded.slice(padded.length - scale)}`
  }
  return [`-${text('9'.repeat(precision))}`, text(digits), text('0'), text('1'), `-${text('1')}`]
}

function texts(length: number): readonly string[] {
  const all = ['', '日本語😀é', 'a', '～', '\u0000\n"\'\\', 'x'.repeat(length < 1000 ? length : 300), 'z']
  return all.filter((text) => [...text].length <= length)
}

function blobs(length: number): readonly Uint8Array[] {
  const long = Uint8Array.from({ length: Math.min(length, 300) }, (_, i) => 255 - (i % 256))
  return [new Uint8Array(0), long, Uint8Array.of(0), Uint8Array.of(127), Uint8Array.of(128)]
}

/** In the unit of the precision, with no digit beyond it. */
function timestamps(precision: number): readonly bigint[] {
  const unitDigits = precision <= 3 ? 3 : precision <= 6 ? 6 : 9
  const second = 10n ** BigInt(unitDigits)
  const step = 10n ** BigInt(unitDigits - precision)
  return [
    BigInt(FIRST_DAY) * 86_400n * second,
    (BigInt(LAST_DAY) + 1n) * 86_400n * second - step,
    0n,
    -step,
    1_709_164_800n * second + 7n * step,
  ]
}

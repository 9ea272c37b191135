import { unsupported } from '../bytes/format-error.ts'
import { describeType } from './parse.ts'
import type { DataType } from './row-type.ts'

const decoder = new TextDecoder()

/**
 * Text of a value as Paimon's cast to STRING writes it: `true`, `-7`, `1.50` at full scale, `1.0E10`, `2024-01-02`,
 * `03:04:05.678`, `2024-01-02 03:04:05.678901` with as many digits as the precision. The value is in the unit of its column;
 * TIMESTAMP WITH LOCAL TIME ZONE prints in UTC. Throws UNSUPPORTED for nested types.
 */
export function valueText(type: DataType, value: number | bigint | Uint8Array): string {
  switch (type.kind) {
    case 'boolean':
      return value === 0 ? 'false' : 'true'
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
      return String(value)
    case 'float':
      return floatText(value as number, shortestFloat)
    case 'double':
      return floatText(value as number, String)
    case 'decimal':
      return decimalText(value as bigint, type.scale)
    case 'char':
    case 'varchar':
    case 'binary':
    case 'varbinary':
      return decoder.decode(value as Uint8Array)
    case 'date':
      return dateText(value as number)
    case 'time':
      return clockText(value as number, 0, type.precision)
    case 'timestamp':
    case 'timestamp_ltz': {
      const { days, millisOfDay, nanosOfMilli } = splitTimestamp(type.precision, value as bigint)
      return `${dateText(days)} ${clockText(millisOfDay, nanosOfMilli, type.precision)}`
    }
    default:
      throw unsupported(`text of a value of type ${describeType(type)}`)
  }
}

/** A timestamp in the unit of its precision as days since 1970-01-01, ms of the day, and nanoseconds of that ms. */
export function splitTimestamp(
  precision: number,
  value: bigint,
): { days: number; millisOfDay: number; nanosOfMilli: number } {
  const perMilli = precision <= 3 ? 1n : precision <= 6 ? 1_000n : 1_000_000n
  const rest = floorMod(value, perMilli)
  const millis = (value - rest) / perMilli
  const millisOfDay = floorMod(millis, DAY_MILLIS)
  return {
    days: Number((millis - millisOfDay) / DAY_MILLIS),
    millisOfDay: Number(millisOfDay),
    nanosOfMilli: Number(perMilli === 1_000n ? rest * 1_000n : rest),
  }
}

/** ISO date of a day count; years above 9999 have a plus sign, as in ISO 8601 and Java. */
function dateText(days: number): string {
  // Counts from 0000-03-01 in cycles of 400 years, so that the leap day comes last in each year.
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  const sign = year < 0 ? '-' : year > 9999 ? '+' : ''
  return `${sign}${pad(Math.abs(year), 4)}-${pad(month, 2)}-${pad(day, 2)}`
}

/** Plain digits of an unscaled value: never an exponent, always `scale` digits after the point. */
function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0')
  const point = digits.length - scale
  const text = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
  return unscaled < 0n ? `-${text}` : text
}

/** `HH:mm:ss` and a fraction of at least `precision` digits, more where the value has them. */
function clockText(millisOfDay: number, nanosOfMilli: number, precision: number): string {
  const seconds = Math.floor(millisOfDay / 1_000)
  const clock = `${pad(Math.floor(seconds / 3_600), 2)}:${pad(Math.floor(seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}`
  let fraction = pad((millisOfDay % 1_000) * 1_000_000 + nanosOfMilli, 9)
  while (fraction.length > precision && fraction.endsWith('0')) fraction = fraction.slice(0, -1)
  return fraction === '' ? clock : `${clock}.${fraction}`
}

/** Java's form of a floating number: `1.0`, `0.001`, `1.0E10`, `1.0E-4`, `NaN`, `Infinity`. */
function floatText(value: number, shortest: (value: number) => string): string {
  if (!Number.isFinite(value)) return String(value)
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const [mantissa = '', exponentText = '0'] = shortest(Math.abs(value)).split('e')
  const [whole = '', part = ''] = mantissa.split('.')
  const digits = (whole + part).replace(/^0+/, '')
  // value = 0.d1d2d3… * 10^point
  const point = whole.replace(/^0+/, '') === '' ? digits.length - part.length : whole.length
  const scale = point + Number(exponentText)
  const significant = digits.replace(/0+$/, '') || '0'
  const sign = value < 0 ? '-' : ''
  if (scale > -3 && scale <= 7) {
    if (scale <= 0) return `${sign}0.${'0'.repeat(-scale)}${significant}`
    const padded = significant.padEnd(scale + 1, '0')
    return `${sign}${padded.slice(0, scale)}.${padded.slice(scale)}`
  }
  return `${sign}${significant[0]}.${significant.slice(1) || '0'}E${scale - 1}`
}

/** Fewest digits that are still read back as the same FLOAT. */
function shortestFloat(value: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toExponential(digits - 1)
    if (Math.fround(Number(text)) === value) return text
  }
  return value.toExponential(8)
}

const DAY_MILLIS = 86_400_000n

function floorMod(value: bigint, divisor: bigint): bigint {
  const rest = value % divisor
  return rest < 0n ? rest + divisor : rest
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0')
}

import type { DataType, Field } from '../../../formats/types/row-type.ts'
import type { Json } from './json-lines.ts'
import type { JsonRow } from './oracle.ts'

/** A row of the public API in the oracle's notation, so that rows of both engines can be compared as JSON. */
export function toJsonRow(fields: readonly Field[], row: Readonly<Record<string, unknown>>): JsonRow {
  return Object.fromEntries(fields.map((field) => [field.name, toJson(field.type, row[field.name])]))
}

/** A value of the public API in the oracle's notation (oracle/README.md, "Values in JSON"). */
export function toJson(type: DataType, value: unknown): Json {
  if (value === null || value === undefined) return null
  switch (type.kind) {
    case 'boolean':
    case 'char':
    case 'varchar':
    case 'decimal':
    case 'variant':
      return value as boolean | string
    case 'tinyint':
    case 'smallint':
    case 'int':
      return Number(value)
    case 'bigint':
      return String(value)
    case 'float':
      return floatJson(Math.fround(value as number))
    case 'double':
      return floatJson(value as number)
    case 'binary':
    case 'varbinary':
      return Buffer.from(value as Uint8Array).toString('base64')
    case 'date':
      return civilDate(value instanceof Date ? value.getTime() / DAY_MILLIS : (value as number), 'iso')
    case 'time':
      return timeJson(value as number, type.precision)
    case 'timestamp':
      return timestampJson(nanosOf(value as bigint | number | Date, type.precision), type.precision)
    case 'timestamp_ltz':
      return `${timestampJson(nanosOf(value as bigint | number | Date, type.precision), type.precision)}Z`
    case 'array':
      return (value as readonly unknown[]).map((element) => toJson(type.element, element))
    case 'map':
      return pairsJson(value as Pairs, type.key, type.value)
    case 'multiset':
      return pairsJson(value as Pairs, type.element, { kind: 'int', nullable: false })
    case 'row':
      return toJsonRow(type.fields, value as Record<string, unknown>)
  }
}

/**
 * The same row with its FLOATs rounded to 32 bits: engines print them with more or fewer digits. Use on rows of other engines
 * before comparing.
 */
export function roundFloats(fields: readonly Field[], row: JsonRow): JsonRow {
  return Object.fromEntries(fields.map((field) => [field.name, roundFloat(field.type, row[field.name] ?? null)]))
}

function roundFloat(type: DataType, value: Json): Json {
  if (value === null) return null
  if (type.kind === 'float') return typeof value === 'number' ? Math.fround(value) : value
  if (type.kind === 'row') return roundFloats(type.fields, value as JsonRow)
  if (type.kind === 'array') return (value as readonly Json[]).map((element) => roundFloat(type.element, element))
  if (type.kind !== 'map') return value
  return (value as readonly (readonly [Json, Json])[]).map(([key, entry]) => [
    roundFloat(type.key, key),
    roundFloat(type.value, entry),
  ])
}

type Pairs = readonly (readonly [unknown, unknown])[]

function pairsJson(pairs: Pairs, key: DataType, value: DataType): Json {
  return pairs.map(([name, entry]) => [toJson(key, name), toJson(value, entry)])
}

/** JSON has no NaN, and no -0 once it is printed as 0: the oracle prints -0.0, which parses to -0. */
function floatJson(value: number): Json {
  return Number.isFinite(value) ? value : String(value)
}

const DAY_MILLIS = 86_400_000
const DAY_NANOS = 86_400_000_000_000n
const SECOND_NANOS = 1_000_000_000n

/** Epoch nanoseconds of a TIMESTAMP value: a `Date`, or a number in the unit of its precision. */
function nanosOf(value: bigint | number | Date, precision: number): bigint {
  if (value instanceof Date) return BigInt(value.getTime()) * 1_000_000n
  return BigInt(value) * (precision <= 3 ? 1_000_000n : precision <= 6 ? 1_000n : 1n)
}

function timestampJson(nanos: bigint, precision: number): string {
  const ofDay = ((nanos % DAY_NANOS) + DAY_NANOS) % DAY_NANOS
  const days = Number((nanos - ofDay) / DAY_NANOS)
  return `${civilDate(days, 'plain')}T${clock(Number(ofDay / SECOND_NANOS))}${fraction(Number(ofDay % SECOND_NANOS), precision)}`
}

/** TIME holds milliseconds whatever its precision: three digits are shown where fewer would lose something. */
function timeJson(millis: number, precision: number): string {
  const shown = millis % 1000 === 0 ? Math.min(precision, 3) : 3
  return clock(Math.floor(millis / 1000)) + fraction((millis % 1000) * 1_000_000, shown)
}

function clock(seconds: number): string {
  return [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((part) => pad(Math.floor(part), 2)).join(':')
}

function fraction(nanos: number, digits: number): string {
  return digits === 0 ? '' : `.${pad(nanos, 9).slice(0, digits)}`
}

/** `iso`: years past 9999 with a sign, as `LocalDate.toString()` has them; `plain`: without. */
function civilDate(days: number, form: 'iso' | 'plain'): string {
  // Proleptic Gregorian calendar in eras of 400 years that start on the first of March.
  const shifted = Math.floor(days) + 719_468
  const era = Math.floor(shifted / 146_097)
  const ofEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  )
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * ofYear + 2) / 153)
  const day = ofYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  const sign = year < 0 ? '-' : form === 'iso' && year > 9999 ? '+' : ''
  return `${sign}${pad(Math.abs(year), 4)}-${pad(month, 2)}-${pad(day, 2)}`
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0')
}

import type { Scalar } from '../../formats/column/column.ts'
import type { DataType, Field } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { invalid, resolve, type StoredOptions } from './resolve.ts'

/** The part of a table's schema that says how rows expire. */
export interface TimedSchema {
  readonly fields: readonly Field[]
  readonly options: StoredOptions
}

/** `record-level.expire-time` and the column with the time of a row. */
export interface RecordExpiry {
  readonly field: Field
  /** Age from which a row is expired; part seconds do not count. */
  readonly seconds: number
}

/**
 * What has expired at one moment, in the unit of the time column: values below `below`, and those from `MILLIS_FROM` on that are below
 * `belowMillis`. A column is in seconds or, BIGINT only, in milliseconds where the number is too large for seconds.
 */
export interface ExpiryLimit {
  readonly below: bigint
  readonly belowMillis: bigint
}

/** From here on a BIGINT is taken for milliseconds, not seconds: year 2001 against year 33658. */
export const MILLIS_FROM = 1_000_000_000_000n

const NAME = 'record-level.time-field'

/**
 * The record-level expiry of a table; undefined = rows do not expire. `INVALID` naming the option when the time column is missing, or
 * is none of INT, BIGINT, TIMESTAMP and TIMESTAMP_LTZ; also for a time column without `record-level.expire-time`, as in Paimon.
 */
export function recordExpiry(schema: TimedSchema): RecordExpiry | undefined {
  const { 'record-level.expire-time': millis, [NAME]: name } = resolve(schema.options)
  if (name === undefined) {
    if (millis === undefined) return undefined
    throw new TableError(
      'INVALID',
      `option 'record-level.expire-time' needs '${NAME}': name the column with the time of a row.`,
      { option: NAME },
    )
  }
  const field = schema.fields.find((candidate) => candidate.name === name)
  if (field === undefined) throw invalid(NAME, name, 'there is no such column, name one that there is')
  if (!isTime(field.type)) {
    throw invalid(
      NAME,
      name,
      `it is of type ${field.type.kind}, name an INT, BIGINT, TIMESTAMP or TIMESTAMP_LTZ column`,
    )
  }
  return millis === undefined ? undefined : { field, seconds: Math.floor(millis / 1000) }
}

function isTime({ kind }: DataType): boolean {
  return kind === 'int' || kind === 'bigint' || kind === 'timestamp' || kind === 'timestamp_ltz'
}

/**
 * What has expired at `nowMillis`: rows whose time, in whole seconds, lies more than the age before the present second. Times cut
 * their fractions towards 1970, as Paimon's do. A time that is null is never asked about: such rows stay.
 */
export function expiryLimit({ field: { type }, seconds }: RecordExpiry, nowMillis: number): ExpiryLimit {
  const limit = BigInt(Math.floor(nowMillis / 1000)) - BigInt(seconds)
  if (type.kind === 'bigint') {
    return { below: limit < MILLIS_FROM ? limit : MILLIS_FROM, belowMillis: limit * 1000n }
  }
  if (type.kind !== 'timestamp' && type.kind !== 'timestamp_ltz') return { below: limit, belowMillis: 0n }
  const millis = limit > 0n ? limit * 1000n : (limit - 1n) * 1000n + 1n
  const unit = type.precision <= 3 ? 1n : type.precision <= 6 ? 1000n : 1_000_000n
  return { below: millis * unit, belowMillis: 0n }
}

/** Whether one value of the time column has expired. */
export function isExpired({ below, belowMillis }: ExpiryLimit, value: Scalar): boolean {
  if (value instanceof Uint8Array) return false
  return value < below || (value >= MILLIS_FROM && value < belowMillis)
}

import { type DataType, MAX_LENGTH, withNullable } from '../../formats/types/row-type.ts'
import type { ValueForm } from '../../formats/types/value-form.ts'
import { TableError } from '../errors.ts'
import { shown } from '../options/check-call.ts'

declare const read: unique symbol
declare const write: unique symbol

/**
 * A column of a table definition, or a part of a nested type. Immutable: each method gives a new one. `Read` is what a read
 * gives, `Write` what a write takes; both are without null until `nullable()`.
 */
export class FieldType<out Read, out Write = Read, out Optional extends boolean = false> {
  declare readonly [read]: Read
  declare readonly [write]: { readonly value: Write; readonly optional: Optional }
  readonly type: DataType
  readonly form: ValueForm | undefined
  readonly description: string | undefined
  readonly defaultValue: string | undefined

  constructor(type: DataType, form?: ValueForm, description?: string, defaultValue?: string) {
    this.type = type
    this.form = form
    this.description = description
    this.defaultValue = defaultValue
  }

  /** Allows null. A write may leave the field out. */
  nullable(): FieldType<Read | null, Write | null, true> {
    return new FieldType(withNullable(this.type, true), this.form, this.description, this.defaultValue)
  }

  /** A description, kept in the schema. */
  comment(text: string): FieldType<Read, Write, Optional> {
    return new FieldType(this.type, this.form, text, this.defaultValue)
  }

  /** Value, as text, that stands in for null in new rows; kept in the schema. */
  default(text: string): FieldType<Read, Write, Optional> {
    return new FieldType(this.type, this.form, this.description, text)
  }
}

/** Fields by name, in order. Names that look like array indexes (`'7'`) come first: JavaScript orders objects so. */
export type Fields = Readonly<Record<string, FieldType<unknown, unknown, boolean>>>

/** What a read gives for a field, a table, or a choice of its columns. */
export type ReadOf<F> = F extends FieldType<infer Read, unknown, boolean> ? Read : never

/** What a write takes for a field. */
export type WriteOf<F> = F extends FieldType<unknown, infer Write, boolean> ? Write : never

/** A row as reads give it: every field present, nullable ones `T | null`. */
export type RowOf<F extends Fields> = { -readonly [K in keyof F]: ReadOf<F[K]> }

type OptionalNames<F extends Fields> = {
  [K in keyof F]: F[K] extends FieldType<unknown, unknown, true> ? K : never
}[keyof F]

type Flat<T> = { [K in keyof T]: T[K] }

/** A row as writes take it: nullable fields may be null, undefined or left out. */
export type InputRow<F extends Fields> = Flat<
  { readonly [K in Exclude<keyof F, OptionalNames<F>>]: WriteOf<F[K]> } & {
    readonly [K in OptionalNames<F>]?: WriteOf<F[K]> | undefined
  }
>

/** Names of the columns that can be in a primary key: those that are never null. */
export type KeyNames<F extends Fields> = Exclude<keyof F, OptionalNames<F>> & string

type KeyObject<F extends Fields, PK extends readonly (keyof F)[]> = {
  readonly [K in PK[number]]: NonNullable<WriteOf<F[K]>>
}

/** A primary key: an object of the key columns, or the bare value where the key is one column. */
export type KeyOf<F extends Fields, PK extends readonly (keyof F)[]> = PK extends readonly [infer K extends keyof F]
  ? KeyObject<F, PK> | NonNullable<WriteOf<F[K]>>
  : KeyObject<F, PK>

/** A row of some of the columns. */
export type Projection<F extends Fields, C extends readonly (keyof F)[]> = Pick<RowOf<F>, C[number]>

interface ModeOption<M extends string> {
  readonly mode?: M
}

type TimestampRead<M extends 'bigint' | 'date'> = M extends 'date' ? Date : bigint
type TimestampWrite<M extends 'bigint' | 'date'> = M extends 'date' ? Date : bigint | Date

/**
 * Builders of fields. Columns are NOT NULL unless `.nullable()`.
 *
 *   boolean            boolean              float double       number
 *   tinyint … int      number               decimal            string at full scale, '1.50'
 *   bigint             bigint               date               days since 1970-01-01
 *   char varchar string      string         time               milliseconds of the day
 *   binary varbinary bytes   Uint8Array     timestamp(Ltz)     bigint: ms for p <= 3, µs for p <= 6, ns above
 *   array              array                map                array of [key, value]
 *   row                object
 *
 * A `Date` is always accepted where a date or a timestamp is written. Modes choose another form; they throw where it would lose
 * digits. Throws `TableError` INVALID for a length, precision or scale that no type has.
 */
export const t = {
  boolean: (): FieldType<boolean> => plain('boolean'),
  tinyint: (): FieldType<number> => plain('tinyint'),
  smallint: (): FieldType<number> => plain('smallint'),
  int: (): FieldType<number> => plain('int'),
  /** `mode: 'number'` gives and takes numbers, and throws for values beyond 2^53. */
  bigint: <const M extends 'bigint' | 'number' = 'bigint'>(
    options: ModeOption<M> = {},
  ): FieldType<M extends 'number' ? number : bigint> =>
    new FieldType({ kind: 'bigint', nullable: false }, options.mode === 'number' ? { mode: 'number' } : undefined),
  float: (): FieldType<number> => plain('float'),
  double: (): FieldType<number> => plain('double'),
  /** `precision` digits in all, 1 to 38, `scale` of them after the point. */
  decimal: (precision: number, scale = 0): FieldType<string> => {
    checkRange('decimal precision', precision, 1, 38)
    checkRange('decimal scale', scale, 0, precision)
    return new FieldType({ kind: 'decimal', precision, scale, nullable: false })
  },
  /** `mode: 'date'` gives and takes a `Date` at midnight UTC. */
  date: <const M extends 'number' | 'date' = 'number'>(
    options: ModeOption<M> = {},
  ): FieldType<M extends 'date' ? Date : number, M extends 'date' ? Date : number | Date> =>
    new FieldType({ kind: 'date', nullable: false }, dateForm(options.mode)),
  /** Milliseconds of the day, whatever the precision. */
  time: (precision = 3): FieldType<number> => {
    checkRange('time precision', precision, 0, 9)
    return new FieldType({ kind: 'time', precision, nullable: false })
  },
  /** Without time zone. */
  timestamp: <const M extends 'bigint' | 'date' = 'bigint'>(
    precision = 6,
    options: ModeOption<M> = {},
  ): FieldType<TimestampRead<M>, TimestampWrite<M>> => timestamp('timestamp', precision, options.mode),
  /** An instant. */
  timestampLtz: <const M extends 'bigint' | 'date' = 'bigint'>(
    precision = 6,
    options: ModeOption<M> = {},
  ): FieldType<TimestampRead<M>, TimestampWrite<M>> => timestamp('timestamp_ltz', precision, options.mode),
  /** Text of at most `length` code points. */
  char: (length: number): FieldType<string> => sized('char', length),
  varchar: (length: number): FieldType<string> => sized('varchar', length),
  string: (): FieldType<string> => sized('varchar', MAX_LENGTH),
  /** At most `length` bytes. */
  binary: (length: number): FieldType<Uint8Array> => sized('binary', length),
  varbinary: (length: number): FieldType<Uint8Array> => sized('varbinary', length),
  bytes: (): FieldType<Uint8Array> => sized('varbinary', MAX_LENGTH),
  array: <R, W>(element: FieldType<R, W, boolean>): FieldType<R[], readonly W[]> => {
    const part = checkPart('array element', element)
    return new FieldType({ kind: 'array', element: part.type, nullable: false }, parts(part.form))
  },
  map: <KR, KW, VR, VW>(
    key: FieldType<KR, KW, boolean>,
    value: FieldType<VR, VW, boolean>,
  ): FieldType<[KR, VR][], readonly (readonly [KW, VW])[]> => {
    const [k, v] = [checkPart('map key', key), checkPart('map value', value)]
    return new FieldType({ kind: 'map', key: k.type, value: v.type, nullable: false }, parts(k.form, v.form))
  },
  row: <const F extends Fields>(fields: F): FieldType<RowOf<F>, InputRow<F>> => {
    const entries = fieldEntries('row', fields)
    const type: DataType = {
      kind: 'row',
      fields: entries.map(([name, field]) => fieldOf(name, field)),
      nullable: false,
    }
    return new FieldType(type, parts(...entries.map(([, field]) => field.form)))
  },
} as const

/** Id of a field before a table schema gives it one. */
const NO_ID = -1

/** Schema field of a definition's field, still without an id. */
export function fieldOf(name: string, field: FieldType<unknown, unknown, boolean>) {
  return {
    id: NO_ID,
    name,
    type: field.type,
    ...(field.description === undefined ? {} : { description: field.description }),
    ...(field.defaultValue === undefined ? {} : { defaultValue: field.defaultValue }),
  }
}

/**
 * Names and fields of an object, in order. Throws INVALID for anything but fields, and for an object whose prototype is not
 * plain: `{ __proto__: t.int() }` sets the prototype instead of making a field; write `['__proto__']`.
 */
export function fieldEntries(owner: string, fields: Fields): [string, FieldType<unknown, unknown, boolean>][] {
  if (typeof fields !== 'object' || fields === null) {
    throw new TableError('INVALID', `${owner}: fields are not an object. Give { name: t.int(), … }.`, { value: fields })
  }
  const prototype: unknown = Object.getPrototypeOf(fields)
  if (prototype !== null && prototype !== Object.prototype) {
    throw new TableError(
      'INVALID',
      `${owner}: fields are not a plain object. A field __proto__ is written ['__proto__'].`,
    )
  }
  const entries = Object.entries(fields)
  for (const [name, field] of entries) checkPart(`${owner}: field ${JSON.stringify(name)}`, field, name)
  return entries
}

function checkPart<F>(what: string, field: F, column?: string): F {
  if (field instanceof FieldType) return field
  throw new TableError('INVALID', `${what} is not a field. Build it with t, as in t.int().`, {
    ...(column === undefined ? {} : { column }),
    value: field,
  })
}

function plain<R>(kind: 'boolean' | 'tinyint' | 'smallint' | 'int' | 'float' | 'double'): FieldType<R> {
  return new FieldType({ kind, nullable: false })
}

function sized<R>(kind: 'char' | 'varchar' | 'binary' | 'varbinary', length: number): FieldType<R> {
  checkRange(`${kind} length`, length, 1, MAX_LENGTH)
  return new FieldType({ kind, length, nullable: false })
}

function timestamp<R, W>(kind: 'timestamp' | 'timestamp_ltz', precision: number, mode?: string): FieldType<R, W> {
  checkRange('timestamp precision', precision, 0, 9)
  return new FieldType({ kind, precision, nullable: false }, dateForm(mode))
}

function dateForm(mode: string | undefined): ValueForm | undefined {
  return mode === 'date' ? { mode: 'date' } : undefined
}

function parts(...children: readonly (ValueForm | undefined)[]): ValueForm | undefined {
  return children.some((child) => child !== undefined) ? { children } : undefined
}

function checkRange(what: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return
  throw new TableError(
    'INVALID',
    `${what} ${shown(value)} is out of range. Give a whole number from ${min} to ${max}.`,
    {
      value,
    },
  )
}

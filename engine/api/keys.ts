import type { Batch, Scalar } from '../../formats/column/column.ts'
import { fieldGetter, type Getter, unknownName } from '../../formats/column/record.ts'
import { ValueError } from '../../formats/column/value-error.ts'
import { batchOfRows, scalarWriter, toScalar, type ValueForms } from '../../formats/column/values.ts'
import type { TableSchema } from '../../formats/meta/types.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { fieldNamed } from '../plan/kv-layout.ts'
import type { KeyBound, KeyRange } from '../tasks/task.ts'
import { asTableError } from './value-errors.ts'

/** Bounds of a scan over leading key columns; partition columns take part by equality. */
export interface Range<Key> {
  readonly gte?: Key
  readonly gt?: Key
  readonly lte?: Key
  readonly lt?: Key
}

/** A range in engine terms. */
export interface ParsedRange {
  readonly range: KeyRange
  readonly partition: ReadonlyMap<string, Scalar>
}

/** Turns keys that callers give into columns and bounds. */
export class Keys {
  readonly #schema: TableSchema
  readonly #forms: ValueForms
  /** All primary key columns, in primary-key order. */
  readonly fields: readonly Field[]
  readonly #names: ReadonlySet<string>
  readonly #columns: readonly { readonly get: Getter; readonly toScalar: (value: unknown) => Scalar | null }[]

  constructor(schema: TableSchema, forms: ValueForms) {
    this.#schema = schema
    this.#forms = forms
    this.fields = schema.primaryKeys.map((name) => fieldNamed(schema, name))
    this.#names = new Set(schema.primaryKeys)
    this.#columns = this.fields.map(({ name, type }) => ({
      get: fieldGetter(name),
      toScalar: scalarWriter(name, { ...type, nullable: false }, forms.get(name), true),
    }))
  }

  /** The values of all primary key columns of one key: most gets are of one, and need no batch. */
  one(key: unknown): readonly Scalar[] {
    const columns = this.#columns
    try {
      if (columns.length === 1 && !isPlainObject(key)) return [columns[0]!.toScalar(key) as Scalar]
      const record = this.#asObject(key)
      const unknown = unknownName(record, this.#names)
      if (unknown !== undefined) {
        throw new ValueError(unknown, record[unknown], `is given, but the key is ${[...this.#names].join(', ')}`, 0)
      }
      return columns.map(({ get, toScalar }) => toScalar(get(record)) as Scalar)
    } catch (error) {
      throw asTableError(error, 'key')
    }
  }

  /** The primary key columns of keys: objects, or bare values where the key is one column. */
  batch(keys: readonly unknown[]): Batch {
    try {
      return batchOfRows(
        this.fields,
        keys.map((key) => this.#asObject(key)),
        { forms: this.#forms, keys: this.#names },
      )
    } catch (error) {
      throw asTableError(error, 'key')
    }
  }

  /** `INVALID` when the columns are no prefix of the key, or two bounds name two partitions. */
  range(range: Range<unknown>): ParsedRange {
    if (!isPlainObject(range)) {
      throw new TableError('INVALID', 'range is not an object. Give bounds, as in { gte: key, lt: key }.', {
        value: range,
      })
    }
    for (const name of Object.keys(range)) {
      if (!['gte', 'gt', 'lte', 'lt'].includes(name)) {
        throw new TableError('INVALID', `range has no bound ${JSON.stringify(name)}. Give gte, gt, lte or lt.`, {
          value: name,
        })
      }
    }
    const partition = new Map<string, Scalar>()
    return {
      range: {
        lower: this.#oneBound(range.gte, range.gt, 'gte', 'gt', partition),
        upper: this.#oneBound(range.lte, range.lt, 'lte', 'lt', partition),
      },
      partition,
    }
  }

  #oneBound(
    inclusive: unknown,
    exclusive: unknown,
    inclusiveName: string,
    exclusiveName: string,
    partition: Map<string, Scalar>,
  ): KeyBound | undefined {
    if (inclusive !== undefined && exclusive !== undefined) {
      throw new TableError('INVALID', `range has both ${inclusiveName} and ${exclusiveName}. Give one of them.`, {})
    }
    const key = inclusive ?? exclusive
    if (key === undefined) return undefined
    const values = this.#prefix(this.#asObject(key), partition)
    if (values.length > 0) return { values, inclusive: inclusive !== undefined }
    throw new TableError(
      'INVALID',
      `A bound of range gives no column of ${this.#sorted().join(', ')}, by which rows are sorted. Give the leading ones; choose partitions with where.`,
      { value: key },
    )
  }

  /** Key columns that rows of a partition are sorted by. */
  #sorted(): readonly string[] {
    return this.#schema.primaryKeys.filter((name) => !this.#schema.partitionKeys.includes(name))
  }

  /** Values of the leading trimmed key columns; those of partition columns go into `partition`. */
  #prefix(key: Record<string, unknown>, partition: Map<string, Scalar>): readonly Scalar[] {
    for (const name of Object.keys(key)) {
      if (!this.#names.has(name)) {
        throw new TableError(
          'INVALID',
          `range names ${JSON.stringify(name)}, which is no key column. Key columns are ${this.#schema.primaryKeys.join(', ')}; use where for others.`,
          { column: name },
        )
      }
    }
    const values: Scalar[] = []
    let missing: string | undefined
    for (const field of this.fields) {
      const given = Object.hasOwn(key, field.name) && key[field.name] !== undefined
      if (this.#schema.partitionKeys.includes(field.name)) {
        if (given) this.#partitionValue(field, key[field.name], partition)
      } else if (!given) {
        missing ??= field.name
      } else if (missing !== undefined) {
        throw new TableError(
          'INVALID',
          `range gives ${JSON.stringify(field.name)} without ${JSON.stringify(missing)}, which comes before it in the key. Give leading key columns.`,
          { column: missing },
        )
      } else {
        values.push(this.#scalar(field, key[field.name]))
      }
    }
    return values
  }

  #partitionValue(field: Field, value: unknown, partition: Map<string, Scalar>): void {
    const scalar = this.#scalar(field, value)
    const other = partition.get(field.name)
    if (other !== undefined && !sameScalar(other, scalar)) {
      throw new TableError(
        'INVALID',
        `range names two values of partition column ${JSON.stringify(field.name)}. A range lies in one partition: call scan for each.`,
        { column: field.name },
      )
    }
    partition.set(field.name, scalar)
  }

  #scalar(field: Field, value: unknown): Scalar {
    try {
      const scalar = toScalar(field.name, { ...field.type, nullable: false }, this.#forms.get(field.name), value, true)
      return scalar as Scalar
    } catch (error) {
      throw asTableError(error, 'key')
    }
  }

  #asObject(key: unknown): Record<string, unknown> {
    if (isPlainObject(key)) return key
    if (this.fields.length === 1) return { [this.fields[0]!.name]: key }
    throw new TableError(
      'INVALID',
      `The key is not an object of ${this.#schema.primaryKeys.join(', ')}. Give each of these columns.`,
      {
        value: key,
      },
    )
  }
}

function sameScalar(a: Scalar, b: Scalar): boolean {
  return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

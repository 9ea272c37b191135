import type { Scalar } from '../../formats/column/column.ts'
import { storageOf } from '../../formats/column/column.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import { toScalar, type ValueForms } from '../../formats/column/values.ts'
import type { Field } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { asTableError } from './value-errors.ts'

/** Tests of one column. Several are joined by AND. */
export interface Tests<T> {
  readonly eq?: T
  readonly ne?: T
  readonly gt?: T
  readonly gte?: T
  readonly lt?: T
  readonly lte?: T
  readonly in?: readonly T[]
  readonly isNull?: boolean
}

/**
 * A condition on rows: a value or tests for each column named, all of which must hold, and `and`, `or`, `not` over conditions.
 * SQL nulls: a comparison with a null value is not true, nor is its negation. Plain data: it can be stored and sent.
 * Nested columns take `isNull` only.
 *
 *   { origin: 'ABE', delay: { gt: 10n } }
 *   { or: [{ delay: { isNull: true } }, { not: { distance: { lt: 500n } } }] }
 *
 * A column that is itself called and, or, not is reached through `{ and: [...] }` only by another name: rename it.
 */
export type Where<Input> = { readonly [K in keyof Input]?: NonNullable<Input[K]> | Tests<NonNullable<Input[K]>> } & {
  readonly and?: readonly Where<Input>[]
  readonly or?: readonly Where<Input>[]
  readonly not?: Where<Input>
}

const comparisons = { eq: 'eq', ne: 'ne', gt: 'gt', gte: 'ge', lt: 'lt', lte: 'le' } as const

/** The condition as a predicate over columns; `INVALID` naming the column, test or value that does not fit. */
export function parseWhere(where: unknown, fields: readonly Field[], forms: ValueForms): Predicate {
  const context = { byName: new Map(fields.map((field) => [field.name, field])), forms }
  return parseNode(where, context)
}

interface Context {
  readonly byName: ReadonlyMap<string, Field>
  readonly forms: ValueForms
}

function parseNode(where: unknown, context: Context): Predicate {
  if (!isPlain(where))
    throw invalid('where is not an object. Give { column: value } or { column: { gt: value } }.', where)
  const parts = Object.entries(where).flatMap(([name, value]): Predicate[] => {
    if (value === undefined) throw undefinedOperand(name)
    if (name === 'and' || name === 'or')
      return [{ op: name, children: list(name, value).map((child) => parseNode(child, context)) }]
    if (name === 'not') return [{ op: 'not', child: parseNode(value, context) }]
    return parseColumn(name, value, context)
  })
  return parts.length === 1 ? parts[0]! : { op: 'and', children: parts }
}

function parseColumn(name: string, value: unknown, context: Context): Predicate[] {
  const field = context.byName.get(name)
  if (field === undefined) {
    const known = [...context.byName.keys()].join(', ')
    throw invalid(
      `where names ${JSON.stringify(name)}, but there is no such column. Choose one of ${known}.`,
      name,
      name,
    )
  }
  const nested = storageOf(field.type) === 'nested'
  if (!isPlain(value))
    return nested ? refuseNested(name, value) : [{ op: 'eq', column: name, value: scalar(field, value, context) }]
  return Object.entries(value).flatMap(([test, operand]): Predicate[] => {
    if (operand === undefined) throw undefinedOperand(name)
    if (test === 'isNull') {
      if (typeof operand !== 'boolean')
        throw invalid(`isNull of ${JSON.stringify(name)} is not a boolean. Give true or false.`, operand, name)
      return [{ op: operand ? 'isNull' : 'isNotNull', column: name }]
    }
    if (nested) return refuseNested(name, value)
    if (test === 'in') {
      return [{ op: 'in', column: name, values: list('in', operand).map((item) => scalar(field, item, context)) }]
    }
    if (!Object.hasOwn(comparisons, test)) {
      throw invalid(
        `where has no test ${JSON.stringify(test)}. Use ${Object.keys(comparisons).join(', ')}, in or isNull.`,
        test,
        name,
      )
    }
    const op = comparisons[test as keyof typeof comparisons]
    return [{ op, column: name, value: scalar(field, operand, context) }]
  })
}

/** A condition that forgot its value must not become one that everything meets. */
function undefinedOperand(name: string): TableError {
  return invalid(
    `where compares ${JSON.stringify(name)} with undefined. Leave it out to match every row, or give a value.`,
    undefined,
    name,
  )
}

function refuseNested(name: string, value: unknown): never {
  throw invalid(
    `Column ${JSON.stringify(name)} is nested: where tests only whether it is null. Filter rows after the scan.`,
    value,
    name,
  )
}

function scalar(field: Field, value: unknown, { forms }: Context): Scalar {
  if (value === null || value === undefined) {
    throw invalid(
      `Column ${JSON.stringify(field.name)} is compared with null, which is never true. Use { isNull: true }.`,
      value,
      field.name,
    )
  }
  try {
    return toScalar(field.name, field.type, forms.get(field.name), value) as Scalar
  } catch (error) {
    throw asTableError(error, 'where')
  }
}

function list(name: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw invalid(`The operand of ${JSON.stringify(name)} in where is not an array. Give one.`, value)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

function invalid(message: string, value: unknown, column?: string): TableError {
  return new TableError('INVALID', message, { ...(column !== undefined && { column }), value })
}

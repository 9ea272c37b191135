import { SCHEMA_VERSION } from '../../formats/meta/schema.ts'
import type { TableSchema } from '../../formats/meta/types.ts'
import { describeType } from '../../formats/types/parse.ts'
import { type DataType, type Field, withNullable } from '../../formats/types/row-type.ts'
import type { ValueForm } from '../../formats/types/value-form.ts'
import { type ErrorDetails, TableError } from '../errors.ts'
import { checkOptions, checkWritable } from '../options/check.ts'
import { checkCall } from '../options/check-call.ts'
import { type OptionInput, toStoredOptions } from '../options/resolve.ts'
import { type Fields, fieldEntries, fieldOf, type KeyNames } from './fields.ts'
import { unsupportedType } from './unsupported-type.ts'

/** A table to be created, whatever its columns. Keys and columns keep the order given. */
export interface AnyTableDefinition {
  readonly fields: Fields
  /** Columns that identify a row: at least one, never null, and among them all partition columns. */
  readonly primaryKey: readonly string[]
  /** Columns that choose the folder of a row; some of the primary key, not all of it. */
  readonly partitionBy?: readonly string[]
  /** Table options, see docs/options.md. `bucket` is 1 when left out. */
  readonly options?: OptionInput
  readonly comment?: string
}

/** A table to be created, its columns known to the compiler: keys must be columns, and those of the primary key not nullable. */
export interface TableDefinition<F extends Fields, PK extends readonly KeyNames<F>[]> extends AnyTableDefinition {
  readonly fields: F
  readonly primaryKey: PK
  readonly partitionBy?: readonly PK[number][]
}

const RESERVED_NAMES = new Set(['_SEQUENCE_NUMBER', '_VALUE_KIND', '_LEVEL', 'rowkind', '_ROW_ID'])
const RESERVED_PREFIX = '_KEY_'

/** Options that Paimon takes out of a schema: what they say stands elsewhere. */
const NOT_OPTIONS = new Map([
  ['primary-key', 'Give primaryKey instead.'],
  ['partition', 'Give partitionBy instead.'],
  ['path', 'The folder follows from the name of the table.'],
])

/**
 * First schema of a table, with everything checked that Paimon checks on create: names, keys, partitions, types, options. Field
 * ids are given depth first, a ROW before its fields; key columns become NOT NULL. `timeMillis` is the wall clock.
 *
 * Throws `TableError`: INVALID naming the column or the option, UNSUPPORTED for VARIANT, MULTISET and options beyond this
 * version.
 */
export function toTableSchema(definition: AnyTableDefinition, timeMillis: number): TableSchema {
  if (typeof definition !== 'object' || definition === null) {
    throw invalid('The definition is not an object. Give { fields, primaryKey }.', { value: definition })
  }
  checkCall('a table definition', definition, {
    fields: 'any',
    primaryKey: 'any',
    partitionBy: 'any',
    options: 'any',
    comment: 'text',
  })
  const entries = fieldEntries('table', definition.fields)
  const primaryKeys = nameList('primaryKey', definition.primaryKey)
  const partitionKeys = nameList('partitionBy', definition.partitionBy ?? [])
  if (entries.length === 0) throw invalid('The table has no columns. Give at least the columns of its primary key.')
  const fields = entries.map(([name, field]) => fieldOf(name, field))
  for (const field of fields) {
    checkColumnName(field.name)
    checkType(field.name, field.type)
  }
  checkKeys(fields, primaryKeys, partitionKeys)
  const keys = new Set(primaryKeys)
  const ids = new FieldIds()
  const schema: TableSchema = {
    version: SCHEMA_VERSION,
    id: 0,
    fields: fields.map((field) => {
      const type = keys.has(field.name) ? withNullable(field.type, false) : field.type
      return ids.assign({ ...field, type })
    }),
    highestFieldId: ids.highest,
    partitionKeys,
    primaryKeys,
    options: optionsOf(definition.options ?? {}),
    ...(definition.comment === undefined ? {} : { comment: definition.comment }),
    timeMillis,
  }
  const problem = checkOptions(schema) ?? checkWritable(schema)
  if (problem !== undefined) throw problem
  return schema
}

/** Value forms that a definition chose, by column; columns that are not here have the default forms. */
export function valueForms(definition: AnyTableDefinition): ReadonlyMap<string, ValueForm> {
  const forms = new Map<string, ValueForm>()
  for (const [name, field] of fieldEntries('table', definition.fields)) {
    if (field.form !== undefined) forms.set(name, field.form)
  }
  return forms
}

/** Hands out field ids depth first: a column, then the fields inside it, then the next column. */
class FieldIds {
  highest = -1

  assign(field: Field): Field {
    this.highest++
    const id = this.highest
    return { ...field, id, type: this.#inside(field.type) }
  }

  #inside(type: DataType): DataType {
    switch (type.kind) {
      case 'array':
      case 'multiset':
        return { ...type, element: this.#inside(type.element) }
      case 'map': {
        const key = this.#inside(type.key)
        return { ...type, key, value: this.#inside(type.value) }
      }
      case 'row':
        return { ...type, fields: type.fields.map((field) => this.assign(field)) }
      default:
        return type
    }
  }
}

function optionsOf(input: OptionInput): Readonly<Record<string, string>> {
  const options = toStoredOptions(input)
  for (const option of Object.keys(options)) {
    const remedy = NOT_OPTIONS.get(option)
    if (remedy !== undefined) throw invalid(`Option '${option}' is not set by hand. ${remedy}`, { option })
  }
  // Paimon's own default is dynamic buckets, which need an index of all keys.
  return Object.hasOwn(options, 'bucket') ? options : { bucket: '1', ...options }
}

function nameList(what: string, names: readonly string[]): readonly string[] {
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
    throw invalid(`${what} is not a list of column names. Give an array of texts.`, { value: names })
  }
  return [...names]
}

function checkColumnName(column: string): void {
  checkName(column, column)
  if (RESERVED_NAMES.has(column) || column.startsWith(RESERVED_PREFIX)) {
    throw invalid(`Column name ${quote(column)} is reserved for Paimon's own columns. Choose another name.`, { column })
  }
}

function checkName(name: string, column: string): void {
  if (name === '') throw invalid(`Column ${quote(column)} has a field with an empty name. Give it a name.`, { column })
  // A lone surrogate has no UTF-8 form: two such names would become one in the schema file.
  if (/\p{Surrogate}/u.test(name)) {
    throw invalid(`Name ${quote(name)} is not valid Unicode. Choose another name.`, { column })
  }
}

/** Refuses types that this version does not keep, at any depth; fields of a ROW must have names. */
function checkType(column: string, type: DataType): void {
  const refused = unsupportedType(type)
  if (refused !== undefined) {
    throw new TableError(
      'UNSUPPORTED',
      `Column ${quote(column)} has a type that this version does not keep, ${describeType(refused)}. Choose another type.`,
      { column, value: describeType(refused) },
    )
  }
  checkNested(column, type)
}

function checkNested(column: string, type: DataType): void {
  switch (type.kind) {
    case 'array':
      checkNested(column, type.element)
      break
    case 'map':
      checkNested(column, type.key)
      checkNested(column, type.value)
      break
    case 'row': {
      if (type.fields.length === 0)
        throw invalid(`Column ${quote(column)} has a row without fields. Add one.`, { column })
      for (const field of type.fields) {
        checkName(field.name, column)
        checkNested(column, field.type)
      }
      break
    }
    default:
  }
}

function checkKeys(fields: readonly Field[], primaryKeys: readonly string[], partitionKeys: readonly string[]): void {
  if (primaryKeys.length === 0) throw invalid('The primary key is empty. Name the columns that identify a row.')
  checkKeyColumns('primaryKey', fields, primaryKeys)
  checkKeyColumns('partitionBy', fields, partitionKeys)
  const outside = partitionKeys.find((name) => !primaryKeys.includes(name))
  if (outside !== undefined) {
    throw invalid(
      `Partition column ${quote(outside)} is not in the primary key, so one key could live in two partitions. ` +
        'Add it to primaryKey.',
      { column: outside },
    )
  }
  if (partitionKeys.length === primaryKeys.length) {
    throw invalid('All columns of the primary key are partition columns. Add a column to primaryKey that is not one.')
  }
}

function checkKeyColumns(what: string, fields: readonly Field[], names: readonly string[]): void {
  const types = new Map(fields.map((field) => [field.name, field.type]))
  names.forEach((column, i) => {
    const type = types.get(column)
    if (type === undefined) {
      throw invalid(`${what} names ${quote(column)}, which is no column. Name one of fields.`, { column })
    }
    if (names.indexOf(column) !== i) throw invalid(`${what} names ${quote(column)} twice. Name it once.`, { column })
    if (type.kind === 'array' || type.kind === 'map' || type.kind === 'row') {
      throw invalid(
        `${what} names ${quote(column)} of type ${describeType(type)}. Keys are flat: choose another column.`,
        {
          column,
          value: describeType(type),
        },
      )
    }
  })
}

function invalid(message: string, details: ErrorDetails = {}): TableError {
  return new TableError('INVALID', message, details)
}

/** In double quotes, control characters escaped. */
function quote(name: string): string {
  return JSON.stringify(name)
}

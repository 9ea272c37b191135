import type { DataType, Field } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { canonicalTexts, invalid } from './resolve.ts'

export type MergeEngineName = 'deduplicate' | 'partial-update' | 'aggregation' | 'first-row'

/** Aggregate functions by the types of column they take. Sketches are known by name only. */
const NUMBERS = ['tinyint', 'smallint', 'int', 'bigint', 'float', 'double', 'decimal'] as const
const FLAT = [...NUMBERS, 'boolean', 'char', 'varchar', 'date', 'time', 'timestamp', 'timestamp_ltz'] as const
const functions = {
  sum: { takes: NUMBERS, retracts: true },
  product: { takes: NUMBERS, retracts: true },
  max: { takes: FLAT, retracts: false },
  min: { takes: FLAT, retracts: false },
  last_value: { takes: undefined, retracts: true },
  last_non_null_value: { takes: undefined, retracts: true },
  first_value: { takes: undefined, retracts: false },
  first_non_null_value: { takes: undefined, retracts: false },
  listagg: { takes: ['varchar'], retracts: false },
  bool_and: { takes: ['boolean'], retracts: false },
  bool_or: { takes: ['boolean'], retracts: false },
  collect: { takes: ['array'], retracts: true },
  merge_map: { takes: ['map'], retracts: true },
  merge_map_with_keytime: { takes: ['map'], retracts: false },
  nested_update: { takes: ['array'], retracts: true },
  nested_partial_update: { takes: ['array'], retracts: false },
} as const satisfies Record<
  string,
  { readonly takes: readonly DataType['kind'][] | undefined; readonly retracts: boolean }
>

const SKETCHES: ReadonlySet<string> = new Set(['rbm32', 'rbm64', 'hll_sketch', 'theta_sketch'])
const ALIASES: ReadonlyMap<string, string> = new Map([['first_not_null_value', 'first_non_null_value']])

export type FunctionName = keyof typeof functions

/** How the values of one column become one. */
export interface ColumnRule {
  readonly function: FunctionName
  /** A value can be taken back out: by the function, or because deletes are ignored. */
  readonly retracts: boolean
  readonly ignoreRetract: boolean
  readonly distinct: boolean
  readonly delimiter: string
  /** Fields of the rows of a nested table that are its key, by position. */
  readonly nestedKey: readonly number[]
  readonly countLimit: number
  /** Field of a map's values that holds the time, by position. */
  readonly timeField: number
}

/** Columns of a partial update that move together, by the order of `fields`. */
export interface SequenceGroup {
  readonly fields: readonly string[]
  /** The columns it protects, without `fields`. */
  readonly columns: readonly string[]
  /** A delete whose fields are not older removes the whole row. */
  readonly removesRow: boolean
}

/** How rows of one key become one, as the options of a table say. */
export interface MergeSpec {
  readonly engine: MergeEngineName
  /** Retracting rows count for nothing. */
  readonly ignoreDelete: boolean
  /** A delete ends the row, whatever came before. */
  readonly removeOnDelete: boolean
  /**
   * What a row that retracts does depends on the rows before it: it must not be merged with younger ones before all older ones are
   * at hand.
   */
  readonly retractsApart: boolean
  /** Columns that order the rows of a key before their sequence numbers do. */
  readonly sequenceFields: readonly string[]
  readonly descending: boolean
  /** Columns with a function; keys have none. */
  readonly rules: ReadonlyMap<string, ColumnRule>
  readonly groups: readonly SequenceGroup[]
}

/** Whether the newest record of a key, by sequence number, is the row: what reads of one key may go by. */
export function isPlain(spec: MergeSpec): boolean {
  return spec.engine === 'deduplicate' && !spec.ignoreDelete && spec.sequenceFields.length === 0
}

/** What a spec is made of: the columns, and options as a schema file holds them. */
export interface MergeSchema {
  readonly fields: readonly Field[]
  readonly primaryKeys: readonly string[]
  readonly options: Readonly<Record<string, string>>
}

/**
 * Reads the options that Paimon's merge engines take, and checks what Paimon checks of them together. `INVALID` naming the option or
 * the column; `UNSUPPORTED` for functions of sketches.
 */
export function mergeSpec({ fields, primaryKeys, options: stored }: MergeSchema): MergeSpec {
  const options = Object.fromEntries(canonicalTexts(stored))
  const engine = (options['merge-engine']?.toLowerCase() ?? 'deduplicate') as MergeEngineName
  const ignoreDelete = isTrue(options['ignore-delete'])
  const sequenceFields = names(options['sequence.field'])
  for (const name of sequenceFields) columnOf(fields, 'sequence.field', name)
  if (engine === 'first-row') checkFirstRow(options)
  const groups = engine === 'partial-update' ? sequenceGroups(fields, primaryKeys, options) : []
  const removeOnDelete = isTrue(options[REMOVE_ON_DELETE.get(engine) ?? ''])
  checkTogether(engine, ignoreDelete, removeOnDelete, groups, options)
  const rules = columnRules(engine, fields, primaryKeys, sequenceFields, groups, removeOnDelete, options)
  const removes = removeOnDelete || groups.some((group) => group.removesRow)
  return {
    engine,
    ignoreDelete,
    removeOnDelete,
    retractsApart: removes || (!ignoreDelete && [...rules.values()].some((rule) => needsOlder(engine, rule))),
    sequenceFields,
    descending: options['sequence.field.sort-order']?.toLowerCase() === 'descending',
    rules,
    groups,
  }
}

/** Only a sum may take a value back before it was put in; a partial update that nothing was added to is no row yet. */
function needsOlder(engine: MergeEngineName, { function: name, ignoreRetract, retracts }: ColumnRule): boolean {
  return retracts && !ignoreRetract && !(engine === 'aggregation' && name === 'sum')
}

/** Columns that a read of `columns` needs beside them to merge rows. */
export function columnsToMerge(spec: MergeSpec, columns: readonly string[]): readonly string[] {
  const needed = new Set(spec.sequenceFields)
  for (const group of spec.groups) {
    const asked = group.removesRow || [...group.columns, ...group.fields].some((name) => columns.includes(name))
    if (asked) for (const name of group.fields) needed.add(name)
  }
  return [...needed].filter((name) => !columns.includes(name))
}

/** The option of an engine by which a delete ends the row. */
const REMOVE_ON_DELETE: ReadonlyMap<MergeEngineName, string> = new Map([
  ['partial-update', 'partial-update.remove-record-on-delete'],
  ['aggregation', 'aggregation.remove-record-on-delete'],
])

const REMOVE_ON_GROUP = 'partial-update.remove-record-on-sequence-group'

/** What of other options the engine first-row cannot have beside it. */
function checkFirstRow(options: Readonly<Record<string, string>>): void {
  const sequence = options['sequence.field']
  if (sequence !== undefined) {
    throw invalid('sequence.field', sequence, 'the first row of a key is the one written first, leave it out')
  }
  if (isTrue(options['deletion-vectors.enabled'])) {
    throw invalid('deletion-vectors.enabled', true, 'a first row is never replaced, leave it out')
  }
  const producer = options['changelog-producer']?.toLowerCase() ?? 'none'
  if (producer === 'input' || producer === 'full-compaction') {
    throw invalid('changelog-producer', producer, 'with first-row only none and lookup know which rows stay')
  }
}

function checkTogether(
  engine: MergeEngineName,
  ignoreDelete: boolean,
  removeOnDelete: boolean,
  groups: readonly SequenceGroup[],
  options: Readonly<Record<string, string>>,
): void {
  if (engine !== 'partial-update') return
  const onDelete = REMOVE_ON_DELETE.get(engine)!
  if (removeOnDelete && ignoreDelete) throw invalid(onDelete, true, 'ignore-delete says the contrary, leave one out')
  if (removeOnDelete && groups.length > 0) {
    throw invalid(onDelete, true, `with sequence groups, name those that remove the row in ${REMOVE_ON_GROUP}`)
  }
  const removing = names(options[REMOVE_ON_GROUP])
  if (removing.length > 0 && ignoreDelete) {
    throw invalid(REMOVE_ON_GROUP, options[REMOVE_ON_GROUP], 'ignore-delete says the contrary, leave one out')
  }
  const missing = removing.find((name) => !groups.some((group) => group.fields.includes(name)))
  if (missing !== undefined) {
    throw invalid(REMOVE_ON_GROUP, options[REMOVE_ON_GROUP], `'${missing}' orders no sequence group`)
  }
}

function sequenceGroups(
  fields: readonly Field[],
  primaryKeys: readonly string[],
  options: Readonly<Record<string, string>>,
): readonly SequenceGroup[] {
  const removing = new Set(names(options[REMOVE_ON_GROUP]))
  const owner = new Map<string, string>()
  const own = (name: string, option: string) => {
    columnOf(fields, option, name)
    if (primaryKeys.includes(name))
      throw invalid(option, options[option], `'${name}' is in the primary key, leave it out`)
    if (owner.has(name)) throw invalid(option, options[option], `'${name}' is in the group of ${owner.get(name)}, too`)
    owner.set(name, option)
  }
  return Object.entries(options).flatMap(([option, text]) => {
    const ordering = names(/^fields\.(.+)\.sequence-group$/.exec(option)?.[1])
    if (ordering.length === 0) return []
    const columns = names(text).filter((name) => !ordering.includes(name))
    for (const name of [...ordering, ...columns]) own(name, option)
    return [{ fields: ordering, columns, removesRow: ordering.some((name) => removing.has(name)) }]
  })
}

function columnRules(
  engine: MergeEngineName,
  fields: readonly Field[],
  primaryKeys: readonly string[],
  sequenceFields: readonly string[],
  groups: readonly SequenceGroup[],
  removeOnDelete: boolean,
  options: Readonly<Record<string, string>>,
): ReadonlyMap<string, ColumnRule> {
  const rules = new Map<string, ColumnRule>()
  if (engine !== 'aggregation' && engine !== 'partial-update') return rules
  const ordering = new Set(groups.flatMap((group) => group.fields))
  const grouped = new Set(groups.flatMap((group) => group.columns))
  for (const { name, type } of fields) {
    if (primaryKeys.includes(name) || ordering.has(name)) continue
    const option = `fields.${name}.aggregate-function`
    const text = options[option] ?? options['fields.default-aggregate-function']
    if (engine === 'partial-update' && text === undefined) continue
    if (engine === 'partial-update' && text !== 'last_non_null_value' && !grouped.has(name)) {
      throw invalid(
        option,
        text,
        'a partial update aggregates columns of a sequence group only, put the column into one',
      )
    }
    if (sequenceFields.includes(name) && options[option] !== undefined) {
      throw invalid(option, text, 'the column is a sequence.field, which is not aggregated, leave the function out')
    }
    const fallback = sequenceFields.includes(name) ? 'last_value' : 'last_non_null_value'
    rules.set(
      name,
      ruleOf(name, type, sequenceFields.includes(name) ? fallback : (text ?? fallback), removeOnDelete, options),
    )
  }
  return rules
}

function ruleOf(
  name: string,
  type: DataType,
  text: string,
  removeOnDelete: boolean,
  options: Readonly<Record<string, string>>,
): ColumnRule {
  const option = (suffix: string) => `fields.${name}.${suffix}`
  const own = option('aggregate-function')
  const asked = options[own] === undefined ? 'fields.default-aggregate-function' : own
  const known = ALIASES.get(text) ?? text
  if (SKETCHES.has(known)) {
    throw new TableError(
      'UNSUPPORTED',
      `option '${asked}' is '${text}': this version has no sketches. Use Apache Paimon for this table.`,
      { option: asked, value: text, column: name },
    )
  }
  if (!Object.hasOwn(functions, known)) {
    throw invalid(asked, text, `give one of ${Object.keys(functions).join(', ')}`)
  }
  const { takes, retracts } = functions[known as FunctionName]
  const fits = (takes as readonly string[] | undefined)?.includes(type.kind) ?? true
  if (!fits) {
    throw invalid(asked, text, `column '${name}' is of type ${type.kind}, which it does not take`)
  }
  const ignoreRetract = isTrue(options[option('ignore-retract')])
  if (ignoreRetract && removeOnDelete) {
    throw invalid(option('ignore-retract'), true, 'remove-record-on-delete says the contrary, leave one out')
  }
  const nested = nestedFields(name, type, known)
  const nestedKey = names(options[option('nested-key')]).map((field) => positionOf(nested, option('nested-key'), field))
  if (known === 'nested_partial_update' && nestedKey.length === 0) {
    throw invalid(option('nested-key'), undefined, 'name the key columns of the nested rows')
  }
  return {
    function: known as FunctionName,
    retracts: retracts || ignoreRetract,
    ignoreRetract,
    distinct: isTrue(options[option('distinct')]),
    delimiter: options[option('list-agg-delimiter')] ?? ',',
    nestedKey,
    countLimit: Number(options[option('count-limit')] ?? 2147483647),
    timeField: nested.length - 1,
  }
}

/** The fields of the rows inside a column, where its function needs rows. */
function nestedFields(column: string, type: DataType, name: string): readonly Field[] {
  const inner = type.kind === 'array' ? type.element : type.kind === 'map' ? type.value : undefined
  if (!name.startsWith('nested_') && name !== 'merge_map_with_keytime') return []
  if (inner?.kind === 'row') return inner.fields
  throw invalid(`fields.${column}.aggregate-function`, name, `column '${column}' holds no rows, which it needs`)
}

function positionOf(fields: readonly Field[], option: string, name: string): number {
  const position = fields.findIndex((field) => field.name === name)
  if (position < 0 && fields.length === 0) throw invalid(option, name, 'the function of the column has no nested rows')
  if (position < 0) throw invalid(option, name, `the nested rows have ${fields.map((field) => field.name).join(', ')}`)
  return position
}

function columnOf(fields: readonly Field[], option: string, name: string): Field {
  const field = fields.find((candidate) => candidate.name === name)
  if (field === undefined) throw invalid(option, name, 'name columns of the table')
  return field
}

function names(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function isTrue(text: string | undefined): boolean {
  return text?.toLowerCase() === 'true'
}

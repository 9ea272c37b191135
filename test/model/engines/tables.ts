import { type Fields, t } from '../../../engine/api/fields.ts'
import type { Rule, Value } from './functions.ts'
import type { Rules } from './reference.ts'

/** Draws numbers for values. */
export interface Draw {
  below(count: number): number
  chance(share: number): boolean
}

/** A column beside the key: its type as the API makes it, and values of it that are not null. */
interface Column {
  readonly type: Fields[string]
  readonly value: (draw: Draw) => Value
}

/** One kind of table: columns, options, and the same rules once more for the model. */
export interface ModelTable {
  readonly name: string
  readonly columns: Readonly<Record<string, Column>>
  readonly options: Readonly<Record<string, string>>
  readonly rules: Rules
  /** Options that no draw changes. */
  readonly fixed?: Readonly<Record<string, string>>
  /** What may follow a row: deletes by key, deletes with values, or any kind with values, by `rowkind.field`. */
  readonly kinds: 'puts' | 'keys' | 'rows' | 'all'
  /** Deletes hold nothing but the key and what they are ordered by. */
  readonly bareDeletes?: boolean
  /** Share of nulls. */
  readonly nulls: number
  /** Columns that never fall behind what a delete had: an older row after it comes back once the delete is compacted away. */
  readonly rising?: readonly string[]
}

const int: Column = { type: t.int().nullable(), value: (draw) => draw.below(9) - 3 }
const positive: Column = { type: t.int().nullable(), value: (draw) => draw.below(6) }
const big: Column = {
  type: t.bigint().nullable(),
  value: (draw) => BigInt(draw.below(7) - 3) * 2n ** 54n + BigInt(draw.below(5)),
}
const small: Column = { type: t.tinyint().nullable(), value: (draw) => draw.below(5) - 2 }
/** Factors whose products stay small enough. */
const factor: Column = {
  type: t.int().nullable(),
  value: (draw) => (draw.chance(0.2) ? 3 : draw.chance(0.1) ? 0 : draw.below(2) * 2 - 1),
}
const bigFactor: Column = { type: t.bigint().nullable(), value: (draw) => BigInt(factor.value(draw) as number) }
const double: Column = { type: t.double().nullable(), value: (draw) => (draw.below(80) - 40) / 8 }
const power: Column = { type: t.double().nullable(), value: (draw) => 2 ** (draw.below(5) - 2) }
const money: Column = {
  type: t.decimal(20, 2).nullable(),
  value: (draw) => `${draw.below(900) - 450}.${10 + draw.below(90)}`,
}
const word: Column = { type: t.string().nullable(), value: (draw) => ['', 'a', 'b', 'é', '😀', 'cc'][draw.below(6)] }
const flag: Column = { type: t.boolean().nullable(), value: (draw) => draw.chance(0.5) }
const bag: Column = {
  type: t.array(t.int()).nullable(),
  value: (draw) => Array.from({ length: draw.below(4) }, () => draw.below(5)),
}
const set: Column = { type: t.array(t.int()).nullable(), value: (draw) => [0, 1, 2, 3].filter(() => draw.chance(0.4)) }
const map: Column = {
  type: t.map(t.string(), t.int()).nullable(),
  value: (draw) => ['x', 'y', 'z'].filter(() => draw.chance(0.5)).map((key) => [key, draw.below(9)]),
}
const rows = t.array(t.row({ k: t.int(), v: t.int().nullable() })).nullable()
const nested: Column = {
  type: rows,
  value: (draw) =>
    [0, 1, 2].filter(() => draw.chance(0.5)).map((k) => ({ k, v: draw.chance(0.3) ? null : draw.below(9) })),
}

/** What a sequence.field does by itself: it takes no function. */
const ORDERING: Rule = { function: 'last_value' }

type Columns = Readonly<Record<string, readonly [Column, Rule]>>

function aggregation(
  name: string,
  columns: Columns,
  more: Partial<ModelTable> & { readonly also?: Partial<Rules> } = {},
): ModelTable {
  const { also, ...rest } = more
  const functions = Object.fromEntries(Object.entries(columns).map(([column, [, rule]]) => [column, rule]))
  return {
    name: `aggregation: ${name}`,
    columns: Object.fromEntries(Object.entries(columns).map(([column, [kind]]) => [column, kind])),
    kinds: 'puts',
    nulls: 0.25,
    ...rest,
    options: { 'merge-engine': 'aggregation', ...functionOptions(functions), ...rest.options },
    rules: { engine: 'aggregation', columns: Object.keys(columns), functions, ...also },
  }
}

function functionOptions(functions: Readonly<Record<string, Rule>>): Record<string, string> {
  const options: Record<string, string> = {}
  for (const [column, rule] of Object.entries(functions)) {
    const set = (name: string, value: unknown) => {
      if (value !== undefined) options[`fields.${column}.${name}`] = String(value)
    }
    if (rule !== ORDERING) set('aggregate-function', rule.function)
    set('distinct', rule.distinct)
    set('list-agg-delimiter', rule.delimiter)
    set('nested-key', rule.nestedKey?.join(','))
    set('count-limit', rule.limit)
    set('ignore-retract', rule.ignoreRetract)
  }
  return options
}

function simple(
  name: string,
  options: Record<string, string>,
  rules: Omit<Rules, 'columns'>,
  more: Partial<ModelTable> = {},
): ModelTable {
  const columns = { a: int, b: word, g: positive, h: positive, ...more.columns }
  return {
    name,
    kinds: 'keys',
    nulls: 0.3,
    ...more,
    columns,
    options: { 'merge-engine': rules.engine, ...options },
    rules: { ...rules, columns: Object.keys(columns) },
  }
}

const PLAIN_RETRACTED: Columns = {
  total: [int, { function: 'sum', bits: 32 }],
  tiny: [small, { function: 'sum', bits: 8 }],
  wide: [big, { function: 'sum', bits: 64 }],
  money: [money, { function: 'sum', scale: 2 }],
  exact: [double, { function: 'sum' }],
  last: [word, { function: 'last_value' }],
  known: [word, { function: 'last_non_null_value' }],
}
const RETRACTED: Columns = { ...PLAIN_RETRACTED, highest: [int, { function: 'max', ignoreRetract: true }] }
const RETRACTED_LISTS: Columns = {
  bag: [bag, { function: 'collect' }],
  map: [map, { function: 'merge_map' }],
  rows: [nested, { function: 'nested_update', nestedKey: ['k'] }],
  tokens: [word, { function: 'listagg', ignoreRetract: true }],
}

const G: Rules['groups'] = [
  { fields: ['g'], columns: ['a'] },
  { fields: ['h'], columns: ['b'] },
]
const GROUPS = { 'fields.g.sequence-group': 'a', 'fields.h.sequence-group': 'b' }

export const tables: readonly ModelTable[] = [
  simple('deduplicate', {}, { engine: 'deduplicate' }, { kinds: 'all' }),
  simple(
    'deduplicate, ignore-delete',
    { 'ignore-delete': 'true' },
    { engine: 'deduplicate', ignoreDelete: true },
    { kinds: 'all' },
  ),
  simple(
    'deduplicate, sequence.field',
    { 'sequence.field': 'g,h' },
    { engine: 'deduplicate', sequence: ['g', 'h'] },
    { kinds: 'puts' },
  ),
  simple(
    'deduplicate, sequence.field with deletes',
    { 'sequence.field': 'g,h' },
    { engine: 'deduplicate', sequence: ['g', 'h'] },
    { kinds: 'rows', rising: ['g', 'h'] },
  ),
  simple(
    'deduplicate, sequence.field with rows of any kind',
    { 'sequence.field': 'g' },
    { engine: 'deduplicate', sequence: ['g'] },
    { kinds: 'all', rising: ['g'] },
  ),
  simple(
    'deduplicate, sequence.field descending',
    { 'sequence.field': 'g,h', 'sequence.field.sort-order': 'descending' },
    { engine: 'deduplicate', sequence: ['g', 'h'], descending: true },
    { kinds: 'puts' },
  ),
  simple('partial-update', {}, { engine: 'partial-update' }, { kinds: 'puts', nulls: 0.5 }),
  simple(
    'partial-update, ignore-delete',
    { 'partial-update.ignore-delete': 'true' },
    { engine: 'partial-update', ignoreDelete: true },
    { nulls: 0.5, kinds: 'all' },
  ),
  simple(
    'partial-update, remove-record-on-delete',
    { 'partial-update.remove-record-on-delete': 'true' },
    { engine: 'partial-update', removeOnDelete: true },
    { nulls: 0.5, kinds: 'all' },
  ),
  simple('partial-update, sequence groups', GROUPS, { engine: 'partial-update', groups: G }, { kinds: 'all' }),
  simple(
    'partial-update, sequence groups with deletes',
    GROUPS,
    { engine: 'partial-update', groups: G },
    { kinds: 'rows' },
  ),
  simple(
    'partial-update, a group of two fields',
    { 'fields.g,h.sequence-group': 'a,b' },
    { engine: 'partial-update', groups: [{ fields: ['g', 'h'], columns: ['a', 'b'] }] },
    { kinds: 'puts' },
  ),
  simple(
    'partial-update, groups with functions',
    { ...GROUPS, 'fields.a.aggregate-function': 'sum', 'fields.b.aggregate-function': 'max' },
    {
      engine: 'partial-update',
      groups: G,
      functions: { a: { function: 'sum', bits: 32 }, b: { function: 'max' } },
    },
    { kinds: 'puts' },
  ),
  simple(
    'partial-update, a group whose deletes remove the row',
    { ...GROUPS, 'partial-update.remove-record-on-sequence-group': 'g' },
    { engine: 'partial-update', groups: [{ ...G[0]!, removes: true }, G[1]!] },
    { kinds: 'all', rising: ['g', 'h'] },
  ),
  aggregation('numbers', {
    total: [int, { function: 'sum', bits: 32 }],
    tiny: [small, { function: 'sum', bits: 8 }],
    wide: [big, { function: 'sum', bits: 64 }],
    money: [money, { function: 'sum', scale: 2 }],
    exact: [double, { function: 'sum' }],
    factor: [factor, { function: 'product', bits: 32 }],
    wideFactor: [bigFactor, { function: 'product', bits: 64 }],
    power: [power, { function: 'product' }],
  }),
  aggregation('picks', {
    highest: [double, { function: 'max' }],
    lowest: [word, { function: 'min' }],
    last: [word, { function: 'last_value' }],
    known: [int, { function: 'last_non_null_value' }],
    first: [word, { function: 'first_value' }],
    firstKnown: [int, { function: 'first_non_null_value' }],
    oldName: [int, { function: 'first_not_null_value' }],
    all: [flag, { function: 'bool_and' }],
    any: [flag, { function: 'bool_or' }],
  }),
  simple('first-row', {}, { engine: 'first-row' }, { kinds: 'puts' }),
  simple('first-row, deletes ignored', { 'ignore-delete': 'true' }, { engine: 'first-row', ignoreDelete: true }),
  aggregation('lists', {
    words: [word, { function: 'listagg' }],
    tokens: [word, { function: 'listagg', distinct: true, delimiter: '-' }],
    bag: [bag, { function: 'collect' }],
    set: [set, { function: 'collect', distinct: true }],
    map: [map, { function: 'merge_map' }],
    rows: [nested, { function: 'nested_update', nestedKey: ['k'] }],
    capped: [nested, { function: 'nested_update', limit: 4 }],
    patched: [nested, { function: 'nested_partial_update', nestedKey: ['k'] }],
  }),
  aggregation('retractions', RETRACTED, { kinds: 'all' }),
  aggregation('retractions of lists', RETRACTED_LISTS, { kinds: 'all' }),
  aggregation('deletes that end the row', PLAIN_RETRACTED, {
    kinds: 'all',
    options: { 'aggregation.remove-record-on-delete': 'true' },
    also: { removeOnDelete: true },
  }),
  aggregation(
    'sequence.field',
    {
      total: [int, { function: 'sum', bits: 32 }],
      lowest: [int, { function: 'min' }],
      last: [word, { function: 'last_value' }],
      at: [positive, ORDERING],
    },
    { options: { 'sequence.field': 'at' }, also: { sequence: ['at'] } },
  ),
]

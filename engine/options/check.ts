import { isTableError, TableError } from '../errors.ts'
import { type MergeSchema, mergeSpec } from './merge-spec.ts'
import { misspelt } from './misspelt.ts'
import type { Option } from './option.ts'
import { recordExpiry } from './record-expiry.ts'
import { findOption, registry } from './registry.ts'
import { canonicalTexts, invalid, parseOr, resolve, type StoredOptions } from './resolve.ts'

/** The part of a table's schema that options are checked against. */
export interface OptionSchema extends MergeSchema {
  readonly partitionKeys: readonly string[]
}

/**
 * Why a table with these options is not read by this version: `UNSUPPORTED` naming the option, when one would change what a
 * read answers in a way that this version does not have; `INVALID` for an option that makes no sense. Undefined: read it.
 */
export function checkReadable(schema: MergeSchema): TableError | undefined {
  return check(schema, (option) => option.affects === 'read', 'reads')
}

/**
 * Why a table with these options is not written by this version. All that stops a read stops a write too. Undefined: write it.
 */
export function checkWritable(schema: MergeSchema): TableError | undefined {
  return check(schema, (option) => option.affects !== 'none', 'writes') ?? caught(() => recordExpiry(schema))
}

function check(schema: MergeSchema, matters: (option: Option) => boolean, verb: string): TableError | undefined {
  return caught(() => {
    const texts = canonicalTexts(schema.options)
    for (const [key, option] of Object.entries<Option>(registry)) {
      if (option.use === 'kept' || option.only === undefined || !matters(option)) continue
      const text = texts.get(key)
      if (option.accepts === undefined ? text === undefined : option.accepts(parseOr(key, option, text))) continue
      throw refusal(key, text ?? option.kind.print(option.default), verb, option.only)
    }
    resolve(schema.options)
    mergeSpec(schema)
  })
}

function refusal(option: string, value: string, verb: string, accepted: string): TableError {
  return new TableError(
    'UNSUPPORTED',
    `option '${option}' is '${value}': this version ${verb} tables where it is ${accepted}. ` +
      `Use Apache Paimon for this table, or change the option there.`,
    { option, value },
  )
}

/**
 * Checks all options of a new or altered table: every known option has a value of its kind, the rules between options hold,
 * and the columns they name exist. Unknown options pass, unless they are nearly a known one: another
 * engine may own them. Gives an `INVALID` error, or undefined.
 */
export function checkOptions(schema: OptionSchema): TableError | undefined {
  return caught(() => {
    for (const [key, text] of Object.entries(schema.options)) {
      const option = findOption(key)
      const wrong = option === undefined ? misspelt(key) : undefined
      if (wrong !== undefined) throw wrong
      if (option !== undefined) parseOr(key, option, text)
    }
    const resolved = resolve(schema.options)
    checkBucketKey(schema, resolved['bucket-key'])
    checkRowKindField(schema, resolved['rowkind.field'])
    checkSequenceField(schema, resolved['sequence.field'] ?? [])
    checkEngineOptions(schema.options, resolved['merge-engine'])
    checkEngineColumns(schema, resolved['merge-engine'], resolved['sequence.field'] ?? [])
    const columns = new Set(schema.fields.map((field) => field.name))
    const ignored = resolved[IGNORED]
    const unknown = ignored?.find((name) => !columns.has(name))
    if (unknown !== undefined) throw noColumn(IGNORED, ignored!.join(','), unknown)
    for (const [key, text] of Object.entries(schema.options)) {
      const named = /^fields\.(.+)\.[^.]+$/.exec(key)?.[1]
      const missing = named?.split(',').find((name) => !columns.has(name.trim()))
      if (missing !== undefined) throw noColumn(key, text, missing)
    }
  })
}

const IGNORED = 'changelog-producer.row-deduplicate-ignore-fields'

function noColumn(option: string, text: string, column: string): TableError {
  return invalid(option, text, `there is no column '${column}', name one that there is`)
}

function checkBucketKey(schema: OptionSchema, bucketKey: readonly string[] | undefined): void {
  const text = bucketKey?.join(',')
  for (const name of bucketKey ?? []) {
    if (!schema.primaryKeys.includes(name))
      throw invalid('bucket-key', text, `'${name}' is not in the primary key, choose columns that are`)
    if (schema.partitionKeys.includes(name))
      throw invalid('bucket-key', text, `'${name}' is a partition column, choose others`)
  }
}

function checkSequenceField({ primaryKeys }: OptionSchema, names: readonly string[]): void {
  const text = names.join(',')
  for (const [index, name] of names.entries()) {
    if (primaryKeys.includes(name)) {
      throw invalid('sequence.field', text, `'${name}' is in the primary key and orders nothing, name another column`)
    }
    if (names.indexOf(name) !== index) throw invalid('sequence.field', text, `'${name}' stands twice, name it once`)
  }
}

/** Options that only some merge engines look at, by pattern of their keys. */
const engineOptions: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^partial-update\.(?!ignore-delete)|^fields\..+\.sequence-group$/, ['partial-update']],
  [/^aggregation\./, ['aggregation']],
  [
    /^fields\.(default-aggregate-function|.+\.(aggregate-function|ignore-retract|distinct|list-agg-delimiter|nested-key|count-limit))$/,
    ['aggregation', 'partial-update'],
  ],
]

function checkEngineOptions(stored: StoredOptions, engine: string): void {
  for (const [key, text] of Object.entries(stored)) {
    const engines = engineOptions.find(([form]) => form.test(key))?.[1]
    if (engines === undefined || engines.includes(engine)) continue
    throw invalid(key, text, `only merge-engine ${engines.join(' and ')} looks at it, and this table has ${engine}`)
  }
}

/** Columns that an engine may have to empty, or that a default would fill in with every row. */
function checkEngineColumns({ fields, primaryKeys }: OptionSchema, engine: string, ordering: readonly string[]): void {
  if (engine !== 'aggregation' && engine !== 'partial-update') return
  for (const { name, type, defaultValue } of fields) {
    if (primaryKeys.includes(name)) continue
    const problem =
      engine === 'aggregation' && !type.nullable && !ordering.includes(name)
        ? 'is NOT NULL, and what an aggregation takes back leaves null: make it nullable'
        : defaultValue !== undefined
          ? 'has a default, which every row that leaves the column out would set: leave the default out'
          : undefined
    if (problem === undefined) continue
    throw new TableError('INVALID', `Column ${JSON.stringify(name)} ${problem}. The merge-engine is ${engine}.`, {
      column: name,
      option: 'merge-engine',
    })
  }
}

function checkRowKindField({ fields }: OptionSchema, name: string | undefined): void {
  if (name === undefined) return
  const field = fields.find((candidate) => candidate.name === name)
  if (field === undefined) throw invalid('rowkind.field', name, 'there is no such column, name one that there is')
  if (field.type.kind === 'char' || field.type.kind === 'varchar') return
  throw invalid('rowkind.field', name, `the column is of type ${field.type.kind}, name one of text`)
}

/** The `TableError` that an action throws, if any. */
function caught(action: () => void): TableError | undefined {
  try {
    action()
    return undefined
  } catch (error) {
    if (isTableError(error)) return error
    throw error
  }
}

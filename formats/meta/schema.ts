import { corrupt, FormatError, unsupported } from '../bytes/format-error.ts'
import { parseDataFields, printDataFields } from '../types/parse.ts'
import type { Field } from '../types/row-type.ts'
import type { JsonValue } from './json.ts'
import { parseJsonObject } from './json.ts'
import { JsonFields } from './json-fields.ts'
import { printJson } from './json-print.ts'
import type { TableSchema } from './types.ts'

/** The version that new schemas get; newer ones are refused. */
export const SCHEMA_VERSION = 3
/** Files without a version are of the first one, which had one bucket unless it said otherwise. */
const ONE_BUCKET_VERSION = 1
/** Up to this version data files were ORC unless the schema said otherwise. */
const ORC_VERSION = 2

/**
 * Reads a schema file (docs/format/schema.md). Options of old versions are completed with the defaults of their time, so that
 * the caller sees what they mean. Throws CORRUPT naming the key, UNSUPPORTED for a newer version or an unknown type.
 */
export function parseSchema(bytes: Uint8Array): TableSchema {
  const fields = new JsonFields(parseJsonObject(bytes, 'schema'), 'schema')
  const version = fields.integer('version') ?? ONE_BUCKET_VERSION
  if (version > SCHEMA_VERSION) throw unsupported(`schema: version ${version}, the newest known is ${SCHEMA_VERSION}`)
  const columns = parseColumns(fields.required('fields', fields.array))
  const primaryKeys = fields.required('primaryKeys', fields.strings)
  const partitionKeys = fields.required('partitionKeys', fields.strings)
  checkKeys('primaryKeys', primaryKeys, columns)
  checkKeys('partitionKeys', partitionKeys, columns)
  const comment = fields.string('comment')
  return {
    version,
    id: fields.required('id', fields.count),
    fields: columns,
    highestFieldId: fields.required('highestFieldId', fields.integer),
    partitionKeys,
    primaryKeys,
    options: completeOptions(fields.stringMap('options') ?? {}, version),
    ...(comment === undefined ? {} : { comment }),
    timeMillis: fields.integer('timeMillis') ?? 0,
  }
}

/** The bytes of a schema file, exactly as Paimon prints it. */
export function printSchema(schema: TableSchema): Uint8Array {
  return printJson({
    version: schema.version,
    id: schema.id,
    fields: printDataFields(schema.fields),
    highestFieldId: schema.highestFieldId,
    partitionKeys: schema.partitionKeys,
    primaryKeys: schema.primaryKeys,
    options: schema.options,
    comment: schema.comment,
    timeMillis: schema.timeMillis,
  })
}

function parseColumns(json: readonly JsonValue[]): readonly Field[] {
  try {
    return parseDataFields(json)
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new FormatError(cause.code, `schema: key "fields": ${cause.message}`, { cause })
  }
}

function checkKeys(key: string, names: readonly string[], columns: readonly Field[]): void {
  for (const name of names) {
    if (!columns.some((column) => column.name === name)) {
      throw corrupt(`schema: key "${key}" names ${JSON.stringify(name)}, which is not in "fields"`)
    }
  }
}

function completeOptions(options: Readonly<Record<string, string>>, version: number): Readonly<Record<string, string>> {
  const completed = { ...options }
  if (version <= ONE_BUCKET_VERSION && !Object.hasOwn(options, 'bucket')) completed.bucket = '1'
  if (version <= ORC_VERSION && !Object.hasOwn(options, 'file.format')) completed['file.format'] = 'orc'
  return completed
}

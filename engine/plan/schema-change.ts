import type { TableSchema } from '../../formats/meta/types.ts'
import { printType } from '../../formats/types/parse.ts'
import { TableError } from '../errors.ts'
import { checkWritable } from '../options/check.ts'
import { findOption } from '../options/registry.ts'
import { canonicalTexts } from '../options/resolve.ts'

/** What of a newer schema matters to a handle that was opened with an older one. */
export interface SchemaChange {
  readonly from: number
  readonly to: number
  /** Columns or keys. */
  readonly shape: boolean
  /** Options that change what a read answers, and those that only change what is written. */
  readonly readOptions: readonly string[]
  readonly writeOptions: readonly string[]
  /** Options that decide where rows lie, or ask for more than this version writes: they stop commits, too. */
  readonly commitOptions: readonly string[]
}

/**
 * What a handle is about to do. A commit publishes rows that were taken under the old schema: new columns do not stop it, nor
 * options of compaction, retention and files, which matter from the next write on.
 */
export type SchemaUse = 'read' | 'write' | 'commit'

/**
 * What changed between two schemas of a table; undefined when nothing did that a handle would have to know: comments, and
 * options that bear on neither rows nor files, or that belong to another engine.
 */
export function schemaChange(from: TableSchema, to: TableSchema): SchemaChange | undefined {
  const [before, after] = [canonicalTexts(from.options), canonicalTexts(to.options)]
  const changed = [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => before.get(key) !== after.get(key))
    .sort()
  const affecting = (affects: 'read' | 'write') => changed.filter((key) => findOption(key)?.affects === affects)
  const readOptions = affecting('read')
  const writeOptions = affecting('write')
  const shape = shapeOf(from) !== shapeOf(to)
  if (!shape && readOptions.length + writeOptions.length === 0) return undefined
  const refused = checkWritable(to)?.details.option
  const commitOptions = [...readOptions, ...writeOptions.filter((key) => key === 'bucket' || key === refused)]
  return { from: from.id, to: to.id, shape, readOptions, writeOptions, commitOptions }
}

/** `CONFLICT` when the change stands in the way: rows would be cut down to old columns, or options go unnoticed. */
export function schemaConflict(table: string, change: SchemaChange, use: SchemaUse): TableError | undefined {
  const { from, to, shape, readOptions, writeOptions, commitOptions } = change
  const options = { read: readOptions, write: [...readOptions, ...writeOptions], commit: commitOptions }[use]
  const columns = shape && use !== 'commit'
  if (!columns && options.length === 0) return undefined
  const what = [...(columns ? ['columns'] : []), ...(options.length > 0 ? [`option ${options.join(', ')}`] : [])]
  return new TableError(
    'CONFLICT',
    `${table} has a new schema, ${to}: ${what.join(' and ')} changed since it was opened with schema ${from}. Close all its handles and open it again; rows that cannot be committed go with close({ discard: true }).`,
    { table, expected: from, actual: to, ...(options.length > 0 && { option: options[0] }) },
  )
}

function shapeOf({ fields, primaryKeys, partitionKeys }: TableSchema): string {
  const columns = fields.map(({ id, name, type, defaultValue }) => [id, name, printType(type), defaultValue ?? null])
  return JSON.stringify([columns, primaryKeys, partitionKeys])
}

import type { Scalar } from '../../formats/column/column.ts'
import { compareScalars } from '../../formats/column/compare.ts'
import type { DataFile, TableSchema } from '../../formats/meta/types.ts'
import type { ParquetFooter } from '../../formats/parquet/file-read.ts'
import type { Statistics } from '../../formats/parquet/footer.ts'
import { decodeBound } from '../../formats/parquet/statistics.ts'
import { deserializeRow } from '../../formats/row/binary-row.ts'
import type { DataType } from '../../formats/types/row-type.ts'
import { TableError } from '../errors.ts'
import { KEY_PREFIX, kvLayout } from '../plan/kv-layout.ts'

/** `CORRUPT` when a file has not the length that the manifest gives. */
export function checkBytes(path: string, { bytes }: Pick<DataFile, 'bytes'>, actual: number): void {
  if (actual !== bytes) throw otherFile(path, 'a length of', actual, bytes)
}

/**
 * `CORRUPT` when a data file is another one than its manifest describes: a copy of an older state, a file under the wrong name. Each page
 * has a checksum, but nothing in a file says which one it is. Compared are what both sides know anyway: rows, the bounds of the first key
 * column, the range of sequence numbers, which may be wider in the manifest: pypaimon counts it from the number before the first.
 */
export function checkIdentity(path: string, file: DataFile, schema: TableSchema, footer: ParquetFooter): void {
  if (footer.rows !== file.rows) throw otherFile(path, 'a number of rows of', footer.rows, file.rows)
  const { keys, fields, sequence } = kvLayout(schema)
  const { name: sequenceName, type: sequenceType } = fields[sequence]!
  const range = boundsOf(footer, sequenceName, sequenceType)
  if (
    range !== undefined &&
    (compareScalars(range.min, file.minSequence) < 0 || compareScalars(range.max, file.maxSequence) > 0)
  ) {
    const [actual, expected] = [`${range.min} to ${range.max}`, `${file.minSequence} to ${file.maxSequence}`]
    throw otherFile(path, 'sequence numbers of', actual, expected)
  }
  const key = keys[0]!
  const types = keys.map(({ type }) => type)
  const [min, max] = [file.minKey, file.maxKey].map((row) => deserializeRow(types, row)[0] ?? null)
  const name = footer.tree.columns.some((column) => column.name === KEY_PREFIX + key.name)
    ? KEY_PREFIX + key.name
    : key.name
  const bounds = boundsOf(footer, name, key.type)
  if (bounds === undefined) return
  const what = `value of key column ${key.name} of`
  if (min !== null && compareScalars(bounds.min, min!) !== 0) throw otherFile(path, `a least ${what}`, bounds.min, min!)
  if (max !== null && compareScalars(bounds.max, max!) !== 0) {
    throw otherFile(path, `a greatest ${what}`, bounds.max, max!)
  }
}

function otherFile(path: string, what: string, actual: Scalar | string, expected: Scalar | string): TableError {
  return new TableError(
    'CORRUPT',
    `${path} has ${what} ${shown(actual)}, its manifest says ${shown(expected)}: it is damaged, or another file lies under its name. Restore it from a copy, or go back to a snapshot that does not name it.`,
    { path, expected, actual },
  )
}

function shown(value: Scalar | string): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : String(value)
}

/** The bounds of a column over all row groups; undefined where one has none, where they may be cut short, or of other types. */
function boundsOf(
  { tree, metadata }: ParquetFooter,
  name: string,
  type: DataType,
): { readonly min: Scalar; readonly max: Scalar } | undefined {
  const column = tree.columns.find((candidate) => candidate.name === name)
  if (column?.kind !== 'leaf' || !COMPARED.has(type.kind)) return undefined
  let [min, max]: (Scalar | undefined)[] = []
  for (const { columns } of metadata.rowGroups) {
    const statistics = columns[column.index]!.metaData?.statistics
    if (statistics === undefined || mayBeCut(statistics)) return undefined
    const low = decodeBound(column, statistics.minValue!)
    const high = decodeBound(column, statistics.maxValue!)
    if (low === null || high === null) return undefined
    if (min === undefined || compareScalars(low, min) < 0) min = low
    if (max === undefined || compareScalars(high, max) > 0) max = high
  }
  return min === undefined || max === undefined ? undefined : { min, max }
}

/** Writers that do not say whether a bound is exact cut long ones only. */
const SURELY_WHOLE = 16

function mayBeCut({ minValue, maxValue, isMinValueExact, isMaxValueExact }: Statistics): boolean {
  if (minValue === undefined || maxValue === undefined || isMinValueExact === false || isMaxValueExact === false) {
    return true
  }
  return Math.max(minValue.length, maxValue.length) > SURELY_WHOLE && isMaxValueExact !== true
}

/** Types whose bounds are stored as the values they are. */
const COMPARED: ReadonlySet<DataType['kind']> = new Set([
  'tinyint',
  'smallint',
  'int',
  'date',
  'bigint',
  'char',
  'varchar',
  'binary',
  'varbinary',
])

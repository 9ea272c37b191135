import type { Content } from './history.ts'
import type { ScanSpec } from './operation.ts'
import type { Row, Rows } from './shape.ts'
import { condition } from './where.ts'

/** The rows that a scan of a state must give, in the order it must give them. */
export function expectedRows(rows: Rows, content: Content, spec: ScanSpec): readonly Row[] {
  const { lower, upper, where, limit, columns } = spec
  const keys = [...content.keys()].filter((key) => {
    if (lower !== undefined && !inPartition(rows, key, lower.key)) return false
    if (upper !== undefined && !inPartition(rows, key, upper.key)) return false
    if (lower !== undefined && !above(rows.comparePrefix(key, lower.key, boundColumns(rows, lower.columns)), lower))
      return false
    return upper === undefined || above(-rows.comparePrefix(key, upper.key, boundColumns(rows, upper.columns)), upper)
  })
  const all = keys.sort((a, b) => rows.place(a) - rows.place(b)).map((key) => rows.row(key, content.get(key)!))
  const holds = where === undefined ? () => true : condition(where.kind, where.value).holds
  return all
    .filter(holds)
    .slice(0, limit)
    .map((row) => project(row, columns ?? rows.columns))
}

/** The same as the public API takes it. */
export function scanOptions(rows: Rows, spec: ScanSpec): Record<string, unknown> {
  const { lower, upper, where, limit, columns, unordered } = spec
  const bound = (key: number, count: number) => {
    const full = rows.key(key)
    const names = rows.keyColumns.slice(0, boundColumns(rows, count))
    return Object.fromEntries(Object.entries(full).filter(([name]) => name === 'part' || names.includes(name)))
  }
  const range = {
    ...(lower !== undefined && { [lower.inclusive ? 'gte' : 'gt']: bound(lower.key, lower.columns) }),
    ...(upper !== undefined && { [upper.inclusive ? 'lte' : 'lt']: bound(upper.key, upper.columns) }),
  }
  return {
    range,
    ...(where !== undefined && { where: condition(where.kind, where.value).where }),
    ...(limit !== undefined && { limit }),
    ...(columns !== undefined && { columns }),
    ...(unordered !== undefined && { ordered: !unordered }),
  }
}

/** Whether the bounds name two partitions, which is refused. */
export function crossesPartitions(rows: Rows, { lower, upper }: ScanSpec): boolean {
  return lower !== undefined && upper !== undefined && !inPartition(rows, lower.key, upper.key)
}

/** What differs between a scan and what it must give, or undefined. An unordered scan with a limit may choose its rows. */
export function scanDifference(
  rows: Rows,
  content: Content,
  spec: ScanSpec,
  actual: readonly Row[],
): string | undefined {
  if (spec.unordered !== true) return listDifference(expectedRows(rows, content, spec), actual)
  const { limit, ...unlimited } = spec
  const texts = (list: readonly Row[]) => list.map(rowText).sort()
  const all = texts(expectedRows(rows, content, unlimited))
  const wanted = Math.min(limit ?? all.length, all.length)
  if (actual.length !== wanted) return `${actual.length} rows instead of ${wanted}`
  if (limit === undefined) return textDifference(all, texts(actual))
  const left = [...all]
  for (const text of texts(actual)) {
    const at = left.indexOf(text)
    if (at < 0) return `row ${text} is not among ${all.join(' ')}`
    left.splice(at, 1)
  }
  return undefined
}

export function listDifference(expected: readonly Row[], actual: readonly Row[]): string | undefined {
  return textDifference(expected.map(rowText), actual.map(rowText))
}

function textDifference(expected: readonly string[], actual: readonly string[]): string | undefined {
  for (let at = 0; at < Math.max(expected.length, actual.length); at++) {
    if (expected[at] === actual[at]) continue
    return `row ${at} of ${actual.length} is ${actual[at] ?? 'missing'}, should be ${expected[at] ?? 'none'} (of ${expected.length})`
  }
  return undefined
}

export function rowText(row: Row): string {
  return JSON.stringify(row, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  )
}

export function project(row: Row, columns: readonly string[]): Row {
  return Object.fromEntries(columns.map((name) => [name, row[name]]))
}

function boundColumns(rows: Rows, columns: number): number {
  return Math.min(columns, rows.keyColumns.length)
}

function inPartition(rows: Rows, key: number, other: number): boolean {
  return rows.partition(key) === rows.partition(other)
}

function above(order: number, bound: { readonly inclusive: boolean }): boolean {
  return order > 0 || (order === 0 && bound.inclusive)
}

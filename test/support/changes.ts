import type { ChangeBatch, RowKind, Table } from '../../engine/index.ts'

/** One record of a table's changes. */
export interface Change {
  readonly snapshot: number
  readonly kind: RowKind
  readonly row: Record<string, unknown>
}

/** The records of batches, one by one. */
export async function recordsOf(batches: AsyncIterable<ChangeBatch<Record<string, unknown>>>): Promise<Change[]> {
  const found: Change[] = []
  for await (const { snapshot, kinds, rows } of batches) {
    for (const [index, row] of rows.entries()) found.push({ snapshot, kind: kinds[index]!, row })
  }
  return found
}

/** All changes of a table that are still there. */
export function changesOf(table: Table, options: Parameters<Table['changes']>[0] = {}): Promise<Change[]> {
  return recordsOf(table.changes(options))
}

/** `2 +I 1 x`: snapshot, kind, values. */
export function shortly({ snapshot, kind, row }: Change): string {
  return `${snapshot} ${kind} ${Object.values(row).join(' ')}`
}

/** What a table holds after all changes: rows by key, as text. */
export function replay(changes: readonly Change[], key: string): ReadonlyMap<unknown, Record<string, unknown>> {
  const rows = new Map<unknown, Record<string, unknown>>()
  for (const { kind, row } of changes) {
    if (kind === '+I' || kind === '+U') rows.set(row[key], row)
    else rows.delete(row[key])
  }
  return rows
}

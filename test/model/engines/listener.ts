import { isTableError } from '../../../engine/errors.ts'
import type { Table } from '../../../engine/table/table.ts'
import { text } from './functions.ts'
import type { RowValues, Rules } from './reference.ts'

/** Whether changes of a producer, replayed from the first, make the table: without lookups the last record of a key has to be its row. */
export function tellsTable(producer: string | undefined, { engine, sequence }: Rules): boolean {
  if (producer === 'lookup' || producer === 'full-compaction') return true
  return engine === 'deduplicate' && sequence === undefined
}

/** A reader of all changes of a table, with the rows that they make. */
export class Listener {
  readonly rows = new Map<number, RowValues>()
  /** Each change has to fit what was told before: an update the row before it, an insert no row. */
  readonly #strict: boolean
  readonly #columns: readonly string[]
  #heard = 0
  /** Snapshots expired by themselves before they were read. */
  missed = false

  constructor(producer: string | undefined, columns: readonly string[]) {
    this.#strict = producer === 'lookup' || producer === 'full-compaction'
    this.#columns = columns
  }

  async listen(table: Table): Promise<void> {
    if (this.missed) return
    const to = (await table.snapshots()).at(-1)?.id
    if (to === undefined || to === this.#heard) return
    try {
      const columns = ['id', ...this.#columns]
      for await (const { kinds, rows } of table.changes({ from: this.#heard, to, columns })) {
        for (const [index, row] of rows.entries()) this.#take(kinds[index]!, row)
      }
    } catch (error) {
      if (!isTableError(error, 'EXPIRED')) throw error
      this.missed = true
    }
    this.#heard = to
  }

  #take(kind: string, { id, ...row }: Record<string, unknown>): void {
    const before = this.rows.get(id as number)
    const adds = kind === '+I' || kind === '+U'
    if (this.#strict) {
      if (
        kind === '+I' || kind === '+U'
          ? before !== undefined
          : text(before && canonical(before)) !== text(canonical(row))
      )
        throw new Error(`change ${kind} ${text({ id, ...row })} of a row that was told to be ${text(before)}`)
    }
    if (adds) this.rows.set(id as number, row)
    else this.rows.delete(id as number)
  }
}

/** Texts of the columns of a row. Maps, sets and nested tables keep no order: the elements of lists are sorted. */
export function canonical(row: RowValues = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      text(Array.isArray(value) ? value.map((item) => text(item)).sort() : value),
    ]),
  )
}

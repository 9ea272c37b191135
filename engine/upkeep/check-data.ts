import type { FixedColumn } from '../../formats/column/column.ts'
import type { DataFile, TableSchema } from '../../formats/meta/types.ts'
import { serializeRowAt } from '../../formats/row/binary-row.ts'
import { rowCompare } from '../../formats/row/key-compare.ts'
import { TableError } from '../errors.ts'
import { kvLayout } from '../plan/kv-layout.ts'
import { DataFileReader } from '../store/data-reader.ts'
import type { TableStore } from '../store/table-store.ts'

const BATCH_ROWS = 4096

/** Lets the event loop have a turn. */
export type Pause = () => Promise<void>

/**
 * Reads every column of a data file, so that each page's checksum is verified, and holds its rows against its entry: their number,
 * the range of sequence numbers, keys in ascending order from the first to the last. Changelog files hold a key more than once.
 * `CORRUPT` for the first thing that is wrong. Reads on this thread, with a pause after each batch.
 */
export async function checkDataFile(
  { fs, codecs }: TableStore,
  { file, path, fileSchema }: { readonly file: DataFile; readonly path: string; readonly fileSchema: TableSchema },
  content: 'data' | 'changelog',
  pause: Pause | undefined,
): Promise<void> {
  const layout = kvLayout(fileSchema)
  const compare = rowCompare(layout.keyTypes)
  const reader = new DataFileReader(fs, codecs, { file, path, fileSchema, layout, batchRows: BATCH_ROWS })
  const wrong = (what: string) =>
    new TableError(
      'CORRUPT',
      `${path}: ${what}. Restore it from a copy, or go back to a snapshot that does not name it.`,
      { path },
    )
  let rows = 0
  let last: Uint8Array | undefined
  try {
    for (const batch of reader.batches()) {
      const keys = layout.keyIndexes.map((index) => batch.columns[index]!)
      const { values } = batch.columns[layout.sequence] as FixedColumn
      for (let row = 0; row < batch.rows; row++) {
        const sequence = (values as BigInt64Array)[row]!
        if (sequence < file.minSequence || sequence > file.maxSequence) {
          throw wrong(
            `row ${rows + row} has sequence number ${sequence}, outside ${file.minSequence} to ${file.maxSequence}`,
          )
        }
        if (content === 'changelog') continue
        const key = serializeRowAt(layout.keyTypes, keys, row)
        const order = last === undefined ? compare(key, file.minKey) : compare(key, last)
        if (last === undefined ? order !== 0 : order <= 0) {
          throw wrong(
            `row ${rows + row} ${last === undefined ? 'is not the least key of its entry' : 'is not above the key before it'}`,
          )
        }
        last = key
      }
      rows += batch.rows
      await pause?.()
    }
  } finally {
    reader.close()
  }
  if (rows !== file.rows) throw wrong(`it holds ${rows} rows, its entry says ${file.rows}`)
  if (last !== undefined && compare(last, file.maxKey) !== 0)
    throw wrong('its last row is not the greatest key of its entry')
}

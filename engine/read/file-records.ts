import type { Batch } from '../../formats/column/column.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { checkAborted } from '../tasks/abort.ts'
import type { TaskContext } from '../tasks/context.ts'
import { newCancelFlag, submit, type TaskExecutor } from '../tasks/submit.ts'
import type { ReadTask, TaskTable } from '../tasks/task.ts'
import { readHere } from './read-here.ts'

export interface RecordRead {
  readonly executor: TaskExecutor
  readonly table: TaskTable
  readonly columns: readonly string[]
  /** Where files are read that are too small for a thread; undefined = nowhere. */
  readonly here: TaskContext | undefined
  readonly signal: AbortSignal
}

/** Records that one task reads. */
const MAX_ROWS = 65_536

/** The records of a file in the order of the file: `_VALUE_KIND`, then the columns asked for. Nothing is merged or left out. */
export async function* fileRecords(folder: string, file: DataFile, read: RecordRead): AsyncGenerator<Batch> {
  const { executor, table, columns, here, signal } = read
  for (let skipRows: number | undefined = 0; skipRows !== undefined; ) {
    checkAborted(signal, 'The read was aborted.')
    const task: ReadTask = {
      kind: 'read',
      table,
      folder,
      sections: [{ runs: [[file]] }],
      reverse: false,
      skipRows,
      stopRow: undefined,
      memory: [],
      columns,
      keys: false,
      records: true,
      range: {},
      where: undefined,
      cancel: newCancelFlag(),
      maxRows: MAX_ROWS,
    }
    const { batches, next } = (await readHere(task, here)) ?? (await submit(executor, task, signal))
    yield* batches
    skipRows = next?.kind === 'row' ? next.row : undefined
  }
}

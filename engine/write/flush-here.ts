import { batchBytes } from '../../formats/column/size.ts'
import type { Unsynced } from '../store/unsynced.ts'
import type { TaskContext } from '../tasks/context.ts'
import type { BufferedRows, FilesResult, FlushTask } from '../tasks/task.ts'

/** Rows, columns and bytes that are written sooner, in some 3 ms at most, than a thread has been asked and has answered. */
const SMALL_ROWS = 512
const SMALL_COLUMNS = 64
const SMALL_BYTES = 32 * 1024

/** Whether rows are so few that the caller's thread writes them itself. */
export function isSmallFlush({ values }: Pick<BufferedRows, 'values'>): boolean {
  const { rows, columns } = values
  return rows <= SMALL_ROWS && columns.length <= SMALL_COLUMNS && batchBytes(values) <= SMALL_BYTES
}

let smallFlush: Promise<typeof import('../tasks/small-flush.ts')> | undefined

/**
 * The result of a flush that is too small for a thread; undefined for one that is not, or when many have been written here since the
 * last commit. Its files are left to `unsynced`.
 */
export async function flushHere(
  task: FlushTask,
  context: TaskContext,
  unsynced: Unsynced,
): Promise<FilesResult | undefined> {
  if (!isSmallFlush(task.rows)) return undefined
  return unsynced.admit(async () => {
    smallFlush ??= import('../tasks/small-flush.ts')
    const { runSmallFlush } = await smallFlush
    return runSmallFlush(task, context, unsynced)
  })
}

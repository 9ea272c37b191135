import { sortBatch } from '../merge/sort.ts'
import type { TaskContext } from './context.ts'
import { BucketFiles, bufferedBatch } from './files.ts'
import type { FilesResult, FlushTask } from './task.ts'

/** Sorts buffered rows, keeps the last of each key, and writes them to level 0. */
export async function runFlush(task: FlushTask, context: TaskContext): Promise<FilesResult> {
  const started = context.clock.now()
  const files = new BucketFiles(context, task.table, task.folder, task.fileUuid)
  const { layout } = files
  const sorted = sortBatch(bufferedBatch(layout, task.rows), layout.keyIndexes, layout.keyTypes)
  const writer = files.roll(0, 'append')
  try {
    writer.write(sorted)
    const after = writer.finish()
    return {
      kind: 'files',
      before: [],
      after,
      stats: {
        inputBytes: 0,
        outputBytes: after.reduce((sum, file) => sum + file.bytes, 0),
        inputRows: task.rows.values.rows,
        outputRows: sorted.rows,
        spilledBytes: 0,
        millis: context.clock.now() - started,
      },
    }
  } catch (error) {
    await writer.abort()
    throw error
  }
}

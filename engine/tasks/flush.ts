import { takeBatch } from '../../formats/column/gather.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { reduceSorted, sortOrder } from '../merge/sort.ts'
import type { RollingWriter } from '../store/rolling-writer.ts'
import { bufferedBatch } from './buffered.ts'
import type { TaskContext } from './context.ts'
import { BucketFiles } from './files.ts'
import type { FilesResult, FlushTask } from './task.ts'

/** Sorts buffered rows, makes one row of each key, and writes them to level 0. Rows that cannot be merged yet go to files of their own. */
export async function runFlush(task: FlushTask, context: TaskContext): Promise<FilesResult> {
  const started = context.clock.now()
  const files = new BucketFiles(context, task.table, task.folder, task.fileUuid)
  const { layout } = files
  const written = bufferedBatch(layout, task.rows)
  const order = sortOrder(written, layout.keyIndexes, layout.keyTypes)
  const runs = reduceSorted(written, order, files.engine)
  const changes = files.rollChangelog(0)
  const after: DataFile[] = []
  let writer: RollingWriter | undefined
  try {
    for (const run of runs) {
      writer = files.roll(0, 'append')
      writer.write(run)
      after.push(...writer.finish())
    }
    // Producer input: the records as they were put, by key, those of a key in the order in which they came.
    if (files.options['changelog-producer'] === 'input') changes.write(takeBatch(written, order.row))
    const changelog = changes.finish()
    return {
      kind: 'files',
      before: [],
      after,
      changelog,
      stats: {
        inputBytes: 0,
        outputBytes: after.reduce((sum, file) => sum + file.bytes, 0),
        inputRows: task.rows.values.rows,
        outputRows: runs.reduce((sum, run) => sum + run.rows, 0),
        spilledBytes: 0,
        millis: context.clock.now() - started,
      },
    }
  } catch (error) {
    await writer?.abort()
    await changes.abort()
    await files.remove(after)
    throw error
  }
}

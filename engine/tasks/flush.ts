import { takeBatch } from '../../formats/column/gather.ts'
import { deduplicate } from '../merge/engines/deduplicate.ts'
import { reduce } from '../merge/reduce.ts'
import { sortOrder } from '../merge/sort.ts'
import type { TaskContext } from './context.ts'
import { BucketFiles, bufferedBatch } from './files.ts'
import type { FilesResult, FlushTask } from './task.ts'

/** Sorts buffered rows, keeps the last of each key, and writes them to level 0. */
export async function runFlush(task: FlushTask, context: TaskContext): Promise<FilesResult> {
  const started = context.clock.now()
  const files = new BucketFiles(context, task.table, task.folder, task.fileUuid)
  const { layout } = files
  const written = bufferedBatch(layout, task.rows)
  const order = sortOrder(written, layout.keyIndexes, layout.keyTypes)
  const sorted = reduce([written], order, deduplicate)
  const writer = files.roll(0, 'append')
  const changes = files.rollChangelog(0)
  try {
    writer.write(sorted)
    // Producer input: the records as they were put, by key, those of a key in the order in which they came.
    if (files.options['changelog-producer'] === 'input') changes.write(takeBatch(written, order.row))
    const [after, changelog] = [writer.finish(), changes.finish()]
    return {
      kind: 'files',
      before: [],
      after,
      changelog,
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
    await changes.abort()
    throw error
  }
}

import type { Batch, FixedColumn } from '../../formats/column/column.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import type { TaskContext } from './context.ts'
import { BucketFiles, checkCancelled } from './files.ts'
import { runBatches } from './merge-section.ts'
import type { FilesResult, RenumberTask } from './task.ts'

/**
 * Writes level-0 files again with every sequence number raised by `offset`: another writer used the numbers in the meantime,
 * and the later commit has to win.
 */
export async function runRenumber(task: RenumberTask, context: TaskContext): Promise<FilesResult> {
  const started = context.clock.now()
  const files = new BucketFiles(context, task.table, task.folder, task.fileUuid)
  const after: DataFile[] = []
  const changelog: DataFile[] = []
  const works = [
    { inputs: task.files, outputs: after, open: () => files.roll(0, 'append') },
    { inputs: task.changelog, outputs: changelog, open: () => files.rollChangelog(0) },
  ]
  try {
    for (const { file, outputs, open } of works.flatMap(({ inputs, ...work }) =>
      inputs.map((file) => ({ file, ...work })),
    )) {
      const writer = open()
      try {
        for (const batch of runBatches(files, [file])) {
          checkCancelled(task.cancel)
          writer.write(raiseSequences(batch, files.layout.sequence, task.offset))
        }
        outputs.push(...writer.finish())
      } catch (error) {
        await writer.abort()
        throw error
      }
    }
  } catch (error) {
    for (const file of [...after, ...changelog])
      await context.fs.unlink(`${task.folder}/${file.name}`).catch(() => undefined)
    throw error
  }
  const rows = task.files.reduce((sum, file) => sum + file.rows, 0)
  return {
    kind: 'files',
    before: task.files,
    after,
    changelog,
    stats: {
      inputBytes: task.files.reduce((sum, file) => sum + file.bytes, 0),
      outputBytes: after.reduce((sum, file) => sum + file.bytes, 0),
      inputRows: rows,
      outputRows: rows,
      spilledBytes: 0,
      millis: context.clock.now() - started,
    },
  }
}

function raiseSequences(batch: Batch, sequence: number, offset: bigint): Batch {
  const old = (batch.columns[sequence] as FixedColumn).values as BigInt64Array
  const values = new BigInt64Array(batch.rows)
  for (let row = 0; row < batch.rows; row++) values[row] = old[row]! + offset
  const columns = [...batch.columns]
  columns[sequence] = { kind: 'fixed', length: batch.rows, values }
  return { ...batch, columns }
}

import type { Batch } from '../../formats/column/column.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { dropDeletes, dropExpired } from '../merge/filters.ts'
import { expiryLimit, recordExpiry } from '../options/record-expiry.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import type { Section, Step } from '../plan/types.ts'
import type { TaskContext } from './context.ts'
import { BucketFiles, checkCancelled } from './files.ts'
import { mergeSection } from './merge-section.ts'
import { SpillFolder } from './spill.ts'
import type { CompactTask, FilesResult } from './task.ts'

/**
 * Runs the steps of a compaction: merges what has to be rewritten, window by window, into new files at the output level, and
 * lists the files that only change their level. On failure or cancellation every new file is removed.
 */
export async function runCompact(task: CompactTask, context: TaskContext): Promise<FilesResult> {
  const started = context.clock.now()
  const files = new BucketFiles(context, task.table, task.folder, task.fileUuid)
  const spill = new SpillFolder(context, task.table.tempDirectory, task.fileUuid)
  const survivors = survivorsOf(task, files.layout, started)
  const before: DataFile[] = []
  const after: DataFile[] = []
  const rewritten: DataFile[] = []
  try {
    for (const step of task.steps) {
      if (step.kind === 'upgrade') {
        before.push(step.file)
        after.push({ ...step.file, level: task.outputLevel })
      } else {
        const inputs = filesOfSections(step)
        const outputs = await rewrite(task, step.sections, files, spill, survivors)
        before.push(...inputs)
        after.push(...outputs)
        rewritten.push(...outputs)
      }
    }
  } catch (error) {
    for (const file of rewritten) await context.fs.unlink(`${task.folder}/${file.name}`).catch(() => undefined)
    throw error
  } finally {
    await spill.remove()
  }
  const inputs = task.steps.flatMap(filesOfSections)
  return {
    kind: 'files',
    before,
    after,
    stats: {
      inputBytes: sum(inputs, (file) => file.bytes),
      outputBytes: sum(rewritten, (file) => file.bytes),
      inputRows: sum(inputs, (file) => file.rows),
      outputRows: sum(rewritten, (file) => file.rows),
      spilledBytes: spill.bytesWritten,
      millis: context.clock.now() - started,
    },
  }
}

/** Sections lie behind each other in key order, so their merges follow each other into one rolling writer. */
async function rewrite(
  task: CompactTask,
  sections: readonly Section[],
  files: BucketFiles,
  spill: SpillFolder,
  survivors: (merged: Batch) => Batch,
): Promise<readonly DataFile[]> {
  const writer = files.roll(task.outputLevel, 'compact')
  const { pause } = files.context
  try {
    for (const section of sections) {
      for (const merged of mergeSection(files, section, spill, { reuse: true })) {
        checkCancelled(task.cancel)
        if (merged.rows > 0) writer.write(survivors(merged))
        if (pause !== undefined) await pause()
      }
    }
    return writer.finish()
  } catch (error) {
    await writer.abort()
    throw error
  }
}

/**
 * What of the merged rows is written. A compaction that may forget deletes drops them, and the rows that have expired by now: it holds
 * all there is of a key, so that nothing older comes back (docs/adr/0010).
 */
function survivorsOf(
  { table, dropDelete }: CompactTask,
  layout: KvLayout,
  nowMillis: number,
): (merged: Batch) => Batch {
  if (!dropDelete) return (merged) => merged
  const expiry = recordExpiry(table.schema)
  if (expiry === undefined) return (merged) => dropDeletes(merged, layout.kind)
  const limit = expiryLimit(expiry, nowMillis)
  const time = layout.fields.findIndex((field) => field.id === expiry.field.id)
  return (merged) => dropExpired(dropDeletes(merged, layout.kind), time, limit)
}

function filesOfSections(step: Step): readonly DataFile[] {
  if (step.kind === 'upgrade') return []
  return step.sections.flatMap((section) => section.flatMap((run) => run.files))
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0)
}

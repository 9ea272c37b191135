import type { Batch } from '../../formats/column/column.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { isTableError } from '../errors.ts'
import type { ChangeRules } from '../merge/changes.ts'
import { dropDeletes, dropExpired, expiredRows } from '../merge/filters.ts'
import { expiryLimit, recordExpiry } from '../options/record-expiry.ts'
import type { KvLayout } from '../plan/kv-layout.ts'
import { mergeTellsChanges } from '../plan/rewriter.ts'
import { runOf } from '../plan/run-order.ts'
import { filesOfSections } from '../plan/sections.ts'
import type { Section, Step } from '../plan/types.ts'
import type { TaskContext } from './context.ts'
import { BucketFiles, checkCancelled } from './files.ts'
import { Lookups } from './lookups.ts'
import { mergeSection } from './merge-section.ts'
import { SpillFolder } from './spill.ts'
import type { CompactTask, FilesResult } from './task.ts'

/** Runs a compaction. Where spilling merges rows that are too large together before all of their key are at hand, without it. */
export async function runCompact(task: CompactTask, context: TaskContext): Promise<FilesResult> {
  const spill = new SpillFolder(context, task.table.tempDirectory, task.fileUuid)
  try {
    return await runSteps(task, context, spill)
  } catch (error) {
    if (!spill.used || !isTableError(error, 'OVERFLOW')) throw error
    return runSteps(task, context, undefined)
  } finally {
    await spill.remove()
  }
}

/**
 * Runs the steps of a compaction: merges what has to be rewritten, window by window, into new files at the output level, and
 * lists the files that only change their level. On failure or cancellation every new file is removed.
 */
async function runSteps(task: CompactTask, context: TaskContext, spill: SpillFolder | undefined): Promise<FilesResult> {
  const started = context.clock.now()
  const files = new BucketFiles(context, task.table, task.folder, task.fileUuid)
  const survivors = survivorsOf(task, files.layout, started)
  const lookups = task.rewriter === 'lookup' ? new Lookups(task, files) : undefined
  const before: DataFile[] = []
  const after: DataFile[] = []
  const rewritten: DataFile[] = []
  const changelog: DataFile[] = []
  let vectors: FilesResult['vectors']
  try {
    for (const step of task.steps) {
      if (step.kind === 'upgrade') {
        before.push(step.file)
        after.push({ ...step.file, level: task.outputLevel })
        if (step.changelog)
          changelog.push(...(await merge(task, [[runOf([step.file])]], files, spill, lookups, undefined)).changelog)
      } else {
        const outputs = await merge(task, step.sections, files, spill, lookups, survivors)
        before.push(...filesOfStep(step))
        after.push(...outputs.rows)
        rewritten.push(...outputs.rows)
        changelog.push(...outputs.changelog)
      }
    }
    vectors = await lookups?.vectors(task.steps.flatMap(filesOfStep))
  } catch (error) {
    await files.remove([...rewritten, ...changelog])
    throw error
  }
  const inputs = task.steps.flatMap(filesOfStep)
  return {
    kind: 'files',
    before,
    after,
    changelog,
    vectors,
    stats: {
      inputBytes: sum(inputs, (file) => file.bytes),
      outputBytes: sum(rewritten, (file) => file.bytes),
      inputRows: sum(inputs, (file) => file.rows),
      outputRows: sum(rewritten, (file) => file.rows),
      spilledBytes: spill?.bytesWritten ?? 0,
      millis: context.clock.now() - started,
    },
  }
}

/**
 * Sections lie behind each other in key order, so their merges follow each other into one rolling writer of rows, and one of the
 * changes that they make. Without `survivors`, the rows to write, the changes are all that is wanted.
 */
async function merge(
  task: CompactTask,
  sections: readonly Section[],
  files: BucketFiles,
  spill: SpillFolder | undefined,
  lookups: Lookups | undefined,
  survivors: Survivors | undefined,
): Promise<{ readonly rows: readonly DataFile[]; readonly changelog: readonly DataFile[] }> {
  const tells = mergeTellsChanges(task.rewriter, filesOfSections(sections), task)
  const rows = files.roll(task.outputLevel, 'compact')
  const changelog = files.rollChangelog(task.outputLevel)
  const told = {
    rules: { ...changeRules(files), expired: survivors?.expired },
    tell: (batch: Batch) => changelog.write(batch),
  }
  const options = {
    reuse: true,
    changes: tells && lookups === undefined ? { top: task.maxLevel, ...told } : undefined,
    lookup: tells ? lookups?.forMerge(told) : undefined,
  }
  const { pause } = files.context
  try {
    for (const section of sections) {
      for (const merged of mergeSection(files, section, spill, options)) {
        checkCancelled(task.cancel)
        if (survivors !== undefined && merged.rows > 0) rows.write(survivors.of(merged))
        if (pause !== undefined) await pause()
      }
    }
    return { rows: rows.finish(), changelog: changelog.finish() }
  } catch (error) {
    await rows.abort()
    await changelog.abort()
    throw error
  }
}

/** What of the merged rows is written, and which rows are not because they have expired. */
interface Survivors {
  readonly of: (merged: Batch) => Batch
  readonly expired?: ChangeRules['expired']
}

/**
 * A compaction that may forget deletes drops them, and the rows that have expired by now: it holds all there is of a key, so that
 * nothing older comes back (docs/adr/0010).
 */
function survivorsOf({ table, dropDelete }: CompactTask, layout: KvLayout, nowMillis: number): Survivors {
  if (!dropDelete) return { of: (merged) => merged }
  const expiry = recordExpiry(table.schema)
  if (expiry === undefined) return { of: (merged) => dropDeletes(merged, layout.kind) }
  const limit = expiryLimit(expiry, nowMillis)
  const time = layout.fields.findIndex((field) => field.id === expiry.field.id)
  return {
    of: (merged) => dropExpired(dropDeletes(merged, layout.kind), time, limit),
    expired: (merged) => expiredRows(merged, time, limit),
  }
}

/** `changelog-producer.row-deduplicate`: keys are the same anyway. */
function changeRules({ options, layout }: BucketFiles): ChangeRules {
  const ignored = new Set(options['changelog-producer.row-deduplicate-ignore-fields'])
  for (const { name } of layout.keys) ignored.add(name)
  const compared = layout.values.flatMap(({ name }, index) => (ignored.has(name) ? [] : layout.firstValue + index))
  return { kind: layout.kind, compared: options['changelog-producer.row-deduplicate'] ? compared : undefined }
}

function filesOfStep(step: Step): readonly DataFile[] {
  return step.kind === 'upgrade' ? [] : filesOfSections(step.sections)
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0)
}

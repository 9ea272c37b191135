import type { Batch } from '../../formats/column/column.ts'
import { scalarAt } from '../../formats/column/compare.ts'
import { takeBatch } from '../../formats/column/gather.ts'
import { firstAfter, firstAtLeast } from '../../formats/column/key-bounds.ts'
import { columnsOf, select } from '../../formats/column/predicate.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import { batchBytes } from '../../formats/column/size.ts'
import { sliceBatch } from '../../formats/column/slice.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { dropDeletes } from '../merge/filters.ts'
import { type KvLayout, kvLayout } from '../plan/kv-layout.ts'
import type { SortedRun } from '../plan/types.ts'
import type { TaskContext } from './context.ts'
import { BucketFiles, checkCancelled } from './files.ts'
import { mergeSection, rowsOfBytes } from './merge-section.ts'
import type { KeyBound, KeyRange, ReadPosition, ReadResult, ReadSection, ReadTask } from './task.ts'

/**
 * A scan that finds little comes up for air after so many rows of the range looked at for each row asked for, but not after
 * fewer than the minimum: each stretch begins by reading pages again.
 */
const LOOKED_ROWS_PER_ROW = 16
const MIN_LOOKED_ROWS = 65_536

/** A stretch ends at so many bytes of result, however many rows were asked for. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024

/** Rows, and bytes of a data file, that become one batch where nothing has to be merged. A small limit makes small batches. */
const MIN_STRAIGHT_ROWS = 64
const STRAIGHT_ROWS = 32_768
const STRAIGHT_BYTES = 2 * 1024 * 1024

/** Rows in key order, and where to go on behind them. */
interface Part {
  readonly batch: Batch
  readonly next: () => ReadPosition
}

/**
 * Reads the next stretch of one bucket in key order: merge, drop deletes, cut to the range, test `where`, project. It holds no
 * state between calls: the result says where the next call goes on, so no thread waits for a slow consumer.
 */
export async function runRead(task: ReadTask, context: TaskContext): Promise<ReadResult> {
  const extra = task.where === undefined ? [] : columnsOf(task.where).filter((name) => !task.columns.includes(name))
  const layout = kvLayout(task.table.schema, [...task.columns, ...extra])
  const files = new BucketFiles(context, task.table, task.folder, '', layout)
  const batches: Batch[] = []
  let rows = 0
  let bytes = 0
  let merged = 0
  let looked = 0
  const mostLooked = Math.max(MIN_LOOKED_ROWS, task.maxRows * LOOKED_ROWS_PER_ROW)
  let next: ReadResult['next']
  for (const part of partsOf(task, files)) {
    checkCancelled(task.cancel)
    const { batch } = part
    merged += batch.rows
    const inRange = cutToRange(batch, layout, task.range)
    looked += inRange.batch.rows
    const matching = filter(dropDeletes(inRange.batch, layout.kind), task.where)
    if (matching.rows > 0) {
      const projected = project(matching, layout, task)
      batches.push(projected)
      bytes += batchBytes(projected)
    }
    rows += matching.rows
    if (inRange.ended) break
    const full = rows >= task.maxRows || bytes >= MAX_RESULT_BYTES || looked >= mostLooked
    // The next stretch takes over where this one stops, without the lower end of the range: it has to be behind us.
    if (inRange.batch.rows > 0 && full) {
      next = part.next()
      break
    }
    if (context.pause !== undefined) await context.pause()
  }
  const stats = { bytesRead: files.bytesRead, pagesDecoded: files.pagesDecoded, rowsMerged: merged }
  return { kind: 'read', batches, next, stats }
}

function* partsOf(task: ReadTask, files: BucketFiles): Generator<Part> {
  const { layout } = files
  const ofRange = rangePredicate(task.range, layout)
  if (task.memory !== undefined) {
    // Uncommitted rows may meet any section: all of them become runs of one merge.
    const options = { prune: both(ofRange, keyParts(task.where, layout)), newest: narrow(task.memory, layout) }
    yield* byKey(mergeSection(files, chainSections(task.sections), undefined, options), layout)
    return
  }
  for (const [index, { runs }] of task.sections.entries()) {
    if (runs.length === 1) {
      yield* straight(task, files, runs[0]!, index === 0 ? task.skipRows : 0, both(ofRange, task.where))
    } else {
      const prune = both(ofRange, keyParts(task.where, layout))
      yield* byKey(mergeSection(files, runs.map(asRun), undefined, { prune }), layout)
    }
  }
}

function* byKey(batches: Iterable<Batch>, layout: KvLayout): Generator<Part> {
  for (const batch of batches) {
    const next = (): ReadPosition => ({
      kind: 'key',
      values: layout.keyIndexes.map((index) => scalarAt(batch.columns[index]!, batch.rows - 1)!),
    })
    yield { batch, next }
  }
}

/** A section of one run as it is: columns that neither the result nor the range needs are not even read. */
function* straight(
  task: ReadTask,
  files: BucketFiles,
  run: readonly DataFile[],
  skipRows: number,
  prune: Predicate | undefined,
): Generator<Part> {
  let skip = skipRows
  for (const file of run) {
    if (skip < file.rows) {
      const rows = rowsOfBytes(
        file,
        files.layout,
        STRAIGHT_BYTES,
        clamp(task.maxRows, MIN_STRAIGHT_ROWS, STRAIGHT_ROWS),
      )
      const reader = files.open(file, rows, { prune, skipRows: skip, unread: unreadColumns(task, files.layout, file) })
      try {
        for (const { firstRow, batch } of reader.positioned()) {
          yield { batch, next: () => ({ kind: 'row', file: file.name, row: firstRow + batch.rows }) }
        }
      } finally {
        files.count(reader)
      }
    }
    skip = 0
  }
}

/** Keys of the result order its rows; else they only matter to a range. Sequence numbers have done their work in the merge. */
function unreadColumns(task: ReadTask, layout: KvLayout, file: DataFile): ReadonlySet<number> {
  const unread = new Set([layout.sequence])
  if (file.deleteRows === 0) unread.add(layout.kind)
  const bounded = task.range.lower !== undefined || task.range.upper !== undefined
  if (!task.keys && !bounded) for (const index of layout.keyIndexes) unread.add(index)
  return unread
}

/** Uncommitted rows hold every column: those of the layout, in its order. */
function narrow(memory: Batch, layout: KvLayout): Batch {
  const byName = new Map(memory.fields.map((field, index) => [field.name, memory.columns[index]!]))
  const columns = layout.fields.map((field) => byName.get(field.name)!)
  return { fields: layout.fields, rows: memory.rows, columns }
}

/** Sections lie behind each other, so the n-th runs of all sections make one sorted run. */
function chainSections(sections: readonly ReadSection[]): readonly SortedRun[] {
  const depth = Math.max(0, ...sections.map((section) => section.runs.length))
  return Array.from({ length: depth }, (_, index) => asRun(sections.flatMap((section) => section.runs[index] ?? [])))
}

function asRun(files: ReadSection['runs'][number]): SortedRun {
  return { level: files[0]?.level ?? 0, files, bytes: files.reduce((sum, file) => sum + file.bytes, 0) }
}

/** Rows of a batch inside the range; `ended` when the batch reaches past its end. */
function cutToRange(batch: Batch, layout: KvLayout, { lower, upper }: KeyRange): { batch: Batch; ended: boolean } {
  const keys = layout.keyIndexes.map((index) => batch.columns[index]!)
  const row = (search: typeof firstAfter, bound: KeyBound) => search(keys, batch.rows, bound.values)
  const start = lower === undefined ? 0 : row(lower.inclusive ? firstAtLeast : firstAfter, lower)
  const end = upper === undefined ? batch.rows : row(upper.inclusive ? firstAfter : firstAtLeast, upper)
  return { batch: sliceBatch(batch, Math.min(start, end), end), ended: end < batch.rows }
}

function filter(batch: Batch, where: Predicate | undefined): Batch {
  if (where === undefined || batch.rows === 0) return batch
  const rows = select(where, batch)
  return rows.length === batch.rows ? batch : takeBatch(batch, rows)
}

function project(batch: Batch, layout: KvLayout, task: ReadTask): Batch {
  const wanted = (index: number) =>
    (task.keys && index < layout.firstValue) ||
    (index >= layout.firstValue && index < layout.firstValue + task.columns.length)
  return {
    fields: batch.fields.filter((_, index) => wanted(index)),
    rows: batch.rows,
    columns: batch.columns.filter((_, index) => wanted(index)),
  }
}

/** The range as a condition on the first key column, wide enough to keep every row of it. */
function rangePredicate(range: KeyRange, layout: KvLayout): Predicate | undefined {
  const column = layout.keys[0]!.name
  const parts: Predicate[] = []
  if (range.lower !== undefined) parts.push({ op: 'ge', column, value: range.lower.values[0]! })
  if (range.upper !== undefined) parts.push({ op: 'le', column, value: range.upper.values[0]! })
  return parts.length === 0 ? undefined : { op: 'and', children: parts }
}

/** The parts of an AND that touch key columns only: they may drop rows of one run without reviving another's. */
function keyParts(where: Predicate | undefined, layout: KvLayout): Predicate | undefined {
  if (where === undefined) return undefined
  const keys = new Set(layout.keys.map((key) => key.name))
  const parts = where.op === 'and' ? where.children : [where]
  const kept = parts.filter((part) => columnsOf(part).every((name) => keys.has(name)))
  return kept.length === 0 ? undefined : { op: 'and', children: kept }
}

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, value))
}

function both(a: Predicate | undefined, b: Predicate | undefined): Predicate | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return { op: 'and', children: [a, b] }
}

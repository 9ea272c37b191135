import type { Batch } from '../../formats/column/column.ts'
import { scalarAt } from '../../formats/column/compare.ts'
import { nullColumn } from '../../formats/column/constant.ts'
import { takeBatch } from '../../formats/column/gather.ts'
import { columnsOf, select } from '../../formats/column/predicate.ts'
import type { Predicate } from '../../formats/column/predicate-tree.ts'
import { batchBytes } from '../../formats/column/size.ts'
import type { DataFile } from '../../formats/meta/types.ts'
import { dropDeletes } from '../merge/filters.ts'
import { columnsToMerge, mergeSpec } from '../options/merge-spec.ts'
import { type KvLayout, kvLayout } from '../plan/kv-layout.ts'
import { runOf } from '../plan/run-order.ts'
import type { SortedRun } from '../plan/types.ts'
import type { TaskContext } from './context.ts'
import { BucketFiles, checkCancelled } from './files.ts'
import { cutToRange, rowsIn } from './key-range.ts'
import { mergeSection, rowsOfBytes } from './merge-section.ts'
import { pieceBelow } from './reverse.ts'
import type { ReadPosition, ReadResult, ReadSection, ReadTask } from './task.ts'

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

/** Rows of each run that a piece of a reverse merge takes at least: pages at its ends are decoded twice. */
const MIN_BACK_ROWS = 4096

/** Rows in key order, and where to go on behind them, or in reverse before them. */
interface Part {
  readonly batch: Batch
  readonly next: (() => ReadPosition) | undefined
}

/**
 * Reads the next stretch of one bucket in key order: merge, drop deletes, cut to the range, test `where`, project. It holds no
 * state between calls: the result says where the next call goes on, so no thread waits for a slow consumer.
 */
export async function runRead(task: ReadTask, context: TaskContext): Promise<ReadResult> {
  const tested = task.where === undefined ? [] : columnsOf(task.where)
  const read = [...new Set([...task.columns, ...tested])]
  const layout = kvLayout(task.table.schema, [...read, ...columnsToMerge(mergeSpec(task.table.schema), read)])
  const files = new BucketFiles(context, task.table, task.folder, '', layout, context.shelf)
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
    looked += batch.rows
    const matching = task.records ? batch : filter(dropDeletes(batch, layout.kind), task.where)
    if (matching.rows > 0) {
      const projected = project(matching, layout, task)
      batches.push(projected)
      bytes += batchBytes(projected)
    }
    rows += matching.rows
    const full = rows >= task.maxRows || bytes >= MAX_RESULT_BYTES || looked >= mostLooked
    // Within a piece that was merged as a whole there is no place to go on from.
    if (full && part.next !== undefined) {
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
  const { range, reverse } = task
  const prune = keyParts(task.where, layout)
  if (task.memory.length > 0) {
    // Uncommitted rows may meet any section: all of them become runs of one merge.
    const newest = task.memory.map((batch) => cutToRange(narrow(batch, layout), layout, range))
    const runs = chainSections(task.sections)
    if (reverse) yield* mergedBack(task, files, runs, prune, newest)
    else yield* byKey(mergeSection(files, runs, undefined, { prune, range, newest }), layout)
    return
  }
  const sections = reverse ? task.sections.toReversed() : task.sections
  for (const [index, { runs }] of sections.entries()) {
    if (runs.length === 1) yield* straight(task, files, runs[0]!, index === 0 ? task.skipRows : 0)
    else if (reverse) yield* mergedBack(task, files, runs.map(runOf), prune, [])
    else yield* byKey(mergeSection(files, runs.map(runOf), undefined, { prune, range }), layout)
  }
}

/** Pieces from the last keys to the first, each merged as a whole and given batch by batch from its end. */
function* mergedBack(
  task: ReadTask,
  files: BucketFiles,
  runs: readonly SortedRun[],
  prune: Predicate | undefined,
  memory: readonly Batch[],
): Generator<Part> {
  const { layout } = files
  let { range } = task
  for (;;) {
    const rows = clamp(task.maxRows, MIN_BACK_ROWS, STRAIGHT_ROWS)
    const start = pieceBelow(files, runs, memory, range, rows)
    const piece = start === undefined ? range : { lower: { values: start, inclusive: true }, upper: range.upper }
    const newest = memory.map((batch) => cutToRange(batch, layout, piece))
    const batches = [...mergeSection(files, runs, undefined, { prune, range: piece, newest })].reverse()
    for (const batch of batches.slice(0, -1)) yield { batch, next: undefined }
    const next = start && ((): ReadPosition => ({ kind: 'key', values: start }))
    // Also a piece without rows is a place to come up for air.
    yield { batch: batches.at(-1) ?? emptyBatch(layout), next }
    if (start === undefined) return
    range = { lower: range.lower, upper: { values: start, inclusive: false } }
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

/** A section of one run as it is: columns that the result does not need are not even read. */
function* straight(task: ReadTask, files: BucketFiles, run: readonly DataFile[], skipRows: number): Generator<Part> {
  let skip = skipRows
  for (const file of task.reverse ? run.toReversed() : run) {
    const most = clamp(task.maxRows, MIN_STRAIGHT_ROWS, STRAIGHT_ROWS)
    const rows = rowsOfBytes(file, files.layout, STRAIGHT_BYTES, most)
    const reader = files.open(file, rows, {
      prune: task.where,
      unread: unreadColumns(task, files.layout, file),
      withDeleted: task.records === true,
    })
    try {
      let { start, end } = rowsIn(reader, file, task.range)
      if (task.reverse) {
        end = Math.min(end, file.rows - skip)
        while (end > start) {
          const from = Math.max(start, reader.pageStart(Math.max(0, end - rows)))
          for (const { firstRow, batch } of [...reader.positioned({ start: from, end })].reverse()) {
            yield { batch, next: () => ({ kind: 'row', file: file.name, row: file.rows - firstRow }) }
          }
          end = from
        }
      } else {
        start = Math.max(start, skip)
        end = Math.min(end, task.stopRow ?? end)
        for (const { endRow, batch } of reader.positioned({ start, end })) {
          yield { batch, next: () => ({ kind: 'row', file: file.name, row: endRow }) }
        }
      }
    } finally {
      files.close(reader)
    }
    skip = 0
  }
}

/** Keys matter where they order the rows of a result. Sequence numbers have done their work in the merge. */
function unreadColumns(task: ReadTask, layout: KvLayout, file: DataFile): ReadonlySet<number> {
  const unread = new Set([layout.sequence])
  if (file.deleteRows === 0 && !task.records) unread.add(layout.kind)
  if (!task.keys) for (const index of layout.keyIndexes) unread.add(index)
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
  return Array.from({ length: depth }, (_, index) => runOf(sections.flatMap((section) => section.runs[index] ?? [])))
}

function filter(batch: Batch, where: Predicate | undefined): Batch {
  if (where === undefined || batch.rows === 0) return batch
  const rows = select(where, batch)
  return rows.length === batch.rows ? batch : takeBatch(batch, rows)
}

function project(batch: Batch, layout: KvLayout, task: ReadTask): Batch {
  const wanted = (index: number) =>
    (task.keys && index < layout.firstValue) ||
    (task.records === true && index === layout.kind) ||
    (index >= layout.firstValue && index < layout.firstValue + task.columns.length)
  return {
    fields: batch.fields.filter((_, index) => wanted(index)),
    rows: batch.rows,
    columns: batch.columns.filter((_, index) => wanted(index)),
  }
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

function emptyBatch({ fields }: KvLayout): Batch {
  return { fields, rows: 0, columns: fields.map(({ type }) => nullColumn(type, 0)) }
}

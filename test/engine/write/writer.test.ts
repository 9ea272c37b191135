import t from 'tap'
import { INSERT } from '../../../engine/merge/kinds.ts'
import { buildLevels } from '../../../engine/plan/levels.ts'
import { nodeClock } from '../../../engine/ports/node-clock.ts'
import { nodeRandom } from '../../../engine/ports/node-random.ts'
import type { FilesResult, Task } from '../../../engine/tasks/task.ts'
import { BucketWriter } from '../../../engine/write/bucket-writer.ts'
import { TableWriter, type WriterHost } from '../../../engine/write/writer.ts'
import type { Batch } from '../../../formats/column/column.ts'
import type { DataFile } from '../../../formats/meta/types.ts'
import type { Field } from '../../../formats/types/row-type.ts'
import { compareBytes, file, noPartition } from '../../support/plan-files.ts'

const fields: readonly Field[] = [{ id: 0, name: 'k', type: { kind: 'int', nullable: false } }]

const rows = (...keys: readonly number[]): Batch => ({
  fields,
  rows: keys.length,
  columns: [{ kind: 'fixed', length: keys.length, values: Int32Array.from(keys) }],
})

const raised = (one: DataFile, offset: bigint): DataFile => ({
  ...one,
  name: `${one.name}+`,
  minSequence: one.minSequence + offset,
  maxSequence: one.maxSequence + offset,
})

/** What a task would write, without writing it. */
function filesOf(task: Task): readonly DataFile[] {
  if (task.kind === 'renumber') return task.files.map((one) => raised(one, task.offset))
  if (task.kind !== 'flush') throw new Error(`a writer asks for no ${task.kind} task`)
  const first = Number(task.rows.firstSequence)
  return [file({ name: task.fileUuid, seq: [first, first + task.rows.values.rows - 1] })]
}

/** A writer of one bucket whose tasks end after `work`. */
function writerOf(budget: number, work: (task: Task) => Promise<unknown>, removed: string[] = []): TableWriter {
  const host = {
    executor: {
      threads: 0,
      run: async (task) => {
        await work(task)
        return { kind: 'files', before: [], after: filesOf(task), changelog: [] } as unknown as FilesResult
      },
      close: async () => undefined,
    },
    random: nodeRandom,
    clock: nodeClock,
    budget,
    taskTable: () => ({}) as never,
    route: () => [{ partition: noPartition, bucket: 0, rows: undefined }],
    openBucket: (partition, bucket) =>
      new BucketWriter(
        partition,
        bucket,
        '/b',
        { fields, keys: [0], hidesLevel0: false },
        buildLevels([], 5, compareBytes),
      ),
    stall: async () => undefined,
    landed: () => undefined,
    removeFiles: (_, files) => removed.push(...files.map(({ name }) => name)),
    runTask: (_, __, run) => run(),
  } satisfies WriterHost
  return new TableWriter(host)
}

t.test('numbers that another writer takes while a flush lands are never used again', async (t) => {
  // Between the end of the task and the landing of its file lie some turns of the microtask queue: each is tried.
  for (let turns = 0; turns < 24; turns++) {
    const foreign = [file({ name: 'foreign', seq: [0, 99] })]
    const writer = writerOf(1 << 20, async () => {
      let turn: Promise<unknown> = Promise.resolve()
      for (let i = 0; i < turns; i++) turn = turn.then(() => undefined)
      void turn.then(() => {
        const [bucket] = writer.buckets
        const offset = bucket!.offsetAbove(foreign)
        bucket!.rebase(
          foreign,
          offset,
          new Map(bucket!.flushed.flatMap(({ after }) => after.map((one) => [one, [raised(one, offset)]]))),
        )
      })
    })
    await writer.write([{ kinds: INSERT, values: rows(1, 2, 3) }])
    await writer.flushed(writer.cut())
    await new Promise((done) => setImmediate(done))
    const [bucket] = writer.buckets
    t.same(
      bucket!.flushed.flatMap(({ after }) => after).map(({ minSequence, maxSequence }) => [minSequence, maxSequence]),
      [[100n, 102n]],
      `after ${turns} turns`,
    )
  }
})

t.test('a write that waits for memory is not lost to a discard that comes before it', async (t) => {
  let end = () => {}
  const writer = writerOf(1, () => new Promise<void>((done) => (end = done)))
  await writer.write([{ kinds: INSERT, values: rows(1) }])
  const waiting = writer.write([{ kinds: INSERT, values: rows(2) }])
  await new Promise((done) => setImmediate(done))
  const forgotten = writer.forget()
  end()
  await writer.settled()
  for (const bucket of forgotten) bucket.discard()
  await waiting
  const left = [...writer.buckets].map((bucket) => (bucket.buffer?.rows ?? 0) + bucket.flushing.length)
  t.same(left, [1])
})

t.test(
  'a flush whose file cannot be moved above another writer’s leaves no file behind, and is tried again',
  async (t) => {
    const foreign = [file({ name: 'foreign', seq: [0, 99] })]
    const removed: string[] = []
    const made: string[] = []
    let fails = 1
    const writer = writerOf(
      1 << 20,
      async (task) => {
        if (task.kind === 'renumber' && fails-- > 0) throw new Error('no space')
        if (task.kind !== 'flush') return
        made.push(task.fileUuid)
        const [bucket] = writer.buckets
        bucket!.rebase(foreign, bucket!.offsetAbove(foreign))
      },
      removed,
    )
    await writer.write([{ kinds: INSERT, values: rows(1, 2, 3) }])
    const epoch = writer.cut()
    await t.rejects(writer.flushed(epoch), { message: 'no space' })
    t.same(removed, made, 'the file with the low numbers is gone')
    await writer.flushed(epoch)
    const [bucket] = writer.buckets
    t.same(
      bucket!.flushed.flatMap(({ after }) => after).map(({ minSequence, maxSequence }) => [minSequence, maxSequence]),
      [[100n, 102n]],
    )
  },
)

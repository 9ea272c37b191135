import t from 'tap'
import { planOf } from '../../../engine/compact/manager.ts'
import { explainFull } from '../../../engine/plan/explain.ts'
import { buildLevels, replaceFiles } from '../../../engine/plan/levels.ts'
import { pickFull } from '../../../engine/plan/pick.ts'
import { minFileSize } from '../../../engine/plan/steps.ts'
import { createMemoryFileSystem } from '../../../engine/ports/memory-fs.ts'
import { runTask } from '../../../engine/tasks/run.ts'
import { newCancelFlag } from '../../../engine/tasks/submit.ts'
import type { TaskTable } from '../../../engine/tasks/task.ts'
import { batchOfRows, rowsOf } from '../../../formats/column/values.ts'
import { loadCodecs } from '../../../formats/compress/load-codecs.ts'
import type { DataFile, TableSchema } from '../../../formats/meta/types.ts'
import { rowCompare } from '../../../formats/row/key-compare.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const KB = 1024
const TARGET = 128 * KB

const schema: TableSchema = {
  version: 3,
  id: 0,
  fields: [
    { id: 0, name: 'k', type: { kind: 'int', nullable: false } },
    { id: 1, name: 'v', type: { kind: 'varbinary', length: 2147483647, nullable: true } },
  ],
  highestFieldId: 1,
  partitionKeys: [],
  primaryKeys: ['k'],
  options: { bucket: '1', 'num-levels': '4', 'target-file-size': `${TARGET} b` },
  timeMillis: 0,
}
const table: TaskTable = { path: '/t', schema, olderSchemas: [], durable: false, tempDirectory: '/tmp' }
const folder = '/t/bucket-0'
const fs = createMemoryFileSystem()
await fs.makeDirectory(folder)
const codecs = loadCodecs()
const context = { fs, clock: manualClock(), codecs }
const random = seededRandom(5)

/** What each key must be in the end. */
const model = new Map<number, Buffer>()
let sequence = 0n

/** A file of all keys of a range, of about so many bytes: random ones, which do not compress. */
async function write(name: string, min: number, max: number, bytes: number, level: number): Promise<DataFile> {
  const size = Math.floor(bytes / (max - min + 1))
  const rows = Array.from({ length: max - min + 1 }, (_, index) => {
    const v = Buffer.from(Array.from({ length: size }, () => Math.floor(random.fraction() * 256)))
    model.set(min + index, v)
    return { k: min + index, v: new Uint8Array(v) }
  })
  const result = await runTask(
    {
      kind: 'flush',
      table,
      folder,
      fileUuid: name,
      cancel: newCancelFlag(),
      rows: {
        values: batchOfRows(schema.fields, rows),
        kinds: new Int8Array(rows.length),
        firstSequence: sequence,
      },
    },
    context,
  )
  sequence += BigInt(rows.length)
  if (result.kind !== 'files' || result.after.length !== 1) throw new Error('one file')
  return { ...result.after[0]!, level }
}

t.test('five files in one compaction: A, B, C are rewritten, D and E move up with their names', async (t) => {
  // One thousandth of the sizes of the example, oldest first.
  const D = await write('D', 50, 90, 120 * KB, 2)
  const C = await write('C', 30, 40, 2 * KB, 1)
  const B = await write('B', 5, 20, 50 * KB, 1)
  const A = await write('A', 1, 10, 5 * KB, 0)
  const E = await write('E', 95, 99, 1 * KB, 0)
  const bytesOf = async (file: DataFile) => Buffer.from(await fs.readFile(`${folder}/${file.name}`))
  const before = { D: await bytesOf(D), E: await bytesOf(E) }
  t.ok(D.bytes >= minFileSize(TARGET), 'D is large')
  t.ok(
    [A, B, C, E].every((file) => file.bytes < minFileSize(TARGET)),
    'the others are small',
  )

  const levels = buildLevels([A, B, C, D, E], 4, rowCompare([schema.fields[0]!.type]))
  const pick = pickFull(levels, { forceRewriteAllFiles: false })!
  const plan = planOf(pick, explainFull(levels.runs, 4, 5), levels, {
    minFileSize: minFileSize(TARGET),
    forceRewriteAllFiles: false,
    rewriter: 'plain',
    deletionVectors: false,
    newestWins: true,
  })!
  t.equal(plan.outputLevel, 3)
  const result = await runTask(
    {
      kind: 'compact',
      table,
      folder,
      fileUuid: 'out',
      cancel: newCancelFlag(),
      steps: plan.steps,
      outputLevel: plan.outputLevel,
      dropDelete: plan.dropDelete,
      maxLevel: plan.maxLevel,
      rewriter: plan.rewriter,
      above: plan.above,
      marked: plan.marked,
    },
    context,
  )
  if (result.kind !== 'files') throw new Error('files')
  t.strictSame(new Set(result.before), new Set([A, B, C, D, E]), 'all five leave their levels')
  const [written, ...upgraded] = result.after
  t.strictSame(
    upgraded,
    [
      { ...D, level: 3 },
      { ...E, level: 3 },
    ],
    'D and E change their level and nothing else',
  )
  t.match(written!.name, /out/, 'A, B and C became a new file')
  t.equal(written!.level, 3)
  t.equal(written!.source, 'compact')
  t.equal(written!.rows, 20 + 11, 'the rows of A, B and C, each key once')
  t.equal(result.stats.inputBytes, A.bytes + B.bytes + C.bytes, 'only A, B and C were read')
  t.equal(result.stats.outputBytes, written!.bytes)
  t.strictSame({ D: await bytesOf(D), E: await bytesOf(E) }, before, 'the files of D and E were not touched')

  const after = replaceFiles(levels, result.before, result.after)
  t.strictSame(
    after.runs.map((run) => ({ level: run.level, files: run.files.map((file) => file.name) })),
    [{ level: 3, files: [written!.name, D.name, E.name] }],
    'one run of three files, in key order',
  )
  const read = await runTask(
    {
      kind: 'read',
      table,
      folder,
      sections: [{ runs: [after.runs[0]!.files] }],
      reverse: false,
      skipRows: 0,
      stopRow: undefined,
      memory: [],
      columns: ['k', 'v'],
      keys: false,
      range: {},
      where: undefined,
      cancel: newCancelFlag(),
      maxRows: 1000,
    },
    context,
  )
  if (read.kind !== 'read') throw new Error('rows')
  const rows = read.batches.flatMap((batch) => rowsOf(batch))
  t.strictSame(
    rows.map(({ k, v }) => [k, Buffer.from(v as Uint8Array).toString('hex')]),
    [...model].sort(([a], [b]) => a - b).map(([k, v]) => [k, v.toString('hex')]),
    'the newest value of every key',
  )
})

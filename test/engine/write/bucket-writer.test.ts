import t from 'tap'
import { INSERT } from '../../../engine/merge/kinds.ts'
import { buildLevels, filesOf } from '../../../engine/plan/levels.ts'
import { BucketWriter } from '../../../engine/write/bucket-writer.ts'
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

/** A bucket that holds one committed file with sequence numbers 0 to 9. */
const committed = file({ name: 'committed', min: 0, max: 9, seq: [0, 9] })
const bucketOf = (...files: readonly DataFile[]) =>
  new BucketWriter(noPartition, 0, '/b', { fields, keys: [0], hidesLevel0: false }, buildLevels(files, 6, compareBytes))

/** Appends rows and lets them land in one file. */
function flushed(bucket: BucketWriter, name: string, epoch: number, ...keys: readonly number[]): DataFile {
  bucket.append(rows(...keys), INSERT)
  bucket.detach(epoch)
  const flushing = bucket.flushing[0]!
  const first = Number(flushing.buffer.firstSequence)
  const landed = file({ name, min: Math.min(...keys), max: Math.max(...keys), seq: [first, first + keys.length - 1] })
  bucket.landFlush(flushing, { after: [landed], changelog: [] })
  return landed
}

const names = (bucket: BucketWriter) =>
  filesOf(bucket.levels)
    .map(({ name, level }) => `${name}@${level}`)
    .sort()

t.test(
  'I4 rows that were appended before another writer took their numbers rise above them, in memory and in files',
  async (t) => {
    const bucket = bucketOf(committed)
    const own = flushed(bucket, 'own', 1, 1, 2)
    bucket.append(rows(3), INSERT)
    const live = [committed, file({ name: 'foreign', min: 1, seq: [10, 14] })]
    t.equal(bucket.offsetAbove(live), 5n)
    const higher = { ...own, name: 'higher', minSequence: 15n, maxSequence: 16n }
    t.same(bucket.rebase(live, 5n, new Map([[own, [higher]]])), [])
    t.same(names(bucket), ['committed@0', 'foreign@0', 'higher@0'])
    t.same(
      bucket.flushed.flatMap(({ after }) => after),
      [higher],
    )
    t.equal(bucket.buffer?.firstSequence, 17n)
    t.equal(bucket.epochOf([higher]), 1)
    t.equal(bucket.offsetAbove(live), 0n, 'all of it lies above now')
  },
)

t.test('a stale file that nobody wrote again is an error, not a file below the other writer’s', async (t) => {
  const bucket = bucketOf(committed)
  flushed(bucket, 'own', 1, 1)
  const live = [committed, file({ name: 'foreign', min: 1, seq: [10, 14] })]
  t.throws(() => bucket.rebase(live, bucket.offsetAbove(live)), { code: 'INTERNAL' })
})

t.test('a pending compaction is dropped when an older file of another writer would stay above it', async (t) => {
  const bucket = bucketOf(committed)
  // Two rows of key 1: the file keeps the later one, so that number 10 is in no file.
  const own = { ...flushed(bucket, 'own', 1, 1, 1), minSequence: 11n }
  bucket.discard()
  const again = bucketOf(committed, own)
  again.landCompaction({
    before: [committed, own],
    after: [file({ name: 'merged', level: 5, min: 0, max: 9, seq: [0, 11] })],
    dropDelete: true,
  })
  const live = [committed, own, file({ name: 'foreign', min: 1, seq: [10, 10] })]
  t.equal(again.rebase(live).length, 1)
  t.same(names(again), ['committed@0', 'foreign@0', 'own@0'])
})

t.test('an upgrade of an uncommitted file that is dropped leaves the file uncommitted', async (t) => {
  const bucket = bucketOf()
  const own = flushed(bucket, 'own', 7, 1)
  bucket.landCompaction({ before: [own], after: [{ ...own, level: 5 }], dropDelete: true })
  t.equal(bucket.epochOf([own]), 7)
  const live = [file({ name: 'foreign', level: 5, min: 1, seq: [0, 0] })]
  const higher = { ...own, name: 'higher', minSequence: 1n, maxSequence: 1n }
  t.equal(bucket.rebase(live, bucket.offsetAbove(live), new Map([[own, [higher]]])).length, 1)
  t.same(names(bucket), ['foreign@5', 'higher@0'])
  t.equal(bucket.epochOf([higher]), 7, 'a compaction that reads it waits for its commit')
})

t.test('what no commit took is given back whole by discard', async (t) => {
  const bucket = bucketOf(committed)
  const own = flushed(bucket, 'own', 1, 1)
  const first = file({ name: 'first', level: 4, min: 0, max: 9, seq: [0, 10] })
  bucket.landCompaction({ before: [committed, own], after: [first], dropDelete: true })
  bucket.landCompaction({ before: [first], after: [{ ...first, level: 5 }], dropDelete: true })
  bucket.append(rows(5), INSERT)
  t.same(
    bucket.discard().map(({ kind, after }) => `${kind} ${after.map(({ name }) => name)}`),
    ['flush own', 'compact first', 'compact first'],
  )
  t.equal(bucket.memoryBytes, 0)
  t.same(bucket.pending, [])
})

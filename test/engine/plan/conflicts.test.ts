import t from 'tap'
import { conflictError, findConflict, needsCheck, partitionsTouched } from '../../../engine/plan/conflicts.ts'
import type { CommitKind, ManifestEntry } from '../../../formats/meta/types.ts'
import { compareBytes, entry, file, partition } from '../../support/plan-files.ts'

const find = (live: readonly ManifestEntry[], delta: readonly ManifestEntry[], kind: CommitKind = 'COMPACT') =>
  findConflict(live, delta, kind, compareBytes)
const said = (live: readonly ManifestEntry[], delta: readonly ManifestEntry[], kind: CommitKind = 'COMPACT') => {
  const conflict = find(live, delta, kind)
  return conflict === null ? null : `${conflict.kind} ${conflict.entry.file.name}`
}

const f1 = file({ name: 'f1', min: 1, max: 10 })
const f2 = file({ name: 'f2', min: 5, max: 15 })
const m1 = file({ name: 'm1', min: 1, max: 10, level: 1 })
const m2 = file({ name: 'm2', min: 5, max: 15, level: 1 })

t.test('a compaction whose inputs are live fits, also beside new level-0 files (C072)', async (t) => {
  t.equal(said([entry('add', f1), entry('add', f2)], [entry('delete', f1), entry('add', m1)]), null)
})

t.test('C070, C073: a file to remove is no longer live', async (t) => {
  t.equal(said([entry('add', m1)], [entry('delete', f1), entry('add', m1)]), 'not-live f1')
  t.equal(said([], [entry('delete', f1)]), 'not-live f1')
  t.equal(said([entry('add', f1)], [entry('delete', f1), entry('delete', f1)]), 'not-live f1', 'removed twice')
  t.equal(said([entry('add', { ...f1, level: 4 })], [entry('delete', f1)]), 'not-live f1', 'upgraded meanwhile')
  t.equal(said([entry('add', f1, { bucket: 1 })], [entry('delete', f1)]), 'not-live f1', 'in another bucket')
  t.equal(
    said([entry('add', f1, { partition: partition(1) })], [entry('delete', f1)]),
    'not-live f1',
    'in another partition',
  )
  t.equal(
    said([entry('add', { ...f1, extraFiles: ['f1.index'] })], [entry('delete', f1)]),
    'not-live f1',
    'other extra files',
  )
})

t.test('a file that is there already, or added two times', async (t) => {
  t.equal(said([entry('add', f1)], [entry('add', f1)], 'APPEND'), 'added-twice f1')
  t.equal(said([], [entry('add', f1), entry('add', f1)], 'APPEND'), 'added-twice f1')
  t.equal(said([entry('add', f1)], [entry('delete', f1), entry('add', f1)]), 'added-twice f1', 'never in one delta')
})

t.test('C071: two compactions of disjoint inputs would overlap at their level', async (t) => {
  const conflict = find([entry('add', m1), entry('add', f2)], [entry('delete', f2), entry('add', m2)])
  t.match(conflict, { kind: 'overlap', entry: { file: { name: 'm2' } }, existing: { file: { name: 'm1' } } })
  const touching = file({ name: 'm3', min: 10, max: 12, level: 1 })
  t.equal(said([entry('add', m1)], [entry('add', touching)]), 'overlap m3', 'sharing one key is an overlap')
  t.equal(said([entry('add', m1)], [entry('add', { ...touching, minKey: file({ name: '', min: 11 }).minKey })]), null)
  t.equal(said([entry('add', m1)], [entry('add', { ...m2, level: 2 })]), null, 'another level')
  t.equal(said([entry('add', m1)], [entry('add', m2, { bucket: 3 })]), null, 'another bucket')
  t.equal(said([entry('add', f1)], [entry('add', f2)]), null, 'level 0 may overlap')
  t.equal(said([entry('add', m1)], [entry('delete', m1), entry('add', m2)]), null, 'the removed file makes room')
  t.equal(said([], [entry('add', m1), entry('add', m2)]), 'overlap m2', 'inside the delta')
  const upgraded = { ...f2, level: 1 }
  t.equal(said([entry('add', m1), entry('add', f2)], [entry('delete', f2), entry('add', upgraded)]), 'overlap f2')
  const before = file({ name: 'm0', min: -5, max: 1, level: 1 })
  t.equal(said([entry('add', m1)], [entry('add', before)]), 'overlap m0', 'the new file is named, wherever it lies')
})

t.test('C079: another number of buckets in a partition', async (t) => {
  const old = entry('add', f1, { totalBuckets: 1 })
  const conflict = find([old], [entry('add', f2, { totalBuckets: 2 })], 'APPEND')
  t.match(conflict, { kind: 'bucket-count', entry: { totalBuckets: 2 }, existing: { totalBuckets: 1 } })
  t.equal(
    said([old], [entry('delete', f1), entry('add', f2, { totalBuckets: 2 })], 'OVERWRITE'),
    null,
    'an overwrite may',
  )
  t.equal(said([old], [entry('add', f2, { totalBuckets: 2, partition: partition(1) })], 'APPEND'), null)
  t.equal(said([entry('add', f1, { totalBuckets: -1 })], [entry('add', f2, { totalBuckets: -1 })], 'APPEND'), null)
  const elsewhere = [1, 2].map((totalBuckets) => entry('add', f1, { totalBuckets, partition: partition(totalBuckets) }))
  t.equal(said(elsewhere, [entry('add', f2, { totalBuckets: 3, partition: partition(3) })], 'APPEND'), null)
})

t.test('which commits are checked, and against what', async (t) => {
  t.equal(needsCheck('COMPACT', [], false), true)
  t.equal(needsCheck('OVERWRITE', [], false), true)
  t.equal(needsCheck('APPEND', [entry('add', f1)], false), false)
  t.equal(needsCheck('APPEND', [entry('add', f1)], true), true)
  t.equal(needsCheck('APPEND', [entry('delete', f1)], false), true)
  t.equal(needsCheck('ANALYZE', [], true), false)
  const delta = [1, 2, 1].map((p) => entry('add', f1, { partition: partition(p) }))
  t.same(partitionsTouched(delta), [partition(1), partition(2)])
})

t.test('errors are conflicts that name file, bucket and the next step', async (t) => {
  const cases: [ManifestEntry[], ManifestEntry[], CommitKind, RegExp, object][] = [
    [
      [],
      [entry('delete', f1)],
      'COMPACT',
      /^File deletion conflicts detected! .*f1 of bucket 0/,
      { conflict: 'not-live' },
    ],
    [
      [entry('add', m1)],
      [entry('add', m2)],
      'COMPACT',
      /^LSM conflicts detected! .*m2 and m1/,
      { level: 1, other: 'm1' },
    ],
    [[entry('add', f1)], [entry('add', f1)], 'APPEND', /f1 is in bucket 0 already/, { file: 'f1' }],
    [
      [entry('add', f1)],
      [entry('add', f2, { totalBuckets: 2 })],
      'APPEND',
      /^Total buckets of a partition changed: .* 1 buckets, f2 with 2/,
      { expected: 1, actual: 2 },
    ],
  ]
  for (const [live, delta, kind, message, details] of cases) {
    const conflict = find(live, delta, kind)
    if (conflict === null) throw new Error('no conflict')
    const error = conflictError(conflict, 'db.t')
    t.match(error, { code: 'CONFLICT', message, details: { table: 'db.t', ...details } })
  }
})

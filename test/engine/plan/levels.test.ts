import t from 'tap'
import { canForgetDeletes, dropsDeletes } from '../../../engine/plan/drop-delete.ts'
import {
  buildLevels,
  defaultNumLevels,
  filesOf,
  highestLevel,
  levelSummary,
  replaceFiles,
} from '../../../engine/plan/levels.ts'
import { decide } from '../../../engine/plan/pick.ts'
import type { DataFile } from '../../../formats/meta/types.ts'
import { compareBytes, file } from '../../support/plan-files.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const names = (files: readonly DataFile[]) => files.map((f) => f.name)
const levelsOf = (files: readonly DataFile[], numLevels = 6) => buildLevels(files, numLevels, compareBytes)

t.test('level 0 runs newest first, each a file', async (t) => {
  const levels = levelsOf([
    file({ name: 'old', seq: [0, 9] }),
    file({ name: 'wide', seq: [5, 30] }),
    file({ name: 'late', seq: [31, 40] }),
    file({ name: 'narrow', seq: [8, 30] }),
    { ...file({ name: 'a-created-later', seq: [8, 30] }), creationMillis: 5 },
  ])
  t.same(names(filesOf(levels)), ['late', 'wide', 'narrow', 'a-created-later', 'old'])
  t.equal(levels.runs.length, 5)
})

t.test('C007: two files with one sequence range both stay, ordered by name', async (t) => {
  const twins = [file({ name: 'b', min: 2, max: 2 }), file({ name: 'a', min: 1, max: 1 })]
  t.same(names(filesOf(levelsOf(twins))), ['a', 'b'])
  t.same(names(filesOf(levelsOf([...twins].reverse()))), ['a', 'b'])
})

t.test('a level above 0 is one run in key order; empty levels are left out', async (t) => {
  const levels = levelsOf([
    file({ name: 'y', level: 5, min: 50, max: 60, bytes: 7 }),
    file({ name: 'x', level: 5, min: 1, max: 49, bytes: 5 }),
    file({ name: 'z', level: 2, min: 3, max: 90, bytes: 2 }),
  ])
  t.match(levels.runs, [
    { level: 2, bytes: 2 },
    { level: 5, bytes: 12 },
  ])
  t.same(names(levels.runs[1].files), ['x', 'y'])
  t.equal(highestLevel(levels), 5)
  t.equal(highestLevel(levelsOf([])), -1)
})

t.test('I3: files of a level that share a key are refused by name', async (t) => {
  const files = [file({ name: 'a', level: 1, min: 1, max: 5 }), file({ name: 'b', level: 1, min: 5, max: 9 })]
  t.throws(() => levelsOf(files), { code: 'CORRUPT', details: { level: 1, files: ['a', 'b'] } })
  t.equal(levelsOf([files[0], file({ name: 'c', level: 1, min: 6 })]).runs.length, 1)
})

t.test('the number of levels: two at least, and never below what is stored', async (t) => {
  t.equal(levelsOf([], 1).numLevels, 2)
  t.equal(levelsOf([], 6).numLevels, 6)
  t.equal(levelsOf([file({ name: 'a', level: 7 })], 6).numLevels, 8)
  t.equal(levelsOf([file({ name: 'a', level: 5 })], 2147483647).numLevels, 2147483647)
  t.equal(defaultNumLevels(5), 6)
  t.equal(defaultNumLevels(2147483647), 2147483647)
})

t.test('replaceFiles takes inputs out, puts outputs in, and leaves the old value as it was', async (t) => {
  const a = file({ name: 'a', seq: [1, 1] })
  const b = file({ name: 'b', seq: [2, 2] })
  const before = levelsOf([a, b])
  const upgraded = { ...a, level: 4 }
  const after = replaceFiles(before, [a], [upgraded])
  t.same(names(filesOf(before)), ['b', 'a'])
  t.same(
    after.runs.map((run) => [run.level, names(run.files)]),
    [
      [0, ['b']],
      [4, ['a']],
    ],
  )
  t.throws(() => replaceFiles(after, [a], []), { code: 'INTERNAL', message: /I8: a is not at level 0/ })
  t.throws(() => replaceFiles(after, [], [b]), { code: 'INTERNAL', message: /I8: b is at level 0 of the bucket twice/ })
})

t.test('levelSummary adds up a level', async (t) => {
  const levels = levelsOf([
    file({ name: 'a', bytes: 3, rows: 2, seq: [1, 1] }),
    file({ name: 'b', bytes: 4, rows: 5 }),
    file({ name: 'c', bytes: 10, rows: 7, level: 3 }),
  ])
  t.same(levelSummary(levels), [
    { level: 0, runs: 2, files: 2, rows: 7, bytes: 7 },
    { level: 3, runs: 1, files: 1, rows: 7, bytes: 10 },
  ])
})

t.test('deletes are dropped at or above the highest level that holds data, never at level 0', async (t) => {
  const levels = levelsOf([file({ name: 'a' }), file({ name: 'b', level: 4 })])
  t.equal(dropsDeletes(levels, 5, false), true)
  t.equal(dropsDeletes(levels, 4, false), true)
  t.equal(dropsDeletes(levels, 3, false), false)
  t.equal(dropsDeletes(levels, 3, true), true, 'deletion vectors mark the older row')
  t.equal(dropsDeletes(levelsOf([file({ name: 'a' })]), 0, true), false)
})

t.test('canForgetDeletes looks at keys and sequence numbers', async (t) => {
  const taken = [file({ name: 'd', min: 10, max: 20, seq: [50, 59], deletes: 1 })]
  const forget = (other: DataFile) => canForgetDeletes(taken, [other], compareBytes)
  t.equal(forget(file({ name: 'below', min: 15, max: 15, seq: [1, 2], level: 5 })), false)
  t.equal(forget(file({ name: 'edge', min: 20, max: 30, seq: [1, 2], level: 5 })), false)
  t.equal(forget(file({ name: 'elsewhere', min: 21, max: 30, seq: [1, 2], level: 5 })), true)
  t.equal(forget(file({ name: 'newer', min: 15, max: 15, seq: [60, 61] })), true)
  t.equal(forget(file({ name: 'mixed', min: 15, max: 15, seq: [40, 61] })), false)
  const without = [file({ name: 'n', min: 10, max: 20, seq: [50, 59], deletes: 0 })]
  t.equal(canForgetDeletes(without, [file({ name: 'below', min: 15, level: 5 })], compareBytes), true)
  const unknown = [file({ name: 'u', min: 10, max: 20, seq: [50, 59], deletes: null })]
  t.equal(canForgetDeletes(unknown, [file({ name: 'below', min: 15, level: 5 })], compareBytes), false)
})

t.test('I6: what the level rule lets go, the general check allows', async (t) => {
  const { fraction } = seededRandom(3)
  let dropped = 0
  for (let round = 0; round < 2000; round++) {
    // A bucket as writers leave it: a lower level holds larger sequence numbers than a higher one.
    const files: DataFile[] = []
    let seq = 1000
    for (let i = 0; i < Math.floor(fraction() * 8); i++) {
      files.push(
        file({
          name: `n${i}`,
          min: 0,
          max: 99,
          seq: [seq, seq + 9],
          deletes: 1,
          bytes: 1 + Math.floor(fraction() * 50),
        }),
      )
      seq -= 10
    }
    for (let level = 1; level < 6; level++) {
      if (fraction() < 0.5) continue
      seq -= 10
      files.push(file({ name: `l${level}`, min: 0, max: 99, seq: [seq, seq + 9], level, deletes: 1, bytes: 100 }))
    }
    const levels = levelsOf(files)
    const { unit } = decide(levels.runs, {
      trigger: 3,
      numLevels: levels.numLevels,
      sizeRatio: 1,
      maxSizeAmp: 200,
      offPeakRatio: 0,
      optimizationIntervalMillis: null,
      lastFullMillis: null,
      nowMillis: 0,
      totalSizeThreshold: null,
      incrementalSizeThreshold: null,
      forceUpLevel0: true,
    })
    if (unit === null) continue
    const taken = levels.runs.slice(0, unit.runCount).flatMap((run) => run.files)
    const outside = levels.runs.slice(unit.runCount).flatMap((run) => run.files)
    if (!dropsDeletes(levels, unit.outputLevel, false)) continue
    dropped++
    if (!canForgetDeletes(taken, outside, compareBytes)) t.fail(`round ${round}: an older row may come back`)
  }
  t.ok(dropped > 100, 'the rule held often enough to say something')
})

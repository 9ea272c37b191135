import t from 'tap'
import { compactionFits, upperFiles } from '../../../engine/plan/fits.ts'
import { buildLevels } from '../../../engine/plan/levels.ts'
import type { DataFile } from '../../../formats/meta/types.ts'
import { compareBytes, file } from '../../support/plan-files.ts'

const old = file({ name: 'old', level: 0, min: 0, max: 9, seq: [0, 9] })
const own = file({ name: 'own', level: 0, min: 0, max: 9, seq: [20, 29] })
const low = file({ name: 'low', level: 5, min: 0, max: 99, seq: [0, 5] })
const merged = file({ name: 'merged', level: 5, min: 0, max: 9, seq: [0, 29] })

const cases: readonly {
  readonly promise: string
  readonly files: readonly DataFile[]
  readonly before: readonly DataFile[]
  readonly after: readonly DataFile[]
  readonly dropDelete?: boolean
  readonly fits: boolean
}[] = [
  {
    promise: 'a compaction fits the files it was planned for',
    files: [old, own],
    before: [old, own],
    after: [merged],
    fits: true,
  },
  {
    promise: 'a file that came later and is newer is in nobody’s way',
    files: [old, own, file({ name: 'new', min: 0, max: 9, seq: [30, 31] })],
    before: [old, own],
    after: [merged],
    fits: true,
  },
  {
    promise: 'a file of another writer that is older than an input must not stay above the output',
    files: [old, own, file({ name: 'foreign', min: 4, seq: [12, 12] })],
    before: [old, own],
    after: [merged],
    fits: false,
  },
  {
    promise: 'nor when all merged rows were deletes and there is no output',
    files: [old, own, file({ name: 'foreign', min: 4, seq: [12, 12] })],
    before: [old, own],
    after: [],
    dropDelete: true,
    fits: false,
  },
  {
    promise: 'a newer file is in nobody’s way when there is no output',
    files: [old, own, file({ name: 'new', min: 0, max: 9, seq: [30, 31] })],
    before: [old, own],
    after: [],
    dropDelete: true,
    fits: true,
  },
  {
    promise: 'a forgotten delete must not let a row come back that another writer moved to the output level',
    files: [own, file({ name: 'foreign', level: 5, min: 4, seq: [12, 12] })],
    before: [own],
    after: [],
    dropDelete: true,
    fits: false,
  },
  {
    promise: 'nor one that it moved below the output level',
    files: [own, file({ name: 'foreign', level: 5, min: 4, seq: [12, 12] })],
    before: [own],
    after: [{ ...own, name: 'merged', level: 4 }],
    dropDelete: true,
    fits: false,
  },
  {
    promise: 'an input and a file at the output level may not share a key, though the output does not',
    files: [own, file({ name: 'foreign', level: 5, min: 4, seq: [12, 12] })],
    before: [own],
    after: [file({ name: 'merged', level: 5, min: 8, max: 9, seq: [20, 29] })],
    fits: false,
  },
  {
    promise: 'an older file that shares no key with the inputs may stay above',
    files: [old, own, file({ name: 'foreign', min: 10, seq: [12, 12] })],
    before: [old, own],
    after: [merged],
    fits: true,
  },
  {
    promise: 'an input that is gone, or at another level now, does not fit',
    files: [own, { ...old, level: 5 }],
    before: [old, own],
    after: [merged],
    fits: false,
  },
  {
    promise: 'an output that overlaps a file at its level does not fit',
    files: [old, own, file({ name: 'foreign', level: 5, min: 9, max: 20, seq: [3, 4] })],
    before: [old, own],
    after: [merged],
    fits: false,
  },
  {
    promise: 'an output beside a file at its level fits',
    files: [old, own, file({ name: 'foreign', level: 5, min: 10, max: 20, seq: [3, 4] })],
    before: [old, own],
    after: [merged],
    fits: true,
  },
  {
    promise: 'older rows below the output stay below it',
    files: [old, own, low],
    before: [old, own],
    after: [{ ...merged, level: 4 }],
    fits: true,
  },
  {
    promise: 'an upgraded file is no neighbour of itself',
    files: [own, { ...low, level: 3 }],
    before: [{ ...low, level: 3 }],
    after: [low],
    fits: true,
  },
]

for (const { promise, files, before, after, dropDelete = false, fits } of cases) {
  t.test(promise, async (t) => {
    t.equal(compactionFits(buildLevels(files, 6, compareBytes), { before, after, dropDelete }), fits)
  })
}

t.test('what was looked up holds while nothing above level 0 changes, marks among it', async (t) => {
  const mark = (indexFile: string) => ({ ...low, vector: { indexFile, offset: 1, length: 30, cardinality: 1 } })
  const planned = buildLevels([own, low], 6, compareBytes)
  const seen = upperFiles(planned)
  const output = { ...merged, level: 4 }
  const fits = (...files: readonly DataFile[]) =>
    compactionFits(buildLevels(files, 6, compareBytes), { before: [own], after: [output], dropDelete: false, seen })
  t.equal(fits(own, low), true)
  t.equal(fits(own, low, file({ name: 'new', min: 0, max: 9, seq: [30, 31] })), true, 'level 0 has not been looked at')
  t.equal(fits(own, mark('index-1')), false, 'marks of another compaction')
  t.equal(fits(own, { ...low, name: 'again' }), false, 'rows looked up lie elsewhere now')
  t.equal(fits(own, low, file({ name: 'up', level: 3, min: 500, max: 501, seq: [40, 41] })), false, 'rows came up')
  t.equal(fits(own), false)
})

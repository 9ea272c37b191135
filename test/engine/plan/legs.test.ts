import t from 'tap'
import { cutIntoLegs } from '../../../engine/plan/legs.ts'
import type { DataFile } from '../../../formats/meta/types.ts'

const key = (value: number) => Uint8Array.of(value)
const compare = (a: Uint8Array, b: Uint8Array) => a[0]! - b[0]!

function file(name: string, min: number, max: number, rows: number, bytes = rows): DataFile {
  return { name, minKey: key(min), maxKey: key(max), rows, bytes, level: 0, maxSequence: 0n } as DataFile
}

const cut = (...files: DataFile[]) =>
  cutIntoLegs(files, compare).map(({ files, rows }) => [files.map(({ name }) => name).join(), rows?.start, rows?.end])

t.test('a large file alone over its keys is cut at rows; legs grow', async (t) => {
  t.same(cut(file('a', 1, 2, 700_000)), [
    ['a', 0, 65_536],
    ['a', 65_536, 196_608],
    ['a', 196_608, 458_752],
    ['a', 458_752, 700_000],
  ])
  t.same(cut(file('a', 1, 2, 90_000)), [['a', undefined, undefined]], 'a short rest is not worth a leg')
  t.same(cut(file('a', 1, 2, 40_000, 320 << 20)).length, 20, 'wide rows make short legs')
})

t.test('small files go together, in key order', async (t) => {
  t.same(cut(file('b', 3, 4, 10), file('a', 1, 2, 10), file('c', 5, 6, 10)), [['a,b,c', undefined, undefined]])
  t.same(cut(file('a', 1, 2, 10), file('b', 3, 4, 300_000), file('c', 5, 6, 10)), [
    ['a', undefined, undefined],
    ['b', 0, 131_072],
    ['b', 131_072, 300_000],
    ['c', undefined, undefined],
  ])
})

t.test('what has to be merged stays one leg', async (t) => {
  t.same(cut(file('a', 1, 5, 900_000), file('b', 4, 8, 900_000), file('c', 9, 9, 5)), [
    ['a,b', undefined, undefined],
    ['c', undefined, undefined],
  ])
})

t.test('every row lies in one leg', async (t) => {
  for (const rows of [1, 65_535, 65_536, 65_537, 262_144, 262_145, 1_000_003]) {
    const legs = cutIntoLegs([file('a', 1, 2, rows)], compare)
    const covered = legs.map(({ rows: part }) => part ?? { start: 0, end: rows })
    t.equal(covered[0]!.start, 0)
    t.equal(covered.at(-1)!.end, rows)
    t.ok(covered.every(({ start, end }, i) => start < end && (i === 0 || start === covered[i - 1]!.end)))
  }
  t.same(cut(), [])
})

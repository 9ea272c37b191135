import t from 'tap'
import { planSplits, type Split } from '../../../engine/plan/splits.ts'
import { dataDriven } from '../../support/data-driven.ts'
import { compareBytes, file, parseFiles, printSections } from '../../support/plan-files.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const MB = 1024 ** 2

function print(split: Split): string {
  return split.kind === 'raw'
    ? `raw ${split.files.map((f) => f.name).join(' ')}`
    : `merge ${printSections(split.sections)}`
}

dataDriven('test/testdata/splits.txt', ({ args, input }) => {
  const options = {
    targetBytes: Number(args.target) * MB,
    openFileCost: Number(args.cost) * MB,
    mergedOnWrite: args.merged === 'true',
  }
  return planSplits(parseFiles(input), options, compareBytes).map(print).join('\n') || 'none'
})

const filesOf = (split: Split) =>
  split.kind === 'raw' ? split.files : split.sections.flatMap((s) => s.flatMap((run) => run.files))

t.test('every file is in one split, and no key in two', async (t) => {
  const { fraction } = seededRandom(31)
  let raw = 0
  for (let round = 0; round < 1500; round++) {
    const files = Array.from({ length: Math.floor(fraction() * 12) }, (_, i) => {
      const min = Math.floor(fraction() * 60)
      return file({
        name: `f${i}`,
        min,
        max: min + Math.floor(fraction() * 8),
        bytes: 1 + Math.floor(fraction() * 100),
        deletes: fraction() < 0.1 ? null : fraction() < 0.1 ? 1 : 0,
      })
    })
    const options = { targetBytes: Math.floor(fraction() * 150), openFileCost: 10, mergedOnWrite: false }
    const splits = planSplits(files, options, compareBytes)
    const taken = splits.flatMap(filesOf)
    if (taken.length !== files.length || new Set(taken).size !== files.length) t.fail('a file is lost or doubled')
    for (const [i, split] of splits.entries()) {
      if (split.kind === 'raw') raw++
      if (split.kind === 'raw' && split.files.some((f) => f.deleteRows !== 0)) t.fail('deletes read raw')
      const weight = filesOf(split).reduce((sum, f) => sum + f.bytes, 0)
      if (split.kind === 'merge' && split.sections.length > 1 && weight > options.targetBytes) t.fail('split too large')
      for (const other of splits.slice(i + 1)) {
        const shared = filesOf(split).some((a) =>
          filesOf(other).some((b) => compareBytes(a.minKey, b.maxKey) <= 0 && compareBytes(b.minKey, a.maxKey) <= 0),
        )
        if (shared) t.fail('two splits share a key')
      }
    }
  }
  t.ok(raw > 100)
})

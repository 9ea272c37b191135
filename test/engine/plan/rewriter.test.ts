import t from 'tap'
import {
  decideUpgrade,
  mergeTellsChanges,
  type Rewriter,
  type RewriterOptions,
  rewriterOf,
  type UpgradeContext,
} from '../../../engine/plan/rewriter.ts'

const options: RewriterOptions = {
  'changelog-producer': 'none',
  'merge-engine': 'deduplicate',
  'deletion-vectors.enabled': false,
  'force-lookup': false,
}

t.test('the producer full-compaction comes before all that asks for lookups', async (t) => {
  const cases: readonly [Partial<RewriterOptions>, Rewriter][] = [
    [{}, 'plain'],
    [{ 'changelog-producer': 'input' }, 'plain'],
    [{ 'changelog-producer': 'lookup' }, 'lookup'],
    [{ 'deletion-vectors.enabled': true }, 'lookup'],
    [{ 'merge-engine': 'first-row' }, 'lookup'],
    [{ 'force-lookup': true }, 'lookup'],
    [{ 'changelog-producer': 'input', 'deletion-vectors.enabled': true }, 'lookup'],
    [{ 'changelog-producer': 'full-compaction' }, 'full-compaction'],
    [{ 'changelog-producer': 'full-compaction', 'force-lookup': true }, 'full-compaction'],
    [{ 'changelog-producer': 'full-compaction', 'deletion-vectors.enabled': true }, 'full-compaction'],
  ]
  for (const [given, expected] of cases) t.equal(rewriterOf({ ...options, ...given }), expected, JSON.stringify(given))
})

const context: UpgradeContext = {
  outputLevel: 3,
  maxLevel: 5,
  deletionVectors: false,
  newestWins: false,
  formatDiffers: false,
}

t.test('the first line of the table that fits a file decides', async (t) => {
  const level0 = { level: 0, deleteRows: 0 }
  const withDeletes = { level: 0, deleteRows: 2 }
  const unknown = { level: 0, deleteRows: null }
  const higher = { level: 2, deleteRows: 0 }
  const top = { outputLevel: 5 }
  const cases: readonly [Rewriter, typeof level0 | typeof unknown, Partial<UpgradeContext>, string][] = [
    ['plain', level0, {}, 'level'],
    ['plain', withDeletes, { deletionVectors: true, formatDiffers: true }, 'level'],
    ['full-compaction', level0, {}, 'level'],
    ['full-compaction', level0, top, 'changelog'],
    ['full-compaction', higher, top, 'changelog'],
    ['full-compaction', higher, {}, 'level'],
    ['lookup', higher, {}, 'level'],
    ['lookup', higher, { ...top, formatDiffers: true, deletionVectors: true }, 'level'],
    ['lookup', level0, { formatDiffers: true }, 'changelog, rows'],
    ['lookup', level0, { ...top, formatDiffers: true }, 'changelog, rows'],
    ['lookup', withDeletes, { deletionVectors: true, newestWins: true }, 'changelog, rows'],
    ['lookup', unknown, { ...top, deletionVectors: true, newestWins: true }, 'changelog, rows'],
    ['lookup', level0, { deletionVectors: true, newestWins: true }, 'changelog'],
    ['lookup', withDeletes, { newestWins: true }, 'changelog'],
    ['lookup', level0, top, 'changelog'],
    ['lookup', level0, { newestWins: true }, 'changelog'],
    ['lookup', level0, {}, 'changelog, rows'],
    ['lookup', level0, { deletionVectors: true }, 'changelog, rows'],
  ]
  for (const [rewriter, file, more, expected] of cases) {
    const { changelog, rewrite } = decideUpgrade(rewriter, file, { ...context, ...more })
    const actual = rewrite ? 'changelog, rows' : changelog ? 'changelog' : 'level'
    t.equal(actual, expected, `${rewriter}, level ${file.level}, ${file.deleteRows} deletes, ${JSON.stringify(more)}`)
  }
})

t.test('a merge tells changes by the levels of its files and of its output', async (t) => {
  const [fresh, old] = [
    [{ level: 1 }, { level: 0 }],
    [{ level: 1 }, { level: 2 }],
  ]
  const cases: readonly [Rewriter, typeof fresh, number, boolean][] = [
    ['plain', fresh, 5, false],
    ['lookup', fresh, 3, true],
    ['lookup', fresh, 0, false],
    ['lookup', old, 5, false],
    ['full-compaction', old, 5, true],
    ['full-compaction', fresh, 4, false],
  ]
  for (const [rewriter, files, outputLevel, expected] of cases) {
    t.equal(mergeTellsChanges(rewriter, files, { outputLevel, maxLevel: 5 }), expected, `${rewriter} to ${outputLevel}`)
  }
})

import t from 'tap'
import type { Option } from '../../engine/options/option.ts'
import { patterns, registry } from '../../engine/options/registry.ts'
import { code, sourcesIn } from './sources.ts'

/** Where options become what the engine goes by: looked at there is obeyed. */
const specs = ['engine/options/merge-spec.ts', 'engine/options/record-expiry.ts']

const engine = sourcesIn('engine').filter((path) => specs.includes(path) || !path.startsWith('engine/options/'))
const text = engine.map(code).join('\n')

/** Options whose value reaches the engine under another name. */
const resolvedAs: Readonly<Record<string, string>> = {
  'parquet.block.size': 'file.block-size',
  'commit.force-create-snapshot': 'snapshot.ignore-empty-commit',
}

/** Keys that are words of the code as well, or are taken out of the options of a new table. */
const otherWords = new Set(['primary-key', 'partition', 'branch'])

t.test('every option that is said to be obeyed is looked at by the engine', async (t) => {
  for (const [key, option] of Object.entries<Option>(registry)) {
    if (option.use === 'used') t.ok(text.includes(`'${resolvedAs[key] ?? key}'`), key)
  }
  t.equal(patterns['fields.<f>.stats-mode'].use, 'used')
  t.ok(text.includes('fieldStatsModes'), 'fields.<f>.stats-mode')
})

t.test('no option that is said to be kept or refused is looked at', async (t) => {
  for (const [key, option] of Object.entries<Option>(registry)) {
    if (option.use !== 'used' && !otherWords.has(key)) t.notOk(text.includes(`'${key}'`), key)
  }
})

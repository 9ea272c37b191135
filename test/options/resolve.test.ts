import t from 'tap'
import type { Option } from '../../engine/options/option.ts'
import { findOption, patterns, registry } from '../../engine/options/registry.ts'
import { resolve, toStoredOptions } from '../../engine/options/resolve.ts'

t.test('defaults are those of Paimon 1.4.2', async (t) => {
  t.match(resolve({}), {
    bucket: -1,
    'target-file-size': 134217728,
    'num-sorted-run.compaction-trigger': 5,
    'num-sorted-run.stop-trigger': 8,
    'num-levels': 6,
    'sort-spill-threshold': 9,
    'compaction.max-size-amplification-percent': 200,
    'compaction.size-ratio': 1,
    'snapshot.num-retained.min': 10,
    'snapshot.num-retained.max': 2147483647,
    'snapshot.time-retained': 3600000,
    'file.block-size': 134217728,
    'file.compression': 'zstd',
    'metadata.stats-mode': { kind: 'truncate', length: 16 },
    'snapshot.ignore-empty-commit': true,
  })
})

/** Stored options, key, value. */
const dependent = [
  [{ 'num-sorted-run.compaction-trigger': '3' }, 'num-levels', 4],
  [{ 'num-sorted-run.compaction-trigger': '3' }, 'num-sorted-run.stop-trigger', 6],
  [{ 'num-sorted-run.compaction-trigger': '3' }, 'sort-spill-threshold', 7],
  [{ 'num-sorted-run.stop-trigger': '2' }, 'num-sorted-run.stop-trigger', 5],
  [{ 'num-sorted-run.stop-trigger': '2147483647' }, 'sort-spill-threshold', 2147483647],
  [{ 'num-sorted-run.compaction-trigger': '2147483647' }, 'num-levels', 2147483647],
  [{ 'num-sorted-run.compaction-trigger': '2147483645' }, 'num-sorted-run.stop-trigger', 2147483647],
  [{ 'num-levels': '3' }, 'num-levels', 3],
  [{ 'parquet.block.size': '16384' }, 'file.block-size', 16384],
  [{ 'parquet.block.size': '16384', 'file.block-size': '1 mb' }, 'file.block-size', 1048576],
  [{ 'commit.force-create-snapshot': 'true' }, 'snapshot.ignore-empty-commit', false],
  [{ 'write.compaction-skip': 'true' }, 'write-only', true],
  [{ 'write.compaction-skip': 'true', 'write-only': 'false' }, 'write-only', false],
  [{ 'bucket-key': 'a, b' }, 'bucket-key', ['a', 'b']],
  [{ 'fields.s.stats-mode': 'none' }, 'fieldStatsModes', new Map([['s', { kind: 'none' }]])],
] as const

t.test('defaults that depend on other options', async (t) => {
  for (const [stored, key, value] of dependent) {
    t.strictSame(resolve(stored)[key], value, `${JSON.stringify(stored)} gives ${key}`)
  }
})

/** Option, text, what the message says. */
const wrong = [
  ['target-file-size', '1 mib', /option 'target-file-size' cannot be '1 mib': give a size such as 8 mb/],
  ['snapshot.time-retained', 'PT1H', /give a duration such as 1 h/],
  ['num-levels', '1', /from 2 to 2147483647/],
  ['write-only', 'yes', /true or false/],
  ['sort-engine', 'quick', /one of loser-tree, min-heap/],
  ['file.compression', 'lzo', /one of none, uncompressed, snappy/],
  ['bucket', '0', /1 or more, -1 for dynamic/],
  ['bucket', '-3', /from -2/],
  ['snapshot.num-retained.max', '5', /'snapshot.num-retained.min' cannot be '10': give at most/],
  ['fields.s.stats-mode', 'most', /one of none, counts/],
] as const

t.test('deletion vectors go with producers that know what was there before', async (t) => {
  const stored = { 'deletion-vectors.enabled': 'true', 'changelog-producer': 'full-compaction' }
  t.throws(() => resolve(stored), { code: 'INVALID', details: { option: 'changelog-producer' } })
})

t.test('a wrong value is INVALID, with option, value and allowed form', async (t) => {
  for (const [option, value, message] of wrong) {
    t.throws(() => resolve({ [option]: value }), { code: 'INVALID', message }, `${option} = ${value}`)
  }
  t.throws(() => resolve({ 'num-levels': 'x' }), {
    code: 'INVALID',
    details: { option: 'num-levels', value: 'x' },
  })
})

t.test('what the engine does not look at may hold anything', async (t) => {
  t.doesNotThrow(() => resolve({ 'page-size': 'small', 'owner-of-another-engine': '', 'lookup.hash-load-factor': '?' }))
})

t.test('every default prints to a text that parses to it', async (t) => {
  for (const [key, option] of Object.entries<Option>({ ...registry, ...patterns })) {
    if (option.default === undefined) continue
    t.strictSame(option.kind.parse(option.kind.print(option.default)), option.default, key)
  }
})

t.test('keys are found by name, alias and pattern', async (t) => {
  t.equal(findOption('write.compaction-skip'), registry['write-only'])
  t.equal(findOption('fields.a,b.sequence-group'), patterns['fields.<f>.sequence-group'])
  t.equal(findOption('file-index.bloom-filter.s.items'), patterns['file-index.<type>.<column>.<setting>'])
  t.equal(findOption('file-index.bloom-filter.columns'), patterns['file-index.<type>.columns'])
  t.equal(findOption('constructor'), undefined)
  t.equal(findOption('fields.x'), undefined)
  t.equal(findOption('mine'), undefined)
})

t.test('an alias is nobody else’s key', async (t) => {
  const names = Object.entries<Option>(registry).flatMap(([key, option]) => [key, ...(option.aliases ?? [])])
  t.equal(new Set(names).size, names.length)
})

t.test('values of callers become texts', async (t) => {
  t.strictSame(toStoredOptions({ bucket: 1, 'write-only': true, note: 'x' }), {
    bucket: '1',
    'write-only': 'true',
    note: 'x',
  })
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, null, undefined, {}]) {
    t.throws(() => toStoredOptions({ bucket: value as number }), { code: 'INVALID', details: { option: 'bucket' } })
  }
})

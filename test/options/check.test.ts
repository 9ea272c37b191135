import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { checkOptions, checkReadable, checkWritable } from '../../engine/options/check.ts'
import type { StoredOptions } from '../../engine/options/resolve.ts'
import { parseSchema } from '../../formats/meta/schema.ts'
import type { DataType, Field } from '../../formats/types/row-type.ts'

const int: DataType = { kind: 'int', nullable: true }
const text: DataType = { kind: 'varchar', length: 10, nullable: true }
const base = {
  fields: [
    { id: 0, name: 'k', type: int },
    { id: 1, name: 'p', type: int },
    { id: 2, name: 'v', type: text },
    { id: 3, name: 'at', type: int },
  ],
  primaryKeys: ['p', 'k'],
  partitionKeys: ['p'],
}
const sketch = 'fields.v.aggregate-function'

/** Options beside bucket=1; the option that stops reads, the one that stops writes; '' = none does. */
const cases: readonly (readonly [StoredOptions, string, string])[] = [
  [{}, '', ''],
  [{ bucket: '-1' }, '', 'bucket'],
  [{ bucket: '-2' }, '', 'bucket'],
  [{ 'merge-engine': 'deduplicate' }, '', ''],
  [{ 'merge-engine': 'aggregation' }, '', ''],
  [{ 'merge-engine': 'aggregation', 'fields.v.aggregate-function': 'hll_sketch' }, sketch, sketch],
  [{ 'merge-engine': 'partial-update' }, '', ''],
  [{ 'merge-engine': 'first-row' }, '', ''],
  [{ 'sequence.field': 'v' }, '', ''],
  [{ 'sequence.field.sort-order': 'descending' }, '', ''],
  [{ 'changelog-producer': 'input', 'changelog-file.format': 'orc' }, '', 'changelog-file.format'],
  [{ 'changelog-producer': 'NONE' }, '', ''],
  [{ 'ignore-delete': 'true' }, '', ''],
  [{ 'deduplicate.ignore-delete': 'true' }, '', ''],
  [{ 'ignore-delete': 'false' }, '', ''],
  [{ 'rowkind.field': 'v' }, '', ''],
  [{ 'deletion-vectors.enabled': 'true' }, '', ''],
  [{ 'record-level.time-field': 'at', 'record-level.expire-time': '1 d' }, '', ''],
  [{ 'file.format': 'orc' }, '', 'file.format'],
  [{ 'file.format': 'avro' }, '', 'file.format'],
  [{ 'file.format.per.level': '0:avro' }, '', 'file.format.per.level'],
  [{ 'file.format.per.level': '0:parquet' }, '', ''],
  [{ 'bucket-function.type': 'mod' }, '', ''],
  [{ 'pk-clustering-override': 'true' }, 'pk-clustering-override', 'pk-clustering-override'],
  [{ 'tag.automatic-creation': 'batch' }, '', 'tag.automatic-creation'],
  [{ 'partition.expiration-time': '7 d' }, '', 'partition.expiration-time'],
  [{ 'scan.snapshot-id': '1' }, 'scan.snapshot-id', 'scan.snapshot-id'],
  [{ 'scan.mode': 'latest-full' }, '', ''],
  [{ 'scan.mode': 'compacted-full' }, 'scan.mode', 'scan.mode'],
  [{ 'changelog.num-retained.max': '5', 'snapshot.num-retained.max': '20' }, '', ''],
  [{ 'changelog.num-retained.min': '11', 'changelog.time-retained': '2 h' }, '', ''],
  [{ 'some.engine.of.tomorrow': 'x' }, '', ''],
]

t.test('options that this version lacks stop reads or writes', async (t) => {
  for (const [options, read, write] of cases) {
    const schema = { ...base, options: { bucket: '1', ...options } }
    const name = JSON.stringify(options)
    t.equal(checkReadable(schema)?.details.option ?? '', read, `${name}: read`)
    t.equal(checkWritable(schema)?.details.option ?? '', write, `${name}: write`)
    for (const error of [checkReadable(schema), checkWritable(schema)]) t.ok(!error || error.code === 'UNSUPPORTED')
  }
})

t.test('the message names option, value, what is accepted and what to do', async (t) => {
  const error = checkReadable({ ...base, options: { branch: 'b' } })
  t.match(error?.message, /option 'branch' is 'b'.*where it is main.*Use Apache Paimon/)
  t.match(checkWritable({ ...base, options: {} })?.message, /option 'bucket' is '-1'.*where it is 1 or more/)
})

t.test('a value that makes no sense is INVALID, not UNSUPPORTED', async (t) => {
  t.match(checkReadable({ ...base, options: { 'merge-engine': 'replace' } }), { code: 'INVALID' })
  t.match(checkReadable({ ...base, options: { 'target-file-size': 'big' } }), { code: 'INVALID' })
  const listed = { 'merge-engine': 'aggregation', 'fields.default-aggregate-function': 'listagg' }
  t.match(checkReadable({ ...base, options: listed }), {
    code: 'INVALID',
    details: { option: 'fields.default-aggregate-function' },
  })
  t.match(checkWritable({ ...base, options: { bucket: '1', 'changelog.time-retained': 'long' } }), { code: 'INVALID' })
})

/** Options of a new table; the option found wrong. */
const schemas: readonly (readonly [StoredOptions, string])[] = [
  [{ bucket: '1' }, ''],
  [{ bucket: '1', 'bucket-key': 'k' }, ''],
  [{ 'bucket-key': 'v' }, 'bucket-key'],
  [{ 'bucket-key': 'p' }, 'bucket-key'],
  [{ 'bucket-key': 'nope' }, 'bucket-key'],
  [{ 'fields.v.stats-mode': 'none' }, ''],
  [{ 'fields.w.stats-mode': 'none' }, 'fields.w.stats-mode'],
  [{ 'fields.v,w.sequence-group': 'k' }, 'fields.v,w.sequence-group'],
  [{ 'changelog-producer.row-deduplicate-ignore-fields': 'v, at' }, ''],
  [{ 'changelog-producer.row-deduplicate-ignore-fields': 'v,w' }, 'changelog-producer.row-deduplicate-ignore-fields'],
  [{ 'lookup-compact.max-interval': '1' }, ''],
  [{ 'lookup-compact.max-interval': '0' }, 'lookup-compact.max-interval'],
  [{ 'fields.default-aggregate-function': 'sum' }, 'fields.default-aggregate-function'],
  [{ 'merge-engine': 'aggregation', 'fields.default-aggregate-function': 'last_value' }, ''],
  [{ 'fields.v.aggregate-function': 'listagg' }, 'fields.v.aggregate-function'],
  [{ 'merge-engine': 'aggregation', 'fields.at.sequence-group': 'v' }, 'fields.at.sequence-group'],
  [{ 'partial-update.remove-record-on-delete': 'true' }, 'partial-update.remove-record-on-delete'],
  [{ 'partial-update.ignore-delete': 'true' }, ''],
  [{ 'aggregation.remove-record-on-delete': 'true' }, 'aggregation.remove-record-on-delete'],
  [{ 'sequence.field': 'at' }, ''],
  [{ 'sequence.field': 'k' }, 'sequence.field'],
  [{ 'sequence.field': 'at,at' }, 'sequence.field'],
  [{ 'page-size': 'small' }, 'page-size'],
  [{ 'write.compaction-skip': 'perhaps' }, 'write.compaction-skip'],
  [{ 'some.engine.of.tomorrow': 'x' }, ''],
]

t.test('columns that an engine may have to empty are nullable, and none has a default', async (t) => {
  const checked = (engine: string, more: Partial<Field>) => {
    const fields = [...base.fields, { id: 4, name: 'w', type: int, ...more }]
    return checkOptions({ ...base, fields, options: { 'merge-engine': engine } })?.details.column
  }
  t.equal(checked('aggregation', {}), undefined)
  t.equal(checked('aggregation', { type: { ...int, nullable: false } }), 'w')
  t.equal(checked('partial-update', { type: { ...int, nullable: false } }), undefined)
  t.equal(checked('partial-update', { defaultValue: '1' }), 'w')
  t.equal(checked('deduplicate', { defaultValue: '1' }), undefined)
})

t.test('a new table is checked as a whole', async (t) => {
  for (const [options, wrong] of schemas) {
    const error = checkOptions({ ...base, options })
    t.equal(error?.details.option ?? '', wrong, JSON.stringify(options))
    t.equal(error?.code ?? 'INVALID', 'INVALID')
  }
  const options = { 'changelog-producer.row-deduplicate-ignore-fields': 'v,w' }
  t.match(checkOptions({ ...base, options })?.message, /no column 'w'/)
})

t.test('a key that is nearly an option is refused, with what was meant; others pass', async (t) => {
  const meant: Record<string, string> = {
    'merge-engin': 'merge-engine',
    'Merge-Engine': 'merge-engine',
    'sequnece.field': 'sequence.field',
    'sequence-field': 'sequence.field',
    buckt: 'bucket',
    'changelog-producr': 'changelog-producer',
    'snapshot.num-retained-max': 'snapshot.num-retained.max',
    'fields.v.agregate-function': 'fields.v.aggregate-function',
    'fields.v.sequence-groop': 'fields.v.sequence-group',
    'sink.parallelism': '',
    'scan.parallelism': '',
    'lookup.async': '',
    'lookup.cache': '',
    'my.own': '',
  }
  for (const [key, wanted] of Object.entries(meant)) {
    const error = checkOptions({ ...base, options: { [key]: 'x' } })
    if (wanted === '') t.equal(error, undefined, key)
    else {
      t.match(error, { code: 'INVALID', details: { option: key, value: wanted } }, key)
      t.match(error?.message, `did you mean '${wanted}'`)
    }
  }
})

t.test('every golden table passes, or is refused by the option it is about', async (t) => {
  const folder = new URL('../golden/warehouse/golden.db/', import.meta.url)
  const refused: Record<string, string> = {}
  for (const table of readdirSync(folder)) {
    const schema = parseSchema(new Uint8Array(readFileSync(new URL(`${table}/schema/schema-0`, folder))))
    const error = checkReadable(schema)
    if (error !== undefined) refused[table] = `${error.code} ${error.details.option}`
  }
  t.strictSame(refused, {})
})

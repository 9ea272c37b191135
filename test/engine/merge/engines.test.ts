import t from 'tap'
import { createMergeEngine } from '../../../engine/merge/engines/create.ts'
import { mergeRuns } from '../../../engine/merge/merge.ts'
import { columnsToMerge, mergeSpec } from '../../../engine/options/merge-spec.ts'
import type { Batch, FixedColumn } from '../../../formats/column/column.ts'
import { concatBatches } from '../../../formats/column/slice.ts'
import { batchOfRows, rowsOf } from '../../../formats/column/values.ts'
import type { DataType, Field } from '../../../formats/types/row-type.ts'
import { seeded } from '../../formats/column/support.ts'

const KINDS = ['+I', '-U', '+U', '-D']
const INT: DataType = { kind: 'int', nullable: true }
const KEY: DataType = { kind: 'int', nullable: false }
const LONG: DataType = { kind: 'bigint', nullable: false }

/** A record: kind, key, then values of the columns. */
type Record_ = readonly [kind: string, key: number, ...values: (number | null)[]]

interface Table {
  readonly columns: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly notNull?: readonly string[]
}

function fieldsOf({ columns, notNull = [] }: Table): readonly Field[] {
  return [
    { id: 1000, name: '_KEY_id', type: KEY },
    { id: 1001, name: '_SEQUENCE_NUMBER', type: LONG },
    { id: 1002, name: '_VALUE_KIND', type: { kind: 'tinyint', nullable: false } },
    { id: 0, name: 'id', type: KEY },
    ...columns.map((name, id): Field => ({ id: id + 1, name, type: { ...INT, nullable: !notNull.includes(name) } })),
  ]
}

/** Merges records, oldest first, the way a table does: runs of the given lengths, each merged first, then all together. */
function merge(
  table: Table,
  records: readonly Record_[],
  runs: readonly (readonly number[])[] = [records.map((_, i) => i)],
) {
  const fields = fieldsOf(table)
  const spec = mergeSpec({ fields: fields.slice(3), primaryKeys: ['id'], options: table.options })
  const engine = createMergeEngine({ fields, kind: 2, firstValue: 3 }, spec)
  const options = { keys: [0], keyTypes: [KEY], sequence: 1, engine, sortEngine: 'loser-tree' } as const
  const one = (place: number): Batch => {
    const [kind, key, ...values] = records[place]!
    const row = { _KEY_id: key, _SEQUENCE_NUMBER: BigInt(place), _VALUE_KIND: KINDS.indexOf(kind), id: key }
    return batchOfRows(fields, [
      Object.assign(row, Object.fromEntries(table.columns.map((name, i) => [name, values[i]]))),
    ])
  }
  const merged = runs.map((places) => [
    ...mergeRuns(
      places.map((place) => [one(place)]),
      options,
    ),
  ])
  const batches = [...mergeRuns(merged, options)]
  if (batches.length === 0) return []
  const all = concatBatches(batches)
  const kinds = (all.columns[2] as FixedColumn).values
  return rowsOf(all).map(
    (row, i): Record_ => [
      KINDS[Number(kinds[i])]!,
      row.id as number,
      ...table.columns.map((name) => row[name] as number | null),
    ],
  )
}

t.test('deduplicate: ignored deletes, order by sequence fields, nulls lowest in both directions', async (t) => {
  const plain = { columns: ['a'], options: {} }
  t.strictSame(
    merge(plain, [
      ['+I', 1, 1],
      ['-D', 1, 1],
      ['+I', 2, 1],
      ['+U', 2, 2],
    ]),
    [
      ['-D', 1, 1],
      ['+U', 2, 2],
    ],
  )
  const ignoring = { columns: ['a'], options: { 'ignore-delete': 'true' } }
  t.strictSame(
    merge(ignoring, [
      ['+I', 1, 1],
      ['-D', 1, 1],
      ['-D', 2, 1],
      ['-D', 3, 1],
      ['-U', 3, 1],
    ]),
    [
      ['+I', 1, 1],
      ['-D', 2, 1],
      ['-U', 3, 1],
    ],
  )
  for (const [order, rows, newest] of [
    [
      'ascending',
      [
        ['+I', 1, 5, 1],
        ['+I', 1, 4, 2],
        ['+I', 1, null, 3],
      ],
      1,
    ],
    [
      'ascending',
      [
        ['+I', 1, 5, 1],
        ['+I', 1, 5, 2],
      ],
      2,
    ],
    [
      'descending',
      [
        ['+I', 1, 4, 1],
        ['+I', 1, 5, 2],
        ['+I', 1, null, 3],
      ],
      1,
    ],
    [
      'ascending',
      [
        ['-D', 1, 5, 1],
        ['+I', 1, 4, 2],
      ],
      1,
    ],
  ] as const) {
    const options = { 'sequence.field': 'a', 'sequence.field.sort-order': order }
    t.equal(merge({ columns: ['a', 'b'], options }, rows as readonly Record_[])[0]![3], newest)
  }
  const two = { columns: ['a', 'b', 'c'], options: { 'sequence.field': 'a, b' } }
  t.strictSame(
    merge(two, [
      ['+I', 1, 1, 2, 1],
      ['+I', 1, 1, 1, 2],
    ]),
    [['+I', 1, 1, 2, 1]],
  )
})

t.test('first-row keeps the first, and has no use for deletes', async (t) => {
  const table = { columns: ['a'], options: { 'merge-engine': 'first-row' } }
  t.strictSame(
    merge(table, [
      ['+I', 1, 1],
      ['+I', 1, 2],
      ['+I', 2, 3],
    ]),
    [
      ['+I', 1, 1],
      ['+I', 2, 3],
    ],
  )
  t.throws(
    () =>
      merge(table, [
        ['+I', 1, 1],
        ['-D', 1, 2],
      ]),
    { code: 'UNSUPPORTED', details: { option: 'ignore-delete' } },
  )
  const ignoring = { ...table, options: { ...table.options, 'first-row.ignore-delete': 'true' } }
  t.strictSame(
    merge(ignoring, [
      ['-D', 1, 9],
      ['+I', 1, 1],
      ['-D', 1, 2],
    ]),
    [['+I', 1, 1]],
  )
})

t.test('aggregation: functions, retractions, a delete that ends the row', async (t) => {
  const options = {
    'merge-engine': 'aggregation',
    'fields.a.aggregate-function': 'sum',
    'fields.default-aggregate-function': 'max',
  }
  const table = { columns: ['a', 'b'], options }
  t.strictSame(
    merge(table, [
      ['+I', 1, 1, 7],
      ['+U', 1, 2, 5],
      ['+I', 1, null, null],
    ]),
    [['+I', 1, 3, 7]],
  )
  t.throws(
    () =>
      merge(table, [
        ['+I', 1, 1, 7],
        ['-U', 1, 2, 5],
      ]),
    { code: 'UNSUPPORTED', details: { column: 'b' } },
  )
  const ignoring = { ...table, options: { ...options, 'fields.b.ignore-retract': 'true' } }
  t.strictSame(
    merge(ignoring, [
      ['+I', 1, 1, 7],
      ['-U', 1, 2, 9],
      ['-D', 2, 1, 1],
    ]),
    [
      ['+I', 1, -1, 7],
      ['-D', 2, 1, 1],
    ],
  )
  const removing = { ...table, options: { ...options, 'aggregation.remove-record-on-delete': 'true' } }
  t.strictSame(
    merge(removing, [
      ['+I', 1, 1, 7],
      ['-D', 1, 1, 7],
    ]),
    [['-D', 1, 1, 7]],
  )
  t.strictSame(
    merge(removing, [
      ['+I', 1, 1, 7],
      ['-D', 1, 1, 7],
      ['+I', 1, 5, 2],
    ]),
    [['+I', 1, 5, 2]],
    'nothing of it is left',
  )
})

t.test('partial-update: null keeps the value; what a delete does is said by options', async (t) => {
  const table = { columns: ['a', 'b'], options: { 'merge-engine': 'partial-update' } }
  t.strictSame(
    merge(table, [
      ['+I', 1, 1, null],
      ['+I', 1, null, 2],
      ['+I', 1, 3, null],
    ]),
    [['+I', 1, 3, 2]],
  )
  t.throws(
    () =>
      merge(table, [
        ['+I', 1, 1, 1],
        ['-D', 1, 1, 1],
      ]),
    { code: 'UNSUPPORTED' },
  )
  const ignoring = { ...table, options: { ...table.options, 'partial-update.ignore-delete': 'true' } }
  t.strictSame(
    merge(ignoring, [
      ['+I', 1, 1, 1],
      ['-D', 1, 2, 2],
    ]),
    [['+I', 1, 1, 1]],
  )
  const removing = { ...table, options: { ...table.options, 'partial-update.remove-record-on-delete': 'true' } }
  t.strictSame(
    merge(removing, [
      ['+I', 1, 1, 2],
      ['-D', 1, 1, 2],
      ['-U', 1, 9, 9],
    ]),
    [['-D', 1, 1, 2]],
  )
  t.strictSame(
    merge(removing, [
      ['+I', 1, 1, 2],
      ['-D', 1, 1, 2],
      ['+I', 1, null, 3],
    ]),
    [['+I', 1, null, 3]],
  )
})

const GROUPS: Table = {
  columns: ['a', 'g1', 'b', 'c', 'g2'],
  options: { 'merge-engine': 'partial-update', 'fields.g1.sequence-group': 'a', 'fields.g2.sequence-group': 'b,c' },
}

t.test('sequence groups: the trace of the rules', async (t) => {
  const records: Record_[] = [
    ['+I', 1, 1, 1, 1, 1, 1],
    ['+I', 1, 2, 2, 2, 2, null],
    ['+I', 1, 3, 1, 3, 3, 3],
    ['+I', 1, null, 4, null, 9, 2],
    ['-D', 1, 1, 4, 1, 1, null],
    ['+I', 1, 8, 5, null, null, null],
  ]
  const after: Record_[] = [
    ['+I', 1, 1, 1, 1, 1, 1],
    ['+I', 1, 2, 2, 1, 1, 1],
    ['+I', 1, 2, 2, 3, 3, 3],
    ['+I', 1, null, 4, 3, 3, 3],
    ['+I', 1, null, 4, 3, 3, 3],
    ['+I', 1, 8, 5, 3, 3, 3],
  ]
  for (const [i, expected] of after.entries())
    t.strictSame(merge(GROUPS, records.slice(0, i + 1)), [expected], `record ${i}`)
})

t.test(
  'sequence groups: aggregates count older rows, deletes remove the row, NOT NULL columns keep a value',
  async (t) => {
    const sums = { ...GROUPS, options: { ...GROUPS.options, 'fields.b.aggregate-function': 'sum' } }
    t.strictSame(
      merge(sums, [
        ['+I', 1, null, null, 1, 5, 5],
        ['+I', 1, null, null, 2, 4, 4],
        ['-U', 1, null, null, 4, 9, 3],
      ]),
      [['+I', 1, null, null, -1, 5, 5]],
    )
    const removing = {
      ...GROUPS,
      options: { ...GROUPS.options, 'partial-update.remove-record-on-sequence-group': 'g2' },
    }
    const removed: Record_[] = [
      ['+I', 1, 1, 1, 1, 1, 2],
      ['-D', 1, null, null, 1, 1, 3],
    ]
    t.strictSame(merge(removing, removed)[0]![0], '-D')
    t.strictSame(
      merge(removing, [...removed, ['+I', 1, 7, 1, 5, 5, 1]]),
      [['+I', 1, 7, 1, null, null, 3]],
      'an older b stays out',
    )
    t.strictSame(merge(removing, [...removed, ['+I', 1, 7, 1, 5, 5, 4]]), [['+I', 1, 7, 1, 5, 5, 4]])
    const older: Record_ = ['-D', 1, null, null, 1, 1, 1]
    t.strictSame(merge(removing, [removed[0]!, older]), [['+I', 1, 1, 1, 1, 1, 2]], 'a delete from before')
    const strict = { ...GROUPS, notNull: ['a'] }
    t.strictSame(
      merge(strict, [
        ['+I', 1, 1, 1, 1, 1, 2],
        ['-U', 1, 1, 2, 1, 1, null],
      ]),
      [['+I', 1, 1, 2, 1, 1, 2]],
    )
  },
)

t.test('the result does not depend on which rows were merged first', async (t) => {
  const random = seeded(5)
  const int = (most: number) => Math.floor(random() * most)
  const maybe = (most: number) => (random() < 0.3 ? null : int(most))
  const tables: readonly Table[] = [
    { columns: ['a', 'b'], options: {} },
    { columns: ['a', 'b'], options: { 'sequence.field': 'a' } },
    { columns: ['a', 'b'], options: { 'merge-engine': 'partial-update' } },
    { columns: ['a', 'b'], options: { 'merge-engine': 'first-row' } },
    GROUPS,
    {
      ...GROUPS,
      options: { ...GROUPS.options, 'fields.b.aggregate-function': 'sum', 'fields.c.aggregate-function': 'max' },
    },
    {
      columns: ['a', 'b'],
      options: {
        'merge-engine': 'aggregation',
        'fields.a.aggregate-function': 'sum',
        'fields.b.aggregate-function': 'min',
      },
    },
    {
      columns: ['a', 'b'],
      options: { 'merge-engine': 'aggregation', 'fields.default-aggregate-function': 'first_non_null_value' },
    },
    {
      columns: ['a', 'b'],
      options: { 'merge-engine': 'aggregation', 'sequence.field': 'a', 'fields.b.aggregate-function': 'last_value' },
    },
  ]
  for (let round = 0; round < 300; round++) {
    const table = tables[round % tables.length]!
    const records = Array.from(
      { length: 1 + int(8) },
      (): Record_ => ['+I', int(2), ...table.columns.map(() => maybe(4))],
    )
    const cuts = [...new Set([0, int(9), int(9), 9])].sort((a, b) => a - b)
    const runs = cuts
      .slice(1)
      .map((cut, i) => records.flatMap((_, place) => (place >= cuts[i]! && place < cut ? [place] : [])))
    t.strictSame(merge(table, records, runs), merge(table, records), JSON.stringify({ table, records, runs }))
  }
})

t.test('reads name the columns that a merge needs beside theirs', async (t) => {
  const spec = (options: Record<string, string>) =>
    mergeSpec({ fields: fieldsOf(GROUPS).slice(3), primaryKeys: ['id'], options: { ...GROUPS.options, ...options } })
  t.strictSame(columnsToMerge(spec({}), ['id', 'b']), ['g2'])
  t.strictSame(columnsToMerge(spec({}), ['g1', 'a']), [])
  t.strictSame(columnsToMerge(spec({ 'partial-update.remove-record-on-sequence-group': 'g1' }), ['id']), ['g1'])
  t.strictSame(columnsToMerge(spec({ 'merge-engine': 'deduplicate', 'sequence.field': 'b' }), ['a']), ['b'])
})

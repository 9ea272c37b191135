import t from 'tap'
import { columnFold } from '../../../engine/merge/folds/column-fold.ts'
import { ADD, ADD_OLDER, RETRACT, SKIP, TAKE } from '../../../engine/merge/folds/fold.ts'
import { mergeSpec } from '../../../engine/options/merge-spec.ts'
import type { Column } from '../../../formats/column/column.ts'
import { batchOfRows, rowsOf } from '../../../formats/column/values.ts'
import type { DataType, Field } from '../../../formats/types/row-type.ts'
import { seeded } from '../../formats/column/support.ts'

const STRING: DataType = { kind: 'varchar', length: 2147483647, nullable: true }
const INT: DataType = { kind: 'int', nullable: true }
const typeOf = (kind: 'tinyint' | 'smallint' | 'int' | 'bigint' | 'float' | 'double' | 'boolean'): DataType => ({
  kind,
  nullable: true,
})
const decimal = (precision: number, scale: number): DataType => ({ kind: 'decimal', precision, scale, nullable: true })

interface Case {
  readonly type: DataType
  readonly options?: Record<string, string>
}

/** Folds groups of [step, value] of one column with a function, spread over several inputs; gives values as rows show them. */
function fold(
  name: string,
  { type, options = {} }: Case,
  groups: readonly (readonly (readonly [number, unknown])[])[],
  inputCount = 3,
): readonly unknown[] {
  const fields: readonly Field[] = [
    { id: 0, name: 'k', type: { kind: 'int', nullable: false } },
    { id: 1, name: 'v', type },
  ]
  const all = { 'merge-engine': 'aggregation', 'fields.v.aggregate-function': name }
  for (const [key, value] of Object.entries(options)) Object.assign(all, { [`fields.v.${key}`]: value })
  const rule = mergeSpec({ fields, primaryKeys: ['k'], options: all }).rules.get('v')!
  const flat = groups.flat()
  const random = seeded(flat.length)
  const source = Uint16Array.from(flat, () => Math.floor(random() * inputCount))
  const rows: unknown[][] = Array.from({ length: inputCount }, () => [])
  const row = Uint32Array.from(flat, ([, value], place) => rows[source[place]!]!.push({ v: value }) - 1)
  const inputs: Column[] = rows.map((of) => batchOfRows([fields[1]!], of).columns[0]!)
  let end = 0
  const groupEnd = Uint32Array.from(groups, (group) => (end += group.length))
  const column = columnFold(rule, type)(inputs, {
    source,
    row,
    groupEnd,
    steps: Uint8Array.from(flat, ([step]) => step),
  })
  return rowsOf({ fields: [fields[1]!], rows: groups.length, columns: [column] }).map((result) => result.v)
}

const adds = (...values: unknown[]) => values.map((value) => [ADD, value] as const)

t.test('picks: which value stands', async (t) => {
  const groups = [
    adds('b', null, 'a'),
    adds(null, 'c', null),
    adds(null),
    [
      [ADD, 'x'],
      [RETRACT, 'x'],
    ] as const,
  ]
  t.strictSame(fold('last_value', { type: STRING }, groups), ['a', null, null, null])
  t.strictSame(fold('last_non_null_value', { type: STRING }, groups), ['a', 'c', null, null])
  t.strictSame(fold('first_value', { type: STRING }, groups.slice(0, 3)), ['b', null, null])
  t.strictSame(fold('first_not_null_value', { type: STRING }, groups.slice(0, 3)), ['b', 'c', null])
  t.strictSame(fold('max', { type: STRING }, groups.slice(0, 3)), ['b', 'c', null])
  t.strictSame(fold('min', { type: STRING }, groups.slice(0, 3)), ['a', 'c', null])
  const older = [
    [
      [ADD, 'new'],
      [ADD_OLDER, 'old'],
    ],
    [
      [ADD, null],
      [ADD_OLDER, 'old'],
    ],
  ] as const
  t.strictSame(fold('last_value', { type: STRING }, older), ['new', null])
  t.strictSame(fold('last_non_null_value', { type: STRING }, older), ['new', 'old'])
  t.strictSame(fold('first_value', { type: STRING }, older), ['old', 'old'])
  t.strictSame(fold('first_non_null_value', { type: STRING }, older), ['old', 'old'])
  const taken = [
    [
      [SKIP, 'a'],
      [TAKE, 'b'],
      [SKIP, 'c'],
    ],
  ] as const
  for (const name of ['last_value', 'first_value', 'max', 'min', 'listagg']) {
    t.strictSame(fold(name, { type: STRING }, taken), ['b'], name)
  }
})

t.test('max and min know NaN, zeros with a sign, 128-bit numbers', async (t) => {
  const double = typeOf('double')
  t.strictSame(fold('max', { type: double }, [adds(1, Number.NaN, 2), adds(-0, 0), adds(0, -0)]), [Number.NaN, 0, 0])
  t.strictSame(fold('min', { type: double }, [adds(1, Number.NaN, 2), adds(-0, 0), adds(0, -0)]), [1, -0, -0])
  const wide = ['99999999999999999999', '-99999999999999999999', '3', null]
  t.strictSame(fold('max', { type: decimal(38, 0) }, [adds(...wide)]), ['99999999999999999999'])
  t.strictSame(fold('min', { type: decimal(38, 0) }, [adds(...wide)]), ['-99999999999999999999'])
})

t.test('sums and products lose nothing to null, and take values back', async (t) => {
  const back = [
    [ADD, 5],
    [RETRACT, 2],
  ] as const
  const lone = [[RETRACT, 2]] as const
  for (const kind of ['tinyint', 'smallint', 'int', 'float', 'double'] as const) {
    t.strictSame(
      fold('sum', { type: typeOf(kind) }, [adds(1, null, 2), adds(null), back, lone]),
      [3, null, 3, -2],
      kind,
    )
    t.strictSame(fold('product', { type: typeOf(kind) }, [adds(3, null, 2), adds(null), lone]), [6, null, null], kind)
  }
  t.strictSame(fold('sum', { type: typeOf('tinyint') }, [adds(127, 1, -1), [[RETRACT, -127]]]), [127, 127])
  t.strictSame(
    fold('product', { type: typeOf('int') }, [
      adds(46340, 46340),
      [
        [ADD, -7],
        [RETRACT, 2],
      ],
    ]),
    [2147395600, -3],
  )
  const big = typeOf('bigint')
  t.strictSame(fold('sum', { type: big }, [adds(9223372036854775807n, 1n, -2n), adds(1n, null)]), [
    9223372036854775806n,
    1n,
  ])
  t.strictSame(fold('product', { type: big }, [adds(3037000499n, -3037000499n)]), [-9223372030926249001n])
  t.strictSame(
    fold('product', { type: typeOf('int') }, [
      [
        [ADD, 0],
        [RETRACT, 0],
      ],
    ]),
    [0],
    'a zero cannot be taken out',
  )
  t.strictSame(fold('sum', { type: typeOf('float') }, [adds(16777216, 1)]), [16777216], '32-bit')
})

function thrown(action: () => unknown): unknown {
  try {
    action()
    return undefined
  } catch (error) {
    return error
  }
}

t.test('what does not fit the type is an overflow of its group', async (t) => {
  const cases = [
    ['sum', typeOf('tinyint'), adds(127, 1)],
    ['sum', typeOf('tinyint'), [[RETRACT, -128]]],
    ['sum', typeOf('smallint'), adds(-32768, -1)],
    ['sum', typeOf('int'), adds(2147483647, 1)],
    ['sum', typeOf('bigint'), adds(9223372036854775807n, 1n)],
    ['sum', decimal(5, 2), adds('999.99', '0.01')],
    ['sum', decimal(30, 2), adds(`-${'9'.repeat(28)}.99`, '-0.01')],
    ['product', typeOf('tinyint'), adds(-128, -1)],
    ['product', typeOf('int'), adds(65537, 65537, 0)],
    ['product', typeOf('bigint'), adds(4294967297n, 4294967297n)],
    ['product', decimal(5, 2), adds('999.99', '1.01')],
  ] as const
  for (const [name, type, group] of cases) {
    const none = group.map(() => [ADD, null] as const)
    t.match(
      thrown(() => fold(name, { type }, [none, group, none, group])),
      { groups: [1, 3] },
      `${name} ${type.kind}`,
    )
    const taken = group.slice(0, 1).map(([, value]) => [TAKE, value] as const)
    t.strictSame(fold(name, { type }, [taken]), [taken[0]![1]], 'a value that is there')
  }
})

t.test('decimals keep their scale', async (t) => {
  for (const precision of [5, 30]) {
    const type = decimal(precision, 2)
    const most = `${'9'.repeat(precision - 2)}.99`
    const groups = [
      adds('1.25', '2.50'),
      adds(most, '0.01', '-3.00'),
      [
        [ADD, '1.00'],
        [RETRACT, '2.50'],
      ] as const,
    ]
    t.strictSame(fold('sum', { type }, groups), ['3.75', `${'9'.repeat(precision - 3)}7.00`, '-1.50'])
    t.strictSame(fold('product', { type }, [adds('1.05', '1.50'), adds('-1.05', '1.50')]), ['1.58', '-1.58'])
    t.strictSame(
      fold('product', { type }, [
        [
          [ADD, '1.00'],
          [RETRACT, '3.00'],
        ],
      ]),
      ['0.33'],
    )
  }
})

t.test('and, or', async (t) => {
  const groups = [adds(true, null, false), adds(true, true), adds(null), adds(false, false)]
  t.strictSame(fold('bool_and', { type: typeOf('boolean') }, groups), [false, true, null, false])
  t.strictSame(fold('bool_or', { type: typeOf('boolean') }, groups), [true, true, null, false])
})

t.test('listagg joins texts, each part once when distinct', async (t) => {
  const groups = [
    adds('a', null, 'b', '', 'ä'),
    adds('', ''),
    adds(null),
    [
      [ADD, 'new'],
      [ADD_OLDER, 'old'],
    ] as const,
  ]
  t.strictSame(fold('listagg', { type: STRING }, groups), ['a,b,ä', '', null, 'old,new'])
  const distinct = { type: STRING, options: { distinct: 'true', 'list-agg-delimiter': '; ' } }
  t.strictSame(fold('listagg', distinct, [adds('a; a', 'b; a', 'c; ; b'), adds('x', 'x')]), ['a; a; b; c', 'x'])
})

t.test('collect, merge_map', async (t) => {
  const type: DataType = { kind: 'array', element: STRING, nullable: true }
  const groups = [
    adds(['a', null], null, ['a']),
    adds(null),
    [
      [ADD, ['a', 'b', 'a']],
      [RETRACT, ['a', 'z']],
    ] as const,
    [[RETRACT, ['a']]] as const,
  ]
  t.strictSame(fold('collect', { type }, groups), [['a', null, 'a'], null, ['b', 'a'], null])
  t.strictSame(fold('collect', { type, options: { distinct: 'true' } }, groups.slice(0, 2)), [['a', null], null])
  const map: DataType = { kind: 'map', key: { ...STRING, nullable: false }, value: INT, nullable: true }
  const maps = [
    adds(
      [
        ['a', 1],
        ['b', 2],
      ],
      [
        ['b', 3],
        ['c', null],
      ],
    ),
    adds(null),
    [
      [
        ADD,
        [
          ['a', 1],
          ['b', 2],
        ],
      ],
      [RETRACT, [['a', 9]]],
    ] as const,
  ]
  t.strictSame(fold('merge_map', { type: map }, maps), [
    [
      ['a', 1],
      ['b', 3],
      ['c', null],
    ],
    null,
    [['b', 2]],
  ])
})

const NESTED: DataType = {
  kind: 'array',
  element: {
    kind: 'row',
    nullable: true,
    fields: [
      { id: 10, name: 'k', type: INT },
      { id: 11, name: 'v', type: STRING },
      { id: 12, name: 'w', type: STRING },
    ],
  },
  nullable: true,
}
const nested = (k: number, v: string | null = null, w: string | null = null) => ({ k, v, w })

t.test('nested tables: rows are added, or replaced by key, up to a limit', async (t) => {
  const groups = [adds([nested(1, 'a'), null], [nested(1, 'b'), nested(2)]), adds(null, [nested(1)])]
  const all = [[nested(1, 'a'), nested(1, 'b'), nested(2)], [nested(1)]]
  t.strictSame(fold('nested_update', { type: NESTED }, groups), all)
  t.strictSame(fold('nested_update', { type: NESTED, options: { 'count-limit': '2' } }, groups)[0], [
    nested(1, 'a'),
    nested(1, 'b'),
  ])
  const keyed = { type: NESTED, options: { 'nested-key': 'k' } }
  t.strictSame(fold('nested_update', keyed, groups), [[nested(1, 'b'), nested(2)], [nested(1)]])
  const back = [
    [ADD, [nested(1, 'a'), nested(2, 'b')]],
    [RETRACT, [nested(1, 'other')]],
  ] as const
  t.strictSame(fold('nested_update', keyed, [back]), [[nested(2, 'b')]])
  t.strictSame(fold('nested_update', { type: NESTED }, [back]), [[nested(1, 'a'), nested(2, 'b')]], 'none is equal')
  const partial = [adds([nested(1, 'a', 'x')], [nested(1, null, 'y'), nested(2, 'b')]), adds(null)]
  t.strictSame(fold('nested_partial_update', keyed, partial), [[nested(1, 'a', 'y'), nested(2, 'b')], null])
})

t.test('merge_map_with_keytime: the later time stands, a null value removes its key', async (t) => {
  const value: DataType = {
    kind: 'row',
    nullable: true,
    fields: [
      { id: 1, name: 'v', type: INT },
      { id: 2, name: 'ts', type: STRING },
    ],
  }
  const type: DataType = { kind: 'map', key: { kind: 'int', nullable: false }, value, nullable: true }
  const at = (v: number, ts: string | null) => ({ v, ts })
  const groups = [
    adds(
      [[1, at(1, '2')]],
      [
        [1, at(2, '1')],
        [2, at(3, '1')],
      ],
      [
        [1, at(4, '3')],
        [3, at(5, null)],
      ],
    ),
    adds(
      [
        [1, at(1, '2')],
        [2, at(1, '1')],
      ],
      [[1, null]],
    ),
  ]
  t.strictSame(fold('merge_map_with_keytime', { type }, groups), [
    [
      [1, at(4, '3')],
      [2, at(3, '1')],
    ],
    [[2, at(1, '1')]],
  ])
})

t.test('options that make no sense are refused, naming option and value', async (t) => {
  const fields: readonly Field[] = [
    { id: 0, name: 'k', type: { kind: 'int', nullable: false } },
    { id: 1, name: 'v', type: STRING },
    { id: 2, name: 's', type: INT },
  ]
  const refused = (options: Record<string, string>, option: string, code = 'INVALID') =>
    t.throws(
      () => mergeSpec({ fields, primaryKeys: ['k'], options }),
      { code, details: { option } },
      JSON.stringify(options),
    )
  const aggregation = { 'merge-engine': 'aggregation' }
  const partial = { 'merge-engine': 'partial-update' }
  refused({ ...aggregation, 'fields.v.aggregate-function': 'sum' }, 'fields.v.aggregate-function')
  refused({ ...aggregation, 'fields.v.aggregate-function': 'summ' }, 'fields.v.aggregate-function')
  refused({ ...aggregation, 'fields.v.aggregate-function': 'hll_sketch' }, 'fields.v.aggregate-function', 'UNSUPPORTED')
  refused(
    { ...aggregation, 'sequence.field': 's', 'fields.s.aggregate-function': 'sum' },
    'fields.s.aggregate-function',
  )
  refused({ ...aggregation, 'sequence.field': 'x' }, 'sequence.field')
  refused({ 'merge-engine': 'first-row', 'sequence.field': 's' }, 'sequence.field')
  refused({ ...partial, 'fields.v.aggregate-function': 'listagg' }, 'fields.v.aggregate-function')
  refused({ ...partial, 'fields.s.sequence-group': 'v,k' }, 'fields.s.sequence-group')
  refused({ ...partial, 'fields.s.sequence-group': 'x' }, 'fields.s.sequence-group')
  const onDelete = 'partial-update.remove-record-on-delete'
  refused({ ...partial, [onDelete]: 'true', 'ignore-delete': 'true' }, onDelete)
  refused({ ...partial, [onDelete]: 'true', 'fields.s.sequence-group': 'v' }, onDelete)
  const onGroup = 'partial-update.remove-record-on-sequence-group'
  refused({ ...partial, [onGroup]: 'v', 'fields.s.sequence-group': 'v' }, onGroup)
})

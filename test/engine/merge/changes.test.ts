import t from 'tap'
import { changesOf, type KeyRows } from '../../../engine/merge/changes.ts'
import type { Batch, FixedColumn } from '../../../formats/column/column.ts'
import type { Field } from '../../../formats/types/row-type.ts'
import { columnOf, valuesOf } from '../../support/flat-columns.ts'

const KIND = 2
const VALUES = [3, 4]
const KINDS = ['+I', '-U', '+U', '-D']

const fields: readonly Field[] = [
  { id: 0, name: '_KEY_k', type: { kind: 'int', nullable: false } },
  { id: 1, name: '_SEQUENCE_NUMBER', type: { kind: 'bigint', nullable: false } },
  { id: 2, name: '_VALUE_KIND', type: { kind: 'tinyint', nullable: false } },
  { id: 3, name: 'value', type: { kind: 'varchar', length: 10, nullable: true } },
  { id: 4, name: 'extra', type: { kind: 'double', nullable: true } },
]

interface SimpleRow {
  readonly key: number
  readonly sequence: number
  readonly kind: number
  readonly value: string
  readonly extra?: number
}

function rows(of: readonly SimpleRow[]): Batch {
  const values = of.map(({ key, sequence, kind, value, extra }) => [key, BigInt(sequence), kind, value, extra ?? null])
  const columns = fields.map(({ type }, index) =>
    columnOf(
      type,
      values.map((row) => row[index]!),
    ),
  )
  return { fields, rows: of.length, columns }
}

/** `+I 1 x @5`: kind, key, values, sequence number. */
function shown({ rows: count, columns }: Batch): readonly string[] {
  const [keys, sequences, kinds, ...values] = columns.map(valuesOf)
  return Array.from({ length: count }, (_, row) => {
    const shownValues = values.map((column) => column[row]).filter((value) => value !== null)
    return [KINDS[kinds![row] as number], keys![row], ...shownValues, `@${sequences![row]}`].join(' ')
  })
}

/** Rows of one batch, by position; null = the key has none. */
function side(batch: Batch, places: readonly (number | null)[]): KeyRows {
  return { inputs: [batch], source: new Uint16Array(places.length), row: Int32Array.from(places, (row) => row ?? -1) }
}

function changes(
  before: readonly (SimpleRow | null)[],
  after: readonly (SimpleRow | null)[],
  compared?: readonly number[],
): readonly string[] {
  const of = (given: readonly (SimpleRow | null)[]) => {
    const present = given.filter((row) => row !== null)
    let next = 0
    return side(
      rows(present),
      given.map((row) => (row === null ? null : next++)),
    )
  }
  return shown(changesOf(of(before), of(after), { kind: KIND, compared }))
}

const x: SimpleRow = { key: 1, sequence: 5, kind: 0, value: 'x' }
const y: SimpleRow = { key: 1, sequence: 9, kind: 0, value: 'y' }

t.test('each pair of rows gives the records of its line of the table', async (t) => {
  const gone: SimpleRow = { ...y, kind: 3, value: 'ignored' }
  const dedup = VALUES
  t.same(changes([null], [y]), ['+I 1 y @9'])
  t.same(changes([x], [y]), ['-U 1 x @5', '+U 1 y @9'], 'each record keeps its own sequence number')
  t.same(changes([x], [{ ...x, sequence: 9 }]), ['-U 1 x @5', '+U 1 x @9'], 'an update to the same is an update')
  t.same(changes([x], [{ ...x, sequence: 9 }], dedup), [], 'but not where equal rows are left out')
  t.same(changes([x], [y], dedup), ['-U 1 x @5', '+U 1 y @9'])
  t.same(changes([x], [null]), ['-D 1 x @5'])
  t.same(changes([x], [gone]), ['-D 1 x @5'], 'a delete tells the old values')
  t.same(changes([x], [gone], dedup), ['-D 1 x @5'])
  t.same(changes([null], [gone]), [], 'a delete of nothing tells nothing')
  t.same(changes([null], [null]), [])
  t.same(changes([gone], [x]), ['+I 1 x @5'], 'a row that retracts is no row')
  t.same(changes([gone], [gone]), [])
  t.same(changes([x], [{ ...y, kind: 2 }]), ['-U 1 x @5', '+U 1 y @9'], '+U adds as +I does')
  t.same(changes([{ ...x, kind: 1 }], [{ ...y, kind: 2 }]), ['+I 1 y @9'])
})

t.test('columns that are not compared make no change', async (t) => {
  const other: SimpleRow = { ...x, sequence: 9, extra: 7 }
  t.same(changes([x], [other], VALUES), ['-U 1 x @5', '+U 1 x 7 @9'])
  t.same(changes([x], [other], [3]), [])
})

t.test('records come in the order of the keys', async (t) => {
  const at = (key: number, value: string): SimpleRow => ({ key, sequence: key, kind: 0, value })
  t.same(
    changes([at(1, 'a'), null, at(3, 'c'), null, at(5, 'e')], [at(1, 'b'), at(2, 'n'), null, null, at(5, 'e')], VALUES),
    ['-U 1 a @1', '+U 1 b @1', '+I 2 n @2', '-D 3 c @3'],
  )
})

t.test('rows come out of several batches on either side', async (t) => {
  const first = rows([x, { ...x, key: 2 }])
  const second = rows([{ ...y, key: 2 }, y])
  const before = { inputs: [first, second], source: Uint16Array.of(0, 1), row: Int32Array.of(0, 0) }
  const after = { inputs: [second, first], source: Uint16Array.of(0, 1), row: Int32Array.of(1, 1) }
  t.same(shown(changesOf(before, after, { kind: KIND, compared: undefined })), [
    '-U 1 x @5',
    '+U 1 y @9',
    '-U 2 y @9',
    '+U 2 x @5',
  ])
})

t.test('no keys, no records', async (t) => {
  const nothing = side(rows([]), [])
  t.equal(changesOf(nothing, nothing, { kind: KIND, compared: undefined }).rows, 0)
})

t.test('the rows given stay as they were', async (t) => {
  const batch = rows([x])
  changesOf(side(batch, [0]), side(rows([y]), [0]), { kind: KIND, compared: undefined })
  t.equal((batch.columns[KIND] as FixedColumn).values[0], 0)
})

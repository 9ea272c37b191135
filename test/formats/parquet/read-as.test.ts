import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { DataType } from '../../../formats/types/row-type.ts'
import { goldenTable } from '../../support/golden.ts'
import { fixtureBytes, openBytes, rowsOf } from './support.ts'

const nullable = true
const numbers = fixtureBytes('numbers')

function read(bytes: Uint8Array, column: string, type: DataType): unknown[] {
  return rowsOf(openBytes(bytes), { columns: [column], types: [type] }).map((row) => row[column])
}

t.test('the same kind of value is read from any physical form', async (t) => {
  const decimals = fixtureBytes('decimals_as_integers')
  for (const [column, precision, scale] of [
    ['dec9', 9, 2],
    ['dec18', 18, 2],
    ['dec38', 38, 3],
  ] as const) {
    const type: DataType = { kind: 'decimal', precision, scale, nullable }
    t.strictSame(read(decimals, column, type), read(numbers, column, type), `${column} as integer and as bytes`)
  }
  const wider: DataType = { kind: 'decimal', precision: 30, scale: 2, nullable }
  t.strictSame(read(numbers, 'dec9', wider), ['-1234567.89', '0.01', null])
  t.strictSame(read(decimals, 'dec18', wider), ['-1234567890123456.78', '0.01', null])
})

t.test('times come in the unit of the precision asked for, rounded down when it is coarser', async (t) => {
  const at = (precision: number): DataType => ({ kind: 'timestamp', precision, nullable })
  const nanos = ['1969-12-31T23:59:59.999999999', '2023-11-14T22:13:20.123456789', null]
  for (const precision of [9, 6, 3]) {
    const expected = nanos.map((text) => text?.slice(0, 20 + precision) ?? null)
    t.strictSame(read(numbers, 'tns', at(precision)), expected, `INT64 nanoseconds to ${precision}`)
    const int96 = read(fixtureBytes('int96'), 't', at(precision))
    t.strictSame([int96[0], int96[1], int96[3]], [expected[0], null, expected[1]], `INT96 to ${precision}`)
  }
  const flat = fixtureBytes('flat_v1_plain')
  const millis = read(flat, 'ms', at(3)) as (string | null)[]
  t.strictSame(
    read(flat, 'ms', at(6)),
    millis.map((text) => text && `${text}000`),
  )
  t.strictSame(
    read(flat, 'ms', at(9)),
    millis.map((text) => text && `${text}000000`),
  )
})

t.test('what does not fit is UNSUPPORTED, never cut', async (t) => {
  const UNSUPPORTED = { name: 'FormatError', code: 'UNSUPPORTED' }
  const refuse = (column: string, type: DataType): unknown =>
    t.throws(() => read(numbers, column, type), UNSUPPORTED, `${column} as ${type.kind}`)
  refuse('u8', { kind: 'tinyint', nullable })
  refuse('u32', { kind: 'int', nullable })
  refuse('t64', { kind: 'time', precision: 3, nullable })
  refuse('dec9', { kind: 'decimal', precision: 9, scale: 3, nullable })
  refuse('dec9', { kind: 'int', nullable })
  refuse('t32', { kind: 'varchar', length: 9, nullable })
  refuse('u8', { kind: 'array', element: { kind: 'int', nullable }, nullable })
  t.throws(() => read(fixtureBytes('nested_v1'), 'll', { kind: 'int', nullable }), UNSUPPORTED)
})

t.test('fields of rows are found by name: fewer, in another order, or missing', async (t) => {
  const bytes = fixtureBytes('nested_v2')
  const int: DataType = { kind: 'int', nullable }
  const whole = rowsOf(openBytes(bytes)).map((row) => row.r as { a: unknown } | null)
  const missing = { id: 9, name: 'new', type: int }
  const some: DataType = { kind: 'row', nullable, fields: [missing, { id: 1, name: 'a', type: int }] }
  t.strictSame(
    read(bytes, 'r', some),
    whole.map((row) => row && { new: null, a: row.a }),
  )
  const none: DataType = { kind: 'row', nullable, fields: [missing] }
  const file = openBytes(bytes)
  const footer = file.bytesRead
  const rows = rowsOf(file, { columns: ['r'], types: [none] })
  t.strictSame(
    rows,
    whole.map((row) => ({ r: row && { new: null } })),
  )
  t.ok(file.bytesRead - footer < 3000, 'one leaf is read, for the nulls')
})

t.test('VARIANT is a row of value and metadata', async (t) => {
  const folder = join(goldenTable('types_variant'), 'bucket-0')
  const name = readdirSync(folder).find((each) => each.endsWith('.parquet'))!
  const file = openBytes(new Uint8Array(readFileSync(join(folder, name))))
  const inferred = rowsOf(file, { columns: ['j'] }).map((row) => row.j)
  t.equal(inferred.at(-1), null)
  t.match(inferred[0], { value: /^[A-Za-z0-9+/=]+$/, metadata: /^AQ/ })
})

import type { Test } from 'tap'
import type { DataType } from '../../formats/types/row-type.ts'
import type { Json } from './support/json-lines.ts'
import { roundFloats, toJson } from './support/values.ts'

const nullable = true

/** Type, value of the API, its JSON. The texts are the oracle's own, from golden tables where they have them. */
const table: readonly (readonly [DataType, unknown, Json])[] = [
  [{ kind: 'int', nullable }, null, null],
  [{ kind: 'int', nullable }, undefined, null],
  [{ kind: 'bigint', nullable }, -9223372036854775808n, '-9223372036854775808'],
  [{ kind: 'bigint', nullable }, 7, '7'],
  [{ kind: 'float', nullable }, 0.1, Math.fround(0.1)],
  [{ kind: 'double', nullable }, Number.NaN, 'NaN'],
  [{ kind: 'double', nullable }, Number.NEGATIVE_INFINITY, '-Infinity'],
  [{ kind: 'decimal', precision: 5, scale: 2, nullable }, '1.50', '1.50'],
  [{ kind: 'varbinary', length: 10, nullable }, new Uint8Array([0, 255]), 'AP8='],
  [{ kind: 'date', nullable }, 19782, '2024-02-29'],
  [{ kind: 'date', nullable }, -1, '1969-12-31'],
  [{ kind: 'date', nullable }, -719528, '0000-01-01'],
  [{ kind: 'date', nullable }, -719529, '-0001-12-31'],
  [{ kind: 'date', nullable }, 2932897, '+10000-01-01'],
  [{ kind: 'date', nullable }, new Date('2024-02-29'), '2024-02-29'],
  [{ kind: 'time', precision: 3, nullable }, 45_296_789, '12:34:56.789'],
  [{ kind: 'time', precision: 0, nullable }, 45_296_000, '12:34:56'],
  [{ kind: 'time', precision: 0, nullable }, 45_296_700, '12:34:56.700'],
  [{ kind: 'time', precision: 9, nullable }, 0, '00:00:00.000'],
  [{ kind: 'timestamp', precision: 3, nullable }, -1n, '1969-12-31T23:59:59.999'],
  [{ kind: 'timestamp', precision: 0, nullable }, 1_709_164_800_000n, '2024-02-29T00:00:00'],
  [{ kind: 'timestamp', precision: 6, nullable }, -1n, '1969-12-31T23:59:59.999999'],
  [{ kind: 'timestamp', precision: 9, nullable }, 1_709_164_800_123_456_789n, '2024-02-29T00:00:00.123456789'],
  [{ kind: 'timestamp_ltz', precision: 6, nullable }, new Date(0), '1970-01-01T00:00:00.000000Z'],
  [{ kind: 'array', element: { kind: 'bigint', nullable }, nullable }, [1n, null], ['1', null]],
  [
    { kind: 'map', key: { kind: 'int', nullable: false }, value: { kind: 'date', nullable }, nullable },
    [[1, 0]],
    [[1, '1970-01-01']],
  ],
  [
    { kind: 'row', fields: [{ id: 0, name: 'x', type: { kind: 'bigint', nullable } }], nullable },
    { x: 2n },
    { x: '2' },
  ],
]

/** The notation in which rows of two engines are compared says what it should. */
export async function checkValues(t: Test): Promise<void> {
  await t.test('values of the API in the notation of the oracle', async (t) => {
    for (const [type, value, json] of table)
      t.strictSame(toJson(type, value), json, `${type.kind} ${JSON.stringify(json)}`)
  })

  await t.test('FLOATs printed with different digits compare equal', async (t) => {
    const fields = [
      { id: 0, name: 'f', type: { kind: 'array', element: { kind: 'float', nullable }, nullable } },
    ] as const
    t.strictSame(roundFloats(fields, { f: [0.1, 'NaN'] }), roundFloats(fields, { f: [0.10000000149011612, 'NaN'] }))
  })
}

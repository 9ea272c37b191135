import tap from 'tap'
import type { AnyTableDefinition, TableDefinition } from '../../engine/api/definition.ts'
import { type InputRow, type KeyOf, type Projection, type RowOf, t } from '../../engine/api/fields.ts'

// The compiler proves this file (`npm run types`): each `Expect` fails to compile when its two types differ.

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Expect<T extends true> = T

const fields = {
  id: t.bigint(),
  region: t.varchar(8),
  n: t.bigint({ mode: 'number' }).nullable(),
  price: t.decimal(10, 2).comment('net'),
  day: t.date(),
  born: t.date({ mode: 'date' }).nullable(),
  at: t.timestamp(3),
  seen: t.timestampLtz(3, { mode: 'date' }).default('1970-01-01').nullable(),
  ok: t.boolean().nullable(),
  raw: t.bytes(),
  tags: t.array(t.string().nullable()),
  counts: t.map(t.string(), t.int()).nullable(),
  place: t.row({ x: t.double(), y: t.double().nullable() }),
}

type Row = RowOf<typeof fields>
type Input = InputRow<typeof fields>

interface ExpectedRow {
  id: bigint
  region: string
  n: number | null
  price: string
  day: number
  born: Date | null
  at: bigint
  seen: Date | null
  ok: boolean | null
  raw: Uint8Array
  tags: (string | null)[]
  counts: [string, number][] | null
  place: { x: number; y: number | null }
}

interface ExpectedInput {
  readonly id: bigint
  readonly region: string
  readonly n?: number | null | undefined
  readonly price: string
  readonly day: number | Date
  readonly born?: Date | null | undefined
  readonly at: bigint | Date
  readonly seen?: Date | null | undefined
  readonly ok?: boolean | null | undefined
  readonly raw: Uint8Array
  readonly tags: readonly (string | null)[]
  readonly counts?: readonly (readonly [string, number])[] | null | undefined
  readonly place: { readonly x: number; readonly y?: number | null | undefined }
}

export type Proofs = [
  Expect<Equal<{ [K in keyof Row]: Row[K] }, { [K in keyof ExpectedRow]: ExpectedRow[K] }>>,
  Expect<Equal<{ [K in keyof Input]: Input[K] }, { [K in keyof ExpectedInput]: ExpectedInput[K] }>>,
  Expect<Equal<KeyOf<typeof fields, readonly ['id']>, { readonly id: bigint } | bigint>>,
  Expect<Equal<KeyOf<typeof fields, readonly ['region', 'id']>, { readonly region: string; readonly id: bigint }>>,
  Expect<Equal<KeyOf<typeof fields, readonly ['day']>, { readonly day: number | Date } | number | Date>>,
  Expect<Equal<Projection<typeof fields, readonly ['id', 'born']>, Pick<Row, 'id' | 'born'>>>,
]

type Definition = TableDefinition<typeof fields, readonly ['region', 'id']>

tap.test('definitions are checked by the compiler', (tt) => {
  const definition: Definition = {
    fields,
    primaryKey: ['region', 'id'],
    partitionBy: ['region'],
    options: { bucket: 4 },
  }
  const any: AnyTableDefinition = definition
  tt.equal(any.fields, fields)

  // @ts-expect-error a nullable column is no key
  const nullableKey: TableDefinition<typeof fields, readonly ['n']> = { fields, primaryKey: ['n'] }
  const loose = { fields, primaryKey: ['id'] as const }
  // @ts-expect-error a partition column must be in the primary key
  const outside: TableDefinition<typeof fields, readonly ['id']> = { ...loose, partitionBy: ['region'] }
  tt.ok(nullableKey)
  tt.ok(outside)

  const row = { id: 1n, region: 'eu', price: '1.00', day: 0, at: 0n, raw: new Uint8Array(), tags: [], place: { x: 1 } }
  const input: Input = row
  // @ts-expect-error region is missing
  const partial: Input = { ...row, region: undefined }
  // @ts-expect-error a BIGINT is no number
  const wrong: Input = { ...row, id: 1 }
  // @ts-expect-error not a column
  const extra: Input = { ...row, nope: 1 }
  tt.ok([input, partial, wrong, extra])
  tt.end()
})

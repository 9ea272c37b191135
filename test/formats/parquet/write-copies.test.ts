import t from 'tap'
import type { Batch, Column } from '../../../formats/column/column.ts'
import { createParquetWriter } from '../../../formats/parquet/file-write.ts'
import type { DataType, Field } from '../../../formats/types/row-type.ts'
import { codecs } from './support.ts'
import { columnOf, options, type Value } from './write-support.ts'

const bigint: DataType = { kind: 'bigint', nullable: false }
const text: DataType = { kind: 'varchar', length: 100, nullable: false }
const decimal: DataType = { kind: 'decimal', precision: 30, scale: 2, nullable: false }
const kinds: readonly [string, DataType, (i: number) => Value][] = [
  ['numbers', bigint, (i) => BigInt(i) * 3n],
  ['text that repeats', text, (i) => `k${i % 40}`],
  ['text', text, (i) => `key ${i}`],
  ['wide decimals', decimal, (i) => BigInt(i) << 70n],
]

function fieldsOf(type: DataType, copy: DataType = type): readonly Field[] {
  return [
    { id: 0, name: 'key', type },
    { id: 1, name: 'between', type: { kind: 'int', nullable: true } },
    { id: 2, name: 'copy', type: copy },
  ]
}

const between = columnOf(
  { kind: 'int', nullable: true },
  Array.from({ length: 5000 }, (_, i) => i % 7),
)

function write(fields: readonly Field[], columns: readonly Column[], copyOf: ReadonlyMap<number, number> | undefined) {
  const parts: Uint8Array[] = []
  const sink = { write: (bytes: Uint8Array) => void parts.push(bytes.slice()) }
  const writer = createParquetWriter(sink, fields, codecs, { ...options, pageRows: 900, rowGroupBytes: 60_000 }, copyOf)
  const batch: Batch = { fields, rows: columns[0]!.length, columns }
  writer.write(batch)
  const estimate = writer.estimatedBytes
  writer.write(batch)
  return { result: writer.finish(), estimate, bytes: Buffer.concat(parts) }
}

t.test('a file with shared pages is byte for byte the one without', (t) => {
  for (const [name, type, value] of kinds) {
    const key = columnOf(
      type,
      Array.from({ length: 5000 }, (_, i) => value(i)),
    )
    const other = columnOf(
      type,
      Array.from({ length: 5000 }, (_, i) => value(i)),
    )
    const apart = write(fieldsOf(type), [key, between, key], undefined)
    for (const copy of [key, other]) {
      const shared = write(fieldsOf(type), [key, between, copy], new Map([[2, 0]]))
      t.ok(shared.bytes.equals(apart.bytes), name)
      t.same(shared.result, apart.result)
      t.equal(shared.estimate, apart.estimate)
    }
  }
  t.end()
})

t.test('pages are not shared where they would differ', (t) => {
  const key = columnOf(
    bigint,
    Array.from({ length: 5000 }, (_, i) => BigInt(i)),
  )
  const fields = fieldsOf(bigint, { ...bigint, nullable: true })
  const shared = write(fields, [key, between, key], new Map([[2, 0]]))
  t.ok(shared.bytes.equals(write(fields, [key, between, key], undefined).bytes))
  t.end()
})

t.test('a copy that holds something else is refused', (t) => {
  for (const [name, type, value] of kinds) {
    const values = Array.from({ length: 5000 }, (_, i) => value(i))
    const key = columnOf(type, values)
    const wrong = columnOf(
      type,
      values.map((same, i) => (i === 4999 ? value(7) : same)),
    )
    t.throws(
      () => write(fieldsOf(type), [key, between, wrong], new Map([[2, 0]])),
      {
        code: 'CORRUPT',
        message: /column copy does not hold what key does, in rows 0 to 5000/,
      },
      name,
    )
  }
  t.end()
})

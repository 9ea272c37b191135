import { createColumnBuilder } from '../../../formats/column/builder.ts'
import type { ColumnBuilder } from '../../../formats/column/builder-memory.ts'
import { BytesBuilder } from '../../../formats/column/bytes-builder.ts'
import type { Column } from '../../../formats/column/column.ts'
import { FixedBuilder, WideBuilder } from '../../../formats/column/fixed-builders.ts'
import { ListBuilder, MapBuilder, RowBuilder } from '../../../formats/column/nested-builders.ts'
import type { DataType, Field } from '../../../formats/types/row-type.ts'

/** Small deterministic generator; the same seed gives the same run everywhere. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** A value of a column as plain JS, for comparison: numbers, bigints, hex of bytes, arrays, null. */
export type Plain = null | number | bigint | string | readonly Plain[] | readonly (readonly [Plain, Plain])[]

export function plainAt(column: Column, row: number): Plain {
  if (column.valid !== undefined && column.valid[row] === 0) return null
  switch (column.kind) {
    case 'fixed':
      return column.values[row]!
    case 'wide':
      return (column.values[row * 2 + 1]! << 64n) | BigInt.asUintN(64, column.values[row * 2]!)
    case 'bytes':
      return Buffer.from(column.data.subarray(column.offsets[row]!, column.offsets[row + 1]!)).toString('hex')
    case 'list':
      return range(column.offsets[row]!, column.offsets[row + 1]!).map((i) => plainAt(column.child, i))
    case 'map':
      return range(column.offsets[row]!, column.offsets[row + 1]!).map(
        (i) => [plainAt(column.keys, i), plainAt(column.values, i)] as const,
      )
    case 'row':
      return column.children.map((child) => plainAt(child, row))
  }
}

export function plain(column: Column): readonly Plain[] {
  return range(0, column.length).map((row) => plainAt(column, row))
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i)
}

/** A random column of a type, with nulls where the type allows them. */
export function randomColumn(type: DataType, rows: number, random: () => number): Column {
  const builder = createColumnBuilder(type)
  for (let i = 0; i < rows; i++) pushRandom(type, builder, random)
  return builder.view()
}

const kinds = (nullable: boolean) =>
  ({
    boolean: { kind: 'boolean', nullable },
    tinyint: { kind: 'tinyint', nullable },
    smallint: { kind: 'smallint', nullable },
    int: { kind: 'int', nullable },
    bigint: { kind: 'bigint', nullable },
    float: { kind: 'float', nullable },
    double: { kind: 'double', nullable },
    decimal9: { kind: 'decimal', precision: 9, scale: 2, nullable },
    decimal38: { kind: 'decimal', precision: 38, scale: 10, nullable },
    date: { kind: 'date', nullable },
    timestamp3: { kind: 'timestamp', precision: 3, nullable },
    timestamp9: { kind: 'timestamp_ltz', precision: 9, nullable },
    string: { kind: 'varchar', length: 2147483647, nullable },
    binary: { kind: 'varbinary', length: 20, nullable },
  }) as const satisfies Record<string, DataType>

export const flatTypes: readonly DataType[] = Object.values(kinds(true))
export const keyTypes: readonly DataType[] = Object.values(kinds(false))
const nestedTypes: readonly DataType[] = [
  { kind: 'array', element: kinds(true).string, nullable: true },
  { kind: 'array', element: { kind: 'array', element: kinds(true).bigint, nullable: true }, nullable: false },
  { kind: 'map', key: kinds(false).string, value: kinds(true).decimal38, nullable: true },
  {
    kind: 'row',
    nullable: true,
    fields: [
      { id: 10, name: 'a', type: kinds(true).int },
      { id: 11, name: 'b', type: { kind: 'array', element: kinds(true).tinyint, nullable: true } },
    ],
  },
]
export const allTypes: readonly DataType[] = [...flatTypes, ...nestedTypes]

export function fieldsOf(types: readonly DataType[]): readonly Field[] {
  return types.map((type, id) => ({ id, name: `c${id}`, type }))
}

function pushRandom(type: DataType, builder: ColumnBuilder, random: () => number): void {
  if (type.nullable && random() < 0.2) {
    builder.appendNull()
    return
  }
  const small = () => Math.floor(random() * 4)
  if (builder instanceof FixedBuilder) {
    if (type.kind === 'bigint' || type.kind === 'decimal' || type.kind.startsWith('timestamp')) {
      const sizes = [8n, 33n, 64n]
      builder.pushBigInt(
        BigInt.asIntN(
          Number(sizes[small() % 3]),
          (BigInt(Math.floor(random() * 2 ** 32)) << 32n) | BigInt(Math.floor(random() * 2 ** 32)),
        ),
      )
    } else if (type.kind === 'boolean') builder.pushNumber(small() & 1)
    else if (type.kind === 'float' || type.kind === 'double')
      builder.pushNumber(Math.fround((random() - 0.5) * 10 ** small()))
    else builder.pushNumber(Math.floor(random() * 2 ** 32) >> (small() * 8))
  } else if (builder instanceof WideBuilder) {
    const words = [0, 1, 2, 3].map(() => BigInt(Math.floor(random() * 2 ** 32)))
    const value = words.reduce((sum, word) => (sum << 32n) | word, 0n)
    builder.push(BigInt.asIntN([8, 64, 70, 128][small()]!, value))
  } else if (builder instanceof BytesBuilder) {
    const texts = ['', 'a', 'a\0', 'ab', '\uffff', '\u{10000}', 'é', '日本', 'shared-prefix-']
    const text = texts[Math.floor(random() * texts.length)]! + texts[Math.floor(random() * texts.length)]!
    if (type.kind === 'varbinary')
      builder.push(new Uint8Array([0, 0x7f, 0x80, 0xff].slice(0, small() + 1).sort(() => random() - 0.5)))
    else builder.pushText(random() < 0.1 ? text.repeat(20) : text)
  } else if (builder instanceof ListBuilder && type.kind === 'array') {
    for (let n = small(); n > 0; n--) pushRandom(type.element, builder.child, random)
    builder.endRow()
  } else if (builder instanceof MapBuilder && type.kind === 'map') {
    for (let n = small(); n > 0; n--) {
      pushRandom(type.key, builder.keys, random)
      pushRandom(type.value, builder.values, random)
    }
    builder.endRow()
  } else if (builder instanceof RowBuilder && type.kind === 'row') {
    type.fields.forEach((field, index) => {
      pushRandom(field.type, builder.children[index]!, random)
    })
    builder.endRow()
  }
}

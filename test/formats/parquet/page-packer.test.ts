import t from 'tap'
import { codecNumber } from '../../../formats/parquet/chunk-metadata.ts'
import type { DataType, Field } from '../../../formats/types/row-type.ts'
import { openBytes, rowsOf } from './support.ts'
import { batchOf, expectedRows, writeFile } from './write-support.ts'

const double: DataType = { kind: 'double', nullable: true }
const fields: readonly Field[] = [
  { id: 0, name: 'k', type: { kind: 'bigint', nullable: false } },
  { id: 1, name: 'noise', type: double },
  { id: 2, name: 'mixed', type: double },
]

/** A double whose low 48 bits no codec can shrink; every ninth is null. */
function noise(i: number): number | null {
  return i % 9 === 4
    ? null
    : 1 + (Math.imul(i + 1, 0x9e3779b1) >>> 0) / 2 ** 32 + (Math.imul(i, 0x85ebca6b) >>> 0) / 2 ** 52
}

t.test('columns that do not shrink are stored as they are, until pages come that do', (t) => {
  const rows = 40_000
  const at = <T>(make: (i: number) => T): T[] => Array.from({ length: rows }, (_, i) => make(i))
  const batch = batchOf(fields, {
    k: at((i) => BigInt(i)),
    noise: at(noise),
    mixed: at((i) => (i < 3_000 ? noise(i) : i % 500)),
  })
  const { bytes, result } = writeFile(fields, [batch], { dictionary: false, pageRows: 1000 })
  const file = openBytes(bytes)
  const { columns } = file.metadata.rowGroups[0]!
  t.same(
    columns.map(({ metaData }) => metaData!.codec),
    ['zstd', 'none', 'zstd'].map((name) => codecNumber(name as 'zstd' | 'none')),
  )
  const mixed = columns[2]!.metaData!
  t.ok(mixed.totalCompressedSize < mixed.totalUncompressedSize / 4)
  t.equal(result.bytes, bytes.length)
  t.same(rowsOf(file), expectedRows([batch]))
  t.end()
})

t.test('numbers of 30 bits in 64: deltas, where they come out smaller', (t) => {
  const rows = 5000
  const values = Array.from({ length: rows }, (_, i) => BigInt(Math.imul(i, 0x9e3779b1) >>> 2))
  const wide: readonly Field[] = [{ id: 0, name: 'a', type: { kind: 'bigint', nullable: false } }]
  const batch = batchOf(wide, { a: values })
  const { bytes } = writeFile(wide, [batch])
  t.ok(bytes.length < rows * 4.3, `${bytes.length} bytes`)
  t.same(rowsOf(openBytes(bytes)), expectedRows([batch]))
  t.end()
})

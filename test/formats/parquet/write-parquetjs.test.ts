import { createRequire } from 'node:module'
import t from 'tap'
import type { DataType, Field } from '../../../formats/types/row-type.ts'
import { MAX_LENGTH } from '../../../formats/types/row-type.ts'
import { batchOf, writeFile } from './write-support.ts'

interface ParquetReader {
  getCursor(): { next(): Promise<Record<string, unknown> | null> }
  close(): Promise<void>
}

/** CommonJS without types; what it cannot do (zstd, int64 past 2^53, dictionaries of its own) is not asked of it. */
const { ParquetReader } = createRequire(import.meta.url)('parquetjs-lite') as {
  readonly ParquetReader: { openBuffer(buffer: Buffer): Promise<ParquetReader> }
}

const text: DataType = { kind: 'varchar', length: MAX_LENGTH, nullable: true }
const fields: readonly Field[] = [
  { id: 0, name: 'i', type: { kind: 'int', nullable: false } },
  { id: 1, name: 'l', type: { kind: 'bigint', nullable: false } },
  { id: 2, name: 's', type: text },
  { id: 3, name: 'b', type: { kind: 'boolean', nullable: false } },
  { id: 4, name: 'd', type: { kind: 'double', nullable: true } },
  { id: 5, name: 'few', type: text },
]
const ROWS = 1500
const rows = Array.from({ length: ROWS }, (_, i) => ({
  i: i - 700,
  l: BigInt(Number.MAX_SAFE_INTEGER) - BigInt(Math.abs(Math.imul(i, Math.imul(i, 2654435761)))),
  s: i % 7 === 0 ? null : `text ${i} \u{1f600} é`,
  b: i % 3 === 0,
  d: i % 5 === 0 ? null : i / 7,
  few: i % 2 === 0 ? 'even' : null,
}))

for (const compression of ['none', 'snappy'] as const) {
  for (const pageRows of [20_000, 200]) {
    t.test(`parquetjs-lite reads what we write: ${compression}, pages of ${pageRows} rows`, async (t) => {
      const columns = Object.fromEntries(
        fields.map(({ name }) => [name, rows.map((row) => row[name as keyof typeof row])]),
      )
      const { bytes } = writeFile(fields, [batchOf(fields, columns)], { compression, pageRows })
      const reader = await ParquetReader.openBuffer(Buffer.from(bytes))
      const cursor = reader.getCursor()
      for (const row of rows) {
        const read = await cursor.next()
        const given = { ...row, l: Number(row.l) }
        for (const { name } of fields) {
          const raw = read?.[name] ?? null
          const value = name === 'l' ? Number(raw) : raw
          if (value !== given[name as keyof typeof given]) {
            t.fail(`row ${row.i}, ${name}: ${String(value)} instead of ${String(given[name as keyof typeof given])}`)
            return
          }
        }
      }
      t.equal(await cursor.next(), null, `${ROWS} rows, no more`)
      await reader.close()
    })
  }
}

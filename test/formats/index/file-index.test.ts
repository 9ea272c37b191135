import { readFileSync } from 'node:fs'
import tap from 'tap'
import type { Scalar } from '../../../formats/column/column.ts'
import { type FileIndex, indexMightContain, readFileIndex } from '../../../formats/index/file-index.ts'
import { parseType } from '../../../formats/types/parse.ts'
import type { DataType } from '../../../formats/types/row-type.ts'
import { dumpBytes, pageBlock } from '../../support/format-page.ts'

interface Described {
  readonly column: string
  readonly type: string
  readonly values: readonly (number | string | { readonly text?: string; readonly hex?: string })[]
}

const bytes = dumpBytes(pageBlock('file-index.md', 'hex index'))
const columns: readonly Described[] = JSON.parse(pageBlock('file-index.md', 'json values'))

function scalarOf(value: Described['values'][number]): Scalar {
  if (typeof value === 'number') return value
  if (typeof value === 'string') return BigInt(value)
  return value.text === undefined ? Buffer.from(value.hex ?? '', 'hex') : Buffer.from(value.text)
}

function scalar(type: DataType, n: number): Scalar {
  switch (type.kind) {
    case 'bigint':
    case 'timestamp':
    case 'timestamp_ltz':
      return BigInt(n) * 1_000_003n
    case 'varchar':
    case 'varbinary':
      return Buffer.from(`absent ${n}`)
    default:
      return n
  }
}

function falsePositives(index: FileIndex, column: string, type: DataType): number {
  let found = 0
  for (let n = 1000; n < 2000; n++) if (indexMightContain(index, column, type, scalar(type, n))) found++
  return found
}

tap.test('a file index of Paimon holds all values of every type and few others', (t) => {
  const index = readFileIndex(bytes)
  t.strictSame([...index.keys()].sort(), columns.map((column) => column.column).sort())
  for (const { column, type, values } of columns) {
    const parsed = parseType(type)
    for (const value of values) {
      t.ok(indexMightContain(index, column, parsed, scalarOf(value)), `${column} may hold ${JSON.stringify(value)}`)
    }
    const found = falsePositives(index, column, parsed)
    t.ok(found <= 20, `${column}: ${found} of 1000 absent values pass`)
    if (values.length === 0) t.equal(found, 0, `${column}: a filter without bits holds nothing`)
  }
  t.end()
})

tap.test('indexes of the golden tables, in the manifest and in a file of their own', (t) => {
  const golden = new URL('../../golden/', import.meta.url)
  const text = parseType('STRING')
  for (const name of ['file_index', 'file_index_file']) {
    const entries = JSON.parse(readFileSync(new URL(`expect/${name}/entries.json`, golden), 'utf8'))
    t.equal(entries.length, 2)
    for (const { level, embeddedIndex, extraFiles } of entries) {
      const folder = new URL(`warehouse/golden.db/${name}/bucket-0/`, golden)
      const index = readFileIndex(
        embeddedIndex === null ? readFileSync(new URL(extraFiles[0], folder)) : Buffer.from(embeddedIndex, 'hex'),
      )
      const stored = level === 0 ? ['u', 's2'] : ['s1', 's2', 's3', 's5', 's19']
      for (const value of stored) t.ok(indexMightContain(index, 's', text, Buffer.from(value)), `${name} ${value}`)
      if (level === 0) t.notOk(indexMightContain(index, 's', text, Buffer.from('s1')), 's1 is in the other file only')
      t.ok(falsePositives(index, 's', text) < 200)
      t.ok(indexMightContain(index, 'id', parseType('INT'), 10_000), 'a bitmap index is not read and proves nothing')
      t.ok(indexMightContain(index, 'd', parseType('DOUBLE'), 0.5), 'neither does no index')
    }
  }
  t.end()
})

tap.test('a column without any value holds none', (t) => {
  const empty = new Uint8Array(bytes)
  // The first column is `nul`; its start becomes -1.
  const start = Buffer.from(empty.buffer).indexOf('bloom-filter') + 'bloom-filter'.length
  empty.fill(0xff, start, start + 4)
  t.notOk(indexMightContain(readFileIndex(empty), 'nul', parseType('INT'), 1))
  t.end()
})

tap.test('types without a bloom filter hash are never passed by', (t) => {
  const index = readFileIndex(bytes)
  t.ok(indexMightContain(index, 'nul', parseType('DECIMAL(10, 2)'), 1n))
  t.end()
})

tap.test('damage is found, whatever byte it hits', (t) => {
  for (let length = 0; length < bytes.length; length++) {
    t.throws(() => readFileIndex(bytes.subarray(0, length)), { code: 'CORRUPT' }, `cut to ${length} bytes`)
  }
  const damaged: readonly (readonly [string, number, number, string])[] = [
    ['magic', 0, 1, 'CORRUPT'],
    ['version', 11, 2, 'UNSUPPORTED'],
    ['head length beyond the end', 12, 0x7f, 'CORRUPT'],
    ['column count', 16, 0x7f, 'CORRUPT'],
    ['name length', 20, 0xff, 'CORRUPT'],
    ['name text', 22, 0xff, 'CORRUPT'],
    ['number of hash functions', 0x203, 0x7f, 'CORRUPT'],
  ]
  for (const [what, offset, value, code] of damaged) {
    const copy = new Uint8Array(bytes)
    copy[offset] = value
    t.throws(() => readFileIndex(copy), { code }, what)
  }
  t.end()
})

import { readFileSync } from 'node:fs'
import tap from 'tap'
import type { Scalar } from '../../../formats/column/column.ts'
import { encodeRow, serializeRow, serializeRowAt } from '../../../formats/row/binary-row.ts'
import { hashColumns, hashRow } from '../../../formats/row/hash.ts'
import { parseType } from '../../../formats/types/parse.ts'
import type { DataType } from '../../../formats/types/row-type.ts'
import { kernelScalar } from '../../../tools/kernel/rows.ts'
import { columnOf } from '../../support/flat-columns.ts'

interface KernelRow {
  readonly types: readonly string[]
  readonly values: readonly unknown[]
  readonly bytes: string
  readonly hash: number
}

const cases: KernelRow[] = readFileSync(new URL('../../golden/kernel/rows.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

tap.test('rows written straight from columns have the bytes and the hash of Paimon', (t) => {
  const wrong: unknown[] = []
  for (const { types: texts, values, bytes, hash } of cases) {
    const types = texts.map((text) => parseType(text))
    // A second row before it, so that no index is zero by chance.
    const columns = types.map((type, i) => columnOf(type, [null, kernelScalar(type, values[i])]))
    const hex = Buffer.from(serializeRowAt(types, columns, 1)).toString('hex')
    if (hex !== bytes) wrong.push({ texts, values, hex, bytes })
    if (hashColumns(types, columns, 2)[1] !== hash) wrong.push({ texts, values, hash })
  }
  t.strictSame(wrong, [])
  t.end()
})

tap.test('single columns without nulls take the fast loops and hash alike', (t) => {
  const samples: Readonly<Record<string, readonly Scalar[]>> = {
    BOOLEAN: [0, 1],
    TINYINT: [-128, -1, 0, 127],
    SMALLINT: [-32768, -1, 0, 32767],
    INT: [-2147483648, -1, 0, 7, 2147483647],
    DATE: [-1, 19724],
    BIGINT: [-9223372036854775808n, -1n, 0n, 9007199254740993n, 9223372036854775807n],
    FLOAT: [1.5, -0, 0, Number.POSITIVE_INFINITY],
    DOUBLE: [-0.25, -0, 1e300],
    'DECIMAL(18, 2)': [-1n, 12345n],
    'DECIMAL(38, 2)': [-1n, 0n, 10n ** 37n, -(10n ** 37n), 128n, -129n],
    'TIMESTAMP(3)': [-1n, 1704164645678n],
    'TIMESTAMP(6)': [-1n, -1000n, 1704164645678901n, -9223372036854775808n, 9223372036854775807n, 9007199254740992n],
    'TIMESTAMP(9)': [-1n, 1704164645678901234n, -9223372036854775808000n],
    STRING: Array.from({ length: 80 }, (_, length) => Buffer.from('é😀 text '.repeat(20)).subarray(0, length)),
    BYTES: [Buffer.from('01ff80', 'hex'), Buffer.alloc(7, 0xff), Buffer.alloc(8, 0xff), Buffer.alloc(1000, 1)],
  }
  for (const [text, values] of Object.entries(samples)) {
    const types = [parseType(text)]
    const expected = values.map((value) => hashRow(encodeRow(types, [value])))
    t.strictSame([...hashColumns(types, [columnOf(types[0]!, values)], values.length)], expected, text)
    // With a null in front no fast loop applies.
    const [nullHash, ...rest] = hashColumns(types, [columnOf(types[0]!, [null, ...values])], values.length + 1)
    t.strictSame(rest, expected, `${text} with nulls`)
    t.equal(nullHash, hashRow(encodeRow(types, [null])), `${text} null`)
  }
  t.end()
})

tap.test('a column that is a slice of a larger buffer is read where it starts', (t) => {
  const types: DataType[] = [parseType('BIGINT')]
  const values = BigInt64Array.of(1n, 2n, 3n, 4n).subarray(2)
  const hashes = hashColumns(types, [{ kind: 'fixed', length: 2, values }], 2)
  t.equal(hashes[0], hashRow(encodeRow(types, [3n])))
  t.strictSame(serializeRowAt(types, [{ kind: 'fixed', length: 2, values }], 1), serializeRow(types, [4n]))
  t.end()
})

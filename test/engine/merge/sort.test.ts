import t from 'tap'
import { dropDeletes } from '../../../engine/merge/filters.ts'
import { sortBatch, sortOrder } from '../../../engine/merge/sort.ts'
import type { Batch } from '../../../formats/column/column.ts'
import { takeBatch } from '../../../formats/column/gather.ts'
import type { DataType } from '../../../formats/types/row-type.ts'
import { keyTypes, plain, seeded } from '../../formats/column/support.ts'
import { arrivals, kvFields, modelSort } from './support.ts'

const sorted = (...given: Parameters<typeof sortBatch>) => sortBatch(...given)[0]!
const rows = (batch: Batch) => batch.columns.map(plain)

t.test('any single or composite key: sorted, the last arrival of a key kept', async (t) => {
  const random = seeded(21)
  const composites = keyTypes.flatMap((a) => [[a], [a, keyTypes[Math.floor(random() * keyTypes.length)]!]])
  composites.push([keyTypes[12]!, keyTypes[12]!, keyTypes[3]!], [keyTypes[13]!, keyTypes[9]!, keyTypes[12]!])
  for (const types of composites) {
    for (const size of [0, 1, 2, 30, 400]) {
      const batch = arrivals(types, size, 5, random)
      const indexes = types.map((_, i) => i)
      const result = sorted(batch, indexes, types)
      const expected = modelSort(batch, types.length)
      t.strictSame(rows(result), rows(expected), JSON.stringify({ types, size }))
      t.strictSame(rows(sorted(result, indexes, types)), rows(expected), 'sorted rows stay as they are')
      const order = sortOrder(batch, indexes, types)
      t.strictSame(
        rows(
          takeBatch(
            batch,
            Uint32Array.from(order.groupEnd, (end) => order.row[end - 1]!),
          ),
        ),
        rows(expected),
      )
    }
  }
})

function textKeys(texts: readonly (string | Uint8Array)[]): Batch {
  const types: readonly DataType[] = [{ kind: 'varbinary', length: 1000, nullable: false }]
  const batch = arrivals(types, texts.length, 0, seeded(1))
  const parts = texts.map((text) => Buffer.from(text as string))
  const offsets = new Int32Array(texts.length + 1)
  parts.forEach((part, i) => {
    offsets[i + 1] = offsets[i]! + part.length
  })
  const column = { kind: 'bytes', length: texts.length, data: new Uint8Array(Buffer.concat(parts)), offsets } as const
  return { fields: kvFields(types), rows: texts.length, columns: [column, ...batch.columns.slice(1)] }
}

t.test('long common prefixes, keys that are prefixes of others, and zero bytes', async (t) => {
  const random = seeded(2)
  const texts: (string | Uint8Array)[] = []
  for (let i = 0; i < 600; i++) {
    texts.push(`user-common-prefix-${Math.floor(random() * 300)}`)
    texts.push(new Uint8Array(Math.floor(random() * 30)))
    texts.push('a'.repeat(Math.floor(random() * 40)))
    texts.push(Uint8Array.of(0x61, ...new Uint8Array(Math.floor(random() * 12)), 0x80))
  }
  const batch = textKeys(texts)
  const types: readonly DataType[] = [{ kind: 'varbinary', length: 1000, nullable: false }]
  t.strictSame(rows(sorted(batch, [0], types)), rows(modelSort(batch, 1)))
})

t.test('text follows code points: U+FFFF before U+10000, and U+E000 before both', async (t) => {
  const batch = textKeys(['\u{10000}', '\uffff', '\ue000', '\u{10ffff}', 'z'])
  const result = sorted(batch, [0], [{ kind: 'varchar', length: 10, nullable: false }])
  const column = plain(result.columns[0]!).map((hex) => Buffer.from(hex as string, 'hex').toString())
  t.strictSame(column, ['z', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'])
})

t.test('retractions are dropped by kind; a batch without any is not copied', async (t) => {
  const types: readonly DataType[] = [{ kind: 'int', nullable: false }]
  const batch = arrivals(types, 200, 0, seeded(9))
  const kinds = plain(batch.columns[2]!)
  const expected = Uint32Array.from([...kinds.keys()].filter((row) => kinds[row] === 0 || kinds[row] === 2))
  const kept = dropDeletes(batch, 2)
  t.strictSame(rows(kept), rows(takeBatch(batch, expected)))
  t.equal(dropDeletes(kept, 2), kept)
})

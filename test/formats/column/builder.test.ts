import t from 'tap'
import { BatchBuilder, createColumnBuilder } from '../../../formats/column/builder.ts'
import type { BytesBuilder } from '../../../formats/column/bytes-builder.ts'
import { take } from '../../../formats/column/gather.ts'
import { allTypes, fieldsOf, plain, randomColumn, seeded } from './support.ts'

for (const shared of [false, true]) {
  t.test(`appends, truncations and views agree with arrays (${shared ? 'shared' : 'own'} memory)`, async (t) => {
    const random = seeded(11)
    const fields = fieldsOf(allTypes)
    const builder = new BatchBuilder(fields, { shared })
    const model: unknown[][] = fields.map(() => [])
    const views: { readonly batch: ReturnType<BatchBuilder['view']>; readonly expected: unknown[][] }[] = []
    for (let step = 0; step < 120; step++) {
      const rows = Math.floor(random() * 12)
      const batch = { fields, rows, columns: fields.map((field) => randomColumn(field.type, rows, random)) }
      const picks = random() < 0.5 ? undefined : Uint32Array.from({ length: rows }, () => Math.floor(random() * rows))
      builder.appendBatch(batch, picks)
      batch.columns.forEach((column, i) => {
        model[i]!.push(...plain(picks === undefined ? column : take(column, picks)))
      })
      if (random() < 0.4) views.push({ batch: builder.view(), expected: model.map((column) => [...column]) })
      if (random() < 0.3) {
        const keep = Math.floor(random() * (builder.rows + 1))
        builder.truncate(keep)
        for (const column of model) column.length = keep
      }
      t.equal(builder.rows, model[0]!.length)
    }
    views.push({ batch: builder.view(), expected: model })
    for (const { batch, expected } of views) t.strictSame(batch.columns.map(plain), expected)
    const first = builder.view().columns[0]!
    t.equal(first.kind === 'fixed' && first.values.buffer instanceof SharedArrayBuffer, shared)
  })
}

t.test('bytes in use are counted without slack', async (t) => {
  const builder = createColumnBuilder({ kind: 'varchar', length: 10, nullable: true }) as BytesBuilder
  builder.pushText('abc')
  t.equal(builder.byteLength, 3 + 4)
  builder.appendNull()
  t.equal(builder.byteLength, 3 + 8 + 2)
  builder.truncate(1)
  t.equal(builder.byteLength, 3 + 4)
})

t.test('text is UTF-8, counted in code points; half a surrogate pair is refused', async (t) => {
  const builder = createColumnBuilder({ kind: 'varchar', length: 10, nullable: true }) as BytesBuilder
  for (const text of ['', 'aé日\u{1f600}', '\u{10ffff}', '\ud7ff\ue000\uffff\u07ff\u0800\u007f\u0080']) {
    t.equal(builder.pushText(text), [...text].length)
    const column = builder.view()
    t.equal(Buffer.from(column.data.subarray(column.offsets[column.length - 1]!)).toString(), text)
  }
  const before = builder.length
  for (const bad of ['\ud800', 'a\udc00', '\ud800\ud800', 'x\udbff', '\udc00\ud800']) t.equal(builder.pushText(bad), -1)
  t.equal(builder.length, before)
})

t.test('a type without a layout is refused', async (t) => {
  t.throws(() => createColumnBuilder({ kind: 'variant', nullable: true }), TypeError)
})

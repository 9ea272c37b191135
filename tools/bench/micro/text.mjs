// Text of a column as UTF-8: joined with its neighbours, and one by one. Needs `npm run build`.

import { BatchBuilder } from '../../../dist/formats/column/builder.js'
import { nanosPerItem, report } from './timing.mjs'

const ROWS = 8192
const fields = [{ id: 0, name: 'text', type: { kind: 'varchar', length: 2147483647, nullable: true } }]
const size = { rows: ROWS, widths: [300] }

for (const length of [6, 18, 82]) {
  const texts = Array.from({ length: ROWS }, (_, row) => String(row).padStart(length, 'lakelet '))
  const fill = (append) => () => append(new BatchBuilder(fields, { size }).columns[0])
  const one = fill((column) => {
    for (const text of texts) column.pushText(text)
  })
  report(`${length} characters, one by one`, nanosPerItem(ROWS, one))
  report(
    `${length} characters, joined`,
    nanosPerItem(
      ROWS,
      fill((column) => column.pushTexts(texts, 0, ROWS, 1000)),
    ),
  )
}

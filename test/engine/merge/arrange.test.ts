import t from 'tap'
import { retractsApart } from '../../../engine/merge/arrange.ts'
import type { Batch } from '../../../formats/column/column.ts'

const kinds = { '+': 0, '-': 3 } as const

/** Groups of records, each a text of kinds; what is merged apart, as texts of the same form by order. */
function apart(groups: readonly string[], removes: boolean): readonly (readonly string[])[] {
  const all = groups.join('')
  const values = Int8Array.from(all, (kind) => kinds[kind as keyof typeof kinds])
  const batch: Batch = { fields: [], rows: all.length, columns: [{ kind: 'fixed', length: all.length, values }] }
  let end = 0
  const groupEnd = Uint32Array.from(groups, (group) => {
    end += group.length
    return end
  })
  const order = { source: new Uint16Array(all.length), row: Uint32Array.from(values.keys()), groupEnd }
  return retractsApart(order, [batch], 0, removes).map(({ row, groupEnd }) => {
    let start = 0
    return Array.from(groupEnd, (end) => {
      const text = Array.from(row.subarray(start, end), (at) => `${all[at]}${at}`).join(' ')
      start = end
      return text
    })
  })
}

t.test('rows that add stay together, each that retracts stands alone, in order', async (t) => {
  t.strictSame(apart(['++-+', '+', '--'], false), [['+0 +1', '+4', '-5'], ['-2', '-6'], ['+3']])
  t.strictSame(apart(['++', '+'], false), [['+0 +1', '+2']], 'nothing retracts: as it was')
})

t.test('where a delete removes the row nothing before the last one counts', async (t) => {
  t.strictSame(apart(['+-+-++', '-', '+'], true), [['-3', '-6', '+7'], ['+4 +5']])
})

import t from 'tap'
import { kvLayout } from '../../../engine/plan/kv-layout.ts'
import { bufferedBatch } from '../../../engine/tasks/buffered.ts'
import type { FixedColumn } from '../../../formats/column/column.ts'
import type { TableSchema } from '../../../formats/meta/types.ts'

t.test('sequence numbers count on across the halves of an int64', (t) => {
  const fields = [{ id: 0, name: 'k', type: { kind: 'int', nullable: false } }] as const
  const layout = kvLayout({ fields, primaryKeys: ['k'], partitionKeys: [] } as unknown as TableSchema)
  const values = {
    fields,
    rows: 5,
    columns: [{ kind: 'fixed', length: 5, values: Int32Array.of(5, 4, 3, 2, 1) } as const],
  }
  for (const firstSequence of [0n, 2n ** 31n - 2n, 2n ** 32n - 2n, 2n ** 33n - 3n, 2n ** 53n - 1n, 2n ** 62n]) {
    const batch = bufferedBatch(layout, { values, kinds: new Int8Array(5), firstSequence })
    const sequence = (batch.columns[layout.sequence] as FixedColumn).values as BigInt64Array
    t.strictSame(
      [...sequence],
      [0n, 1n, 2n, 3n, 4n].map((i) => firstSequence + i),
    )
  }
  t.end()
})

import t from 'tap'
import { openWarehouse, type Table, t as types } from '../../../engine/index.ts'
import type { JsonRow } from '../../interop/support/oracle.ts'
import { toJsonRow } from '../../interop/support/values.ts'
import { changesOf } from '../../support/changes.ts'
import { goldenExpect, goldenTable } from '../../support/golden.ts'
import { goldenWarehouse, schemaIn } from '../../support/golden-warehouse.ts'
import { open } from '../../support/warehouses.ts'

interface Told {
  readonly snapshot: number
  readonly kind: string
  readonly row: JsonRow
}

interface Step {
  readonly cmd: string
  readonly lines?: readonly { readonly kind?: string; readonly row?: JsonRow }[]
  readonly compact?: boolean
}

const told = (name: string) => goldenExpect<Told>(name, 'changelog')

t.test('changes are those that Paimon streams from its own tables', async (t) => {
  const warehouse = await openWarehouse(goldenWarehouse, { readOnly: true, workers: 0 })
  for (const name of ['cl_none', 'cl_input', 'cl_lookup', 'cl_lookup_dedup', 'cl_full', 'cl_expired']) {
    const { fields } = schemaIn(goldenTable(name))
    const found = await changesOf((await warehouse.table(`golden.${name}`)) as Table)
    t.strictSame(
      found.map(({ snapshot, kind, row }) => ({ snapshot, kind, row: toJsonRow(fields, row) })),
      told(name),
      name,
    )
  }
  await warehouse.close()
})

t.test('the same writes and compactions tell the same changes', async (t) => {
  const warehouse = await open(t.testdir())
  for (const name of ['cl_none', 'cl_input', 'cl_lookup', 'cl_lookup_dedup', 'cl_full']) {
    const { options } = schemaIn(goldenTable(name))
    const table = (await warehouse.createTable(`db.${name}`, {
      fields: { id: types.int(), v: types.string().nullable() },
      primaryKey: ['id'],
      options,
    })) as Table
    // A call of ours has no rows before an update, which the producer input hands on.
    const asWritten = name === 'cl_input' ? told(name).filter(({ kind }) => kind !== '-U') : told(name)
    for (const { cmd, lines = [], compact } of goldenExpect<Step>(name, 'steps')) {
      if (cmd !== 'write') continue
      for (const { kind, row } of lines) {
        if (row === undefined) await table.commit()
        else if (kind === '-D') await table.delete(row.id)
        else if (kind !== '-U') await table.put(row)
      }
      await table.commit()
      if (compact) await table.compact({ full: true })
    }
    const written = name === 'cl_none' || name === 'cl_input'
    const plain = ({ kind, row }: Pick<Told, 'kind' | 'row'>) => ({
      // Without a producer, or with input, we write +I for what came as +U, and a delete holds its key alone.
      kind: written && kind === '+U' ? '+I' : kind,
      row: written && kind === '-D' ? { id: row.id, v: null } : row,
    })
    t.strictSame(
      (await changesOf(table)).map((change) => plain(change as unknown as Told)),
      asWritten.map(plain),
      name,
    )
  }
  await warehouse.close()
})

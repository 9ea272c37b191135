import { t } from '../../engine/api/fields.ts'
import { createMemoryFileSystem } from '../../engine/ports/memory-fs.ts'
import { inlineExecutor } from '../../engine/tasks/submit.ts'
import { Warehouse } from '../../engine/warehouse.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import { openAlone } from '../support/warehouses.ts'
import { steppedClock, turns } from './ports.ts'
import type { Place } from './run.ts'

let loaded: Promise<void> | undefined

/** Memory, one thread and a clock that is told the time: a run repeats exactly. */
export async function memoryPlace(): Promise<Place> {
  loaded ??= loadEverything()
  await loaded
  const codecs = loadCodecs()
  const clock = steppedClock()
  const fs = createMemoryFileSystem({ now: clock.now })
  await fs.makeDirectory('/w')
  return {
    setting: {
      fs,
      path: '/w',
      tempDirectory: '/tmp',
      codecs,
      clock,
      Warehouse,
      executor: (files) => inlineExecutor(async () => ({ fs: files, clock, codecs, pause: () => turns(1) })),
    },
  }
}

/** The engine loads some of its modules on first use, which takes as long as it takes: no run shall be the first. */
async function loadEverything(): Promise<void> {
  const fs = createMemoryFileSystem({ now: () => 0 })
  await fs.makeDirectory('/w')
  await using warehouse = openAlone('/w', { fs })
  const definition = { fields: { k: t.int() }, primaryKey: ['k'] } as const
  await using table = await warehouse.createTable('db.t', definition)
  await table.put([{ k: 1 }])
  await table.commit()
  await table.scan().toArray()
}

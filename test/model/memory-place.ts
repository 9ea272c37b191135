import { createMemoryFileSystem } from '../../engine/ports/memory-fs.ts'
import { inlineExecutor } from '../../engine/tasks/submit.ts'
import { Warehouse } from '../../engine/warehouse.ts'
import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import { steppedClock, turns } from './ports.ts'
import type { Place } from './run.ts'

/** Memory, one thread and a clock that is told the time: a run repeats exactly. */
export async function memoryPlace(): Promise<Place> {
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
